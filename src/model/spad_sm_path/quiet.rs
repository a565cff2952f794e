//! Several cycles at once while nothing but counters moves: the scratchpad
//! serves the groups of a conflict, the retry sequencer counts a latency, or
//! the path is empty. Every output stays as it is.
//!
//! `src/sm/machine/skip/tests.rs` compares this with single steps.

use super::{Signals, SmPath, SmPathInputs, SmPathOutputs};

impl SmPath {
    /// One clock cycle, and of those that follow with the same inputs as many
    /// as have the same outputs, as far as that is easily seen, but not more
    /// than `limit` in all. The outputs of each of them, and how many.
    #[inline(always)]
    pub fn step_while_quiet(&mut self, inputs: &SmPathInputs, limit: u64) -> (SmPathOutputs, u64) {
        let s = self.eval(inputs);
        let outputs = self.outputs(&s);
        let bound = match limit > 1 && self.is_quiet(inputs, &s) {
            true => {
                let masked = self.front.quiet_cycles(inputs.cfg.aware, outputs.ex_hold);
                limit.min(masked).min(self.back.entry.quiet_cycles())
            }
            false => 0,
        };
        let cycles = match bound > 1 {
            true => self.back.pass_over(bound),
            false => 0,
        };
        if cycles == 0 {
            self.commit(inputs, &s);
            return (outputs, 1);
        }
        self.front.pass_over(cycles, inputs, &s.behind, &s.front);
        (outputs, cycles)
    }

    /// In this cycle no pass moves from a stage to another, and no event happens
    /// outside of MEM0 and the counters.
    #[inline(always)]
    fn is_quiet(&self, inputs: &SmPathInputs, s: &Signals) -> bool {
        // Mostly a pass moves, which is seen at once.
        self.back.rests(&s.back) && self.front.rests(&s.front) && !has_event(inputs)
    }
}

/// Something is driven that is more than another cycle.
#[inline(always)]
fn has_event(inputs: &SmPathInputs) -> bool {
    inputs.rst
        || inputs.kernel_clear
        || inputs.hash_wr.is_some()
        || inputs.row_wr.is_some()
        || inputs.launch.is_some()
        || inputs.exit.is_some()
        || inputs.icn.is_some()
}
