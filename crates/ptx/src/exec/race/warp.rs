//! What the lanes of a warp know: mostly all the same, and what single lanes
//! know besides.

use super::lanes;
use super::seen::Knowledge;

/// What fences make visible, by their kinds: to the block, ...
pub const FENCED: usize = 0;
/// ... to other blocks, ...
pub const PUBLISHED: usize = 1;
/// ... to asynchronous accesses to shared memory, ...
pub const PROXIED_SHARED: usize = 2;
/// ... to the blocks of the cluster, ...
pub const NEAR: usize = 3;
/// ... to asynchronous accesses to global memory.
pub const PROXIED_GLOBAL: usize = 4;

/// What only the lane itself is known to have put behind a fence, by the kinds of
/// [`Knowledge::by_fences`].
pub type Own = [[u32; 32]; 5];

/// A warp of the block.
#[derive(Clone, Debug, Default)]
pub struct Warp {
    /// Lanes that have not exited.
    pub alive: u32,
    /// Lanes that have exited, and did something since the last barrier of the block:
    /// nothing that the others do orders it.
    pub left: u32,
    /// Lanes that did something since a barrier of the block, and the moment of that.
    acted: (u32, u32),
    /// All lanes have seen what each of them did before.
    pub met: u32,
    /// When others could last see what some lanes did.
    pub shown: u32,
    /// What all lanes know.
    pub know: Knowledge,
    /// What single lanes know besides; of those in `apart`.
    pub lanes: Vec<Knowledge>,
    pub apart: u32,
    /// What the lanes in a row have seen of each other.
    pub rows: Option<Box<[[u32; 32]; 32]>>,
    pub own: Option<Box<Own>>,
}

impl Warp {
    pub fn part(&self, lane: u32) -> Option<&Knowledge> {
        (self.apart >> lane & 1 != 0).then(|| &self.lanes[lane as usize])
    }

    pub fn part_mut(&mut self, lane: u32) -> &mut Knowledge {
        self.lanes.resize_with(32, Knowledge::default);
        self.apart |= 1 << lane;
        &mut self.lanes[lane as usize]
    }

    /// Lanes that a block begins with.
    pub fn start(&mut self, alive: u32) {
        (self.alive, self.left, self.acted) = (alive, 0, (0, 0));
    }

    /// Whether these are all that others may not have seen everything of: those that
    /// are there, and those that have exited since they did something.
    pub fn is_whole(&self, mask: u32) -> bool {
        (self.alive | self.left) & !mask == 0
    }

    /// Lanes do something after the barrier of the block at moment `base`.
    #[inline(always)]
    pub fn act(&mut self, mask: u32, base: u32) {
        if self.acted.0 != base {
            self.acted = (base, 0);
        }
        self.acted.1 |= mask;
    }

    /// Lanes exit.
    pub fn exit(&mut self, gone: u32, base: u32) {
        self.act(0, base);
        self.left |= self.alive & gone & self.acted.1;
        self.alive &= !gone;
    }

    /// All lanes know what single ones do.
    pub fn gather(&mut self, number: u8) {
        for lane in lanes(std::mem::take(&mut self.apart)) {
            let part = std::mem::take(&mut self.lanes[lane as usize]);
            self.know.join(&part);
        }
        self.rows = None;
        if let Some(own) = self.own.take() {
            for (part, moments) in self.know.by_fences().into_iter().zip(own.iter()) {
                for (lane, &moment) in (0..).zip(moments).filter(|(_, m)| **m != 0) {
                    part.raise(number, 1 << lane, moment);
                }
            }
        }
    }

    pub fn clear(&mut self) {
        self.know.clear();
        lanes(std::mem::take(&mut self.apart)).for_each(|l| self.lanes[l as usize].clear());
        (self.rows, self.own) = (None, None);
    }
}
