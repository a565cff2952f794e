//! `spad_issue_select`: which warp's offer is taken, in the cycle in which it
//! is eligible or two stages later: pick and select (docs/microarchitecture.md,
//! sections 18.3 and 18.11).

use super::lanes::WarpMask;
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
/// `picked`, `wait_sh` and `viol` are registered, `masked` is comb(mask), and
/// what is taken comb(event, locked, owner, mask, atom_infl, room).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectOutputs {
    /// The warp whose offer is taken.
    pub take: Option<usize>,
    /// The warp in S; none with AHEAD = 0.
    pub picked: Option<usize>,
    /// Some ready warp is masked and no candidate.
    pub masked: bool,
    /// Warps whose partner block holds the shared part.
    pub wait_sh: WarpMask,
    /// Warps whose block has already released the shared part.
    pub viol: WarpMask,
    /// The scheduler's choice, if it is taken over; no port.
    pub(super) choice: Option<usize>,
    /// What S does; no port.
    pub(crate) selection: Selection,
}

/// What S does with the warp that was picked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Selection {
    /// No warp was picked.
    #[default]
    Nothing,
    /// What the warp was qualified with may be out of date.
    Stale,
    /// The warp may no longer issue: it is qualified anew.
    Void,
    /// The passes of an instruction are still being issued.
    Waits,
    /// The offer is taken.
    Taken,
}

/// What Q found of the warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Qualified {
    ready: WarpMask,
    is_mem: WarpMask,
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

/// The registers of AHEAD > 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Stages {
    qualified: Qualified,
    /// pk: the warp in S.
    picked: Option<usize>,
}

/// The scheduler, and the stages around it where AHEAD > 0.
#[derive(Clone, Debug)]
pub struct IssueSelect {
    scheduler: WarpScheduler,
    stages: Option<Stages>,
}

impl IssueSelect {
    /// The unit for `warps` slots in a path with `ahead` stages in front of
    /// EX, after reset.
    pub fn new(warps: usize, ahead: u32) -> Self {
        IssueSelect {
            scheduler: WarpScheduler::new(warps),
            stages: (ahead > 0).then(Stages::default),
        }
    }

    /// The warp that the scheduler chose last; the highest slot after reset.
    pub fn last(&self) -> usize {
        self.scheduler.last()
    }

    /// The warp in S.
    pub fn picked(&self) -> Option<usize> {
        self.stages.as_ref().and_then(|stages| stages.picked)
    }

    /// The outputs of this cycle.
    #[inline(always)]
    pub fn eval(&self, inputs: &SelectInputs) -> SelectOutputs {
        match &self.stages {
            None => self.select_at_once(inputs),
            Some(stages) => self.pick_and_select(stages, inputs),
        }
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &SelectInputs) {
        self.commit_known(inputs, &self.eval(inputs));
    }

    /// The clock edge, with the outputs of this cycle.
    #[inline(always)]
    pub(super) fn commit_known(&mut self, inputs: &SelectInputs, outputs: &SelectOutputs) {
        self.scheduler.commit_selected(inputs.rst, outputs.choice);
        if let Some(stages) = &mut self.stages {
            *stages = match inputs.rst {
                true => Stages::default(),
                false => stages.next(inputs, outputs),
            };
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &SelectInputs) -> SelectOutputs {
        let outputs = self.eval(inputs);
        self.commit_known(inputs, &outputs);
        outputs
    }

    /// The clock edge changes nothing.
    pub(super) fn rests(&self, inputs: &SelectInputs, outputs: &SelectOutputs) -> bool {
        let next = |stages: &Stages| stages.next(inputs, outputs) == *stages;
        outputs.choice.is_none() && self.stages.as_ref().is_none_or(next)
    }

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
            picked: None,
            masked: choice.masked,
            wait_sh: inputs.allowed_wait,
            viol: inputs.allowed_viol,
            choice: take,
            selection: Selection::Nothing,
        }
    }

    #[inline(always)]
    fn pick_and_select(&self, stages: &Stages, inputs: &SelectInputs) -> SelectOutputs {
        let q = &stages.qualified;
        let in_select = stages.picked.map_or(0, |warp| 1 << warp);
        let choice = self.scheduler.eval(&SchedulerInputs {
            ready: q.ready & !in_select,
            is_mem: q.is_mem,
            cls: q.cls,
            ..scheduling(inputs)
        });
        let selection = stages.select(inputs);
        SelectOutputs {
            take: stages.picked.filter(|_| selection == Selection::Taken),
            picked: stages.picked,
            masked: choice.masked,
            wait_sh: q.wait,
            viol: q.viol,
            choice: choice.sel.filter(|_| stages.moves(selection)),
            selection,
        }
    }
}

/// What the scheduler is always told.
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

impl Stages {
    #[inline(always)]
    fn select(&self, inputs: &SelectInputs) -> Selection {
        let Some(warp) = self.picked else {
            return Selection::Nothing;
        };
        let q = &self.qualified;
        let bit = 1 << warp;
        let is = |warps: WarpMask| warps & bit != 0;
        let moved = q.event || inputs.locked != q.locked || inputs.owner != q.owner;
        if is(q.shares) && moved {
            return Selection::Stale;
        }
        let masked = inputs.aware && inputs.mask && !inputs.violate;
        if is(q.wait | q.viol) || (is(q.is_atomic) && inputs.atom_infl) || (is(q.is_mem) && masked)
        {
            return Selection::Void;
        }
        match inputs.room {
            true => Selection::Taken,
            false => Selection::Waits,
        }
    }

    /// S takes over what the scheduler chooses.
    fn moves(&self, selection: Selection) -> bool {
        self.picked.is_none() || matches!(selection, Selection::Void | Selection::Taken)
    }

    /// The registers after the clock edge.
    #[inline(always)]
    fn next(&self, inputs: &SelectInputs, outputs: &SelectOutputs) -> Stages {
        Stages {
            qualified: Qualified {
                ready: inputs.ready,
                is_mem: inputs.is_mem,
                is_atomic: inputs.is_atomic,
                shares: inputs.shares,
                cls: inputs.cls,
                wait: inputs.allowed_wait,
                viol: inputs.allowed_viol,
                locked: inputs.locked,
                owner: inputs.owner,
                event: inputs.event,
            },
            picked: match self.moves(outputs.selection) {
                true => outputs.choice,
                false => self.picked,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit() -> IssueSelect {
        IssueSelect::new(4, 3)
    }

    fn ready(warps: WarpMask) -> SelectInputs<'static> {
        SelectInputs {
            ready: warps,
            is_mem: 0b0011,
            is_atomic: 0b0001,
            shares: 0b0011,
            room: true,
            ..SelectInputs::default()
        }
    }

    #[test]
    fn at_once_the_choice_is_taken_where_there_is_room() {
        let mut unit = IssueSelect::new(4, 0);
        let mut inputs = ready(0b0110);
        inputs.room = false;
        assert_eq!(unit.step(&inputs).take, None);
        inputs.room = true;
        let taken: Vec<_> = (0..3).map(|_| unit.step(&inputs).take).collect();
        assert_eq!(taken, [Some(1), Some(2), Some(1)]);
        assert_eq!(unit.picked(), None);
    }

    #[test]
    fn ahead_a_warp_is_qualified_picked_and_taken() {
        let mut unit = unit();
        assert_eq!(unit.step(&ready(0b0100)).take, None);
        assert_eq!(unit.step(&ready(0)).picked, None);
        let out = unit.step(&ready(0));
        assert_eq!((out.picked, out.take), (Some(2), Some(2)));
        assert_eq!(unit.step(&ready(0)).picked, None);
    }

    /// Brings `warp` into S and shows what it does under `inputs`.
    fn selected(warp: usize, inputs: SelectInputs) -> (Selection, Option<usize>) {
        let mut unit = unit();
        unit.step(&SelectInputs {
            ready: 1 << warp,
            ..inputs
        });
        let q = SelectInputs {
            mask: false,
            ..ready(0)
        };
        unit.step(&q);
        let out = unit.step(&inputs);
        (out.selection, unit.picked())
    }

    #[test]
    fn a_pick_is_looked_at_again() {
        let now = ready(0);
        let kept = |warp| Some(warp);
        assert_eq!(selected(2, now), (Selection::Taken, None));
        let full = SelectInputs { room: false, ..now };
        assert_eq!(selected(2, full), (Selection::Waits, kept(2)));
        let atomic = SelectInputs {
            atom_infl: true,
            ..now
        };
        assert_eq!(selected(0, atomic), (Selection::Void, None));
        assert_eq!(selected(1, atomic), (Selection::Taken, None));
        let masked = SelectInputs {
            aware: true,
            mask: true,
            ..now
        };
        assert_eq!(selected(2, masked), (Selection::Taken, None));
        let mut unit = unit();
        for inputs in [ready(0b0010), now] {
            unit.step(&inputs);
        }
        assert_eq!(unit.step(&masked).selection, Selection::Void);
    }

    /// What has moved since the stage before counts for one cycle.
    #[test]
    fn a_stale_pick_waits_for_a_cycle() {
        let mut unit = unit();
        for inputs in [ready(0b0010), ready(0)] {
            unit.step(&inputs);
        }
        let locked = SelectInputs {
            locked: 1,
            ..ready(0)
        };
        let out = unit.step(&locked);
        assert_eq!((out.selection, out.take), (Selection::Stale, None));
        let refused = SelectInputs {
            allowed_wait: 0b0010,
            ..locked
        };
        assert_eq!(unit.step(&refused).take, Some(1));
        assert_eq!(unit.step(&refused).wait_sh, 0b0010);
    }
}
