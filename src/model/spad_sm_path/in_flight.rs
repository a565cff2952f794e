//! Instructions in flight per warp, on the memory and on the other path
//! (docs/microarchitecture.md, section 18.2).

use crate::model::lanes::WarpMask;

/// A 4-bit counter per warp, with the masks that eligibility asks for.
#[derive(Clone, Debug)]
pub(super) struct Counters {
    count: Vec<u8>,
    /// Warps with nothing in flight.
    pub(super) zero: WarpMask,
    /// Warps with 15 in flight.
    pub(super) full: WarpMask,
}

impl Counters {
    pub(super) fn new(warps: usize) -> Self {
        Counters {
            count: vec![0; warps],
            zero: WarpMask::MAX,
            full: 0,
        }
    }

    pub(super) fn add(&mut self, warp: usize) {
        self.set(warp, self.count[warp].wrapping_add(1));
    }

    pub(super) fn remove(&mut self, warp: usize) {
        self.set(warp, self.count[warp].wrapping_sub(1));
    }

    fn set(&mut self, warp: usize, count: u8) {
        let count = count & 15;
        self.count[warp] = count;
        let bit = 1 << warp;
        self.zero = (self.zero & !bit) | (WarpMask::from(count == 0) << warp);
        self.full = (self.full & !bit) | (WarpMask::from(count == 15) << warp);
    }
}
