//! Knowledge of the lanes of a warp: one vector clock for all, and more for single lanes
//! where they differ.

use super::lanes;
use super::seen::Knowledge;

/// Kind of [`Knowledge::by_fences`]: what fences make visible to the block.
pub const FENCED: usize = 0;
/// Kind of what fences make visible to other blocks.
pub const PUBLISHED: usize = 1;
/// Kind of what proxy fences make visible to asynchronous accesses to shared memory.
pub const PROXIED_SHARED: usize = 2;
/// Kind of what fences make visible to the blocks of the cluster.
pub const NEAR: usize = 3;
/// Kind of what proxy fences make visible to asynchronous accesses to global memory.
pub const PROXIED_GLOBAL: usize = 4;

/// By kind of [`Knowledge::by_fences`] and lane, the moment of the lane's last fence. Only
/// the lane itself is known to be behind it.
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
    /// The moment before which all lanes have seen each other's accesses.
    pub met: u32,
    /// The last moment at which others could learn of accesses of the warp.
    pub shown: u32,
    /// Knowledge of all lanes.
    pub know: Knowledge,
    /// Further knowledge of the single lanes in `apart`.
    pub lanes: Vec<Knowledge>,
    pub apart: u32,
    /// By lane, the moments before which it has seen each other lane.
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

    /// Whether `mask` has every lane whose accesses others may not have seen: those that
    /// have not exited, and those that exited since they did something.
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

    /// Makes the knowledge of single lanes that of all.
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
