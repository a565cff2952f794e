//! From the offers to EX: the units that decide the issue, in the order in
//! which an instruction passes them (microarchitecture/issue.md).

use super::SmPathInputs;
use super::sharing::{Sharing, SharingOutputs};
use crate::config::Config;
use crate::model::kind;
use crate::model::spad_conflict_predictor::{ConflictPredictor, PredictedIssue, PredictorInputs};
use crate::model::spad_degree_accumulator::ResolvedPass;
use crate::model::spad_eligibility::{Eligibility, EligibilityInputs, WarpKind};
use crate::model::spad_issue_select::{IssueSelect, SelectInputs, SelectOutputs};
use crate::model::spad_pass_issue::{PassIssue, PassIssueInputs, PassIssueOutputs};
use crate::model::spad_relssp::Release;

#[derive(Clone, Debug)]
pub(super) struct Front {
    sharing: Sharing,
    eligibility: Eligibility,
    predictor: ConflictPredictor,
    pub(super) select: IssueSelect,
    pub(super) issue: PassIssue,
}

/// What the rest of the path tells these units.
#[derive(Clone, Copy)]
pub(super) struct Behind {
    /// The pass in EX leaves it.
    pub(super) ex_fire: bool,
    /// It stays.
    pub(super) ex_hold: bool,
    /// It is a RELSSP, and leaves.
    pub(super) release: Option<Release>,
    pub(super) atom_infl: bool,
    /// The instruction whose last result is written back.
    pub(super) retire: Option<WarpKind>,
    pub(super) resolved: Option<ResolvedPass>,
}

/// What they say in one cycle, and what they were told.
pub(super) struct FrontSignals<'a> {
    pub(super) sharing: SharingOutputs,
    select_inputs: SelectInputs<'a>,
    pub(super) select: SelectOutputs,
    issue_inputs: PassIssueInputs<'a>,
    pub(super) issue: PassIssueOutputs,
}

impl Front {
    pub(super) fn new(config: &Config) -> Self {
        let warps = config.path.warps as usize;
        Front {
            sharing: Sharing::new(config),
            eligibility: Eligibility::new(warps),
            predictor: ConflictPredictor::new(config),
            select: IssueSelect::new(warps, config.path.ahead),
            issue: PassIssue::new(config),
        }
    }

    /// What all say in this cycle.
    #[inline(always)]
    pub(super) fn eval<'a>(&self, inputs: &SmPathInputs<'a>, behind: &Behind) -> FrontSignals<'a> {
        let (cfg, rst, atom_infl) = (&inputs.cfg, inputs.rst, behind.atom_infl);
        let sharing = self.sharing.eval(inputs, behind.release);
        let picked = self.select.picked();
        let ex = self.issue.ex();
        let eligible = self.eligibility.eval(&EligibilityInputs {
            rst,
            barrel: cfg.barrel,
            offers: inputs.offers,
            allow: sharing.access.allow,
            busy: self.issue.busy(picked),
            atom_infl,
            ex_relssp: ex.filter(|c| c.kind == kind::RELSSP).map(|c| c.warp.into()),
            take: None,
            retire: behind.retire,
        });
        let predicted = self.predictor.eval();
        let select_inputs = SelectInputs {
            rst,
            policy: cfg.policy,
            aware: cfg.aware,
            violate: cfg.violate,
            ready: eligible.ready,
            is_mem: eligible.is_mem,
            is_atomic: eligible.is_atomic,
            shares: eligible.shares,
            cls: sharing.access.cls,
            allowed_wait: sharing.access.wait_sh,
            allowed_viol: sharing.access.viol,
            locked: sharing.access.locked,
            owner: sharing.access.owner,
            event: inputs.launch.is_some() || inputs.exit.is_some() || behind.release.is_some(),
            mask: predicted.mask,
            mask_lasts: predicted.lasts,
            mask_likely: predicted.learned,
            atom_infl,
            room: self.issue.room(behind.ex_fire),
            age: inputs.age,
            active: inputs.active,
        };
        let select = self.select.eval(&select_inputs);
        let issue_inputs = PassIssueInputs {
            rst,
            offers: inputs.offers,
            take: select.take,
            picked,
            ex_fire: behind.ex_fire,
        };
        FrontSignals {
            sharing,
            issue: self.issue.eval(&issue_inputs),
            select_inputs,
            select,
            issue_inputs,
        }
    }

    #[inline(always)]
    pub(super) fn commit(&mut self, inputs: &SmPathInputs, behind: &Behind, s: &FrontSignals) {
        let taken = s.issue.taken;
        self.commit_sharing(inputs, behind, s);
        let take = taken.map(|t| WarpKind {
            warp: t.control.warp.into(),
            kind: t.control.kind,
        });
        self.eligibility.count(inputs.rst, take, behind.retire);
        let predicted = taken.filter(|t| kind::is_predicted(t.control.kind));
        self.predictor.commit(&PredictorInputs {
            rst: inputs.rst,
            clear: inputs.kernel_clear,
            pass: behind.resolved,
            set: predicted.map(|t| PredictedIssue {
                pc: t.control.pc,
                base: t.last_pass.into(),
            }),
            hold: behind.ex_hold,
        });
        self.select.commit_known(&s.select_inputs, &s.select);
        self.issue.commit_known(&s.issue_inputs, &s.issue);
    }

    #[inline(always)]
    fn commit_sharing(&mut self, inputs: &SmPathInputs, behind: &Behind, s: &FrontSignals) {
        let acquire = s.select.take;
        self.sharing
            .commit(inputs, behind.release, &s.sharing, acquire);
    }

    /// Nothing but a counter moves at the clock edge.
    #[inline(always)]
    pub(super) fn rests(&self, s: &FrontSignals) -> bool {
        s.issue.iss.is_none()
            && self.sharing.rests(&s.sharing)
            && self.select.rests(&s.select_inputs, &s.select)
            && self.predictor.rests()
    }

    /// Cycles until the mask ends, where that is looked at.
    #[inline(always)]
    pub(super) fn quiet_cycles(&self, aware: bool, ex_hold: bool) -> u64 {
        match self.predictor.remaining() {
            _ if ex_hold && self.predictor.has_counted() => 1,
            masked if aware && masked > 0 && !ex_hold => masked.into(),
            _ => u64::MAX,
        }
    }

    /// That many or fewer clock edges while it rests.
    #[inline(always)]
    pub(super) fn pass_over(
        &mut self,
        cycles: u64,
        inputs: &SmPathInputs,
        behind: &Behind,
        s: &FrontSignals,
    ) {
        if !behind.ex_hold {
            self.predictor.count_down(cycles);
        }
        // What releases have changed settles in the first of the cycles.
        self.commit_sharing(inputs, behind, s);
    }
}
