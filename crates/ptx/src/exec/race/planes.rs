//! Accesses to the places of shared memory by warp: reads, or atomics.

use super::clock::Order;
use super::mark::Mark;
use super::touch::{Hit, Touch, clash, is_dead, is_passed, unseen};
use std::collections::HashMap;

/// Accesses of a place that are kept beside the last.
pub const MOST: usize = 256;

/// Accesses of a warp, all reads or all atomics.
#[derive(Debug, Default)]
pub struct Plane {
    /// By place, the last access.
    pub marks: Vec<Mark>,
    /// By place, further accesses that count, if the last one says so.
    pub more: Vec<Vec<Mark>>,
}

/// Accesses by warp.
#[derive(Debug, Default)]
pub struct Planes {
    pub of: Vec<Plane>,
    /// The barrier since which some have been made.
    pub since: u32,
    /// By place, the barrier of `since` and the warps that made an access there after it.
    pub by: Vec<(u32, u32)>,
    /// Sizes of elements, as bits.
    pub sizes: u8,
}

impl Planes {
    pub fn new(warps: u32) -> Self {
        Planes {
            of: (0..warps).map(|_| Plane::default()).collect(),
            ..Planes::default()
        }
    }

    /// Whether any has been made since the last barrier.
    #[inline(always)]
    pub fn any(&self, base: u32) -> bool {
        self.since == base
    }

    /// The warps that have made one at a place since the last barrier.
    #[inline(always)]
    pub fn at(&self, base: u32, place: u32) -> u32 {
        match self.by.get(place as usize) {
            Some(&(since, warps)) if since == base => warps,
            _ => 0,
        }
    }

    pub fn clear(&mut self) {
        self.since = 0;
        self.by.fill((0, 0));
        for plane in &mut self.of {
            plane.marks.fill(Mark::default());
            plane.more.clear();
        }
    }

    pub fn refine(&mut self, parts: u32) {
        let each = |by: &(u32, u32)| std::iter::repeat_n(*by, parts as usize);
        self.by = self.by.iter().flat_map(each).collect();
        for plane in &mut self.of {
            plane.marks = fine(&plane.marks, parts);
            plane.more = plane.more.iter().flat_map(|l| bytes(l, parts)).collect();
        }
    }
}

impl Plane {
    /// The accesses to a place that are kept.
    pub fn all(&self, place: u32) -> impl Iterator<Item = &Mark> {
        let last = self.marks.get(place as usize);
        let has_more = last.is_some_and(|last| last.more);
        let list = has_more.then(|| &self.more[place as usize]);
        list.into_iter().flatten().chain(last)
    }

    /// Looks at earlier accesses of a warp to a place.
    #[cold]
    #[inline(never)]
    pub fn check(
        &self,
        order: &Order,
        place: u32,
        (touch, new): (&Touch, &Mark),
        wrote: bool,
        hits: &mut Vec<Hit>,
    ) {
        for mark in self.all(place) {
            if let Some(lane) = clash(order, mark, touch) {
                let unseen = unseen(order, mark, touch, lane);
                hits.push(Hit {
                    harmless: !wrote && new.is_silent(),
                    ..Hit::new(place, lane, (*mark, unseen), wrote)
                });
            }
        }
    }

    /// Keeps the last access beside a new one. If lanes have an access that nobody can tell
    /// from the new one, that one stays.
    #[inline(never)]
    pub fn set_aside(&mut self, order: &Order, place: u32, touch: &Touch) {
        let at = place as usize;
        if self.more.is_empty() {
            self.more = vec![Vec::new(); self.marks.len()];
        }
        let (last, list) = (&mut self.marks[at], &mut self.more[at]);
        if !last.more {
            list.clear();
        }
        let since = order.since(touch.warp);
        let alike = |m: &Mark| m.how == touch.how && m.moment >= since;
        let mut new = touch.mark();
        let passed = |m: &Mark| is_dead(order, m) || is_passed(order, m, touch);
        let same = alike(last);
        if same {
            for mark in list.iter_mut().filter(|m| alike(m)) {
                if mark.pc == touch.pc {
                    (mark.lanes, mark.moment) = (mark.lanes | touch.lanes, touch.moment);
                    return;
                }
                new.lanes &= !mark.lanes;
            }
            new.lanes &= !last.lanes;
            if new.lanes == 0 {
                last.moment = touch.moment;
                return;
            }
        }
        if list.last().is_some_and(|m| !alike(m)) {
            list.retain(|m| !passed(m));
        }
        if same || !passed(last) {
            list.push(Mark {
                more: false,
                ..*last
            });
        }
        if list.len() > MOST {
            list.remove(0);
        }
        new.more = !list.is_empty();
        *last = new;
    }
}

/// The marks of the bytes of a place.
fn bytes(list: &[Mark], parts: u32) -> impl Iterator<Item = Vec<Mark>> {
    (0..parts).map(|n| list.iter().map(|m| m.byte(n)).collect())
}

pub fn fine(marks: &[Mark], parts: u32) -> Vec<Mark> {
    let each = |m: &Mark| {
        let mark = *m;
        (0..parts).map(move |n| mark.byte(n))
    };
    marks.iter().flat_map(each).collect()
}

pub fn fine_lists(more: &HashMap<u32, Vec<Mark>>, parts: u32) -> HashMap<u32, Vec<Mark>> {
    let each = more.iter().flat_map(|(place, list)| {
        let places = place * parts..(place + 1) * parts;
        places.zip(bytes(list, parts))
    });
    each.collect()
}
