//! Several cycles at once while nothing but counters moves: the scratchpad
//! serves the groups of a conflict, the retry sequencer counts a latency, or
//! the path is empty. Every output stays as it is.
//!
//! `src/model/tests/quiet.rs` and `src/sm/tests/skip.rs` compare this with
//! single steps.

use super::{Back, Front, Signals, SmPath, SmPathInputs, SmPathOutputs, commit, outputs};

impl SmPath {
    /// One clock cycle, and of those that follow with the same inputs as many
    /// as have the same outputs, as far as that is easily seen, but not more
    /// than `limit` in all. The outputs of each of them, and how many.
    pub fn step_while_quiet(&mut self, inputs: &SmPathInputs, limit: u64) -> (SmPathOutputs, u64) {
        self.eval_then(inputs, |front, back, signals| {
            let outputs = outputs(back, signals);
            let bound = match is_quiet(front, back, inputs, signals) {
                true => {
                    let masked = front.quiet_cycles(inputs.cfg.aware, outputs.ex_hold);
                    limit.min(masked).min(back.entry.quiet_cycles())
                }
                false => 0,
            };
            let cycles = match bound > 1 {
                true => back.pass_over(bound),
                false => 0,
            };
            if cycles == 0 {
                commit(front, back, inputs, signals);
                return (outputs, 1);
            }
            front.pass_over(cycles, inputs, signals.behind, signals.front);
            (outputs, cycles)
        })
    }
}

/// In this cycle no pass moves from a stage to another, and no event happens
/// outside of MEM0 and the counters.
fn is_quiet(front: &Front, back: &Back, inputs: &SmPathInputs, s: Signals) -> bool {
    // Mostly a pass moves, which is seen at once.
    back.rests(s.back) && front.rests(s.front) && !has_event(inputs)
}

/// Something is driven that is more than another cycle.
fn has_event(inputs: &SmPathInputs) -> bool {
    inputs.rst
        || inputs.kernel_clear
        || inputs.hash_wr.is_some()
        || inputs.row_wr.is_some()
        || inputs.launch.is_some()
        || inputs.exit.is_some()
        || inputs.icn.is_some()
}
