//! `spad_conflict_predictor`: accumulator, history and mask, and what stands
//! between them (elastic paper, section 5;
//! microarchitecture/conflict-history.md, microarchitecture/warp-mask.md,
//! microarchitecture/issue.md and microarchitecture/memory-exit.md).

use super::spad_conflict_history::{ConflictHistory, HistoryInputs, HistoryOutputs};
use super::spad_degree_accumulator::{
    AccumulatorInputs, DegreeAccumulator, ExcessUpdate, ResolvedPass,
};
use super::spad_warp_mask::{MaskInputs, MaskOutputs, MemoryWarpMask};
use crate::config::Config;

/// Outputs of one clock cycle; from registers alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictorOutputs {
    /// Memory warps are masked.
    pub mask: bool,
    /// Memory warps will be masked in the next cycle as well, if EX is not held in
    /// this one.
    pub lasts: bool,
    /// AHEAD = 3: some instruction has had an excess since the kernel started,
    /// so the next memory instruction may mask those after it. Else false.
    pub learned: bool,
}

/// An instruction of a predicted kind whose offer is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictedIssue {
    /// Program counter of the instruction.
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
    pub(crate) accumulator: DegreeAccumulator,
    pub(crate) history: ConflictHistory,
    pub(crate) mask: MemoryWarpMask,
    /// AHEAD > 0: what bridges the history's late answer.
    late: Option<LateAnswer>,
    /// AHEAD = 3: some update had an excess.
    learned: Option<bool>,
}

/// The history's answer a cycle later, and a guess until then.
#[derive(Clone, Debug)]
struct LateAnswer {
    /// lq: the answer.
    answer: HistoryOutputs,
    /// Per set of the history the excess of its last update, at most 2.
    heavy: Vec<u32>,
    /// `heavy` of the instruction that was taken in the cycle before.
    guess: u32,
}

impl LateAnswer {
    fn new(sets: usize) -> Self {
        LateAnswer {
            answer: HistoryOutputs::default(),
            heavy: vec![0; sets],
            guess: 0,
        }
    }

    /// The clock edge.
    fn commit(&mut self, inputs: &PredictorInputs, now: HistoryOutputs, up: Option<ExcessUpdate>) {
        let set_of = |pc: u16| usize::from(pc) % self.heavy.len();
        self.guess = match inputs.set {
            Some(set) if !inputs.rst => self.heavy[set_of(set.pc)],
            _ => 0,
        };
        self.answer = if inputs.rst {
            HistoryOutputs::default()
        } else {
            now
        };
        match up {
            _ if inputs.rst || inputs.clear => self.heavy.fill(0),
            Some(up) => {
                let set = set_of(up.pc);
                self.heavy[set] = up.excess.min(2);
            }
            None => {}
        }
    }
}

impl ConflictPredictor {
    /// The predictor of `config`, after reset.
    pub fn new(config: &Config) -> Self {
        let (ahead, sets) = (config.path.ahead, config.path.history_sets as usize);
        ConflictPredictor {
            accumulator: DegreeAccumulator::new(config.parameters().EX as u32),
            history: ConflictHistory::new(sets),
            mask: MemoryWarpMask::new(ahead),
            late: (ahead > 0).then(|| LateAnswer::new(sets)),
            learned: (ahead == 3).then_some(false),
        }
    }

    /// The history's answer to the mask in this cycle.
    fn answer(&self) -> HistoryOutputs {
        let late = self.late.as_ref().map(|late| late.answer);
        late.unwrap_or_else(|| self.history.eval())
    }

    /// The excess that what was taken in the cycle before is likely to have,
    /// at most 2.
    fn guess(&self) -> u32 {
        self.late.as_ref().map_or(0, |late| late.guess)
    }

    /// The mask's inputs from registers.
    pub(crate) fn known(&self) -> MaskInputs {
        MaskInputs {
            history: self.answer(),
            heavy: self.guess() > 0,
            heavier: self.guess() > 1,
            ..MaskInputs::default()
        }
    }

    /// The outputs of this cycle; from registers alone.
    pub fn eval(&self) -> PredictorOutputs {
        let MaskOutputs { mask, lasts } = self.mask.eval(&self.known());
        PredictorOutputs {
            mask,
            lasts,
            learned: self.learned.unwrap_or(false),
        }
    }

    /// The clock edge.
    #[inline(always)]
    pub fn commit(&mut self, inputs: &PredictorInputs) {
        let &PredictorInputs { rst, clear, .. } = inputs;
        self.mask.commit(&MaskInputs {
            rst,
            clear,
            set: inputs.set.map(|set| set.base),
            hold: inputs.hold,
            ..self.known()
        });
        let update = self.accumulator.eval();
        let answer = self.history.eval();
        if let Some(late) = &mut self.late {
            late.commit(inputs, answer, update);
        }
        let excess = update.is_some_and(|up| up.excess != 0);
        self.learned = self
            .learned
            .map(|learned| (learned || excess) && !rst && !clear);
        self.history.commit(&HistoryInputs {
            rst,
            clear,
            lookup: inputs.set.map(|set| set.pc),
            update,
        });
        self.accumulator.commit(&AccumulatorInputs {
            rst,
            clear,
            pass: inputs.pass,
        });
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &PredictorInputs) -> PredictorOutputs {
        let outputs = self.eval();
        self.commit(inputs);
        outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Masked cycles after an instruction of one pass at `pc`, until it can
    /// be looked up again.
    fn masked(unit: &mut ConflictPredictor, pc: u16, occupancy: u32) -> u32 {
        let set = Some(PredictedIssue { pc, base: 0 });
        let mut inputs = PredictorInputs {
            set,
            ..PredictorInputs::default()
        };
        let mut cycles = 0;
        for cycle in 0..20 {
            cycles += u32::from(unit.step(&inputs).mask);
            inputs = PredictorInputs::default();
            inputs.pass = (cycle == 12).then_some(ResolvedPass {
                occupancy,
                last: true,
                pc,
            });
        }
        cycles
    }

    /// The excess of an instruction masks warps at the next instruction with the same
    /// program counter.
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
