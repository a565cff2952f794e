//! Front of the path, from the offers to EX: the units that decide the issue, in the
//! order in which an instruction passes them (microarchitecture/issue.md).

use super::SmPathInputs;
use super::sharing::SharingOutputs;
use crate::config::Config;
use crate::model::kind;
use crate::model::spad_conflict_predictor::{ConflictPredictor, PredictedIssue, PredictorInputs};
use crate::model::spad_degree_accumulator::ResolvedPass;
use crate::model::spad_eligibility::{Eligibility, EligibilityInputs, WarpKind};
use crate::model::spad_issue_select::{IssueSelect, SelectInputs, SelectOutputs};
use crate::model::spad_pass_issue::{PassIssue, PassIssueInputs, PassIssueOutputs};
use crate::model::spad_relssp::Release;

#[derive(Clone, Debug)]
pub(crate) struct Front {
    eligibility: Eligibility,
    pub(crate) predictor: ConflictPredictor,
    pub(crate) select: IssueSelect,
    pub(super) issue: PassIssue,
}

/// Feedback from the stages after issue to these units.
#[derive(Clone, Copy)]
pub(crate) struct Feedback {
    /// The pass in EX leaves it.
    pub(super) ex_fire: bool,
    /// The pass in EX is held.
    pub(crate) ex_hold: bool,
    /// The RELSSP in EX, if there is one and it leaves.
    pub(crate) release: Option<Release>,
    pub(super) atom_infl: bool,
    /// The instruction whose last result is written back.
    pub(super) retire: Option<WarpKind>,
    pub(super) resolved: Option<ResolvedPass>,
}

/// Outputs of the units in one cycle, and the inputs they had.
pub(crate) struct FrontSignals<'a> {
    pub(crate) select_inputs: SelectInputs<'a>,
    pub(crate) select: SelectOutputs,
    issue_inputs: PassIssueInputs<'a>,
    pub(crate) issue: PassIssueOutputs,
}

impl FrontSignals<'_> {
    /// An ATOMIC is taken.
    pub(crate) fn takes_atomic(&self) -> bool {
        let taken = self.issue.taken;
        taken.is_some_and(|t| t.control.kind == kind::ATOMIC)
    }
}

impl Front {
    pub(super) fn new(config: &Config) -> Self {
        let warps = config.path.warps as usize;
        Front {
            eligibility: Eligibility::new(warps),
            predictor: ConflictPredictor::new(config),
            select: IssueSelect::new(warps, config.path.ahead),
            issue: PassIssue::new(config),
        }
    }

    /// The outputs of all units in this cycle.
    #[inline(always)]
    pub(crate) fn eval<'a>(
        &self,
        inputs: &SmPathInputs<'a>,
        feedback: &Feedback,
        sharing: &SharingOutputs,
    ) -> FrontSignals<'a> {
        let (cfg, rst, atom_infl) = (&inputs.cfg, inputs.rst, feedback.atom_infl);
        let picked = self.select.picked();
        let ex = self.issue.ex();
        let eligibility_inputs = EligibilityInputs {
            rst,
            barrel: cfg.barrel,
            offers: inputs.offers,
            allow: sharing.access.allow,
            busy: self.issue.busy(picked),
            atom_infl,
            ex_relssp: ex.filter(|c| c.kind == kind::RELSSP).map(|c| c.warp.into()),
            take: None,
            retire: feedback.retire,
        };
        let eligible = self.eligibility.eval(&eligibility_inputs);
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
            event: inputs.launch.is_some() || inputs.exit.is_some() || feedback.release.is_some(),
            mask: predicted.mask,
            mask_lasts: predicted.lasts,
            mask_likely: predicted.learned,
            atom_infl,
            room: self.issue.room(feedback.ex_fire),
            age: inputs.age,
            active: inputs.active,
        };
        let select = self.select.eval(&select_inputs);
        let issue_inputs = PassIssueInputs {
            rst,
            offers: inputs.offers,
            take: select.take,
            picked,
            ex_fire: feedback.ex_fire,
        };
        FrontSignals {
            select_inputs,
            select,
            issue: self.issue.eval(&issue_inputs),
            issue_inputs,
        }
    }

    #[inline(always)]
    pub(crate) fn commit(&mut self, inputs: &SmPathInputs, feedback: &Feedback, s: &FrontSignals) {
        let taken = s.issue.taken;
        let take = taken.map(|t| WarpKind {
            warp: t.control.warp.into(),
            kind: t.control.kind,
        });
        self.eligibility.commit(inputs.rst, take, feedback.retire);
        let predicted = taken.filter(|t| kind::is_predicted(t.control.kind));
        self.predictor.commit(&PredictorInputs {
            rst: inputs.rst,
            clear: inputs.kernel_clear,
            pass: feedback.resolved,
            set: predicted.map(|t| PredictedIssue {
                pc: t.control.pc,
                base: t.last_pass.into(),
            }),
            hold: feedback.ex_hold,
        });
        self.select.commit(&s.select_inputs, &s.select);
        self.issue.commit(&s.issue_inputs, &s.issue);
    }
}
