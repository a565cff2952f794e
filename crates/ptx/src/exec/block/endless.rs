//! Waits that never end: blocks that run together come back to a state that they have been
//! in, so that they do the same for ever.
//!
//! A state is kept at turns that are powers of two, and compared with those behind it. It
//! leaves global memory out. Where one comes again, accesses are watched for as many turns
//! as lie between the two: if the state comes yet again and global memory is what it was,
//! nothing that these blocks do can change anything. Whoever counts the rounds or reads a
//! clock is never in the same state.
//!
//! Where a seed draws the order of the warps, no state comes again. Once nothing but loops
//! that wait has run for a while, the blocks take turns in order for a stretch, in which
//! their state is looked at; the seed draws again after it.

use super::Worker;
use super::turns::PATIENCE;
use crate::exec::api::FindingKind;
use crate::exec::machine::watch::{Read, Watch};
use crate::names::Space;
use std::sync::atomic::Ordering::Relaxed;

/// The first turn whose state is kept.
const FIRST: u64 = 64;

/// Drawn turns in which nothing but loops that wait has run, after which a stretch in order
/// begins.
const IDLE: u64 = 64;

/// Drawn turns after which it begins in any case: a barrier in a loop that waits is progress.
const DRAWN: u64 = 1 << 14;

/// Turns of the first stretch in order; each one is twice as long as the one before it.
const STRETCH: u64 = 4 * FIRST;

/// Lines that are told of.
const MOST: usize = 8;

/// The search for a state that comes again, of blocks that run together.
#[derive(Default)]
pub struct Endless {
    /// Turns in order, of this stretch where a seed draws them.
    turns: u64,
    drawn: Drawn,
    kept: Option<Kept>,
    /// The turn at which the watch ends.
    watched_until: Option<u64>,
    /// The blocks repeat themselves, and wait for nothing.
    is_over: bool,
}

/// The turns of blocks whose order a seed draws.
#[derive(Default)]
struct Drawn {
    /// Drawn turns since the last stretch in order.
    turns: u64,
    /// The last ones of them in which nothing but loops that wait has run.
    idle: u64,
    /// By block, the state of the seed during a stretch in order.
    seeds: Vec<Option<u64>>,
    /// Turns of the last stretch.
    stretch: u64,
}

impl Drawn {
    /// A drawn turn has passed: whether a stretch in order begins.
    fn turn(&mut self, workers: &mut [Worker]) -> bool {
        let progressed = workers.iter().any(|w| w.machine.progressed);
        self.turns += 1;
        self.idle = if progressed { 0 } else { self.idle + 1 };
        if self.idle < IDLE && self.turns < DRAWN {
            return false;
        }
        let seeds = workers.iter_mut().map(|w| w.machine.draws.take());
        (self.seeds, self.stretch) = (seeds.collect(), (2 * self.stretch).max(STRETCH));
        (self.turns, self.idle) = (0, 0);
        true
    }

    /// Whether the stretch of that many turns is over.
    fn is_over(&self, turns: u64) -> bool {
        !self.seeds.is_empty() && turns >= self.stretch
    }

    /// Lets the seed draw again.
    fn resume(&mut self, workers: &mut [Worker]) {
        for (worker, seed) in workers.iter_mut().zip(self.seeds.drain(..)) {
            worker.machine.draws = seed;
        }
    }
}

/// A state.
struct Kept {
    turn: u64,
    /// By block, the states of its warps and its own.
    parts: Vec<u64>,
    /// The part that was another one the last time.
    other: usize,
}

impl Kept {
    fn new(turn: u64, workers: &[Worker]) -> Self {
        let count = workers.iter().map(|w| w.warps.len() + 1).sum();
        let parts = (0..count).map(|at| part(workers, at)).collect();
        Kept {
            turn,
            parts,
            other: 0,
        }
    }

    /// Whether the blocks are in this state.
    fn is_now(&mut self, workers: &[Worker]) -> bool {
        let differs = |at: &usize| part(workers, *at) != self.parts[*at];
        if differs(&self.other) {
            return false;
        }
        let other = (0..self.parts.len()).find(differs);
        self.other = other.unwrap_or(0);
        other.is_none()
    }
}

/// A part of the state of blocks of as many warps each.
fn part(workers: &[Worker], at: usize) -> u64 {
    let each = workers[0].warps.len() + 1;
    let worker = &workers[at / each];
    match worker.warps.get(at % each) {
        Some(warp) => warp.state(),
        None => worker.machine.state(),
    }
}

impl Endless {
    /// The blocks have had a turn, and may have another: whether they have to stop, since
    /// they wait for what none of them does.
    pub fn turn(&mut self, workers: &mut [Worker]) -> bool {
        if self.is_over {
            return false;
        }
        if workers[0].machine.draws.is_some() {
            if self.drawn.turn(workers) {
                (self.turns, self.kept) = (0, None);
            }
            return false;
        }
        self.turns += 1;
        if self.turns < FIRST {
            return false;
        }
        if let Some(end) = self.watched_until {
            return self.turns == end && self.end_watch(workers);
        }
        if self.drawn.is_over(self.turns) {
            self.drawn.resume(workers);
            return false;
        }
        if self.turns.is_power_of_two() {
            self.kept = Some(Kept::new(self.turns, workers));
            return false;
        }
        let Some(kept) = &mut self.kept else {
            return false;
        };
        let passed = self.turns - kept.turn;
        if passed.is_multiple_of(u64::from(PATIENCE)) && kept.is_now(workers) {
            self.watched_until = Some(self.turns + passed);
            for worker in workers {
                worker.machine.watch = Some(Box::default());
                worker.observe(true);
            }
        }
        false
    }

    /// Looks whether the state has come again, and memory is as it was.
    fn end_watch(&mut self, workers: &mut [Worker]) -> bool {
        self.watched_until = None;
        let kept = self.kept.take();
        let same = kept.is_some_and(|mut kept| kept.is_now(workers));
        let end = |worker: &mut Worker| {
            worker.observe(false);
            let watch = worker.machine.watch.take();
            watch.map_or_else(Watch::default, |watch| *watch)
        };
        let watches: Vec<Watch> = workers.iter_mut().map(end).collect();
        let mut both = workers.iter().zip(&watches);
        if !same || !both.all(|(worker, watch)| worker.machine.is_unchanged(watch)) {
            return false;
        }
        let common = workers[0].machine.common;
        // What runs beside may change something: all of it again, in order.
        self.is_over = !common.parallel && !report(workers, &watches);
        if self.is_over {
            return false;
        }
        common.stop.store(true, Relaxed);
        workers.iter_mut().for_each(|w| w.machine.stop = true);
        true
    }
}

/// Tells what the blocks wait for: whether there is something.
fn report(workers: &mut [Worker], watches: &[Watch]) -> bool {
    let common = workers[0].machine.common;
    let of = |(at, watch): (usize, &Watch)| {
        let reads = watch.awaited(&common.image.awaited).into_iter();
        reads.map(move |read| (at, read)).collect::<Vec<_>>()
    };
    let mut all: Vec<(usize, Read)> = watches.iter().enumerate().flat_map(of).collect();
    let blocks = common.grid.iter().map(|&n| u64::from(n)).product::<u64>();
    let left = blocks.saturating_sub(common.begun.load(Relaxed));
    // What waits inside of a block does so because of the others, perhaps.
    if left > 0 && all.iter().any(|(_, read)| read.space == Space::Global) {
        all.retain(|(_, read)| read.space == Space::Global);
    }
    let mut lines = Vec::new();
    for (at, read) in all {
        if lines.len() == MOST || lines.contains(&read.pc) {
            continue;
        }
        lines.push(read.pc);
        let m = &mut workers[at].machine;
        let (offset, name, value) = m.place_of(&read);
        let place = match &name {
            Some(name) if read.space == Space::Global => format!("byte {offset} of {name}"),
            _ => format!("byte {offset} of shared memory"),
        };
        let value = value.map_or(String::new(), |value| format!(", which stays {value}"));
        let text = format!("waits for a change of {place}{value}{}", why(left, blocks));
        (m.warp, m.pc) = (read.warp, read.pc);
        m.found(
            FindingKind::EndlessWait,
            read.lane,
            Some(offset),
            name,
            text,
        );
    }
    !lines.is_empty()
}

/// Why the wait does not end, and what helps.
fn why(left: u64, blocks: u64) -> String {
    if left == 0 {
        return ": no thread that still runs writes it, a deadlock".to_owned();
    }
    format!(
        ": no thread of the blocks that have begun writes it. Blocks run one after another, and \
         {left} of {blocks} have not begun: if one of them writes it, set cooperative = true in \
         the launch file; else it is a deadlock"
    )
}
