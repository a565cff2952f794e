//! The barriers of a block: who waits at them, and whom they let go.

use super::Worker;
use crate::exec::api::FindingKind;
use crate::exec::machine::Machine;
use crate::exec::machine::written::all_written;
use crate::exec::registers::Mask;
use crate::exec::warp::barrier::{note_divergent, reduced};
use crate::exec::warp::{State, Warp};

/// Lanes of a warp that wait at a barrier.
struct Waiting {
    number: u32,
    count: Option<u32>,
    warp: usize,
    path: usize,
    lanes: u32,
}

impl Worker<'_> {
    /// Releases the barriers of the block that all threads have reached; returns
    /// whether there was one.
    pub fn release_barriers(&mut self) -> bool {
        let mut released = false;
        loop {
            // Anew for each, since parts of a warp that go on may join.
            let waiting = self.waiting();
            let mut numbers: Vec<u32> = waiting.iter().map(|w| w.number).collect();
            numbers.sort_unstable();
            numbers.dedup();
            let mut went = numbers.into_iter().map(|number| {
                let here: Vec<&Waiting> = waiting.iter().filter(|w| w.number == number).collect();
                self.release_barrier(number, &here)
            });
            let went = went.find(|went| *went != 0).unwrap_or(0);
            released |= went != 0;
            if went == 0 || went == waiting.len() {
                break;
            }
        }
        if released {
            let m = &mut self.machine;
            m.complete = m.complete || all_written(&m.written);
            m.mbarriers.progress();
        }
        released
    }

    /// Notes the first of those who wait at barriers for good.
    pub fn report_waiting(&mut self) {
        let waiting = self.waiting();
        if waiting.is_empty() {
            self.machine.stop |= self.report_cluster();
            return;
        }
        let places: Vec<_> = waiting.iter().map(|w| (w.warp, w.path)).collect();
        let alive: u32 = self.warps.iter().map(|w| w.alive.count_ones()).sum();
        let who = match alive {
            1 => "1 thread of the block waits".to_owned(),
            n => format!("{n} threads of the block wait"),
        };
        let text = format!("{who} at different barriers, or for more threads than are left");
        let m = &mut self.machine;
        let came_alone = |(at, path): &&(usize, usize)| self.warps[*at].paths[*path].expected != 0;
        let alone: Vec<_> = places.iter().filter(came_alone).copied().collect();
        note_split(m, &self.warps, &alone);
        note_missing(m, &self.warps, &places, false, text);
        m.stop = true;
    }

    /// Everything that waits at a barrier.
    fn waiting(&mut self) -> Vec<Waiting> {
        let m = &mut self.machine;
        let image = m.image;
        let mut waiting = Vec::new();
        for (at, warp) in self.warps.iter_mut().enumerate() {
            warp.enter(m, at as u32);
            for (path, p) in warp.paths.iter().enumerate() {
                if let State::Barrier(barrier) = p.state {
                    let info = &image.barriers[barrier as usize];
                    let lanes = p.stack.last().map_or(0, |e| e.lanes);
                    let lane = lanes.trailing_zeros() as usize % 32;
                    let value = |slot| m.registers.read(slot)[lane] as u32;
                    waiting.push(Waiting {
                        number: value(info.number),
                        count: info.count.map(value),
                        warp: at,
                        path,
                        lanes,
                    });
                }
            }
        }
        waiting
    }

    /// Lets those who wait at a barrier go, where enough have come: how many parts of
    /// warps. If the barrier names a number of threads, so many go, and the others are
    /// of the next round: these have not waited for each other.
    fn release_barrier(&mut self, number: u32, here: &[&Waiting]) -> usize {
        let m = &mut self.machine;
        let alive: u32 = self.warps.iter().map(|w| w.alive.count_ones()).sum();
        let threads: u32 = m.common.block.iter().product();
        let at_it = m.arrivals.iter().filter(|a| a.number == number);
        let arrived: u32 = at_it.map(|a| a.threads).sum();
        let wanted = here.iter().find_map(|w| w.count);
        note_counts(m, &self.warps, number, here);
        let by_arrival = m.arrivals.iter().any(|a| a.number == number);
        let mut sum = arrived;
        let mut left: Vec<u32> = self.warps.iter().map(|w| w.alive).collect();
        let came = here.iter().position(|w| {
            let left = &mut left[w.warp];
            *left &= !w.lanes;
            // A warp counts as one of 32, whatever lanes have exited or never were there.
            let gone = 32 - self.warps[w.warp].alive.count_ones();
            let is_last = *left == 0 && wanted.is_some();
            sum += w.lanes.count_ones() + if is_last { gone } else { 0 };
            wanted.is_some_and(|wanted| sum >= wanted)
        });
        if sum < wanted.unwrap_or(alive) {
            return 0;
        }
        let all = here.len();
        let here = came.map_or(here, |last| &here[..=last]);
        note_mixed(m, &self.warps, (number, by_arrival), here);
        let places: Vec<_> = here.iter().map(|w| (w.warp, w.path)).collect();
        note_split(m, &self.warps, &places);
        if wanted.is_none() && alive < threads {
            let text = format!(
                "{} threads of the block have exited; the others do not wait for them",
                threads - alive
            );
            note_missing(m, &self.warps, &places, true, text);
        }
        m.arrivals.retain(|a| a.number != number);
        pass_barrier(m, &mut self.warps, &places);
        if let Some(races) = &mut m.races {
            let passing = here.iter().map(|w| (w.warp as u32, w.lanes));
            let passing: Vec<_> = passing.collect();
            // Who has exited has not been at the barrier, and who has arrived before has not
            // seen the others.
            let whole = if wanted.is_some() { threads } else { alive };
            let whole = arrived == 0 && sum == whole && races.order.is_complete();
            if whole && here.len() == all {
                races.order.barrier();
            } else if here.len() == all {
                races.order.pass(number, &passing);
            } else {
                // Who of those that wait is in this round is chance.
                passing.iter().for_each(|p| races.order.pass(number, &[*p]));
            }
        }
        if let Some(observer) = &mut m.observer {
            observer.barrier_passed(number);
        }
        here.len()
    }
}

/// Warps whose parts are at different aligned barriers, or of which lanes have passed by.
fn note_split(m: &mut Machine, warps: &[Warp], places: &[(usize, usize)]) {
    for &(at, path) in places {
        let warp = &warps[at];
        let (State::Barrier(barrier), Some(top)) =
            (warp.paths[path].state, warp.paths[path].stack.last())
        else {
            continue;
        };
        let same = || {
            let all = warp.paths.iter();
            all.filter(|p| p.state == State::Barrier(barrier))
        };
        let tops = same().filter_map(|p| p.stack.last());
        let here = tops.fold(0, |all, e| all | e.lanes);
        let expected = same().fold(0, |all, p| all | p.expected);
        let parted = if warp.paths.len() > 1 { warp.alive } else { 0 };
        if m.image.barriers[barrier as usize].aligned && (parted | expected) & !here != 0 {
            (m.warp, m.pc) = (at as u32, top.pc - 1);
            note_divergent(m, here, warp.alive | expected);
        }
    }
}

/// Lets the paths go on, with the results of reductions.
fn pass_barrier(m: &mut Machine, warps: &mut [Warp], places: &[(usize, usize)]) {
    let image = m.image;
    let (mut set, mut all) = (0, 0);
    let barrier_of = |warp: &Warp, path: usize| match warp.paths[path].state {
        State::Barrier(barrier) => &image.barriers[barrier as usize],
        _ => unreachable!("only paths at barriers are released"),
    };
    for &(at, path) in places {
        let warp = &mut warps[at];
        let lanes = warp.paths[path].stack.last().map_or(0, |e| e.lanes);
        if let Some((_, predicate, _)) = barrier_of(warp, path).reduction {
            warp.enter(m, at as u32);
            let mask = m.registers.lanes(Mask::of(predicate));
            set += (mask & lanes).count_ones();
            all += lanes.count_ones();
        }
    }
    for &(at, path) in places {
        let warp = &mut warps[at];
        let lanes = warp.paths[path].stack.last().map_or(0, |e| e.lanes);
        if let Some((word, _, result)) = barrier_of(warp, path).reduction {
            warp.enter(m, at as u32);
            m.registers
                .write(result, lanes, &[reduced(word, set, all); 32]);
        }
        warp.paths[path].state = State::Ready;
    }
    for warp in warps.iter_mut().filter(|w| w.paths.len() > 1) {
        warp.merge();
    }
}

/// Threads that name other counts for a barrier than the first that waits.
fn note_counts(m: &mut Machine, warps: &[Warp], number: u32, here: &[&Waiting]) {
    let threads: u32 = m.common.block.iter().product();
    let all = threads.next_multiple_of(32);
    let counts = here.iter().map(|w| w.count.unwrap_or(all));
    let mut counts: Vec<u32> = counts.collect();
    let at_it = m.arrivals.iter().filter(|a| a.number == number);
    counts.extend(at_it.filter_map(|a| a.count));
    let Some(&other) = counts.iter().find(|&&c| c != counts[0]) else {
        return;
    };
    let differs = |w: &&&Waiting| w.count.unwrap_or(all) == other;
    let place = here.iter().find(differs).unwrap_or(&here[0]);
    let text = format!(
        "barrier {number} is for {} threads here and for {} elsewhere",
        place.count.unwrap_or(all),
        if place.count.unwrap_or(all) == other {
            counts[0]
        } else {
            other
        }
    );
    let kind = (FindingKind::InvalidBarrier, false);
    note_at(m, warps, (place.warp, place.path), kind, text);
}

/// Threads that reduce at a barrier at which others only wait or arrive.
fn note_mixed(m: &mut Machine, warps: &[Warp], (number, arrived): (u32, bool), here: &[&Waiting]) {
    let image = m.image;
    let reduces = |w: &&&Waiting| match warps[w.warp].paths[w.path].state {
        State::Barrier(at) => image.barriers[at as usize].reduction.is_some(),
        _ => false,
    };
    let other = here.iter().find(|w| !reduces(w));
    let Some(place) = here
        .iter()
        .find(reduces)
        .filter(|_| arrived || other.is_some())
    else {
        return;
    };
    let top = other.and_then(|w| warps[w.warp].paths[w.path].stack.last());
    let line = top.and_then(|top| image.infos.get(top.pc as usize - 1));
    let others = match line {
        Some(info) => format!("wait at it by bar.sync, at PTX line {}", info.line),
        None => "arrive at it by bar.arrive".to_owned(),
    };
    let text = format!(
        "barrier {number} is a reduction here, and other threads {others}: a barrier must not be \
         both"
    );
    let kind = (FindingKind::InvalidBarrier, false);
    note_at(m, warps, (place.warp, place.path), kind, text);
}

/// A barrier that not all threads have reached, at the first that waits. Those
/// that have exited count as arrived, as on a GPU: that is a warning, and the
/// block goes on. Where the others wait elsewhere, it never would.
fn note_missing(
    m: &mut Machine,
    warps: &[Warp],
    places: &[(usize, usize)],
    warning: bool,
    text: String,
) {
    if let Some(&place) = places.first() {
        let kind = (FindingKind::BarrierNotReached, warning);
        note_at(m, warps, place, kind, text);
    }
}

/// Something wrong with the barrier that a path waits at.
fn note_at(
    m: &mut Machine,
    warps: &[Warp],
    (at, path): (usize, usize),
    kind: (FindingKind, bool),
    text: String,
) {
    let Some(top) = warps[at].paths[path].stack.last() else {
        return;
    };
    m.warp = at as u32;
    m.pc = top.pc - 1;
    m.note(kind, top.lanes.trailing_zeros(), None, None, text);
}
