//! `spad_issue_select`: which warp's offer is taken, in the cycle in which it
//! is eligible or up to two stages later: pick and select
//! (microarchitecture/issue.md).

use super::lanes::{WarpMask, warp_bit};
use super::spad_warp_scheduler::{Policy, SchedulerInputs, WarpClasses, WarpScheduler};

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct SelectInputs<'a> {
    /// Synchronous reset.
    pub rst: bool,
    /// `cfg_policy`, or one of the model's own.
    pub policy: Policy,
    /// `cfg_aware`.
    pub aware: bool,
    /// `cfg_violate`.
    pub violate: bool,
    /// Eligible warps.
    pub ready: WarpMask,
    /// Warps that offer a kind of the memory path.
    pub is_mem: WarpMask,
    /// Warps that offer an ATOMIC.
    pub is_atomic: WarpMask,
    /// Warps that offer an access to the scratchpad.
    pub shares: WarpMask,
    /// Class of each warp.
    pub cls: WarpClasses,
    /// `wait_sh` of the access unit.
    pub allowed_wait: WarpMask,
    /// `viol` of the access unit.
    pub allowed_viol: WarpMask,
    /// Effective lock of each pair.
    pub locked: u32,
    /// Effective owner of each pair.
    pub owner: u32,
    /// A launch, an exit, or a RELSSP that leaves EX.
    pub event: bool,
    /// Memory warps are masked.
    pub mask: bool,
    /// AHEAD = 3: they will be in the next cycle, too.
    pub mask_lasts: bool,
    /// AHEAD = 3: the kernel has shown conflicts, so what is taken now may mask
    /// those after it.
    pub mask_likely: bool,
    /// No further ATOMIC may be issued.
    pub atom_infl: bool,
    /// An instruction may be taken.
    pub room: bool,
    /// Model only: age of each warp.
    pub age: &'a [u64],
    /// Model only: the active set.
    pub active: WarpMask,
}

/// Outputs of one clock cycle; comb(all) with AHEAD = 0. With AHEAD > 0
/// `picked`, `wait_sh` and `viol` are registered, and `masked` is comb(mask) or,
/// with AHEAD = 1, registered; with AHEAD > 1 what is taken is comb(event,
/// locked, owner, mask, atom_infl, room).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectOutputs {
    /// The warp whose offer is taken.
    pub take: Option<usize>,
    /// `take_sel`: the warp whose offer is looked at, taken or not.
    pub selected: Option<usize>,
    /// The warp in S; none but with AHEAD = 3.
    pub picked: Option<usize>,
    /// Some ready warp is masked and no candidate.
    pub masked: bool,
    /// Warps whose partner block holds the shared part.
    pub wait_sh: WarpMask,
    /// Warps whose block has already released the shared part.
    pub viol: WarpMask,
    /// The scheduler's choice, if it is taken over; no port.
    pub(crate) choice: Option<usize>,
    /// AHEAD < 2: the scheduler's `masked`; no port.
    masks: bool,
    /// The result of stage S; no port.
    pub(crate) selection: Selection,
}

/// The decision of stage S about the picked warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// No warp was picked.
    #[default]
    Nothing,
    /// The conditions that the warp was qualified with may be out of date.
    Stale,
    /// The warp may no longer issue: it is qualified anew.
    Void,
    /// The mask holds the warp.
    Held,
    /// The mask holds the warp, and another goes ahead of it: it is qualified
    /// anew.
    Yields,
    /// The passes of an instruction are still being issued.
    Waits,
    /// The offer is taken.
    Taken,
}

/// The result of stage Q: the qualification of each warp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Qualified {
    ready: WarpMask,
    is_mem: WarpMask,
    /// Warps that wait for memory warps, because the mask will probably need them.
    put_off: WarpMask,
    is_atomic: WarpMask,
    shares: WarpMask,
    cls: WarpClasses,
    wait: WarpMask,
    viol: WarpMask,
    /// Effective locks and owners of the pairs in that cycle.
    locked: u32,
    owner: u32,
    event: bool,
}

/// The ports in the previous cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Shown {
    masked: bool,
    wait: WarpMask,
    viol: WarpMask,
}

/// The registers between an eligible warp and its being taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stages {
    /// AHEAD = 0: none.
    None,
    /// AHEAD = 1: none, but for what the ports show.
    Shown(Shown),
    /// AHEAD = 2: Q. What it has is picked and taken in one cycle.
    Qualified(Qualified),
    /// AHEAD = 3: Q; S, and pk, the warp in it.
    Picked(Qualified, Option<usize>),
}

/// The scheduler, and the stages around it.
#[derive(Clone, Debug)]
pub struct IssueSelect {
    scheduler: WarpScheduler,
    stages: Stages,
}

impl IssueSelect {
    /// The unit for `warps` slots in a path with `ahead` stages in front of
    /// EX, after reset.
    pub fn new(warps: usize, ahead: u32) -> Self {
        IssueSelect {
            scheduler: WarpScheduler::new(warps),
            stages: Stages::of(ahead),
        }
    }

    /// The warp that the scheduler chose last; the highest slot after reset.
    pub fn last(&self) -> usize {
        self.scheduler.last()
    }

    /// The warp in S.
    pub fn picked(&self) -> Option<usize> {
        match self.stages {
            Stages::Picked(_, picked) => picked,
            _ => None,
        }
    }

    /// The outputs of this cycle.
    #[inline(always)]
    pub fn eval(&self, inputs: &SelectInputs) -> SelectOutputs {
        match &self.stages {
            Stages::Picked(q, picked) => self.pick_and_select(q, *picked, inputs),
            Stages::Qualified(q) => self.take_qualified(q, inputs),
            Stages::Shown(shown) => SelectOutputs {
                masked: shown.masked,
                wait_sh: shown.wait,
                viol: shown.viol,
                ..self.select_at_once(inputs)
            },
            Stages::None => self.select_at_once(inputs),
        }
    }

    /// The clock edge, with the outputs of this cycle.
    #[inline(always)]
    pub fn commit(&mut self, inputs: &SelectInputs, outputs: &SelectOutputs) {
        self.scheduler.commit(inputs.rst, outputs.choice);
        self.stages.commit(inputs, outputs);
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &SelectInputs) -> SelectOutputs {
        let outputs = self.eval(inputs);
        self.commit(inputs, &outputs);
        outputs
    }

    /// The clock edge changes what the stages hold.
    #[inline(always)]
    pub(crate) fn moves(&self, inputs: &SelectInputs, outputs: &SelectOutputs) -> bool {
        let mut next = self.stages;
        next.commit(inputs, outputs);
        next != self.stages
    }

    #[inline(always)]
    fn select_at_once(&self, inputs: &SelectInputs) -> SelectOutputs {
        let choice = self.scheduler.eval(&SchedulerInputs {
            ready: inputs.ready,
            is_mem: inputs.is_mem,
            cls: inputs.cls,
            ..scheduling(inputs)
        });
        let take = choice.sel.filter(|_| inputs.room);
        SelectOutputs {
            take,
            selected: choice.sel,
            picked: None,
            masked: choice.masked,
            wait_sh: inputs.allowed_wait,
            viol: inputs.allowed_viol,
            choice: take,
            masks: choice.masked,
            selection: Selection::Nothing,
        }
    }

    #[inline(always)]
    fn take_qualified(&self, q: &Qualified, inputs: &SelectInputs) -> SelectOutputs {
        let choice = self.scheduler.eval(&SchedulerInputs {
            ready: q.ready,
            is_mem: q.is_mem,
            cls: q.cls,
            ..scheduling(inputs)
        });
        let selection = q.take(choice.sel, inputs);
        let take = choice.sel.filter(|_| selection == Selection::Taken);
        SelectOutputs {
            take,
            selected: choice.sel,
            picked: None,
            masked: choice.masked,
            wait_sh: q.wait,
            viol: q.viol,
            choice: take,
            masks: choice.masked,
            selection,
        }
    }

    #[inline(always)]
    fn pick_and_select(
        &self,
        q: &Qualified,
        picked: Option<usize>,
        inputs: &SelectInputs,
    ) -> SelectOutputs {
        let in_select = picked.map_or(0, warp_bit);
        let behind = q.ready & !in_select;
        // The pick is taken in the next cycle. If the mask will or may be on
        // then, other warps go first, if there are any. In kernels with
        // conflicts they are kept for those cycles, and memory warps go first
        // in the others.
        let others_first = inputs.mask_lasts || (inputs.mask_likely && in_select & q.is_mem != 0);
        let choice = self.scheduler.eval(&SchedulerInputs {
            ready: behind,
            is_mem: q.is_mem,
            cls: q.cls,
            mask: others_first,
            put_off: q.put_off,
            violate: true,
            ..scheduling(inputs)
        });
        let others = behind & !q.is_mem != 0;
        let masks = inputs.aware && inputs.mask && (others || !inputs.violate);
        let selection = q.select(picked, masks, others, inputs);
        SelectOutputs {
            take: picked.filter(|_| selection == Selection::Taken),
            selected: picked,
            picked,
            masked: masks && (q.ready | in_select) & q.is_mem != 0,
            wait_sh: q.wait,
            viol: q.viol,
            choice: choice.sel.filter(|_| selection.leaves()),
            masks: false,
            selection,
        }
    }
}

/// The scheduler's constant inputs.
#[inline(always)]
fn scheduling<'a>(inputs: &SelectInputs<'a>) -> SchedulerInputs<'a> {
    SchedulerInputs {
        rst: inputs.rst,
        policy: inputs.policy,
        aware: inputs.aware,
        violate: inputs.violate,
        mask: inputs.mask,
        age: inputs.age,
        active: inputs.active,
        ..SchedulerInputs::default()
    }
}

impl Selection {
    /// The selection of a warp that may go, by whether there is room.
    fn where_there_is(room: bool) -> Self {
        if room {
            Selection::Taken
        } else {
            Selection::Waits
        }
    }

    /// S takes over what the scheduler chooses.
    fn leaves(self) -> bool {
        matches!(
            self,
            Selection::Nothing | Selection::Void | Selection::Yields | Selection::Taken
        )
    }
}

impl Qualified {
    /// The next state of the registers of Q.
    #[inline(always)]
    fn of(inputs: &SelectInputs) -> Self {
        Qualified {
            ready: inputs.ready,
            is_mem: inputs.is_mem,
            put_off: if inputs.aware && inputs.mask_likely {
                !inputs.is_mem
            } else {
                0
            },
            is_atomic: inputs.is_atomic,
            shares: inputs.shares,
            cls: inputs.cls,
            wait: inputs.allowed_wait,
            viol: inputs.allowed_viol,
            locked: inputs.locked,
            owner: inputs.owner,
            event: inputs.event,
        }
    }

    /// Whether the conditions that `picked` was qualified with may be out of date.
    #[inline(always)]
    fn is_stale(&self, picked: usize, inputs: &SelectInputs) -> bool {
        let moved = self.event || inputs.locked != self.locked || inputs.owner != self.owner;
        self.shares & warp_bit(picked) != 0 && moved
    }

    /// `picked` is an atomic, and another one is in flight.
    #[inline(always)]
    fn is_second_atomic(&self, picked: usize, inputs: &SelectInputs) -> bool {
        self.is_atomic & warp_bit(picked) != 0 && inputs.atom_infl
    }

    /// AHEAD = 2: a warp that was allowed in the cycle before, and is not
    /// masked in this one.
    #[inline(always)]
    fn take(&self, picked: Option<usize>, inputs: &SelectInputs) -> Selection {
        match picked {
            None => Selection::Nothing,
            Some(warp) if self.is_stale(warp, inputs) => Selection::Stale,
            Some(warp) if self.is_second_atomic(warp, inputs) => Selection::Void,
            Some(_) => Selection::where_there_is(inputs.room),
        }
    }

    /// AHEAD = 3: a warp that was picked in the cycle before, or earlier.
    /// `masks`: memory warps may not be taken; `others`: others are ready.
    #[inline(always)]
    fn select(
        &self,
        picked: Option<usize>,
        masks: bool,
        others: bool,
        inputs: &SelectInputs,
    ) -> Selection {
        let Some(warp) = picked else {
            return Selection::Nothing;
        };
        let is = |warps: WarpMask| warps & warp_bit(warp) != 0;
        if self.is_stale(warp, inputs) {
            Selection::Stale
        } else if is(self.wait | self.viol) || self.is_second_atomic(warp, inputs) {
            Selection::Void
        } else if masks && is(self.is_mem) {
            if others && inputs.mask_lasts {
                Selection::Yields
            } else {
                Selection::Held
            }
        } else {
            Selection::where_there_is(inputs.room)
        }
    }
}

impl Stages {
    /// After reset.
    fn of(ahead: u32) -> Self {
        match ahead {
            0 => Stages::None,
            1 => Stages::Shown(Shown::default()),
            2 => Stages::Qualified(Qualified::default()),
            _ => Stages::Picked(Qualified::default(), None),
        }
    }

    /// The clock edge.
    #[inline(always)]
    fn commit(&mut self, inputs: &SelectInputs, outputs: &SelectOutputs) {
        match self {
            Stages::None => {}
            Stages::Shown(shown) if inputs.rst => *shown = Shown::default(),
            Stages::Qualified(q) if inputs.rst => *q = Qualified::default(),
            Stages::Picked(q, picked) if inputs.rst => (*q, *picked) = Default::default(),
            Stages::Shown(shown) => {
                *shown = Shown {
                    masked: outputs.masks,
                    wait: inputs.allowed_wait,
                    viol: inputs.allowed_viol,
                };
            }
            Stages::Qualified(q) => {
                *q = Qualified::of(inputs);
                // The warp still offers the instruction that was just taken.
                q.ready &= !outputs.take.map_or(0, warp_bit);
            }
            Stages::Picked(q, picked) => {
                *q = Qualified::of(inputs);
                if outputs.selection.leaves() {
                    *picked = outputs.choice;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
