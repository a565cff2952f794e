//! Barriers of a block, and of a number of its threads (microarchitecture/sm-model.md).

use super::Sm;
use crate::sm::instr::Meeting;
use crate::sm::warp::{NEVER, State};

/// Threads that have arrived at a barrier of a number of threads, and do not wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    number: u8,
    threads: u32,
    cycle: u64,
}

impl Sm<'_> {
    /// The lanes `active` of warp `w` come to a barrier in cycle `arrived`; never while
    /// that is not known.
    pub(super) fn come_to(&mut self, w: usize, at: Meeting, active: u64, arrived: u64) {
        let warp = &mut self.warps[w];
        let slot = warp.slot;
        // A warp counts whole, whatever lanes have exited or never were there.
        let threads = if active == warp.live {
            self.config.warp_size
        } else {
            active.count_ones()
        };
        if !at.arrives {
            warp.state = State::Barrier {
                at,
                threads,
                arrived,
            };
        } else if arrived != NEVER {
            self.grid.arrivals[slot].push(Arrival {
                number: at.number,
                threads,
                cycle: arrived,
            });
        }
        match at.threads {
            0 => self.meet(slot),
            threads => self.meet_part(slot, at.number, threads.into()),
        }
    }

    /// Releases the warps of `slot` if all of them wait at one barrier.
    pub(super) fn meet(&mut self, slot: usize) {
        let mut met = None;
        let mut last = self.cycle;
        let mut waiting = Vec::new();
        for w in self.layout.warps(slot) {
            match self.warps[w].state {
                State::Ended => {}
                State::Barrier { at, arrived, .. } if arrived != NEVER && at.threads == 0 => {
                    if met.is_some_and(|m| m != at) {
                        return;
                    }
                    met = Some(at);
                    last = last.max(arrived);
                    waiting.push(w);
                }
                _ => return,
            }
        }
        if met.is_some() {
            self.let_go(&waiting, last);
            self.statistics.phases.barrier_met(slot, last);
        }
    }

    /// Releases those of `slot` that wait at the barrier with that number when so many
    /// threads have come, the first of them.
    fn meet_part(&mut self, slot: usize, number: u8, threads: u32) {
        let arrivals = &self.grid.arrivals[slot];
        let own = arrivals.iter().enumerate().filter(|a| a.1.number == number);
        let mut come: Vec<(u64, u32, Who)> = own
            .map(|(at, a)| (a.cycle, a.threads, Who::Arrival(at)))
            .collect();
        for w in self.layout.warps(slot) {
            if let State::Barrier {
                at,
                threads,
                arrived,
            } = self.warps[w].state
                && at.threads != 0
                && at.number == number
                && arrived != NEVER
            {
                come.push((arrived, threads, Who::Warp(w)));
            }
        }
        come.sort_by_key(|c| c.0);
        let mut sum = 0;
        let enough = come.iter().position(|c| {
            sum += c.1;
            sum >= threads
        });
        let Some(end) = enough else {
            return;
        };
        come.truncate(end + 1);
        let last = come[end].0.max(self.cycle);
        let warps = come.iter().filter_map(|c| match c.2 {
            Who::Warp(w) => Some(w),
            Who::Arrival(_) => None,
        });
        let warps: Vec<usize> = warps.collect();
        let gone = |at: usize| come.iter().any(|c| c.2 == Who::Arrival(at));
        let mut at = 0;
        self.grid.arrivals[slot].retain(|_| {
            at += 1;
            !gone(at - 1)
        });
        self.let_go(&warps, last);
    }

    /// Lets warps go on that have waited at a barrier until cycle `last`.
    fn let_go(&mut self, warps: &[usize], last: u64) {
        let front_end = if self.is_strict() {
            u64::from(self.config.sm.frontend_stages)
        } else {
            0
        };
        for &w in warps {
            let warp = &mut self.warps[w];
            warp.state = State::Running;
            warp.barrier_until = last + 1;
            warp.ready_at = last + 1 + front_end;
            let at = warp.ready_at;
            self.check_before(w, at);
        }
        self.grid.barriers_until = self.grid.barriers_until.max(last + 1);
    }
}

/// Who has come to a barrier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    /// An entry of the arrivals.
    Arrival(usize),
    /// A warp that waits.
    Warp(usize),
}
