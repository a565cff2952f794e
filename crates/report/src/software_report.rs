//! The report on a machine without a hash unit: mappings in software, put into the kernel and run.

use super::names::PLAIN;
use serde::Serialize;
use spadkit_compiler::assembler::AssemblerId;
use spadkit_compiler::rewrite::{MachineConflicts, Measured, Resources};
use spadkit_compiler::suggest::{InMachineCode, LeftAlone, Suggestion};

/// A mapping in software.
#[derive(Clone, Debug, Serialize)]
pub struct SoftwareLine {
    /// The spec.
    pub hash: String,
    /// Kind of the mapping.
    pub kind: String,
    /// Conflicts left in the traced block.
    pub conflicts: u64,
    /// Largest degree.
    pub max_degree: u32,
    /// Sum of the degrees.
    pub wavefronts: u64,
    /// Operations that compute where a word is stored.
    pub added_per_access: usize,
    /// Bytes of shared memory more.
    pub wasted_bytes: u32,
    /// The resources of a block under it; null without a launch file, and if not known.
    pub resources: Option<Resources>,
    /// The kernel under it; null without a launch file, and where it cannot be
    /// put into the PTX.
    pub rewritten: Option<RewrittenLine>,
}

/// A kernel under a mapping, run.
#[derive(Clone, Debug, Serialize)]
pub struct RewrittenLine {
    /// Warp instructions that it executes more, per access to shared memory.
    pub added_per_access: Option<f64>,
    /// Conflicts of the traced block as the kernel is.
    pub conflicts_before: u64,
    /// Conflicts of that block in the rewritten kernel.
    pub conflicts_after: u64,
    /// Cycles of the rewritten kernel on the model of the SM, the added
    /// instructions included; null where they are not known.
    pub cycles: Option<u64>,
    /// Effect on the machine code, if known. A mapping that gains nothing there is
    /// neither offered nor timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine_code: Option<MachineConflicts>,
}

impl RewrittenLine {
    /// The line of a rewritten kernel, with its measurements.
    pub fn of(
        measured: &Measured,
        machine_code: Option<MachineConflicts>,
        cycles: Option<u64>,
    ) -> Self {
        RewrittenLine {
            machine_code,
            added_per_access: measured.added_per_access,
            conflicts_before: measured.conflicts_before,
            conflicts_after: measured.conflicts_after,
            cycles,
        }
    }
}

/// Longer rows in the declarations alone, which add no instruction.
#[derive(Clone, Debug, Serialize)]
pub struct DeclaredLine {
    /// The padding of each array, as mappings.
    pub hash: String,
    /// Conflicts left in the traced block.
    pub conflicts: u64,
    /// Sum of the degrees.
    pub wavefronts: u64,
    /// Bytes of shared memory more.
    pub wasted_bytes: u32,
    /// The resources of a block, if known; its registers are those of the unchanged kernel.
    pub resources: Option<Resources>,
    /// Cycles with the recorded accesses at their new addresses; null if not known.
    pub cycles: Option<u64>,
}

/// Mappings in software of a kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Software {
    /// The Pareto front of conflicts, operations and bytes, the fewest
    /// conflicts first; the last is the unmapped index.
    pub front: Vec<SoftwareLine>,
    /// Bytes of the vectors that mappings keep whole, where accesses are wider than a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_bytes: Option<u32>,
    /// The arrays that bulk copies keep from having a mapping, a sentence for each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_order: Option<String>,
    /// Whether no XOR of index bits and no padding that at most doubles the array
    /// has fewer conflicts than the first, proved.
    pub fewest_proved: bool,
    /// Longer rows in the declarations alone, where they leave fewer conflicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared: Option<DeclaredLine>,
    /// Cycles of the unchanged kernel; null if not known.
    pub cycles: Option<u64>,
    /// The mapping under which the kernel takes the fewest cycles, where it
    /// gains; else, without a launch file, the one with the fewest conflicts.
    pub best: Option<String>,
    /// The PTX under it, in the folder of the report.
    pub ptx: Option<String>,
    /// Bytes of dynamic shared memory that its launch must give.
    pub dynamic_shared: Option<u32>,
    /// Version and GPU of `ptxas`, where it is installed.
    pub assembler: Option<AssemblerId>,
    /// The changes to make for the mappings with the fewest conflicts.
    pub suggestions: Vec<Suggestion>,
    /// The arrays for which no change of the source pays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<LeftAlone>,
}

impl SoftwareLine {
    /// Whether it is the unmapped index.
    pub fn is_plain(&self) -> bool {
        self.hash == PLAIN
    }

    /// The counts of the machine code of the rewritten kernel, where nothing is gained there.
    pub fn gains_nothing(&self) -> Option<&MachineConflicts> {
        let code = self.rewritten.as_ref()?.machine_code.as_ref()?;
        (!code.gains()).then_some(code)
    }
}

impl Software {
    /// Why no mapping is put into the PTX, where the machine code of each gains nothing: the
    /// counts of the first.
    pub fn nothing_to_rewrite(&self) -> Option<String> {
        let mut mapped = self.front.iter().filter(|line| !line.is_plain());
        let first = mapped.next()?;
        let code = first.gains_nothing()?;
        mapped.all(|line| line.gains_nothing().is_some()).then(|| {
            format!(
                "Put into the PTX, {} gains nothing: in the machine code {}.",
                first.hash,
                code.text()
            )
        })
    }

    /// Conflicts of the kernel as it is in the machine code, where that was looked at.
    pub fn conflicts_in_machine_code(&self) -> Option<u64> {
        let mut rewritten = self.front.iter().filter_map(|line| line.rewritten.as_ref());
        let code = rewritten.find_map(|line| line.machine_code.as_ref());
        code.map(|code| code.conflicts_before)
            .or_else(|| Some(in_machine_code(&self.suggestions)?.conflicts_before))
    }

    /// Conflicts of the kernel as it is in the PTX, where a mapping was put into it.
    pub fn conflicts_in_ptx(&self) -> Option<u64> {
        let mut rewritten = self.front.iter().filter_map(|line| line.rewritten.as_ref());
        Some(rewritten.next()?.conflicts_before)
    }

    /// The longer rows in the declarations, where no mapping put into the kernel is faster,
    /// nor the kernel as it is.
    pub fn fastest_is_declared(&self) -> Option<(&DeclaredLine, f64)> {
        let declared = self.declared.as_ref()?;
        let (before, cycles) = (self.cycles?, declared.cycles?);
        let mut rewritten = self.front.iter().filter_map(|line| line.rewritten.as_ref());
        let is_fastest = rewritten.all(|r| r.cycles.is_none_or(|other| cycles <= other));
        let speed_up = before as f64 / cycles.max(1) as f64;
        (is_fastest && cycles < before).then_some((declared, speed_up))
    }

    /// The line of the best mapping.
    pub fn recommended(&self) -> Option<&SoftwareLine> {
        let best = self.best.as_ref()?;
        self.front.iter().find(|line| line.hash == *best)
    }
}

/// The counts of the machine code with all changes of the source, where they are known and
/// not those of the PTX.
pub fn in_machine_code(suggestions: &[Suggestion]) -> Option<InMachineCode> {
    let judged = suggestions.iter().map(|s| s.machine_code.as_ref());
    let judged = judged.collect::<Option<Vec<&InMachineCode>>>()?;
    let sum = |count: fn(&InMachineCode) -> u64| judged.iter().map(|code| count(code)).sum();
    let all = InMachineCode {
        conflicts_before: sum(|c| c.conflicts_before),
        conflicts: sum(|c| c.conflicts),
        wavefronts_before: sum(|c| c.wavefronts_before),
        wavefronts: sum(|c| c.wavefronts),
        torn: Vec::new(),
    };
    let of_ptx = |count: fn(&Suggestion) -> u64| suggestions.iter().map(count).sum::<u64>();
    let of_ptx = (of_ptx(|s| s.conflicts_before), of_ptx(|s| s.conflicts));
    (of_ptx != (all.conflicts_before, all.conflicts)).then_some(all)
}
