//! Turns of a block: which warps go on, and when its barriers are looked at.

use super::Worker;
use crate::exec::machine::Machine;
use crate::exec::machine::draw::shuffle;
use crate::exec::warp::step::Stopped;
use crate::exec::warp::{State, Together, Warp};

/// Turns of warps that can go on after which barriers are looked at all the same.
pub(super) const PATIENCE: u32 = 8;

impl Worker<'_> {
    /// Every warp once, and what waits at a barrier that all have reached: whether some
    /// can go on. Warps that spin may wait for others which are at a barrier of theirs.
    pub fn advance(&mut self) -> bool {
        self.machine.progressed = false;
        let running = self.pass();
        if self.machine.stop {
            return false;
        }
        if running && !self.machine.progressed && !self.release_barriers() {
            self.split_all();
        }
        self.turns = self.turns.wrapping_add(1);
        if running && !self.turns.is_multiple_of(PATIENCE) {
            return true;
        }
        running | self.release_barriers()
    }

    /// Every warp once: whether some can go on.
    fn pass(&mut self) -> bool {
        let observed = self.observed;
        let together = self.together();
        let mut running = false;
        let order = self.order();
        for index in order {
            let warp = &mut self.warps[index];
            if warp.paths.is_empty() {
                continue;
            }
            warp.enter(&mut self.machine, index as u32);
            let how = (observed, together);
            running |= Self::turn_of(&mut self.machine, warp, index as u32, how);
            if self.machine.stop {
                return false;
            }
        }
        running
    }

    /// Runs the paths of a warp: whether some can go on.
    fn turn_of(
        m: &mut Machine,
        warp: &mut Warp,
        index: u32,
        (observed, together): (bool, Together),
    ) -> bool {
        warp.resume_all(m);
        let mut more = false;
        let mut path = 0;
        while path < warp.paths.len() {
            if warp.paths[path].state == State::Ready {
                let stopped = if observed {
                    warp.run::<true>(m, path)
                } else {
                    warp.run::<false>(m, path)
                };
                m.progressed |= stopped != Stopped::Stuck;
                match stopped {
                    Stopped::Done => {
                        warp.paths.remove(path);
                        continue;
                    }
                    Stopped::Turn | Stopped::Stuck => more = true,
                    Stopped::Waiting => {}
                    Stopped::Abort => {
                        m.stop = true;
                        return false;
                    }
                }
            }
            path += 1;
        }
        if warp.paths.len() > 1 {
            warp.merge();
        }
        let met = warp.run_together(m, index, together);
        m.progressed |= met;
        more | met
    }

    /// Splits every path that can run: all of them are in loops that wait, perhaps for
    /// lanes of their own warp.
    fn split_all(&mut self) {
        for warp in &mut self.warps {
            for path in 0..warp.paths.len() {
                if warp.paths[path].state == State::Ready {
                    warp.split(path);
                }
            }
        }
    }

    /// The condition under which instructions that name lanes run in this turn.
    fn together(&self) -> Together {
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
    fn order(&mut self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.warps.len()).collect();
        if let Some(state) = &mut self.machine.draws {
            shuffle(state, &mut order);
        }
        order
    }
}
