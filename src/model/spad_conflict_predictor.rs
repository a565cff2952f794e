//! `spad_conflict_predictor`: accumulator, history and mask, and what stands
//! between them (elastic paper, section 5; docs/microarchitecture.md, sections
//! 12 to 14, 18.3 and 18.6).

use super::spad_conflict_history::{ConflictHistory, HistoryInputs, HistoryOutputs};
use super::spad_degree_accumulator::{AccumulatorInputs, DegreeAccumulator, ResolvedPass};
use super::spad_warp_mask::{MaskInputs, MaskOutputs, MemoryWarpMask};
use crate::config::Config;

/// An instruction of a predicted kind whose offer is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictedIssue {
    /// Its program counter.
    pub pc: u16,
    /// Number of its passes - 1.
    pub base: u32,
}

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct PredictorInputs {
    /// Synchronous reset.
    pub rst: bool,
    /// A kernel starts: forget everything.
    pub clear: bool,
    /// `resolved_*`: a pass of a predicted kind is resolved.
    pub pass: Option<ResolvedPass>,
    /// `set_*`: an instruction of a predicted kind is taken.
    pub set: Option<PredictedIssue>,
    /// EX is held.
    pub hold: bool,
}

/// The units and the register between history and mask.
#[derive(Clone, Debug)]
pub struct ConflictPredictor {
    accumulator: DegreeAccumulator,
    history: ConflictHistory,
    mask: MemoryWarpMask,
    /// lq, where AHEAD > 0: the history's answer, a cycle later.
    answer: Option<HistoryOutputs>,
}

impl ConflictPredictor {
    /// The predictor of `config`, after reset.
    pub fn new(config: &Config) -> Self {
        let ahead = config.path.ahead;
        ConflictPredictor {
            accumulator: DegreeAccumulator::new(config.parameters().EX as u32),
            history: ConflictHistory::new(config.path.history_sets as usize),
            mask: MemoryWarpMask::new(ahead),
            answer: (ahead > 0).then(HistoryOutputs::default),
        }
    }

    /// What the history says to the mask in this cycle.
    fn answer(&self) -> HistoryOutputs {
        self.answer.unwrap_or_else(|| self.history.eval())
    }

    fn masked(&self) -> MaskOutputs {
        self.mask.eval(&self.answer())
    }

    /// Memory warps are masked; from registers alone.
    pub fn eval(&self) -> bool {
        self.masked().mask
    }

    /// The clock edge.
    #[inline(always)]
    pub fn commit(&mut self, inputs: &PredictorInputs) {
        let &PredictorInputs { rst, clear, .. } = inputs;
        self.mask.commit(&MaskInputs {
            rst,
            clear,
            set: inputs.set.map(|set| set.base),
            history: self.answer(),
            hold: inputs.hold,
        });
        let answer = self.history.eval();
        self.answer = self.answer.map(|_| match rst {
            true => HistoryOutputs::default(),
            false => answer,
        });
        self.history.commit(&HistoryInputs {
            rst,
            clear,
            lookup: inputs.set.map(|set| set.pc),
            update: self.accumulator.eval(),
        });
        self.accumulator.commit(&AccumulatorInputs {
            rst,
            clear,
            pass: inputs.pass,
        });
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &PredictorInputs) -> bool {
        let mask = self.eval();
        self.commit(inputs);
        mask
    }

    /// Nothing but the mask's counter moves, if nothing is set or resolved.
    pub(super) fn rests(&self) -> bool {
        !self.history.eval().done
            && !self.answer().done
            && self.accumulator.eval().is_none()
            && !self.mask.waits()
    }

    /// Cycles for which memory warps are masked if EX is not held.
    pub(super) fn remaining(&self) -> u32 {
        self.masked().remaining
    }

    /// The clock edges of `cycles` such cycles.
    pub(super) fn count_down(&mut self, cycles: u64) {
        self.mask.count_down(cycles);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Masked cycles behind an instruction of one pass at `pc`, until it can
    /// be looked up again.
    fn masked(unit: &mut ConflictPredictor, pc: u16, occupancy: u32) -> u32 {
        let set = Some(PredictedIssue { pc, base: 0 });
        let mut inputs = PredictorInputs {
            set,
            ..PredictorInputs::default()
        };
        let mut cycles = 0;
        for cycle in 0..20 {
            cycles += u32::from(unit.step(&inputs));
            inputs = PredictorInputs::default();
            inputs.pass = (cycle == 12).then_some(ResolvedPass {
                occupancy,
                last: true,
                pc,
            });
        }
        assert!(unit.rests());
        cycles
    }

    /// What an instruction took masks the next one of its program counter.
    #[test]
    fn what_is_learned_masks_the_next_time() {
        for ahead in [0, 3] {
            let mut config = Config::preset("fermi").unwrap();
            config.path.ahead = ahead;
            let mut unit = ConflictPredictor::new(&config);
            assert_eq!(masked(&mut unit, 5, 4), 0, "unknown");
            assert_eq!(masked(&mut unit, 5, 1), 3, "learned");
            assert_eq!(masked(&mut unit, 5, 8), 0, "learned anew");
            unit.step(&PredictorInputs {
                clear: true,
                ..PredictorInputs::default()
            });
            assert_eq!(masked(&mut unit, 5, 1), 0, "forgotten");
        }
    }
}
