//! `spad_warp_mask`: the cycles in which no memory warp may be scheduled
//! (elastic paper, sections 5.1 and 5.3, Eqs 3 and 7;
//! microarchitecture/warp-mask.md).

use super::spad_conflict_history::HistoryOutputs;

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct MaskInputs {
    /// Synchronous reset.
    pub rst: bool,
    /// Clears the mask, as a reset does.
    pub clear: bool,
    /// An instruction of a predicted kind was taken in this cycle: its number
    /// of passes - 1.
    pub set: Option<u32>,
    /// The history's answer, in the cycle after `set`; with AHEAD in the second.
    pub history: HistoryOutputs,
    /// AHEAD > 0: what was taken in the cycle before is likely to have an
    /// excess.
    pub heavy: bool,
    /// And an excess of more than one cycle.
    pub heavier: bool,
    /// EX is held: the cycle does not count.
    pub hold: bool,
}

/// Outputs of one clock cycle; comb(history, heavy, heavier).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaskOutputs {
    /// Memory warps are masked in this cycle.
    pub mask: bool,
    /// Memory warps will be masked in the next cycle as well, if that counts.
    pub lasts: bool,
}

/// The cycle in which the history's answer to the last set counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The answer has been counted, or there was none.
    #[default]
    Past,
    /// The answer arrives in the next cycle: with AHEAD it passes a register.
    Next,
    /// The answer arrives in this cycle.
    Now,
}

/// The down counters.
#[derive(Clone, Debug)]
pub struct MemoryWarpMask {
    pub(crate) answer: Answer,
    /// Passes that are still to be issued: nothing is taken before.
    pub(crate) passes: u32,
    /// Cycles that are left after the passes.
    pub(crate) count: u32,
    /// AHEAD > 0: the cycle before counted; a hold in this one takes it back.
    pub(crate) counted: bool,
    /// AHEAD > 0: a cycle was taken back when the next was taken already.
    owed: bool,
    /// The answer comes in the second cycle after the set.
    pub(crate) late: bool,
}

impl MemoryWarpMask {
    /// The mask of a path with `ahead` stages before EX, after reset.
    pub fn new(ahead: u32) -> Self {
        MemoryWarpMask {
            answer: Answer::Past,
            passes: 0,
            count: 0,
            counted: false,
            owed: false,
            late: ahead > 0,
        }
    }

    /// Cycles without `hold` after the passes for which memory warps are
    /// masked, including this one. Until the history answers, the count so far.
    fn left(&self, history: &HistoryOutputs) -> u32 {
        match self.answer {
            // One cycle may have passed before the answer.
            Answer::Now if history.hit && history.excess != 0 => {
                history.excess + u32::from(self.owed) - u32::from(self.late && self.counted)
            }
            Answer::Now => 0,
            _ => self.count,
        }
    }

    /// The outputs of this cycle.
    pub fn eval(&self, inputs: &MaskInputs) -> MaskOutputs {
        let left = self.left(&inputs.history);
        let doubt = self.answer == Answer::Next && inputs.heavy;
        let mask = left != 0 || doubt;
        MaskOutputs {
            mask,
            lasts: left > 1 || (doubt && inputs.heavier) || (mask && self.passes != 0),
        }
    }

    /// The clock edge.
    #[inline(always)]
    pub fn commit(&mut self, inputs: &MaskInputs) {
        if inputs.rst || inputs.clear {
            *self = MemoryWarpMask::new(self.late.into());
            return;
        }
        let left = self.left(&inputs.history);
        let counts = !inputs.hold && self.passes == 0;
        // An instruction taken in cycle s is in EX in s+2, so the first hold
        // that it causes comes a cycle after the first cycle that counts.
        let known = inputs.history.hit && inputs.history.excess != 0;
        let free = self.answer == Answer::Now && !known;
        let takes_back = inputs.hold && self.counted && !free;
        let waits = self.answer == Answer::Next;
        self.counted = self.late && counts && (left != 0 || waits);
        self.owed = match inputs.set {
            Some(_) => takes_back,
            None => waits && (takes_back || self.owed),
        };
        self.answer = match (inputs.set, self.answer) {
            (Some(_), _) if self.late => Answer::Next,
            (Some(_), _) | (None, Answer::Next) => Answer::Now,
            (None, _) => Answer::Past,
        };
        (self.passes, self.count) = match inputs.set {
            Some(base) => (base, 0),
            None => (
                self.passes.saturating_sub((!inputs.hold).into()),
                left.saturating_sub(counts.into()) + u32::from(takes_back && !waits),
            ),
        };
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &MaskInputs) -> MaskOutputs {
        let outputs = self.eval(inputs);
        self.commit(inputs);
        outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(excess: u32) -> HistoryOutputs {
        HistoryOutputs {
            done: true,
            hit: true,
            excess,
        }
    }

    /// Cycles from the issue of `passes` passes to the first in which a memory
    /// warp may follow: after the passes, and not masked. EX is held in the
    /// first `held` cycles after the issue.
    fn distance(ahead: u32, passes: u32, excess: u32, held: u32) -> u32 {
        let mut mask = MemoryWarpMask::new(ahead);
        let issue = MaskInputs {
            set: Some(passes - 1),
            ..MaskInputs::default()
        };
        assert!(!mask.step(&issue).mask);
        let answers_in = 1 + u32::from(ahead > 0);
        let mut to_go = passes - 1;
        for cycle in 1.. {
            let hold = cycle <= held;
            let history = if cycle == answers_in {
                known(excess)
            } else {
                HistoryOutputs::default()
            };
            let out = mask.step(&MaskInputs {
                history,
                heavy: cycle == 1 && excess != 0,
                hold,
                ..MaskInputs::default()
            });
            if to_go == 0 && !out.mask && !hold {
                return cycle;
            }
            to_go = to_go.saturating_sub((!hold).into());
        }
        unreachable!()
    }

    /// Elastic paper, Eq. 7: passes plus what conflicts add, whenever the
    /// history answers.
    #[test]
    fn the_safe_distance_is_passes_plus_excess() {
        for ahead in 0..4 {
            for passes in [1, 2, 4] {
                for excess in [0, 1, 2, 28] {
                    let safe = passes + excess;
                    assert_eq!(distance(ahead, passes, excess, 0), safe);
                }
            }
        }
    }

    /// Elastic paper, section 5.3: while EX is held no warp comes closer to
    /// its end, so none of the distance has passed; the cycles in which the
    /// history answers included.
    #[test]
    fn held_cycles_do_not_count() {
        for ahead in 0..4 {
            for held in [1, 2, 5] {
                assert_eq!(distance(ahead, 2, 2, held), 4 + held);
                assert_eq!(distance(ahead, 1, 3, held), 4 + held);
            }
        }
    }

    /// AHEAD > 0: what is taken reaches EX a cycle later than with AHEAD = 0,
    /// and so does the hold that it meets: the cycle before did not count.
    #[test]
    fn a_hold_takes_back_the_cycle_before() {
        let masked = |holds: [bool; 6], sets: [bool; 6]| -> Vec<bool> {
            let mut mask = MemoryWarpMask::new(1);
            let step = |(hold, set): (bool, bool)| {
                let inputs = MaskInputs {
                    set: set.then_some(0),
                    history: known(1),
                    heavy: true,
                    hold,
                    ..MaskInputs::default()
                };
                mask.step(&inputs).mask
            };
            holds.into_iter().zip(sets).map(step).collect()
        };
        let once = [true, false, false, false, false, false];
        let hold = [false, false, true, false, false, false];
        assert_eq!(
            masked([false; 6], once),
            [false, true, false, false, false, false]
        );
        assert_eq!(masked(hold, once), [false, true, false, true, false, false]);
        // An instruction taken in that very cycle takes effect one cycle later.
        let twice = [true, false, true, false, false, false];
        assert_eq!(
            masked([false; 6], twice),
            [false, true, false, true, false, false]
        );
        assert_eq!(masked(hold, twice), [false, true, false, true, true, false]);
    }

    #[test]
    fn a_new_set_overwrites_what_is_left() {
        let mut mask = MemoryWarpMask::new(0);
        let set = MaskInputs {
            set: Some(0),
            ..MaskInputs::default()
        };
        mask.step(&set);
        let answered = MaskInputs {
            history: known(9),
            ..set
        };
        assert!(mask.step(&answered).mask);
        let masks = |mask: &MemoryWarpMask, excess| {
            let history = known(excess);
            mask.eval(&MaskInputs { history, ..set }).mask
        };
        assert!(!masks(&mask, 0));
        assert!(masks(&mask, 1));
        mask.step(&MaskInputs {
            clear: true,
            ..answered
        });
        assert!(!masks(&mask, 1));
    }

    /// Conflict-free passes mask nothing: nothing is taken while they issue.
    #[test]
    fn passes_alone_do_not_mask() {
        for ahead in 0..4 {
            let mut mask = MemoryWarpMask::new(ahead);
            mask.step(&MaskInputs {
                set: Some(3),
                ..MaskInputs::default()
            });
            let none = MaskInputs {
                history: known(0),
                ..MaskInputs::default()
            };
            for _ in 0..6 {
                assert_eq!(mask.step(&none), MaskOutputs::default());
            }
        }
    }

    /// With AHEAD the answer comes a cycle after the first instruction could
    /// follow: a likely excess masks until then, and counts as part of it.
    #[test]
    fn a_likely_excess_masks_until_the_answer() {
        let masked = |heavy, excess| -> Vec<bool> {
            let mut mask = MemoryWarpMask::new(3);
            let mut inputs = MaskInputs {
                set: Some(0),
                history: known(excess),
                heavy,
                ..MaskInputs::default()
            };
            let step = |_| {
                let out = mask.step(&inputs).mask;
                inputs.set = None;
                out
            };
            (0..5).map(step).collect()
        };
        assert_eq!(masked(true, 2), [false, true, true, false, false]);
        assert_eq!(masked(true, 1), [false, true, false, false, false]);
        assert_eq!(masked(true, 0), [false, true, false, false, false]);
        assert_eq!(masked(false, 2), [false, false, true, false, false]);
    }

    /// One cycle is likely to be the last, unless the guess is more than one.
    #[test]
    fn a_likely_excess_lasts_as_long_as_is_likely() {
        for (passes, heavier, lasts) in [(0, false, false), (0, true, true), (1, false, true)] {
            let mut mask = MemoryWarpMask::new(3);
            mask.step(&MaskInputs {
                set: Some(passes),
                ..MaskInputs::default()
            });
            let out = mask.step(&MaskInputs {
                heavy: true,
                heavier,
                ..MaskInputs::default()
            });
            assert_eq!(out, MaskOutputs { mask: true, lasts });
        }
    }
}
