//! A shadow cell: the accesses to a place of global memory that are remembered. These are
//! the last write, the last read, and a list of accesses that may still race with something
//! these two do not race with.

use super::clock::Order;
use super::lanes;
use super::mark::Mark;
use super::sights::Written;
use super::stored::{KEPT, is_outdone, is_outdone_by};
use super::touch::{Hit, Touch, judged, unseen};
use crate::exec::ordering::Strength;

/// An access to global memory.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    pub address: u64,
    pub bytes: u32,
    /// The read requires that nobody writes the bytes (`ld.global.nc`).
    pub fixed: bool,
    /// Warp and lane of the asynchronous agent that makes the access in place of the thread
    /// (a bulk copy's write).
    pub agent: Option<(u8, u32)>,
}

/// Accesses of a place that are kept in its list.
const MOST: usize = 1 << 14;
/// Accesses in a list that is not looked through for what it needs no more.
const FEW: usize = 64;

/// Kind of an access in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Update,
    Write,
}

#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub write: Mark,
    read: Mark,
    /// The first read of what has to stay as it is.
    fixed: Mark,
    pub list: Vec<(Kind, Mark)>,
    /// The list has had more than reads, and what is kept for its value.
    written: bool,
}

impl Cell {
    /// The cell of byte `n` of the word.
    pub fn byte(&self, n: u32) -> Cell {
        Cell {
            write: self.write.byte(n),
            list: self.list.iter().map(|(k, m)| (*k, m.byte(n))).collect(),
            ..*self
        }
    }

    /// The writes of the place that are remembered, atomics included.
    pub fn writes(&self) -> impl Iterator<Item = Mark> + '_ {
        let list = self.list.iter().filter(|(kind, _)| *kind != Kind::Read);
        let all = std::iter::once(self.write).chain(list.map(|(_, mark)| *mark));
        all.filter(|mark| mark.moment != 0)
    }

    /// The writes that lanes observe by a strong read here, if there are any.
    #[inline(never)]
    pub fn written(&self, touch: &Touch) -> Option<Written> {
        let updates = self.list.iter().filter(|(kind, _)| *kind == Kind::Update);
        Written::of(&self.write, updates.map(|(_, mark)| mark.moment), touch)
    }

    #[inline(always)]
    pub fn touch(
        &self,
        order: &Order,
        at: (u32, bool),
        (touch, new): (&Touch, &Mark),
        hits: &mut Vec<Hit>,
    ) {
        // Mostly nobody has written what is read.
        let unwritten = self.write.moment == 0 || is_settled(order, &self.write, touch);
        if touch.write || at.1 || self.written || !unwritten {
            self.check(order, at, (touch, new), hits);
        }
    }

    /// Remembers an access.
    #[inline(always)]
    pub fn note(&mut self, order: &Order, reach: &Reach, (touch, mut mark): (&Touch, Mark)) {
        if let Some((warp, lane)) = reach.agent {
            (mark.warp, mark.lanes) = (warp, 1 << lane);
        }
        if reach.fixed && self.fixed.moment == 0 {
            self.fixed = mark;
        }
        if touch.update {
            self.keep(order, Kind::Update, mark, touch);
        } else if touch.write {
            let old = std::mem::replace(&mut self.write, mark);
            let any = self.written && old.moment != 0;
            let observed = any && self.is_observed(order, &old, touch);
            let passed = old.moment != 0 && (observed || is_passed(order, &old, touch));
            let counts = passed && !is_outdone(&old, &mark, &[], false);
            if !self.list.is_empty() {
                self.sift(order, (touch, &mark), counts.then_some(old));
            }
            if counts {
                self.list.push((Kind::Write, Mark { kept: true, ..old }));
            } else if old.moment != 0 && !passed {
                self.keep(order, Kind::Write, old, touch);
            }
        } else {
            let old = self.read;
            // Nobody can have seen the one and not the other.
            let alike = old.how == touch.how && old.warp == mark.warp;
            let alike = alike && (old.moment == mark.moment || order.is_unshown(&old, touch.warp));
            if old.moment == 0 || is_passed(order, &old, touch) {
                self.read = mark;
            } else if alike && (old.pc == mark.pc || mark.lanes & !old.lanes == 0) {
                self.read.lanes |= mark.lanes;
                self.read.moment = mark.moment;
            } else {
                self.read = mark;
                self.keep_read(order, old, touch);
            }
        }
    }

    /// Takes from the list what a store makes needless: not what turns a warning into
    /// a fault. `last` was stored before it, and stays for its value.
    fn sift(&mut self, order: &Order, (touch, new): (&Touch, &Mark), last: Option<Mark>) {
        let mut later: Vec<Mark> = last.into_iter().collect();
        for (kind, mark) in self.list.iter_mut().rev() {
            if !is_passed(order, mark, touch) {
                continue;
            }
            let counts = *kind != Kind::Read && later.len() < KEPT;
            if counts && !is_outdone(mark, new, &later, false) {
                mark.kept = true;
                later.push(*mark);
            } else {
                mark.moment = 0;
            }
        }
        self.list.retain(|(_, mark)| mark.moment != 0);
    }

    /// Keeps a read in the list: of the blocks that nobody can have seen one stays, of
    /// lanes of a warp the last.
    fn keep_read(&mut self, order: &Order, mark: Mark, touch: &Touch) {
        let hidden = order.is_hidden(&mark);
        if let [(Kind::Read, old)] = &mut self.list[..]
            && hidden
            && old.how == mark.how
            && order.is_hidden(old)
        {
            *old = mark;
            return;
        }
        if hidden || self.list.len() >= FEW {
            return self.keep(order, Kind::Read, mark, touch);
        }
        let replaced = self.list.iter_mut().find(|(kind, old)| {
            let lanes = old.warp == mark.warp && old.lanes & !mark.lanes == 0;
            *kind == Kind::Read && lanes && old.how == mark.how && order.is_alike(old, &mark)
        });
        match replaced {
            Some((_, old)) => *old = mark,
            None => self.list.push((Kind::Read, mark)),
        }
    }

    /// Keeps an access in the list.
    fn keep(&mut self, order: &Order, kind: Kind, mark: Mark, touch: &Touch) {
        self.written |= kind != Kind::Read;
        let store = kind == Kind::Write;
        // Of what is hidden those stay that make a fault of what is none with others.
        let mut hidden: Vec<Mark> = Vec::new();
        if order.is_hidden(&mark) {
            hidden.push(mark);
        }
        self.list.retain(|(other, old)| {
            if *other != kind {
                return true;
            }
            if kind == Kind::Update && is_passed(order, old, touch) {
                return false;
            }
            if order.is_hidden(old) && old.how == mark.how {
                let stays = hidden.split_first().is_none_or(|(first, more)| {
                    let room = store && more.len() < KEPT;
                    room && !is_outdone_by(old, first, more.iter(), false)
                });
                if stays {
                    hidden.push(*old);
                }
                return stays;
            }
            let own = old.warp == mark.warp && old.lanes & !mark.lanes == 0;
            let same = own && old.how == mark.how && order.is_alike(old, &mark);
            !same || store && !is_outdone(old, &mark, &[], false)
        });
        if self.list.len() >= MOST {
            self.list.remove(0);
        }
        self.list.push((kind, mark));
    }

    fn check(
        &self,
        order: &Order,
        (place, fixed): (u32, bool),
        (touch, new): (&Touch, &Mark),
        hits: &mut Vec<Hit>,
    ) {
        let before = hits.len();
        let note = |hits: &mut Vec<Hit>, earlier: &Mark, lane: Option<u32>, wrote: bool| {
            let hit = |lane| self.hit(order, (place, fixed), (touch, new), (earlier, wrote), lane);
            hits.extend(lane.and_then(hit));
        };
        let first = touch.lanes.trailing_zeros();
        // What a load of constant data reads may have been written in any order.
        if self.write.moment != 0 {
            let any = fixed.then_some(first);
            let lane = clash(order, &self.write, touch);
            let lane = lane.filter(|_| !self.is_observed(order, &self.write, touch));
            note(hits, &self.write, any.or(lane), true);
            hits.extend(self.hoisted(order, place, touch));
        }
        if touch.write && self.fixed.moment != 0 {
            note(hits, &self.fixed, Some(first), false);
        } else if touch.write && self.read.moment != 0 {
            note(hits, &self.read, clash(order, &self.read, touch), false);
        }
        let mut kept = false;
        for (kind, mark) in &self.list {
            kept |= mark.kept;
            if !mark.kept && (touch.write || *kind != Kind::Read) {
                let lane = clash(order, mark, touch);
                let lane = lane.filter(|_| !self.is_observed(order, mark, touch));
                note(hits, mark, lane, *kind != Kind::Read);
            }
        }
        if kept && hits[before..].iter().all(|h| h.harmless) {
            self.check_kept(order, place, (touch, new), hits);
        }
    }

    /// A volatile load of what another block has stored by a volatile pointer. That is no
    /// race, but the load may get the value of before: a word has told the lane of the
    /// store, and neither a fence nor a barrier keeps the load behind the read of the word.
    fn hoisted(&self, order: &Order, place: u32, touch: &Touch) -> Option<Hit> {
        let store = &self.write;
        if touch.write
            || !touch.how.is_loose_with(store.how)
            || self.is_observed(order, store, touch)
        {
            return None;
        }
        let (lane, ticket) = lanes(touch.lanes).find_map(|lane| {
            let ticket = order.hoisted(touch.warp, lane, store)?;
            Some((lane, ticket))
        })?;
        let unseen = order.unseen(touch.warp, lane, store, false);
        Some(Hit {
            harmless: true,
            ticket: Some(ticket),
            hoisted: true,
            ..Hit::new(place, lane, (*store, unseen), true)
        })
    }

    /// The race of a lane with an earlier access that clashes with its own.
    fn hit(
        &self,
        order: &Order,
        (place, fixed): (u32, bool),
        (touch, new): (&Touch, &Mark),
        (earlier, wrote): (&Mark, bool),
        lane: u32,
    ) -> Option<Hit> {
        // What is read as constant must not be written at all.
        let (lane, harmless) = if wrote && !fixed {
            judged(order, (earlier, self.stores()), (touch, new), lane)?
        } else {
            let same = touch.write && new.is_silent() && !self.is_changed(earlier);
            (lane, same)
        };
        let unseen = unseen(order, earlier, touch, lane);
        Some(Hit {
            harmless: harmless && !touch.update,
            ticket: order.ticket(touch.warp, touch.lanes, earlier),
            cached: self.is_cached(order, earlier, touch),
            ..Hit::new(place, lane, (*earlier, unseen), wrote)
        })
    }

    /// The earlier stores that are kept, without atomics, then the last one.
    fn stores(&self) -> impl Iterator<Item = &Mark> + Clone {
        let stores = self.list.iter().filter(|(kind, _)| *kind == Kind::Write);
        stores.map(|(_, mark)| mark).chain([&self.write])
    }

    /// Whether the value is another one than when somebody has read it.
    fn is_changed(&self, read: &Mark) -> bool {
        let stores = self.list.iter().filter(|(kind, _)| *kind != Kind::Read);
        let mut all = stores.map(|(_, mark)| mark).chain([&self.write]);
        all.any(|m| m.moment > read.moment && !m.is_silent())
    }

    /// Looks for the last of the stores kept for their values that makes a fault.
    #[cold]
    fn check_kept(
        &self,
        order: &Order,
        place: u32,
        (touch, new): (&Touch, &Mark),
        hits: &mut Vec<Hit>,
    ) {
        let kept = self.list.iter().rev().filter(|(_, mark)| mark.kept);
        let fault = kept.map(|(_, mark)| mark).find_map(|mark| {
            let lane = clash(order, mark, touch)?;
            let all = (mark, self.stores());
            let (lane, harmless) = judged(order, all, (touch, new), lane)?;
            let fault = !harmless && !self.is_observed(order, mark, touch);
            fault.then_some((*mark, lane))
        });
        let hit = |(earlier, lane)| {
            let unseen = unseen(order, &earlier, touch, lane);
            Hit {
                ticket: order.ticket(touch.warp, touch.lanes, &earlier),
                ..Hit::new(place, lane, (earlier, unseen), true)
            }
        };
        hits.extend(fault.map(hit));
    }

    /// Whether a load may find in the L1 cache what was there before an earlier store: its
    /// block has read the place before that.
    #[inline(never)]
    fn is_cached(&self, order: &Order, store: &Mark, touch: &Touch) -> bool {
        let before = |m: &Mark| m.moment != 0 && m.moment < store.moment && order.is_own(m);
        let reads = self.list.iter().filter(|(kind, _)| *kind == Kind::Read);
        let mut reads = reads.map(|(_, mark)| mark).chain([&self.read]);
        !touch.write && touch.how.strength == Strength::Weak && reads.any(before)
    }

    /// Whether an atomic of the block that the lanes have seen was made after an earlier
    /// access that is not weak: it has observed that, and needs no fence to be ordered with
    /// it. So a thread that takes a lock by an atomic may set it free by a store.
    #[inline(never)]
    fn is_observed(&self, order: &Order, mark: &Mark, touch: &Touch) -> bool {
        let between = order.between(mark);
        // The atomic of each of its lanes has observed it.
        let seen = |by: &Mark| {
            let has = |l: u32| order.unseen(touch.warp, l, by, false) != by.lanes;
            lanes(touch.lanes).all(has)
        };
        let by = |(kind, by): &(Kind, Mark)| {
            let after = by.moment > mark.moment && order.is_own(by);
            *kind == Kind::Update
                && !by.kept
                && !by.how.blind
                && after
                && by.how.agrees(mark.how, between)
                && seen(by)
        };
        self.list.iter().any(by)
    }
}

/// Whether all that may race with an earlier access races with this one, too.
#[inline(always)]
fn is_passed(order: &Order, old: &Mark, touch: &Touch) -> bool {
    let seen = |l: u32| order.unseen(touch.warp, l, old, false) == 0;
    let settled = is_settled(order, old, touch);
    let hidden = order.moments.is_surely_hidden(old);
    touch.how.covers(old.how) && (settled || !hidden && lanes(touch.lanes).all(seen))
}

/// Whether an earlier access surely is one that the lanes have seen: of the lane
/// itself, or from before a barrier of the block or the warp.
#[inline(always)]
fn is_settled(order: &Order, old: &Mark, touch: &Touch) -> bool {
    let alone = old.lanes == touch.lanes && touch.lanes & touch.lanes.wrapping_sub(1) == 0;
    let seen = alone || old.moment < order.met(touch.warp);
    let same = u32::from(old.warp) == touch.warp && seen;
    order.is_before_barrier(old) || same && order.is_surely_own(old)
}

/// The lane for which an earlier access to global memory is unordered and conflicts. Both
/// may be of one block or of two, which decides the scope that atomics need; in shared memory
/// ([`super::touch::clash`]) it is always the block.
#[inline(always)]
fn clash(order: &Order, mark: &Mark, touch: &Touch) -> Option<u32> {
    if mark.moment == touch.moment || is_settled(order, mark, touch) {
        return None;
    }
    unordered(order, mark, touch)
}

#[inline(never)]
fn unordered(order: &Order, mark: &Mark, touch: &Touch) -> Option<u32> {
    if touch.how.agrees(mark.how, order.between(mark)) {
        return None;
    }
    let loosely = touch.how.is_loose_with(mark.how);
    lanes(touch.lanes).find(|&l| order.unseen(touch.warp, l, mark, loosely) != 0)
}
