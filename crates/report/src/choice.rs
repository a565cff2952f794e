//! The few mappings that a designer or programmer decides between.

use serde::Serialize;
use spadkit_compiler::rewrite::Resources;
use spadkit_sm::sm::Statistics;

/// Cycles of a run by what the issue slots did, divided by the number of
/// schedulers: the parts add up to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CycleParts {
    /// Cycles.
    pub total: u64,
    /// An instruction of the kernel as it was issued.
    pub issued: f64,
    /// An instruction that computes the mapping was.
    pub added: f64,
    /// A bank conflict held up the path.
    pub conflicts: f64,
    /// No warp was ready: results and instructions under way.
    pub dependences: f64,
    /// Data of global memory, or the queue of its stores.
    pub memory: f64,
    /// Barriers, locks, tensor units and the rest.
    pub other: f64,
}

impl CycleParts {
    /// The parts of a run's cycles.
    pub fn of(run: &Statistics) -> Self {
        let s = &run.stalls;
        let slots = (run.issued + s.total()).max(1) as f64;
        let part = |count: u64| count as f64 * run.cycles as f64 / slots;
        let memory = s.memory + s.store_queue + s.texture + s.async_copy;
        let known = s.bank_conflict + s.no_ready_warp + memory;
        CycleParts {
            total: run.cycles,
            issued: part(run.issued),
            added: 0.0,
            conflicts: part(s.bank_conflict),
            dependences: part(s.no_ready_warp),
            memory: part(memory),
            other: part(s.total() - known),
        }
    }

    /// Splits the cycles: instructions issued beyond those of `before` count as
    /// added.
    pub fn over(self, before: &CycleParts) -> Self {
        let added = (self.issued - before.issued).max(0.0);
        CycleParts {
            issued: self.issued - added,
            added,
            ..self
        }
    }

    /// Name, style class and cycles of each part, in the order of the bars.
    pub fn list(&self) -> [(&'static str, &'static str, f64); 6] {
        [
            ("instructions issued", "p-issue", self.issued),
            ("added instructions", "p-added", self.added),
            ("bank conflicts", "p-conflict", self.conflicts),
            ("dependences", "p-wait", self.dependences),
            ("global memory", "p-memory", self.memory),
            ("barriers and the rest", "p-other", self.other),
        ]
    }
}

/// The kind of decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChoiceKind {
    /// No change of kernel or machine.
    Nothing,
    /// A fixed hash: no registers, no stage.
    Fixed,
    /// The cheapest configurable unit that removes most of what the best does.
    Cheapest,
    /// The unit with the fewest conflicts.
    Best,
    /// The kernel's indices changed.
    Software,
    /// Longer rows in the declarations alone.
    Padding,
}

impl ChoiceKind {
    /// Whether the choice is hardware.
    pub fn is_hardware(self) -> bool {
        matches!(
            self,
            ChoiceKind::Fixed | ChoiceKind::Cheapest | ChoiceKind::Best
        )
    }
}

/// The cost of a choice's hardware in one SM.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HardwareCost {
    /// Two-input NAND gates of all lanes and the registers; null if the library
    /// has none.
    pub nand2: Option<f64>,
    /// Area in µm²; null if the library has none.
    pub area_um2: f64,
    /// Slowest path of the unit in ps.
    pub delay_ps: f64,
    /// The target period in ps.
    pub target_ps: u32,
}

impl HardwareCost {
    /// Target less delay, in ps: negative where the target is not met.
    pub fn slack_ps(&self) -> f64 {
        f64::from(self.target_ps) - self.delay_ps
    }
}

/// The mappings of a text which are not those of its choice: they were not simulated.
#[derive(Clone, Debug, Serialize)]
pub struct OtherMapping {
    /// The mapping, or that of each array.
    pub hash: String,
    /// Conflicts that they leave.
    pub conflicts: u64,
    /// Conflicts of the same accesses before.
    pub conflicts_before: u64,
}

/// A text to paste.
#[derive(Clone, Debug, Serialize)]
pub struct CodeText {
    /// `CUDA`, `padding`, `CuTe`, `Triton`, `PTX`, `registers`, `Verilog`.
    pub form: &'static str,
    /// The choice, in words.
    pub what: String,
    /// Cost of the choice, in words.
    pub cost: String,
    /// The text.
    pub text: String,
    /// The mappings of the text and the conflicts that they leave, where they are not those of
    /// the choice that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapping: Option<OtherMapping>,
    /// Lines of it that say what to change by hand.
    pub by_hand: usize,
    /// Effect on the machine code, in words; empty if not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// A mapping to decide for or against.
#[derive(Clone, Debug, Serialize)]
pub struct ChoiceLine {
    /// The decision that it belongs to.
    pub kind: ChoiceKind,
    /// Name of the mapping for people.
    pub name: String,
    /// The spec.
    pub hash: String,
    /// The hardware unit; null for none.
    pub unit: Option<String>,
    /// Conflicts left in the traced block.
    pub conflicts: u64,
    /// Sum of the conflict degrees.
    pub wavefronts: u64,
    /// Cycles by what the issue slots did; null where they are not known.
    pub cycles: Option<CycleParts>,
    /// Speed-up over no change.
    pub speed_up: Option<f64>,
    /// Instructions added per access to shared memory; null where the kernel
    /// was not rewritten.
    pub added_per_access: Option<f64>,
    /// Bytes of shared memory more.
    pub wasted_bytes: u32,
    /// The resources of a block, if known. For a change that is not compiled: only shared
    /// memory and, with unchanged registers, the number of blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// Area and delay; null without synthesis, and in software.
    pub cost: Option<HardwareCost>,
    /// The proofs and measurements behind the numbers.
    pub proof: Vec<String>,
    /// Whether the report recommends it.
    pub chosen: bool,
    /// The change as code.
    pub code: Vec<CodeText>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use spadkit_sm::sm::Stalls;

    #[test]
    fn parts_add_up_and_added_instructions_are_apart() {
        let mut run = Statistics::default();
        (run.cycles, run.issued) = (100, 150);
        run.stalls = Stalls {
            bank_conflict: 100,
            no_ready_warp: 50,
            store_queue: 60,
            barrier: 40,
            ..Stalls::default()
        };
        let parts = CycleParts::of(&run);
        let sum = |p: &CycleParts| p.list().iter().map(|part| part.2).sum::<f64>();
        // Four schedulers.
        assert_eq!(
            (parts.issued, parts.conflicts, parts.memory),
            (37.5, 25.0, 15.0)
        );
        assert_eq!(sum(&parts), 100.0);
        let before = CycleParts {
            issued: 30.0,
            ..parts
        };
        let apart = parts.over(&before);
        assert_eq!((apart.issued, apart.added), (30.0, 7.5));
        assert_eq!(sum(&apart), 100.0);
        let fewer = before.over(&parts);
        assert_eq!((fewer.issued, fewer.added), (30.0, 0.0));
    }
}
