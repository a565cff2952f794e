//! Shadow memory of shared memory: per place the last write, and per warp and place the
//! last read, with the lanes. Others stay in lists as long as something may race with them
//! and not with the last.
//!
//! A place is a word, or a byte once something smaller than a word is accessed.

use super::clock::Order;
use super::mark::Mark;
use super::planes::{MOST, Planes, fine, fine_lists};
use super::sights::{Sights, Written, settle};
use super::stored::{KEPT, is_outdone};
pub use super::touch::{Hit, OBJECT_BYTES, ObjectUse, Touch};
use super::touch::{clash, is_dead, is_passed, judged, unseen};
use super::{FLYING, lanes};
use std::collections::HashMap;

/// Facts about an access that hold for all of its lanes.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    base: u32,
    met: u32,
    /// Whether there are reads, and atomics, that it may race with.
    reads: bool,
    updates: bool,
    /// Whether it may observe what was written.
    sees: bool,
}

/// The shared memory of a block.
#[derive(Debug, Default)]
pub struct Shadow {
    /// Bytes of a place.
    unit: u32,
    writes: Vec<Mark>,
    /// Earlier stores of the same lanes, where the last write says so.
    before: Vec<Mark>,
    /// Writes that count beside the last.
    more: HashMap<u32, Vec<Mark>>,
    reads: Planes,
    /// Atomics, which do not race with each other.
    updates: Planes,
    /// Moment of a barrier, and the strong reads since.
    sights: (u32, Sights),
    pub hits: Vec<Hit>,
}

impl Shadow {
    pub fn new(bytes: u64, warps: u32) -> Self {
        Shadow {
            unit: 4,
            writes: vec![Mark::default(); bytes.div_ceil(4) as usize],
            reads: Planes::new(warps),
            updates: Planes::new(warps),
            ..Shadow::default()
        }
    }

    pub fn unit(&self) -> u32 {
        self.unit
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.writes.fill(Mark::default());
        self.more.clear();
        self.reads.clear();
        self.updates.clear();
        self.sights.1.clear();
    }

    /// Places are bytes from now on.
    #[cold]
    pub fn refine(&mut self) {
        let parts = std::mem::replace(&mut self.unit, 1);
        self.writes = fine(&self.writes, parts);
        self.before = fine(&self.before, parts);
        self.more = fine_lists(&self.more, parts);
        self.reads.refine(parts);
        self.updates.refine(parts);
    }

    /// Facts about an access that hold for all of its lanes, to be found once.
    #[inline(always)]
    pub fn pass(&self, order: &Order, touch: &Touch) -> Pass {
        let (base, met) = (order.base(), order.met(touch.warp));
        let agrees = touch.update && self.updates.sizes == touch.how.size;
        Pass {
            base,
            met,
            reads: touch.write && self.reads.any(base),
            updates: !agrees && self.updates.any(base),
            sees: Sights::counts(touch),
        }
    }

    /// Lanes of a warp access places from `first` on.
    pub fn touch(&mut self, order: &Order, first: u32, count: u32, touch: &Touch) {
        let pass = self.pass(order, touch);
        self.touch_in(pass, order, (first, count), touch);
    }

    /// Compares and remembers an access, as `touch`, given the facts that hold for its
    /// lanes.
    #[inline(always)]
    pub fn touch_in(
        &mut self,
        pass: Pass,
        order: &Order,
        (first, count): (u32, u32),
        touch: &Touch,
    ) {
        let (base, met) = (pass.base, pass.met);
        let end = (first + count).min(self.writes.len() as u32);
        for place in first..end {
            let new = touch.mark_at((place - first) * self.unit, self.unit);
            let before = self.hits.len();
            let old = &self.writes[place as usize];
            if (old.moment >= base || old.warp >= super::AGENTS) && !harmless(old, touch, met) {
                self.check_writes(order, place, touch, &new);
            }
            if pass.reads | pass.updates {
                let before = self.hits.len();
                let all = [
                    (&self.reads, pass.reads, false),
                    (&self.updates, pass.updates, true),
                ];
                for (planes, some, wrote) in all {
                    let live = if some { planes.at(base, place) } else { 0 };
                    for at in lanes(live) {
                        let read = &planes.of[at as usize].marks[place as usize];
                        if read.moment >= base && !harmless(read, touch, met) {
                            let plane = &planes.of[at as usize];
                            plane.check(order, place, (touch, &new), wrote, &mut self.hits);
                        }
                    }
                }
                if self.hits.len() > before {
                    self.doubt(place, before);
                }
            }
            if self.hits.len() > before && pass.updates {
                self.settle_by_atomics(order, place, before, touch);
            }
            if self.hits.len() > before {
                let (hits, address) = ((&mut self.hits, before), place * self.unit);
                self.sights.1.settle(order, hits, address.into(), touch);
            }
            if pass.sees {
                self.see(order, place, touch);
            }
            if !touch.passing {
                self.note(order, place, (touch, &new), (base, met));
            }
        }
    }

    /// Lanes read a place by a strong access.
    #[inline(never)]
    fn see(&mut self, order: &Order, place: u32, touch: &Touch) {
        let (at, base) = (place as usize, order.base());
        let store = self.writes[at];
        let store = if store.moment < base {
            Mark::default()
        } else {
            store
        };
        let live = lanes(self.updates.at(base, place));
        let updates = live.map(|warp| self.updates.of[warp as usize].marks[at].moment);
        if let Some(written) = Written::of(&store, updates, touch) {
            if self.sights.0 != base {
                self.sights.1.clear();
                self.sights.0 = base;
            }
            let address = (place * self.unit).into();
            self.sights.1.note(order, address, touch, written);
        }
    }

    /// Remembers accesses that were looked at when they began.
    pub fn remember(&mut self, order: &Order, first: u32, count: u32, touch: &Touch) {
        let (base, met) = (order.base(), order.met(touch.warp));
        let end = (first + count).min(self.writes.len() as u32);
        let new = touch.mark();
        (first..end).for_each(|place| self.note(order, place, (touch, &new), (base, met)));
    }

    /// Remembers an access.
    #[inline(always)]
    fn note(
        &mut self,
        order: &Order,
        place: u32,
        (touch, new): (&Touch, &Mark),
        (base, met): (u32, u32),
    ) {
        if touch.write && !touch.update {
            let old = &mut self.writes[place as usize];
            let own = old.lanes & !touch.lanes == 0 && u32::from(old.warp) == touch.warp;
            let own = own && old.moment != FLYING && !old.more && touch.how.covers(old.how);
            if old.moment < base {
                *old = *new;
            } else if old.moment == touch.moment {
                old.join(new);
            } else if own && !old.older && is_outdone(old, new, &[], true) {
                *old = *new;
            } else if own {
                self.replace(order, place, (touch, new));
            } else {
                self.supersede(order, place, (touch, new));
            }
            return;
        }
        let planes = if touch.write {
            &mut self.updates
        } else {
            &mut self.reads
        };
        let plane = &mut planes.of[touch.warp as usize];
        if plane.marks.is_empty() {
            plane.marks = vec![Mark::default(); self.writes.len()];
        }
        planes.since = base;
        if planes.by.is_empty() {
            planes.by = vec![(0, 0); self.writes.len()];
        }
        let by = &mut planes.by[place as usize];
        if by.0 != base {
            *by = (base, 0);
        }
        by.1 |= 1 << touch.warp;
        planes.sizes |= touch.how.size;
        let old = &mut plane.marks[place as usize];
        let passed = old.lanes & !touch.lanes == 0 || old.moment < met;
        if old.moment < base {
            *old = touch.mark();
        } else if passed && touch.how.covers(old.how) {
            let more = old.more;
            *old = touch.mark();
            old.more = more;
        } else if old.how == touch.how
            && (old.moment == touch.moment || old.moment >= order.shown(touch.warp))
            && (old.pc == touch.pc || touch.lanes & !old.lanes == 0)
        {
            // Nobody can have seen the one and not the other.
            old.lanes |= touch.lanes;
            old.moment = touch.moment;
        } else {
            plane.set_aside(order, place, touch);
        }
    }

    /// Lanes store once more, and what they stored before may count for its value.
    #[inline(never)]
    fn replace(&mut self, order: &Order, place: u32, (touch, new): (&Touch, &Mark)) {
        let at = place as usize;
        let old = self.writes[at];
        let before = old.older.then(|| self.before[at]);
        let counts = !is_outdone(&old, new, &[], true);
        let later = if counts { &[old][..] } else { &[] };
        let before = before.filter(|b| !is_outdone(b, new, later, true));
        let kept = match (counts, before) {
            (true, Some(_)) => return self.supersede(order, place, (touch, new)),
            (true, None) => Some(old),
            (false, before) => before,
        };
        self.writes[at] = Mark {
            older: kept.is_some(),
            ..*new
        };
        if let Some(mark) = kept {
            self.before.resize(self.writes.len(), Mark::default());
            self.before[at] = Mark {
                older: false,
                kept: true,
                ..mark
            };
        }
    }

    /// Keeps what was written before where something may race with it and not
    /// with this, or where its value turns a warning into a fault.
    #[cold]
    fn supersede(&mut self, order: &Order, place: u32, (touch, new): (&Touch, &Mark)) {
        let old = std::mem::replace(&mut self.writes[place as usize], *new);
        let mut list = self.more.remove(&place).unwrap_or_default();
        if old.older {
            list.push(self.before[place as usize]);
        }
        list.push(Mark {
            more: false,
            older: false,
            ..old
        });
        let mut left: Vec<Mark> = Vec::new();
        let mut kept = 0;
        for mark in list.into_iter().rev().filter(|m| !is_dead(order, m)) {
            if !is_passed(order, &mark, touch) {
                left.push(mark);
            } else if kept < KEPT && !is_outdone(&mark, new, &left, true) {
                left.push(Mark { kept: true, ..mark });
                kept += 1;
            }
        }
        left.reverse();
        if left.len() > MOST {
            left.remove(0);
        }
        if !left.is_empty() {
            self.writes[place as usize].more = true;
            self.more.insert(place, left);
        }
    }

    /// Looks at earlier writes of a place: of those that are kept for their values
    /// only at the last that makes a fault, where no other does.
    #[cold]
    #[inline(never)]
    fn check_writes(&mut self, order: &Order, place: u32, touch: &Touch, new: &Mark) {
        let last = self.writes[place as usize];
        let list = last.more.then(|| self.more.get(&place)).flatten();
        let before = last.older.then(|| self.before[place as usize]);
        let all = list.into_iter().flatten().chain(&before).chain([&last]);
        let hit = |mark: &Mark| {
            let lane = clash(order, mark, touch)?;
            let (lane, harmless) = judged(order, (mark, all.clone()), (touch, new), lane)?;
            let unseen = unseen(order, mark, touch, lane);
            Some(Hit {
                harmless,
                ..Hit::new(place, lane, (*mark, unseen), true)
            })
        };
        let first = self.hits.len();
        let hits = all.clone().filter(|m| !m.kept).filter_map(hit);
        self.hits.extend(hits);
        if self.hits[first..].iter().all(|h| h.harmless) {
            let mut kept = all.clone().filter(|m| m.kept).filter_map(hit);
            self.hits.extend(kept.rfind(|h| !h.harmless));
        }
    }

    /// Marks hits from index `from` on as harmful if the value changed after the earlier
    /// access read it: storing a value that is there is harmless only if the reader found
    /// it, too.
    #[cold]
    fn doubt(&mut self, place: u32, from: usize) {
        let at = place as usize;
        let last = self.writes[at];
        let list = last.more.then(|| self.more.get(&place)).flatten();
        let before = last.older.then(|| self.before[at]);
        let stores = list.into_iter().flatten().chain(&before).chain([&last]);
        let updates = self.updates.of.iter().filter_map(|p| p.marks.get(at));
        let changes = stores.filter(|m| !m.is_silent()).chain(updates);
        let last = changes
            .map(|m| m.moment)
            .filter(|moment| *moment != FLYING)
            .max();
        for hit in &mut self.hits[from..] {
            hit.harmless &= last.is_none_or(|last| last <= hit.earlier.moment);
        }
    }

    /// Removes hits from index `from` on that are no races, because an atomic whose result
    /// is read has observed the write, and the lanes have seen that atomic.
    #[cold]
    fn settle_by_atomics(&mut self, order: &Order, place: u32, from: usize, touch: &Touch) {
        let knows = |by: &&Mark| lanes(touch.lanes).any(|l| order.knows(touch.warp, l, by));
        let live = self.updates.at(order.base(), place);
        let planes = lanes(live).map(|warp| &self.updates.of[warp as usize]);
        let all = planes.flat_map(|plane| plane.all(place));
        let observers: Vec<Mark> = all
            .filter(|by| !by.how.blind)
            .filter(knows)
            .copied()
            .collect();
        settle(order, (&mut self.hits, from), touch, |write, thread| {
            let by = observers.iter();
            let by = by.map(|by| observed(order, (by, write), thread));
            by.fold(0, |all, by| all | by)
        });
    }

    /// A copy writes a place: its mark stays until somebody waits.
    pub fn put(&mut self, order: &Order, first: u32, count: u32, (mark, touch): (Mark, &Touch)) {
        let end = (first + count).min(self.writes.len() as u32);
        for place in first..end {
            let old = &mut self.writes[place as usize];
            if old.moment < order.base() && old.warp < super::AGENTS {
                *old = mark;
            } else {
                self.supersede(order, place, (touch, &mark));
                let last = &mut self.writes[place as usize];
                *last = Mark {
                    more: last.more,
                    ..mark
                };
            }
        }
    }

    /// The atomics on a place.
    pub fn updated(&self, place: u32) -> impl Iterator<Item = &Mark> {
        let marks = self.updates.of.iter();
        marks.filter_map(move |plane| plane.marks.get(place as usize))
    }

    /// The writes of a place, to be changed.
    pub fn written(&mut self, place: u32) -> impl Iterator<Item = &mut Mark> {
        let last = self.writes.get_mut(place as usize);
        let more = last.as_ref().is_some_and(|m| m.more);
        let older = last.as_ref().is_some_and(|m| m.older);
        let list = more.then(|| self.more.get_mut(&place)).flatten();
        let before = older.then(|| self.before.get_mut(place as usize)).flatten();
        let all = last.into_iter().chain(before);
        all.chain(list.into_iter().flatten())
    }
}

/// The lanes of a strong write that an atomic has observed which a thread knows of: all
/// those before it. Lanes of one instruction come one after another.
fn observed(order: &Order, (by, write): (&Mark, &Mark), (warp, lane): (u32, u32)) -> u32 {
    if !by.how.agrees(write.how, order.apart(by, write)) || !order.knows(warp, lane, by) {
        return 0;
    }
    let is_one = by.moment == write.moment && by.warp == write.warp;
    let is_own = u32::from(by.warp) == warp && by.lanes >> lane & 1 != 0;
    match (by.moment > write.moment, is_one && is_own) {
        (true, _) => u32::MAX,
        (false, true) => (1 << lane) - 1,
        (false, false) => 0,
    }
}

/// Whether an earlier access is surely none that races: of the same lanes, of
/// the same step, or seen by all lanes of the warp.
#[inline(always)]
fn harmless(old: &Mark, touch: &Touch, met: u32) -> bool {
    let own = u32::from(old.warp) == touch.warp;
    let alone = old.lanes == touch.lanes && touch.lanes & touch.lanes.wrapping_sub(1) == 0;
    let same = old.moment == touch.moment && !old.older;
    own && !old.more && old.moment != FLYING && (alone || same || old.moment < met)
}
