//! The happens-before order of a block's accesses, as vector clocks. Barriers of the block
//! and of lanes, words, fences, and phases of an `mbarrier` make it.
//!
//! Vector clocks are kept by warp, because the lanes of a warp mostly know the same. Lanes
//! have knowledge of their own only after something that only some of them did. A barrier
//! of the whole block orders everything before it, so that nothing need be kept from
//! before.
//!
//! A word that an atomic, volatile, relaxed, releasing or acquiring access writes carries
//! what its writer did before its last fence. If the access releases, the word carries what
//! the writer did before the access. A thread that reads the word has seen all of this
//! after its next fence, or at once if its access acquires. A store that is not an atomic's
//! replaces what the word carried.

mod abroad;
mod fences;
mod joint;
mod known;
mod phases;
mod words;

use super::lanes;
use super::mark::Mark;
use super::moments::{Carried, Moments};
use super::seen::{Knowledge, Seen};
use super::warp::{PROXIED_GLOBAL, PROXIED_SHARED, Warp};
use super::words::Words;
use crate::exec::ordering::Scope;
use std::collections::HashMap;
use words::Releases;
pub use words::Word;

/// The order of a block's threads.
#[derive(Debug, Default)]
pub struct Order {
    warps: Vec<Warp>,
    /// Knowledge of all threads of the block.
    common: Knowledge,
    words: Words<Carried>,
    releases: Releases,
    phases: HashMap<u64, Knowledge>,
    /// Copies and stores of other blocks whose bytes have arrived in a phase.
    landed: HashMap<u64, Seen>,
    /// Knowledge of the threads that have arrived at a barrier without waiting
    /// (`bar.arrive`), by barrier.
    arrived: HashMap<u32, Knowledge>,
    /// The moment of the next access.
    now: u32,
    /// Moment of the last barrier of the block: it orders everything that threads did
    /// before.
    base: u32,
    /// First moment of the block.
    start: u32,
    /// Number of the block in `moments`.
    number: u32,
    /// Identifier of the block's cluster, if it has other blocks, too.
    pub cluster: Option<u64>,
    /// Whether blocks take turns, so that moments after the start may be of others.
    pub turns: bool,
    /// State shared with the other blocks; held here while this block has its turn.
    pub moments: Moments,
    /// Whether there is anything but the base.
    used: bool,
    /// Whether anything is volatile.
    pub volatile: bool,
    /// By warp, its last instructions that lanes executed together: moment and lanes.
    joint: Vec<Vec<(u32, u32)>>,
}

impl Order {
    pub fn new(warps: u32) -> Self {
        Order {
            warps: vec![Warp::default(); warps as usize],
            now: 1,
            ..Order::default()
        }
    }

    /// The next block begins.
    pub fn begin(&mut self, linear: u64) {
        for warp in &mut self.warps {
            warp.clear();
            warp.start(u32::MAX);
            (warp.met, warp.shown) = (0, 0);
        }
        self.common.clear();
        self.words.clear();
        self.releases.clear();
        self.phases.clear();
        self.landed.clear();
        self.arrived.clear();
        self.joint.iter_mut().for_each(Vec::clear);
        self.used = false;
        (self.base, self.start) = (self.now, self.now);
        if !self.turns {
            self.moments.end(self.now);
        }
        let cluster = self.cluster.unwrap_or(linear);
        self.number = self.moments.begin(linear, cluster, self.now);
    }

    /// The block has its turn, behind that of another one.
    pub fn enter(&mut self, moments: Moments) {
        self.moments = moments;
        self.now = self.now.max(self.moments.now());
        self.moments.turn(self.number, self.now);
    }

    /// Ends the block's turn.
    pub fn leave(&mut self) -> Moments {
        self.moments.stop(self.now);
        std::mem::take(&mut self.moments)
    }

    /// Restarts the clock; older marks become invalid.
    pub fn renew(&mut self) {
        self.now = 1;
        self.moments = Moments::default();
    }

    /// Lanes that a warp begins with.
    pub fn start(&mut self, warp: u32, alive: u32) {
        self.warps[warp as usize].start(alive);
    }

    /// Lanes exit. They take part in nothing that orders from now on.
    pub fn exit(&mut self, warp: u32, gone: u32) {
        self.warps[warp as usize].exit(gone, self.base);
    }

    /// Lanes access something.
    #[inline(always)]
    pub fn act(&mut self, warp: u32, mask: u32) {
        self.warps[warp as usize].act(mask, self.base);
    }

    /// Whether a barrier of the threads that have not exited is one of the whole block: no
    /// other thread did anything since the last one.
    pub fn is_complete(&self) -> bool {
        self.warps.iter().all(|warp| warp.left == 0)
    }

    /// The moment of an access that is about to be made.
    #[inline(always)]
    pub fn tick(&mut self) -> u32 {
        let now = self.now;
        self.now = (now + 1).min(super::FLYING - 1);
        now
    }

    pub fn now(&self) -> u32 {
        self.now
    }

    /// Moment of the last barrier of the block: it orders everything that threads did
    /// before.
    #[inline(always)]
    pub fn base(&self) -> u32 {
        self.base
    }

    /// First moment of the block.
    pub fn start_of_block(&self) -> u32 {
        self.start
    }

    /// Whether an access was made by the block.
    pub fn is_own(&self, mark: &Mark) -> bool {
        mark.moment >= self.start
            && (!self.turns || self.moments.block_at(mark.moment) == self.number)
    }

    /// The block that made an access, if it is another one.
    pub fn other_block(&self, mark: &Mark) -> Option<u64> {
        let block = self.moments.linear(self.moments.block_at(mark.moment));
        block.filter(|_| !self.is_own(mark))
    }

    /// The narrowest scope that has who made an access, and the block.
    pub fn between(&self, mark: &Mark) -> Scope {
        if self.is_own(mark) {
            return Scope::Block;
        }
        let other = self.moments.block_at(mark.moment);
        match self.cluster {
            Some(own) if self.moments.cluster(other) == Some(own) => Scope::Cluster,
            _ => Scope::Wide,
        }
    }

    /// Whether no block can ever see an access of a block before.
    #[inline(always)]
    pub fn is_hidden(&self, mark: &Mark) -> bool {
        self.moments.is_hidden(mark)
    }

    /// The moment before which all lanes of a warp have seen each other's accesses.
    #[inline(always)]
    pub fn met(&self, warp: u32) -> u32 {
        self.warps[warp as usize].met
    }

    /// The last moment at which others could learn of accesses of the warp.
    #[inline(always)]
    pub fn shown(&self, warp: u32) -> u32 {
        self.warps[warp as usize].shown
    }

    /// The lanes of an earlier access that a thread has not seen.
    pub fn unseen(&self, warp: u32, lane: u32, mark: &Mark, loosely: bool) -> u32 {
        let own = warp == u32::from(mark.warp);
        let others = if own {
            mark.lanes & !(1 << lane)
        } else {
            mark.lanes
        };
        if !self.is_own(mark) {
            let block = self.moments.block_at(mark.moment);
            let missing = |l: &u32| {
                let get = |s: &Seen| s.get_of(block, mark.warp, *l) > mark.moment;
                !self.any(warp, lane, loosely, get)
            };
            return lanes(mark.lanes).filter(missing).fold(0, |m, l| m | 1 << l);
        }
        let agent = mark.warp >= super::AGENTS;
        if others == 0 || !agent && mark.moment < self.base {
            return 0;
        }
        let of = &self.warps[warp as usize];
        if own && mark.moment < of.met {
            return 0;
        }
        let row = of.rows.as_ref().filter(|_| own).map(|r| &r[lane as usize]);
        let missing = |l: &u32| {
            let known = row.is_some_and(|row| row[*l as usize] > mark.moment);
            // It may have gone to another block and come back from there.
            let returned = |s: &Seen| s.get_of(self.number, mark.warp, *l);
            let get = |s: &Seen| s.get(mark.warp, *l).max(returned(s)) > mark.moment;
            !known && !self.any(warp, lane, loosely, get)
        };
        lanes(others).filter(missing).fold(0, |m, l| m | 1 << l)
    }

    /// Whether anything that a thread has seen is enough.
    fn any(&self, warp: u32, lane: u32, loosely: bool, enough: impl Fn(&Seen) -> bool) -> bool {
        let of = &self.warps[warp as usize];
        let all = [Some(&self.common), Some(&of.know), of.part(lane)];
        let looser = |k: &Knowledge| {
            let pending = [&k.pending, &k.pending_near, &k.pending_wide];
            loosely && (enough(&k.loose) || pending.into_iter().any(&enough))
        };
        all.into_iter()
            .flatten()
            .any(|k| enough(&k.seen) || looser(k))
    }

    /// Whether a proxy fence for global, or for shared memory, stands between an access of
    /// threads and a thread.
    pub fn is_proxied(&self, warp: u32, lane: u32, mark: &Mark, global: bool) -> bool {
        let of = &self.warps[warp as usize];
        let all = [Some(&self.common), Some(&of.know), of.part(lane)];
        let kind = if global {
            PROXIED_GLOBAL
        } else {
            PROXIED_SHARED
        };
        let own = of.own.as_ref().map_or(0, |own| own[kind][lane as usize]);
        let is_own = self.is_own(mark);
        let alone = is_own && u32::from(mark.warp) == warp && mark.lanes == 1 << lane;
        let own = own * u32::from(alone);
        let block = self.moments.block_at(mark.moment);
        let known = |l: u32| {
            let get = |k: &Knowledge| {
                let proxied = &k.proxied[usize::from(global)];
                let here = if is_own { proxied.get(mark.warp, l) } else { 0 };
                here.max(proxied.get_of(block, mark.warp, l)) > mark.moment
            };
            own > mark.moment || all.into_iter().flatten().any(get)
        };
        let over = !global && mark.moment < self.start_of_block();
        over || lanes(mark.lanes).all(known)
    }

    /// Knowledge of lanes of a warp, together with their own accesses until now.
    fn snapshot(&mut self, warp: u32, mask: u32) -> Knowledge {
        let (now, base) = (self.now, self.base);
        self.used = true;
        let of = &mut self.warps[warp as usize];
        of.shown = now;
        of.act(mask, base);
        let number = warp as u8;
        let mut all = of.know.clone();
        lanes(mask & of.apart).for_each(|l| all.join(&of.lanes[l as usize]));
        all.seen.join(&Seen::until(base));
        if of.is_whole(mask) {
            all.seen.raise(number, u32::MAX, now);
        } else {
            all.seen.raise(number, u32::MAX, of.met);
            all.seen.raise(number, mask, now);
        }
        if let Some(rows) = &of.rows {
            for (lane, row) in lanes(mask).map(|l| (l, &rows[l as usize])) {
                let others = (0..32).filter(|&l| l != lane && row[l as usize] > of.met);
                others.for_each(|l| all.seen.raise(number, 1 << l, row[l as usize]));
            }
        }
        if let Some(own) = &of.own {
            for (part, moments) in all.by_fences().into_iter().zip(own.iter()) {
                let moment = |l: &u32| moments[*l as usize];
                for lane in lanes(mask).filter(|l| moment(l) != 0) {
                    part.raise(number, 1 << lane, moment(&lane));
                }
            }
        }
        all
    }

    /// Lanes of a warp get to know something.
    fn learn(&mut self, warp: u32, mask: u32, new: &Knowledge) {
        self.used = true;
        let of = &mut self.warps[warp as usize];
        of.act(mask, self.base);
        if of.is_whole(mask) {
            of.know.join(new);
        } else {
            lanes(mask).for_each(|lane| of.part_mut(lane).join(new));
        }
    }

    /// A barrier of the whole block: all threads of which others may not have seen
    /// everything take part.
    pub fn barrier(&mut self) {
        self.base = self.now;
        if !std::mem::take(&mut self.used) {
            return;
        }
        for (number, warp) in (0..).zip(&mut self.warps) {
            warp.gather(number);
            self.common.join(&warp.know);
            warp.clear();
        }
        self.common.pass();
        self.common.settle();
        self.words.clear();
        self.releases.pass();
        // What agents bring is not yet seen.
        self.used = !self.phases.is_empty();
        for phase in self.phases.values_mut() {
            phase.pass();
        }
    }

    /// Lanes of a warp see what each of them did: a barrier of lanes.
    pub fn meet(&mut self, warp: u32, mask: u32) {
        let now = self.now;
        let of = &mut self.warps[warp as usize];
        if of.is_whole(mask) {
            of.met = now;
            if of.apart != 0 || of.rows.is_some() || of.own.is_some() {
                of.gather(warp as u8);
            }
            return;
        }
        if mask.count_ones() < 2 {
            return;
        }
        (self.used, of.shown) = (true, now);
        let rows = of.rows.get_or_insert_with(|| Box::new([[0; 32]; 32]));
        let mut joint = [0; 32];
        for lane in lanes(mask) {
            let row = rows[lane as usize].iter();
            joint
                .iter_mut()
                .zip(row)
                .for_each(|(a, b)| *a = (*b).max(*a));
        }
        lanes(mask).for_each(|l| joint[l as usize] = now);
        lanes(mask).for_each(|l| rows[l as usize] = joint);
        if of.apart & mask != 0 || of.own.is_some() {
            let all = self.snapshot(warp, mask);
            self.learn(warp, mask, &all);
        }
    }

    /// Threads arrive at a barrier and go on.
    pub fn arrive(&mut self, number: u32, warp: u32, mask: u32) {
        let all = self.snapshot(warp, mask);
        self.arrived.entry(number).or_default().join(&all);
    }

    /// A barrier lets lanes of warps go.
    pub fn pass(&mut self, number: u32, waiting: &[(u32, u32)]) {
        let mut all = self.arrived.remove(&number).unwrap_or_default();
        for &(warp, mask) in waiting {
            let own = self.snapshot(warp, mask);
            all.join(&own);
        }
        all.settle();
        for &(warp, mask) in waiting {
            self.meet(warp, mask);
            self.learn(warp, mask, &all);
        }
    }
}
