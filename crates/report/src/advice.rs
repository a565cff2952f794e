//! Advice for a kernel, and its expected gain.

use super::software_report::DeclaredLine;
use serde::Serialize;

/// A step and the command that takes it.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// Effect of the step.
    pub what: String,
    /// The command, to be pasted into a shell.
    pub command: String,
}

/// A run of the SM's model.
#[derive(Clone, Debug, Serialize)]
pub struct Timed {
    /// The bank mapping.
    pub hash: String,
    /// Pipeline stages of its own.
    pub hash_stage: u32,
    /// Cycles of the kernel.
    pub cycles: u64,
}

/// Cycles without a hash, and under the recommended mapping.
#[derive(Clone, Debug, Serialize)]
pub struct Worth {
    /// Blocks of the grid, all on one SM.
    pub blocks: u32,
    /// Bank = address mod 2^m.
    pub before: Timed,
    /// The recommended mapping.
    pub after: Timed,
    /// Speed-up.
    pub speed_up: f64,
    /// The kernel was rewritten for it: its instructions are counted.
    pub rewritten: bool,
}

impl Worth {
    /// The gain of longer rows in the declarations, in one line.
    pub(super) fn text_of_declared(&self, declared: &DeclaredLine, speed_up: f64) -> String {
        format!(
            "worth: {speed_up:.3} times as fast, {} cycles under {} and {} with {} in the \
             declaration (sim, blocks on one SM: {})\n",
            self.before.cycles,
            self.before.hash,
            declared.cycles.unwrap_or_default(),
            declared.hash,
            self.blocks
        )
    }

    /// The advice in one line, for a machine with a hash unit or without.
    pub(super) fn text(&self, hash_unit: bool) -> String {
        let (before, after) = (&self.before, &self.after);
        let stage = match (hash_unit, after.hash_stage) {
            (false, _) if self.rewritten => {
                " in rewritten PTX, with the instructions that compute it"
            }
            (false, _) => ", without the instructions that compute it",
            (true, 0) => ", no hash stage",
            (true, _) => " and its stage",
        };
        format!(
            "worth: {:.3} times as fast, {} cycles under {} and {} under {}{stage} (sim, blocks on \
             one SM: {})\n",
            self.speed_up, before.cycles, before.hash, after.cycles, after.hash, self.blocks
        )
    }
}
