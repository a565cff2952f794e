//! The contents of the scratchpad's stages: an access, and its groups on their way to the response.

use super::{ResponseControl, ScratchpadInputs, op};
use crate::model::lanes::{LaneMask, MAX_LANES, copy_words};

/// An access before banks and locks.
#[derive(Clone, Debug)]
pub(super) struct Request<T> {
    pub(super) access: bool,
    pub(super) op: u8,
    pub(super) mask: LaneMask,
    pub(super) bank: [u8; MAX_LANES],
    pub(super) row: [u16; MAX_LANES],
    pub(super) lock: [u16; MAX_LANES],
    pub(super) data: [u64; MAX_LANES],
    pub(super) be: [u8; MAX_LANES],
    pub(super) tag: T,
    pub(super) error: bool,
}

impl<T: Copy + Default> Request<T> {
    pub(super) fn reset() -> Self {
        Request {
            access: false,
            op: op::PASS,
            mask: 0,
            bank: [0; MAX_LANES],
            row: [0; MAX_LANES],
            lock: [0; MAX_LANES],
            data: [0; MAX_LANES],
            be: [0; MAX_LANES],
            tag: T::default(),
            error: false,
        }
    }

    /// Whether the request takes or clears locks.
    pub(super) fn locks(&self) -> bool {
        self.access && matches!(self.op, op::LDLK | op::STUL)
    }

    /// Takes bank and row of the lanes, and what the operation uses of their
    /// operands; the rest is not worth copying.
    pub(super) fn take_lanes(&mut self, inputs: &ScratchpadInputs<T>, lanes: usize) {
        self.bank[..lanes].copy_from_slice(&inputs.req_bank[..lanes]);
        self.row[..lanes].copy_from_slice(&inputs.req_row[..lanes]);
        let stores = matches!(self.op, op::STORE | op::STUL);
        if matches!(self.op, op::LDLK | op::STUL) {
            self.lock[..lanes].copy_from_slice(&inputs.req_lock[..lanes]);
        }
        if stores {
            self.be[..lanes].copy_from_slice(&inputs.req_be[..lanes]);
        }
        if stores || self.op == op::PASS {
            self.data[..lanes].copy_from_slice(&inputs.req_data[..lanes]);
        }
    }
}

/// A group as the arbiter gives it, in one of its windows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Grant {
    pub(super) valid: bool,
    /// The last of its access, in its last window.
    pub(super) last: bool,
    pub(super) served: LaneMask,
    pub(super) leader: LaneMask,
    pub(super) window: u32,
    pub(super) degree: u32,
}

impl Grant {
    pub(super) fn ends_access(&self) -> bool {
        self.valid && self.last
    }
}

/// MEM1 where it comes before banks and locks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestStage {
    pub(super) grant: Grant,
    /// The request that the group belongs to.
    pub(super) of: usize,
}

/// A group after the banks.
#[derive(Clone, Debug)]
pub(super) struct Group<T> {
    /// A group is here; not every one is the last of its access.
    pub(super) valid: bool,
    pub(super) last: bool,
    /// Lanes for which it brings a word.
    pub(super) brings: LaneMask,
    pub(super) control: ResponseControl<T>,
}

impl<T: Default> Group<T> {
    pub(super) fn reset() -> Self {
        Group {
            valid: false,
            last: false,
            brings: 0,
            control: ResponseControl::default(),
        }
    }

    pub(super) fn ends_access(&self) -> bool {
        self.valid && self.last
    }
}

/// MEM2 of four stages: the banks show the words of its group, which the next
/// edge puts into registers.
#[derive(Clone, Debug)]
pub(super) struct DataStage<T> {
    pub(super) group: Group<T>,
    pub(super) words: [u64; MAX_LANES],
}

impl<T: Copy + Default> DataStage<T> {
    pub(super) fn reset() -> Self {
        DataStage {
            group: Group::reset(),
            words: [0; MAX_LANES],
        }
    }

    /// The group goes to the response stage, its words to those before it.
    pub(super) fn leave(
        &mut self,
        response: &mut Group<T>,
        words: &mut [u64; MAX_LANES],
        lanes: usize,
    ) {
        if self.group.valid {
            copy_words(self.group.brings, &self.words, words, lanes);
        }
        response.clone_from(&self.group);
    }
}
