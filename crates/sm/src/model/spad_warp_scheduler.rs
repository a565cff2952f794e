//! `spad_warp_scheduler`: which warp issues
//! (microarchitecture/warp-scheduler.md). Those by age and two-level are in the
//! model only.

use super::lanes::{WarpMask, warp_bit};

/// Selection among the candidates; the first four are `cfg_policy` 0 to 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Loose round-robin.
    #[default]
    Lrr,
    /// Owner warps first (sharing paper, section 4), LRR within a class.
    OwfLrr,
    /// Owner warps first, the lowest slot within a class.
    OwfSlot,
    /// The lowest slot.
    LowestSlot,
    /// The warp issued last, else the oldest; not in the RTL.
    Gto,
    /// LRR over the active warps; not in the RTL.
    TwoLevel,
    /// The oldest: owner warps first where no scratchpad is shared; not in the
    /// RTL.
    Oldest,
}

/// Class of each warp as two bit planes: 0 owner, 1 unshared, 2 non-owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarpClasses {
    /// Bit 0 of the classes.
    pub low: WarpMask,
    /// Bit 1 of the classes.
    pub high: WarpMask,
}

impl WarpClasses {
    /// The class of `warp`.
    pub fn of(&self, warp: usize) -> u8 {
        (self.low >> warp & 1) as u8 | ((self.high >> warp & 1) as u8) << 1
    }

    /// The `warps` of the lowest class that any of them belongs to.
    #[inline(always)]
    fn first_of(&self, warps: WarpMask) -> WarpMask {
        let classes = [
            !self.high & !self.low,
            !self.high & self.low,
            self.high & !self.low,
            self.high & self.low,
        ];
        let members = classes.map(|class| class & warps);
        members.into_iter().find(|&m| m != 0).unwrap_or(0)
    }
}

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct SchedulerInputs<'a> {
    /// Synchronous reset.
    pub rst: bool,
    /// Selection among the candidates.
    pub policy: Policy,
    /// Apply `mask`.
    pub aware: bool,
    /// Masked memory warps are candidates when nothing else is.
    pub violate: bool,
    /// Eligible warps.
    pub ready: WarpMask,
    /// Warps whose instruction is of a memory kind.
    pub is_mem: WarpMask,
    /// Memory warps are masked.
    pub mask: bool,
    /// Warps that wait for the others while nothing is masked; none of
    /// `is_mem`.
    pub put_off: WarpMask,
    /// Classes of the warps.
    pub cls: WarpClasses,
    /// The selection is issued in this cycle.
    pub take: bool,
    /// Model only: age of each warp, the oldest has the least. For `Gto` and
    /// `Oldest`.
    pub age: &'a [u64],
    /// Model only: the active set. For `TwoLevel`.
    pub active: WarpMask,
}

/// Outputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedulerOutputs {
    /// The selected warp; comb(all but take).
    pub sel: Option<usize>,
    /// Some ready warp is masked and not a candidate.
    pub masked: bool,
}

/// The scheduler.
#[derive(Clone, Debug)]
pub struct WarpScheduler {
    /// The warp issued last.
    last: usize,
    /// The slots after it.
    behind: WarpMask,
    /// Some warp was issued since reset.
    has_issued: bool,
    warps: usize,
}

impl WarpScheduler {
    /// A scheduler of `warps` slots, after reset.
    pub fn new(warps: usize) -> Self {
        WarpScheduler {
            last: warps - 1,
            behind: behind(warps - 1),
            has_issued: false,
            warps,
        }
    }

    /// The warp issued last; the highest slot after reset.
    pub fn last(&self) -> usize {
        self.last
    }

    /// The outputs of this cycle.
    #[inline(always)]
    pub fn eval(&self, inputs: &SchedulerInputs) -> SchedulerOutputs {
        let ready = inputs.ready;
        let blocked = if inputs.aware && inputs.mask {
            ready & inputs.is_mem
        } else {
            0
        };
        let mut candidates = ready & !blocked;
        if candidates == 0 && inputs.violate {
            candidates = ready;
        }
        let masked = ready & !candidates != 0;
        let first = candidates & !inputs.put_off;
        if !(inputs.aware && inputs.mask) && first != 0 {
            candidates = first;
        }
        SchedulerOutputs {
            sel: self.select(candidates, inputs),
            masked,
        }
    }

    /// The clock edge; `issued` is the selected warp, if it is issued in this
    /// cycle.
    #[inline(always)]
    pub fn commit(&mut self, rst: bool, issued: Option<usize>) {
        if rst {
            *self = WarpScheduler::new(self.warps);
        } else if let Some(warp) = issued {
            (self.last, self.behind) = (warp, behind(warp));
            self.has_issued = true;
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &SchedulerInputs) -> SchedulerOutputs {
        let outputs = self.eval(inputs);
        self.commit(inputs.rst, outputs.sel.filter(|_| inputs.take));
        outputs
    }

    #[inline(always)]
    fn select(&self, candidates: WarpMask, inputs: &SchedulerInputs) -> Option<usize> {
        match inputs.policy {
            Policy::Lrr => self.next(candidates),
            Policy::OwfLrr => self.next(inputs.cls.first_of(candidates)),
            Policy::OwfSlot => lowest(inputs.cls.first_of(candidates)),
            Policy::LowestSlot => lowest(candidates),
            Policy::Gto => self.greedy_then_oldest(candidates, inputs.age),
            Policy::TwoLevel => self.next(candidates & inputs.active),
            Policy::Oldest => oldest(candidates, inputs.age),
        }
    }

    /// The first in the cyclic order that begins after the warp issued last.
    #[inline(always)]
    fn next(&self, candidates: WarpMask) -> Option<usize> {
        lowest(candidates & self.behind).or_else(|| lowest(candidates))
    }

    fn greedy_then_oldest(&self, candidates: WarpMask, age: &[u64]) -> Option<usize> {
        if self.has_issued && candidates >> self.last & 1 == 1 {
            return Some(self.last);
        }
        oldest(candidates, age)
    }
}

/// The slots above `warp`.
fn behind(warp: usize) -> WarpMask {
    let bit = warp_bit(warp);
    !(bit | (bit - 1))
}

fn oldest(warps: WarpMask, age: &[u64]) -> Option<usize> {
    let age_of = |&w: &usize| age.get(w).copied().unwrap_or(u64::MAX);
    (0..WarpMask::BITS as usize)
        .filter(|&w| warps >> w & 1 == 1)
        .min_by_key(age_of)
}

fn lowest(warps: WarpMask) -> Option<usize> {
    (warps != 0).then(|| warps.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(inputs: SchedulerInputs, cycles: usize) -> Vec<usize> {
        let mut scheduler = WarpScheduler::new(4);
        let inputs = SchedulerInputs {
            take: true,
            ..inputs
        };
        (0..cycles)
            .filter_map(|_| scheduler.step(&inputs).sel)
            .collect()
    }

    #[test]
    fn others_may_wait_for_memory_warps_while_there_is_no_mask() {
        let of = |ready, aware, mask| SchedulerInputs {
            ready,
            is_mem: 0b1010,
            put_off: 0b0101,
            aware,
            mask,
            ..SchedulerInputs::default()
        };
        assert_eq!(order(of(0b1111, true, false), 3), [1, 3, 1]);
        assert_eq!(order(of(0b1111, false, true), 3), [1, 3, 1]);
        assert_eq!(order(of(0b1111, true, true), 3), [0, 2, 0]);
        assert_eq!(order(of(0b0101, true, false), 3), [0, 2, 0]);
        let violates = SchedulerInputs {
            violate: true,
            ..of(0b1010, true, true)
        };
        assert_eq!(order(violates, 3), [1, 3, 1]);
    }

    #[test]
    fn policies() {
        let of = |policy, ready| SchedulerInputs {
            policy,
            ready,
            ..SchedulerInputs::default()
        };
        assert_eq!(order(of(Policy::Lrr, 0b1011), 5), [0, 1, 3, 0, 1]);
        assert_eq!(order(of(Policy::LowestSlot, 0b1010), 2), [1, 1]);
        // Warp 3 owner, 0 and 1 unshared, 2 non-owner.
        let cls = WarpClasses {
            low: 0b0011,
            high: 0b0100,
        };
        let owf = |policy, ready| SchedulerInputs {
            cls,
            ..of(policy, ready)
        };
        assert_eq!(order(owf(Policy::OwfLrr, 0b1111), 2), [3, 3]);
        assert_eq!(order(owf(Policy::OwfLrr, 0b0111), 3), [0, 1, 0]);
        assert_eq!(order(owf(Policy::OwfSlot, 0b0111), 2), [0, 0]);
        assert_eq!(order(owf(Policy::OwfLrr, 0b0100), 1), [2]);
        let age = [7, 3, 5, 4];
        let gto = SchedulerInputs {
            age: &age,
            ..of(Policy::Gto, 0b1101)
        };
        assert_eq!(order(gto, 3), [3, 3, 3], "oldest, then greedy");
        let mut by_age = WarpScheduler::new(4);
        let mut inputs = SchedulerInputs {
            age: &age,
            take: true,
            ..of(Policy::Oldest, 0b1101)
        };
        assert_eq!(by_age.step(&inputs).sel, Some(3));
        inputs.ready = 0b1111;
        assert_eq!(by_age.step(&inputs).sel, Some(1), "not greedy");
        let two_level = SchedulerInputs {
            active: 0b0110,
            ..of(Policy::TwoLevel, 0b1111)
        };
        assert_eq!(order(two_level, 3), [1, 2, 1]);
    }

    #[test]
    fn masked_memory_warps_wait_unless_violation_is_allowed() {
        let scheduler = WarpScheduler::new(4);
        let inputs = SchedulerInputs {
            aware: true,
            mask: true,
            ready: 0b0111,
            is_mem: 0b0011,
            ..SchedulerInputs::default()
        };
        let out = scheduler.eval(&inputs);
        assert_eq!((out.sel, out.masked), (Some(2), true));
        let only_memory = SchedulerInputs {
            ready: 0b0011,
            ..inputs
        };
        let out = scheduler.eval(&only_memory);
        assert_eq!((out.sel, out.masked), (None, true));
        let violate = SchedulerInputs {
            violate: true,
            ..only_memory
        };
        let out = scheduler.eval(&violate);
        assert_eq!((out.sel, out.masked), (Some(0), false));
        let unaware = SchedulerInputs {
            aware: false,
            ..only_memory
        };
        assert_eq!(scheduler.eval(&unaware).sel, Some(0));
    }

    #[test]
    fn without_take_the_pointer_stays() {
        let mut scheduler = WarpScheduler::new(4);
        let mut inputs = SchedulerInputs {
            ready: 0b1111,
            ..SchedulerInputs::default()
        };
        assert_eq!(scheduler.step(&inputs).sel, Some(0));
        inputs.take = true;
        assert_eq!(scheduler.step(&inputs).sel, Some(0));
        assert_eq!(scheduler.step(&inputs).sel, Some(1));
        inputs.rst = true;
        scheduler.step(&inputs);
        assert_eq!(scheduler.last(), 3);
    }
}
