//! Turns of a block: which warps go on, and when its barriers are looked at.

use super::Worker;
use crate::exec::warp::Together;
use crate::exec::warp::step::draw;

/// Turns of warps that can go on after which barriers are looked at all the same.
const PATIENCE: u32 = 8;

impl Worker<'_> {
    /// Every warp once, and what waits at a barrier that all have reached: whether some
    /// can go on. Warps that spin may wait for others which are at a barrier of theirs.
    pub fn advance(&mut self) -> bool {
        let running = self.pass();
        if self.machine.stop {
            return false;
        }
        self.turns = self.turns.wrapping_add(1);
        if running && !self.turns.is_multiple_of(PATIENCE) {
            return true;
        }
        running | self.release_barriers()
    }

    /// When instructions that name lanes run in this turn.
    pub(super) fn together(&self) -> Together {
        if (self.turns + 1).is_multiple_of(PATIENCE) {
            Together::Complete
        } else {
            Together::Idle
        }
    }

    /// Whether all threads have exited.
    pub fn has_ended(&self) -> bool {
        self.warps.iter().all(|warp| warp.paths.is_empty())
    }

    /// The order of the warps in a turn.
    pub(super) fn order(&mut self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.warps.len()).collect();
        if let Some(state) = &mut self.machine.draws {
            for at in (1..order.len()).rev() {
                order.swap(at, draw(state, at as u32 + 1) as usize);
            }
        }
        order
    }
}
