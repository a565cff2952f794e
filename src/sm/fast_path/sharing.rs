//! Who has released, and who may touch the shared part: what the units say
//! stays as it is until a block starts, or threads exit or release.

use crate::model::spad_sm_path::{Sharing, SharingOutputs, Signals, SmPathInputs};
use crate::model::{Release, RelsspOutputs};

/// What the units of [`Sharing`] said last, where they would say it again.
#[derive(Default)]
pub(super) struct Answers {
    /// Of relssp.
    released: Option<RelsspOutputs>,
    /// Of all, where no block shares, so that the offers do not count; and the
    /// `cfg_sharing` under which they said it.
    all: Option<(bool, SharingOutputs)>,
}

impl Answers {
    /// The outputs of this cycle.
    #[inline(always)]
    pub(super) fn eval(
        &self,
        units: &Sharing,
        inputs: &SmPathInputs,
        release: Option<Release>,
    ) -> SharingOutputs {
        if let Some(known) = self.all(inputs, release) {
            return *known;
        }
        // A copy: what the rest of the path looks at stays in registers.
        let inputs = *inputs;
        match self.released {
            Some(now) if !has_event(&inputs, release) => units.eval_behind(&inputs, now),
            _ => units.eval(&inputs, release),
        }
    }

    /// The clock edge.
    #[inline(always)]
    pub(super) fn commit(&mut self, units: &mut Sharing, inputs: &SmPathInputs, s: &Signals) {
        let release = s.behind.release;
        if self.all(inputs, release).is_some() {
            return;
        }
        let (inputs, outputs) = (*inputs, *s.sharing);
        units.commit(&inputs, release, &outputs, s.front.select.take);
        let sharing = inputs.cfg.sharing;
        let lasts = !has_event(&inputs, release);
        let alike = lasts && outputs.is_settled() && !units.access.shares(sharing);
        self.released = lasts.then_some(outputs.now);
        self.all = alike.then_some((sharing, outputs));
    }

    fn all(&self, inputs: &SmPathInputs, release: Option<Release>) -> Option<&SharingOutputs> {
        let (sharing, outputs) = self.all.as_ref()?;
        let alike = *sharing == inputs.cfg.sharing && !has_event(inputs, release);
        alike.then_some(outputs)
    }
}

/// Something is launched, released or ends, or all is reset.
fn has_event(inputs: &SmPathInputs, release: Option<Release>) -> bool {
    inputs.rst || inputs.launch.is_some() || inputs.exit.is_some() || release.is_some()
}
