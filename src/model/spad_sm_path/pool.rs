//! Operands and results of the passes in flight. Stages and queues move
//! handles; the lane vectors stay in their place.

use crate::model::lanes::{LaneMask, MAX_LANES, lanes_of};

/// Who and what a pass is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Control {
    pub(super) warp: u8,
    pub(super) kind: u8,
    pub(super) tag: u8,
    pub(super) pc: u16,
    pub(super) pass: u16,
    pub(super) last: bool,
}

/// A pass in flight behind EX.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pass {
    pub(super) control: Control,
    /// Its place in the pool.
    pub(super) slot: u8,
}

/// Operands, later the result, of one pass.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) mask: LaneMask,
    pub(super) aop: u8,
    pub(super) bank: [u8; MAX_LANES],
    pub(super) row: [u16; MAX_LANES],
    pub(super) lock: [u16; MAX_LANES],
    pub(super) be: [u8; MAX_LANES],
    pub(super) data: [u64; MAX_LANES],
    pub(super) success: LaneMask,
    pub(super) error: bool,
    pub(super) degree: u32,
}

impl Slot {
    pub(super) const EMPTY: Slot = Slot {
        mask: 0,
        aop: 0,
        bank: [0; MAX_LANES],
        row: [0; MAX_LANES],
        lock: [0; MAX_LANES],
        be: [0; MAX_LANES],
        data: [0; MAX_LANES],
        success: 0,
        error: false,
        degree: 0,
    };

    /// Data of the lanes in `mask`, of `lanes` in all; the others are zero.
    pub(super) fn set_data(&mut self, mask: LaneMask, data: &[u64], lanes: usize) {
        self.mask = mask;
        self.data[..lanes].copy_from_slice(&data[..lanes]);
        let all = LaneMask::MAX >> (MAX_LANES - lanes);
        for lane in lanes_of(all & !mask) {
            self.data[lane] = 0;
        }
    }
}

/// Slots, the free ones in a stack. It grows to as many as are ever in flight.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    slots: Vec<Slot>,
    free: Vec<u8>,
}

impl Pool {
    pub(super) fn new() -> Self {
        Pool {
            slots: vec![Slot::EMPTY],
            free: vec![0],
        }
    }

    pub(super) fn take(&mut self) -> u8 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::EMPTY);
            (self.slots.len() - 1) as u8
        })
    }

    pub(super) fn give(&mut self, slot: u8) {
        self.free.push(slot);
    }

    pub(super) fn at(&self, slot: u8) -> &Slot {
        &self.slots[usize::from(slot)]
    }

    pub(super) fn at_mut(&mut self, slot: u8) -> &mut Slot {
        &mut self.slots[usize::from(slot)]
    }

    #[cfg(test)]
    pub(super) fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
