//! State of scratchpad sharing for the fast path: the warps that have released, and
//! those that may access the shared part. The units' outputs stay the same until a
//! block starts, or threads exit or release.

use crate::model::spad_sm_path::{Sharing, SharingOutputs, SmPathInputs};
use crate::model::{Release, RelsspOutputs};

/// The last outputs of the units of [`Sharing`], while they are still valid.
#[derive(Default)]
pub(super) struct Answers {
    /// The outputs of relssp.
    released: Option<RelsspOutputs>,
    /// Outputs of all units, valid while no block shares, so that offers do not
    /// matter, and the `cfg_sharing` that they depend on.
    all: Option<(bool, SharingOutputs)>,
}

impl Answers {
    /// The outputs, if they are still valid.
    #[inline(always)]
    pub(super) fn known(
        &self,
        inputs: &SmPathInputs,
        release: Option<Release>,
    ) -> Option<&SharingOutputs> {
        let (sharing, outputs) = self.all.as_ref()?;
        let alike = *sharing == inputs.cfg.sharing && !has_event(inputs, release);
        alike.then_some(outputs)
    }

    /// Computes the outputs in a cycle in which they may have changed.
    #[inline(never)]
    pub(super) fn ask(
        &self,
        units: &Sharing,
        inputs: &SmPathInputs,
        release: Option<Release>,
    ) -> SharingOutputs {
        match self.released {
            Some(now) if !has_event(inputs, release) => units.eval_behind(inputs, now),
            _ => units.eval(inputs, release),
        }
    }

    /// The clock edge of such a cycle.
    #[inline(never)]
    pub(super) fn commit(
        &mut self,
        units: &mut Sharing,
        inputs: &SmPathInputs,
        release: Option<Release>,
        outputs: SharingOutputs,
        take: Option<usize>,
    ) {
        units.commit(inputs, release, &outputs, take);
        let sharing = inputs.cfg.sharing;
        let lasts = !has_event(inputs, release);
        let alike = lasts && outputs.is_settled() && !units.access.shares(sharing);
        self.released = lasts.then_some(outputs.now);
        self.all = alike.then_some((sharing, outputs));
    }
}

/// Something is launched, released or ends, or all is reset.
fn has_event(inputs: &SmPathInputs, release: Option<Release>) -> bool {
    inputs.rst || inputs.launch.is_some() || inputs.exit.is_some() || release.is_some()
}
