//! `spad_warp_mask`: the cycles in which no memory warp may be scheduled
//! (elastic paper, sections 5.1 and 5.3, Eqs 3 and 7;
//! docs/microarchitecture.md, section 14).

use super::spad_conflict_history::HistoryOutputs;

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct MaskInputs {
    /// Synchronous reset.
    pub rst: bool,
    /// As reset.
    pub clear: bool,
    /// The first pass of a predicted instruction was issued in this cycle: its
    /// number of passes - 1.
    pub set: Option<u32>,
    /// The history's answer, in the cycle after `set`; with AHEAD in the second.
    pub history: HistoryOutputs,
    /// EX is held: the cycle does not count.
    pub hold: bool,
}

/// Outputs of one clock cycle; comb(history).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaskOutputs {
    /// Memory warps are masked in this cycle.
    pub mask: bool,
    /// Cycles without `hold` for which they are, this one included.
    pub remaining: u32,
}

/// When the history's answer to the last set counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Answer {
    /// It has counted, or there was none.
    #[default]
    Past,
    /// In the next cycle: with AHEAD a register is between.
    Next,
    /// In this cycle.
    Now,
}

/// The down counter.
#[derive(Clone, Debug)]
pub struct MemoryWarpMask {
    answer: Answer,
    /// Cycles that are left, but for what the answer adds.
    count: u32,
    /// The answer comes in the second cycle behind the set.
    late: bool,
}

impl MemoryWarpMask {
    /// The mask of a path with `ahead` stages in front of EX, after reset.
    pub fn new(ahead: u32) -> Self {
        MemoryWarpMask {
            answer: Answer::Past,
            count: 0,
            late: ahead > 0,
        }
    }

    /// The outputs of this cycle.
    pub fn eval(&self, history: &HistoryOutputs) -> MaskOutputs {
        let adds = self.answer == Answer::Now && history.hit;
        let remaining = self.count + if adds { history.excess } else { 0 };
        MaskOutputs {
            mask: remaining != 0,
            remaining,
        }
    }

    /// The clock edge.
    #[inline(always)]
    pub fn commit(&mut self, inputs: &MaskInputs) {
        if inputs.rst || inputs.clear {
            (self.answer, self.count) = (Answer::Past, 0);
            return;
        }
        let remaining = self.eval(&inputs.history).remaining;
        self.answer = match (inputs.set, self.answer) {
            (Some(_), _) if self.late => Answer::Next,
            (Some(_), _) | (None, Answer::Next) => Answer::Now,
            (None, _) => Answer::Past,
        };
        self.count = match inputs.set {
            Some(base) => base,
            None if inputs.hold => remaining,
            None => remaining.saturating_sub(1),
        };
    }

    /// An answer of the history is still to count.
    pub(super) fn waits(&self) -> bool {
        self.answer != Answer::Past
    }

    /// `cycles` clock edges without `hold`, without an issue, and without an
    /// answer that counts.
    pub(super) fn count_down(&mut self, cycles: u64) {
        debug_assert!(!self.waits());
        let cycles = u32::try_from(cycles).unwrap_or(u32::MAX);
        self.count = self.count.saturating_sub(cycles);
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &MaskInputs) -> MaskOutputs {
        let outputs = self.eval(&inputs.history);
        self.commit(inputs);
        outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cycles from the issue to the first in which a memory warp may follow.
    fn distance(passes: u32, excess: Option<u32>) -> u32 {
        let mut mask = MemoryWarpMask::new(0);
        let issue = MaskInputs {
            set: Some(passes - 1),
            ..MaskInputs::default()
        };
        assert!(!mask.step(&issue).mask);
        let answer = MaskInputs {
            history: HistoryOutputs {
                done: true,
                hit: excess.is_some(),
                excess: excess.unwrap_or(0),
            },
            ..MaskInputs::default()
        };
        let mut inputs = answer;
        let mut cycles = 1;
        while mask.step(&inputs).mask {
            inputs = MaskInputs::default();
            cycles += 1;
        }
        cycles
    }

    /// Elastic paper, Eq. 7: passes plus what conflicts add.
    #[test]
    fn the_safe_distance_is_passes_plus_excess() {
        assert_eq!(distance(1, None), 1);
        assert_eq!(distance(4, None), 4);
        assert_eq!(distance(4, Some(0)), 4);
        assert_eq!(distance(1, Some(1)), 2);
        assert_eq!(distance(4, Some(28)), 32);
    }

    /// Elastic paper, section 5.3: while EX is held no warp comes closer to
    /// its end, so none of the distance has passed; the first cycle, in which
    /// the history answers, included.
    #[test]
    fn held_cycles_do_not_count() {
        for held in [1, 2, 5] {
            let mut mask = MemoryWarpMask::new(0);
            mask.step(&MaskInputs {
                set: Some(1),
                ..MaskInputs::default()
            });
            let answer = HistoryOutputs {
                done: true,
                hit: true,
                excess: 2,
            };
            let mut masked = 0;
            for cycle in 0u32.. {
                let out = mask.step(&MaskInputs {
                    history: if cycle == 0 {
                        answer
                    } else {
                        HistoryOutputs::default()
                    },
                    hold: cycle < held,
                    ..MaskInputs::default()
                });
                if !out.mask {
                    break;
                }
                assert_eq!(out.remaining, 3 - cycle.saturating_sub(held));
                masked += 1;
            }
            assert_eq!(masked, 3 + held);
        }
    }

    #[test]
    fn a_new_set_overwrites_what_is_left() {
        let mut mask = MemoryWarpMask::new(0);
        for passes in [9, 2] {
            mask.step(&MaskInputs {
                set: Some(passes),
                ..MaskInputs::default()
            });
        }
        assert_eq!(mask.eval(&HistoryOutputs::default()).remaining, 2);
        mask.step(&MaskInputs {
            clear: true,
            ..MaskInputs::default()
        });
        assert!(!mask.eval(&HistoryOutputs::default()).mask);
    }

    /// With AHEAD the answer comes a cycle later: the passes alone count in the
    /// first one, and a new set replaces an answer that has not come.
    #[test]
    fn a_late_answer_adds_to_what_is_left() {
        let hit = HistoryOutputs {
            done: true,
            hit: true,
            excess: 2,
        };
        let masked = |sets: &[Option<u32>]| -> Vec<u32> {
            let mut mask = MemoryWarpMask::new(3);
            let step = |&set: &Option<u32>| {
                let inputs = MaskInputs {
                    set,
                    history: hit,
                    ..MaskInputs::default()
                };
                mask.step(&inputs).remaining
            };
            sets.iter().map(step).collect()
        };
        let none = None;
        assert_eq!(masked(&[Some(3), none, none, none]), [0, 3, 4, 3]);
        assert_eq!(masked(&[Some(0), none, none, none, none]), [0, 0, 2, 1, 0]);
        assert_eq!(
            masked(&[Some(3), Some(0), none, none, none]),
            [0, 3, 0, 2, 1]
        );
    }
}
