//! The results of `flow` about one kernel.

use super::advice::{Advice, Worth};
use super::choice::{ChoiceKind, ChoiceLine};
use super::names::PLAIN;
use super::since::Since;
use super::skipped::Skipped;
use super::software_report::Software;
use super::source_page::{PatternPart, PhaseCount, Situation, SourcePage};
use serde::Serialize;
use serde_json::Value;
use spadkit_mapping::hash::Encoding;
use spadkit_mapping::trace::TracedBlock;

/// The kernel, as far as the trace tells.
#[derive(Clone, Debug, Default, Serialize)]
pub struct KernelSummary {
    /// Name of the trace.
    pub name: String,
    /// Source of the trace.
    pub source: String,
    /// Threads of the block in x, y, z.
    pub block_dim: [u32; 3],
    /// Shared memory of the block in bytes.
    pub shared_bytes: u32,
    /// Warp accesses.
    pub accesses: u64,
    /// The block that the counts are of, where the trace names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<TracedBlock>,
    /// Mean conflict degree over passes with an active lane, without a hash.
    pub mean_conflict_degree: f64,
    /// Sum of the conflict degrees, without a hash.
    pub wavefronts: u64,
    /// Wavefronts without bank conflicts.
    pub ideal_wavefronts: u64,
}

/// A static instruction.
#[derive(Clone, Debug, Serialize)]
pub struct InstructionLine {
    /// Static access site.
    pub pc: u32,
    /// Line of the instruction in the PTX, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx_line: Option<u32>,
    /// The file of that line, where several are linked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx_file: Option<String>,
    /// `file:line` of the source, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// `load`, `store` or `atomic`.
    pub op: String,
    /// Warp accesses.
    pub accesses: u64,
    /// Class of its pattern (hash paper, section 3).
    pub class: String,
    /// Most frequent address pattern of the instruction.
    pub pattern: String,
    /// Parts of the pattern, where it changes from one iteration or barrier phase
    /// to the next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PatternPart>,
    /// Conflicts without a hash.
    pub conflicts: u64,
    /// Conflicts under the recommended mapping.
    pub conflicts_after: u64,
    /// Sum of the conflict degrees, without a hash.
    pub wavefronts: u64,
    /// Wavefronts without bank conflicts.
    pub ideal_wavefronts: u64,
}

/// The method of mappings that are not searched.
pub const FIXED: &str = "fixed";

/// The name shown if there is no unit.
const NO_UNIT: &str = "none";

fn hex(value: u64) -> String {
    format!("{value:#x}")
}

/// The settings of one unit.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UnitSetting {
    /// The unit.
    pub unit: String,
    /// Name and value of each configuration port.
    pub ports: Vec<(String, String)>,
    /// The registers that drive the ports.
    pub config_unit: Option<String>,
    /// The writes to them: `wr_data` for `wr_index` 0, 1, ...
    pub registers: Vec<String>,
}

impl UnitSetting {
    /// The setting that `encoding` says.
    pub fn of(encoding: &Encoding) -> Self {
        let port = |(name, value): &(&str, spadkit_mapping::hash::PortValue)| {
            ((*name).to_owned(), value.to_string())
        };
        UnitSetting {
            unit: encoding.unit.to_owned(),
            ports: encoding.ports.iter().map(port).collect(),
            config_unit: encoding.config_unit().map(str::to_owned),
            registers: encoding.registers.iter().map(|r| hex(*r)).collect(),
        }
    }

    /// No unit: the low address bits are the bank.
    pub fn none() -> Self {
        UnitSetting {
            unit: NO_UNIT.to_owned(),
            ..UnitSetting::default()
        }
    }

    /// Whether it differs from the reset, where all registers are 0.
    pub fn is_set(&self) -> bool {
        self.registers.iter().any(|r| *r != hex(0))
    }
}

/// A bank mapping.
#[derive(Clone, Debug, Serialize)]
pub struct MappingLine {
    /// The spec.
    pub hash: String,
    /// The unit that implements it.
    pub unit: String,
    /// Method that found the configuration; `fixed` for those without any.
    pub method: String,
    /// Conflicts.
    pub conflicts: u64,
    /// Largest degree.
    pub max_degree: u32,
    /// Sum of the conflict degrees.
    pub wavefronts: u64,
    /// Wavefronts without bank conflicts.
    pub ideal_wavefronts: u64,
    /// Share of the conventional mapping's conflicts that is gone, in percent;
    /// negative if there are more, null where there were none and now are.
    pub removed_pct: Option<f64>,
    /// Whether no configuration of the unit has fewer, proved.
    pub optimal: Option<bool>,
    /// Configurations that were counted or bounded.
    pub evaluated: Option<u64>,
    /// Values of the unit's configuration ports.
    pub ports: Vec<(String, String)>,
    /// The registers that drive the ports; null without any.
    pub config_unit: Option<String>,
    /// The writes to them: `wr_data` for `wr_index` 0, 1, ...
    pub registers: Vec<String>,
    /// The row map that makes the mapping a bijection: it belongs to the bank
    /// unit's setting, with another one two addresses map to the same word.
    pub row_map: UnitSetting,
    /// The bank unit of the machine's path, where that is another one: what its
    /// registers take for this mapping.
    pub path: Option<UnitSetting>,
    /// Whether it is the smallest unit that reaches the fewest conflicts.
    pub recommended: bool,
}

impl MappingLine {
    /// Whether it is the conventional one: the low address bits are the bank.
    pub fn is_plain(&self) -> bool {
        self.hash == PLAIN
    }

    /// Whether there was nothing to search.
    pub fn is_fixed(&self) -> bool {
        self.method == FIXED
    }

    /// The unit that implements it; the conventional mapping has none.
    pub fn own_unit(&self) -> Option<&String> {
        Some(&self.unit).filter(|unit| *unit != NO_UNIT)
    }

    /// The settings of the unit that implements it.
    pub fn bank(&self) -> UnitSetting {
        UnitSetting {
            unit: self.unit.clone(),
            ports: self.ports.clone(),
            config_unit: self.config_unit.clone(),
            registers: self.registers.clone(),
        }
    }

    /// Whether the row is more than the upper address bits.
    pub fn needs_row_map(&self) -> bool {
        self.row_map.is_set()
    }
}

/// One unit's co-simulation.
#[derive(Clone, Debug, Serialize)]
pub struct CosimLine {
    /// The unit.
    pub unit: String,
    /// Clock cycles.
    pub cycles: u64,
    /// Output ports compared, summed over cycles.
    pub checks: u64,
    /// Output ports that differed, summed over cycles.
    pub mismatches: u64,
}

/// A file that the run read.
#[derive(Clone, Debug, Serialize)]
pub struct InputFile {
    /// Path of the file.
    pub file: String,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

/// Everything in the report of `spadkit flow`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FlowReport {
    /// Version of this structure in JSON.
    pub format_version: u32,
    /// The kernel.
    pub kernel: KernelSummary,
    /// Name of the machine.
    pub machine: String,
    /// The part of the input that chose it; null if the user or nothing did.
    pub machine_from: Option<String>,
    /// Geometry and sizes of the machine, in words.
    pub machine_text: String,
    /// Rule of counting conflicts: `first-word` or `phases`.
    pub rule: String,
    /// The rule of counting in words.
    pub rule_text: String,
    /// The cost of a hash in the machine's pipeline, in words.
    pub hash_stage: String,
    /// The machine has a hash unit in its path.
    pub hash_unit: bool,
    /// Advice for a machine without one: change the kernel's indices.
    pub advice: Vec<Advice>,
    /// Mappings in software where it has none; null where it has.
    pub software: Option<Software>,
    /// The gain of the recommended mapping in cycles; null if it is the
    /// conventional one, and if the gain is not known (`skipped`).
    pub worth: Option<Worth>,
    /// The mappings to decide between, the fastest first.
    pub choices: Vec<ChoiceLine>,
    /// Conflicts and cycles on the lines of the source, the file with most
    /// conflicts first.
    pub sources: Vec<SourcePage>,
    /// Conflicts by barrier phase.
    pub phases: Vec<PhaseCount>,
    /// The worst accesses, for pictures.
    #[serde(skip)]
    pub situations: Vec<Situation>,
    /// The files that were read.
    pub inputs: Vec<InputFile>,
    /// The model of the cycles, and what it leaves out.
    pub model: Vec<String>,
    /// A GPU's measurement of this kernel on a large input; null without one.
    pub measured: Option<String>,
    /// The conflicts that changes of the source leave, if that is more than the mapping
    /// leaves in the PTX; else null.
    pub source_change: Option<String>,
    /// The differences from an earlier run; null without one.
    pub since: Option<Since>,
    /// The instructions.
    pub instructions: Vec<InstructionLine>,
    /// The mappings: conventional, fixed hashes, then the tuned units.
    pub mappings: Vec<MappingLine>,
    /// Co-simulation of the emitted Verilog; empty if it was skipped.
    pub cosim: Vec<CosimLine>,
    /// The result of `synth`; null if it was skipped.
    pub synthesis: Value,
    /// Name and version of each tool used.
    pub tools: Vec<(String, String)>,
    /// Commands that repeat each part.
    pub commands: Vec<String>,
    /// Parts that were left out, with the reason.
    pub skipped: Vec<Skipped>,
}

impl FlowReport {
    /// The recommended mapping; there is one because the conventional mapping
    /// is among them.
    pub fn recommended(&self) -> Option<&MappingLine> {
        self.mappings.iter().find(|m| m.recommended)
    }

    /// The gain of the recommended mapping, in one line; empty if not known.
    pub fn worth_text(&self) -> String {
        let Some(worth) = &self.worth else {
            return String::new();
        };
        let software = self.software.as_ref();
        match software.and_then(Software::fastest_is_declared) {
            Some((declared, speed_up)) => worth.text_of_declared(declared, speed_up),
            None => worth.text(self.hash_unit),
        }
    }

    /// The choice that is recommended.
    pub fn chosen(&self) -> Option<&ChoiceLine> {
        self.choices.iter().find(|c| c.chosen)
    }

    /// The choice of a kind.
    pub fn choice(&self, kind: ChoiceKind) -> Option<&ChoiceLine> {
        self.choices.iter().find(|c| c.kind == kind)
    }
}
