//! The memory of the path: the scratchpad, as in the RTL, or a window of
//! accesses whose bank conflicts overlap (`[sm] window`), which exists only in
//! `sim`.

use crate::config::Config;
use crate::model::pass::AccessTag;
use crate::model::spad_lock_unit::LockBits;
use crate::model::spad_scratchpad::{ResponseControl, Scratchpad, ScratchpadInputs};
use crate::model::spad_window::{Window, WindowRequest};

/// The banks, with what comes before them.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the scratchpad is asked in every cycle that is simulated"
)]
pub(crate) enum PathBanks {
    /// The groups of an access are served before those of the next.
    Scratchpad(Scratchpad<AccessTag>),
    /// Each bank serves the oldest access that waits for it.
    Window(Box<Window<AccessTag>>),
}

use PathBanks::{Scratchpad as InOrder, Window as Overlapping};

impl PathBanks {
    /// The banks of the RTL.
    pub(crate) fn new(config: &Config) -> Self {
        InOrder(Scratchpad::new(config))
    }

    /// A window of this many accesses.
    pub(crate) fn window(config: &Config, accesses: u32) -> Self {
        Overlapping(Box::new(Window::of(config, accesses, false)))
    }

    #[inline(always)]
    pub(crate) fn advances(&self, resp_ready: bool) -> bool {
        match self {
            InOrder(scratchpad) => scratchpad.advances(resp_ready),
            Overlapping(window) => resp_ready || !window.response().valid,
        }
    }

    #[inline(always)]
    pub(crate) fn req_ready(&self, resp_ready: bool) -> bool {
        match self {
            InOrder(scratchpad) => scratchpad.req_ready(resp_ready),
            Overlapping(window) => window.req_ready(None, resp_ready),
        }
    }

    /// The tag of the access in MEM0; of a window, of the oldest.
    pub(crate) fn mem0_tag(&self) -> Option<&AccessTag> {
        match self {
            InOrder(scratchpad) => scratchpad.mem0_tag(),
            Overlapping(window) => window.oldest(),
        }
    }

    #[inline(always)]
    pub(crate) fn mem0_valid(&self) -> bool {
        match self {
            InOrder(scratchpad) => scratchpad.mem0_valid(),
            Overlapping(window) => window.oldest().is_some(),
        }
    }

    #[inline(always)]
    pub(crate) fn stages(&self) -> u32 {
        match self {
            InOrder(scratchpad) => scratchpad.stages(),
            Overlapping(window) => window.response().valid.into(),
        }
    }

    #[inline(always)]
    pub(crate) fn response(&self) -> ResponseControl<AccessTag> {
        match self {
            InOrder(scratchpad) => scratchpad.response(),
            Overlapping(window) => window.response(),
        }
    }

    #[inline(always)]
    pub(crate) fn response_data(&self, out: &mut [u64]) {
        match self {
            InOrder(scratchpad) => scratchpad.response_data(out),
            Overlapping(window) => window.response_data(out),
        }
    }

    /// The access in MEM0 stays there for another cycle, whatever else happens.
    #[inline(always)]
    pub(crate) fn busy_more(&self) -> bool {
        match self {
            InOrder(scratchpad) => scratchpad.busy_more(),
            Overlapping(_) => false,
        }
    }

    #[inline(always)]
    pub(crate) fn commit(&mut self, inputs: &ScratchpadInputs<AccessTag>) {
        let window = match self {
            InOrder(scratchpad) => return scratchpad.commit(inputs),
            Overlapping(window) => window,
        };
        let request = inputs.req_valid.then_some(WindowRequest {
            op: inputs.req_op,
            atomic: None,
            mask: inputs.req_mask,
            bank: inputs.req_bank,
            row: inputs.req_row,
            data: inputs.req_data,
            be: inputs.req_be,
            tag: inputs.req_tag,
        });
        window.commit(inputs.rst, request, inputs.resp_ready);
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            InOrder(scratchpad) => scratchpad.is_empty(),
            Overlapping(window) => window.oldest().is_none(),
        }
    }

    pub(crate) fn word_at(&self, bank: usize, row: usize) -> u64 {
        match self {
            InOrder(scratchpad) => scratchpad.word_at(bank, row),
            Overlapping(window) => window.word_at(bank, row),
        }
    }

    pub(crate) fn preload(&mut self, bank: usize, row: usize, word: u64) {
        match self {
            InOrder(scratchpad) => scratchpad.preload(bank, row, word),
            Overlapping(window) => window.preload(bank, row, word),
        }
    }

    /// The lock bits; a window has none.
    pub(crate) fn held_locks(&self) -> Option<&LockBits> {
        match self {
            InOrder(scratchpad) => Some(scratchpad.held_locks()),
            Overlapping(_) => None,
        }
    }
}
