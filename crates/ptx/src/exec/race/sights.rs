//! Observations: which strong writes the strong reads have seen. A strong write is ordered
//! before what follows a strong read of its value, without a fence: the write itself, and
//! not what came before it. The same holds for whoever is ordered behind the read (PTX ISA,
//! *Causality Order*: an operation precedes another if it precedes a third one in
//! observation order, and that one precedes the other in base causality order).

use super::clock::Order;
use super::mark::Mark;
use super::touch::{Hit, Touch};
use super::{AGENTS, lanes};
use crate::exec::ordering::Strength;
use std::collections::HashMap;

/// Reads of a word by the threads of a warp number that are kept: the last ones.
const MOST: usize = 256;

/// A strong read.
#[derive(Clone, Copy, Debug)]
struct Sight {
    read: Mark,
    /// The last store before it. It observed this one and, through each other, the
    /// atomics since.
    from: u32,
}

/// The strong reads of words that were written by strong writes, by the word's address
/// and the warp.
#[derive(Debug, Default)]
pub struct Sights(HashMap<(u64, u8), Vec<Sight>>);

/// The writes of a place before a strong read.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    /// The last store.
    pub from: u32,
    /// The last write: a store, or an atomic.
    pub last: u32,
}

impl Written {
    /// The writes of a place with a last store, and atomics at these moments; `None` if a
    /// read here observes no strong write.
    pub fn of(store: &Mark, updates: impl Iterator<Item = u32>, touch: &Touch) -> Option<Self> {
        let strong = store.moment != 0 && store.how.strength != Strength::Weak;
        // Of atomics those count that may have read a flag, and not those that sum up.
        if touch.update && !strong {
            return None;
        }
        let last = updates.max().or(strong.then_some(store.moment))?;
        Some(Written {
            from: store.moment,
            last: last.max(store.moment),
        })
    }
}

/// Removes hits from index `from` on that are no races, because a strong write was
/// observed. `observed` has the lanes of a write that a thread knows to have been observed.
pub fn settle(
    order: &Order,
    (hits, from): (&mut Vec<Hit>, usize),
    touch: &Touch,
    observed: impl Fn(&Mark, (u32, u32)) -> u32,
) {
    let mut at = 0;
    hits.retain_mut(|hit| {
        at += 1;
        if at <= from || !hit.wrote || hit.earlier.how.strength == Strength::Weak {
            return true;
        }
        let write = &hit.earlier;
        // A load that may come too early is told because a fence is missing.
        let loosely = !hit.hoisted && touch.how.is_loose_with(write.how);
        let open = |&lane: &u32| {
            let unseen = order.unseen(touch.warp, lane, write, loosely);
            unseen != 0 && unseen & !observed(write, (touch.warp, lane)) != 0
        };
        match lanes(touch.lanes).find(open) {
            Some(lane) => hit.lane = lane,
            None => return false,
        }
        true
    });
}

/// The address of the element that a byte is in.
fn element(address: u64, size: u8) -> u64 {
    address & !(u64::from(size).next_power_of_two() - 1)
}

impl Sights {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether an access may have observed something, and is to be noted.
    #[inline(always)]
    pub fn counts(touch: &Touch) -> bool {
        let reads = !touch.write || touch.update && !touch.how.blind;
        touch.how.strength != Strength::Weak && reads && !touch.passing
    }

    /// Lanes read what was written.
    #[inline(never)]
    pub fn note(&mut self, order: &Order, address: u64, touch: &Touch, written: Written) {
        let read = touch.mark();
        let key = (element(address, touch.how.size), read.warp);
        let all = self.0.entry(key).or_default();
        // One that nothing was written since has observed the same.
        let same = |s: &Sight| {
            let covers = read.lanes & !s.read.lanes == 0 && s.read.how == read.how;
            covers && s.read.moment > written.last && order.is_alike(&s.read, &read)
        };
        if all.iter().rev().any(same) {
            return;
        }
        if all.len() >= MOST {
            all.remove(0);
        }
        let from = written.from;
        all.push(Sight { read, from });
    }

    /// Removes hits at a byte, from index `from` on, that are no races, because the write
    /// was observed.
    #[cold]
    pub fn settle(
        &self,
        order: &Order,
        (hits, from): (&mut Vec<Hit>, usize),
        address: u64,
        touch: &Touch,
    ) {
        if !self.0.is_empty() {
            settle(order, (hits, from), touch, |write, thread| {
                let has = self.has(order, address, write, thread);
                if has { u32::MAX } else { 0 }
            });
        }
    }

    /// Whether a thread knows of a read that has observed a strong write.
    fn has(&self, order: &Order, address: u64, write: &Mark, thread: (u32, u32)) -> bool {
        // Of stores of one instruction it has observed one.
        let one = write.lanes.is_power_of_two();
        let observed = |s: &Sight| {
            let before = s.from < write.moment || s.from == write.moment && one;
            before
                && write.moment < s.read.moment
                && s.read.how.agrees(write.how, order.apart(&s.read, write))
                && order.knows(thread.0, thread.1, &s.read)
        };
        let key = element(address, write.how.size);
        let mut warps = (0..AGENTS).filter_map(|warp| self.0.get(&(key, warp)));
        write.warp < AGENTS && warps.any(|all| all.iter().any(observed))
    }
}
