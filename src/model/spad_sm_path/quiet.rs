//! Several cycles at once while nothing but counters moves: the scratchpad
//! serves the groups of a conflict, the retry sequencer counts a latency, or
//! the path is empty. Every output stays as it is.
//!
//! `src/model/tests/quiet.rs` and `src/sm/tests/skip.rs` compare this with
//! single steps.

use super::{SmPath, SmPathInputs, SmPathOutputs, Wires};

impl SmPath {
    /// One clock cycle, and of those that follow with the same inputs as many
    /// as have the same outputs, as far as that is easily seen, but not more
    /// than `limit` in all. The outputs of each of them, and how many.
    pub fn step_while_quiet(&mut self, inputs: &SmPathInputs, limit: u64) -> (SmPathOutputs, u64) {
        let wires = self.wires(inputs);
        let bound = match self.is_quiet(inputs, &wires) {
            true => limit.min(self.quiet_bound(inputs, wires.out.ex_hold)),
            false => 0,
        };
        let cycles = match bound > 1 {
            true => self.spad.commit_while_busy(bound),
            false => 0,
        };
        if cycles == 0 {
            self.commit_wires(inputs, &wires);
            return (wires.out, 1);
        }
        if !wires.out.ex_hold {
            self.mask.count_down(cycles);
        }
        self.atomics.count_up(cycles);
        // What releases have changed settles in the first of the cycles.
        self.commit_sharing(inputs, &wires);
        (wires.out, cycles)
    }

    /// In this cycle no pass moves from a stage to another, and no event
    /// happens outside of MEM0 and the counters.
    fn is_quiet(&self, inputs: &SmPathInputs, w: &Wires) -> bool {
        let events = inputs.rst
            || inputs.kernel_clear
            || inputs.hash_wr.is_some()
            || inputs.row_wr.is_some()
            || inputs.launch.is_some()
            || inputs.exit.is_some()
            || inputs.icn.is_some();
        let waits_for_mem0 = self.ex.is_some() || self.hx.is_some() || self.pre.count() > 0;
        let moves = w.decision.issue.is_some()
            || w.decision.selection.leaves()
            || w.ex_fire
            || (waits_for_mem0 && w.pre_out_ready)
            || (self.hx.is_some() && w.hx_free)
            || self.atomics.moves()
            || (w.requester.is_some() && w.spad_ready)
            || self.spad.stages() != 0
            || self.mem.iter().any(Option::is_some)
            || self.nonmem.stage_valid() != 0
            || self.wb.wb().is_some()
            || self.wb.turns()
            || w.decision.next != self.ahead;
        let predicts =
            self.history.eval().done || self.accumulator.eval().is_some() || self.mask.waits();
        !events && !moves && !predicts
    }

    /// Cycles from this one on until a counter comes to its end.
    fn quiet_bound(&self, inputs: &SmPathInputs, ex_hold: bool) -> u64 {
        let masked = self.mask.eval(&self.answer()).remaining;
        let bound = match inputs.cfg.aware && masked > 0 && !ex_hold {
            true => masked.into(),
            false => u64::MAX,
        };
        bound.min(self.atomics.quiet_cycles())
    }
}
