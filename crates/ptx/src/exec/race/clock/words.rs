//! Words that an atomic, volatile, relaxed, releasing or acquiring access writes,
//! and what they take along.

use super::Order;
use crate::exec::race::mark::Scope;
use crate::exec::race::moments::Carried;
use crate::exec::race::seen::{Knowledge, Seen};
use std::collections::HashMap;

/// A word that lanes access, and how.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub address: u64,
    /// In global memory, where other blocks may read it.
    pub global: bool,
    pub scope: Scope,
    /// Whether it acquires, or releases.
    pub orders: bool,
    /// An atomic.
    pub update: bool,
    /// The instruction.
    pub pc: u32,
}

impl Order {
    /// Whether anything is known that a word may take along, or have brought.
    pub fn has_words(&self) -> bool {
        let moments = &self.moments;
        let carried = !moments.wide.is_empty() || !moments.near.is_empty();
        // A barrier hands on what fences before it have published.
        let published = [&self.common.published, &self.common.near];
        let published = published.iter().any(|seen| !seen.is_empty());
        self.used || self.volatile || !self.words.is_empty() || carried || published
    }

    /// Lanes read a word that may order.
    pub fn read(&mut self, warp: u32, mask: u32, word: Word) {
        if let Some(carried) = self.words.get(&word.address) {
            let new = learned(carried, word, |new, seen, proxied| {
                new.pending = [seen, proxied];
            });
            self.learn(warp, mask, &new);
        }
        if !word.global {
            return;
        }
        if word.scope == Scope::Wide
            && let Some(carried) = self.moments.wide.get(&word.address)
        {
            let new = learned(carried, word, |new, seen, _| new.pending_wide[0] = seen);
            self.learn(warp, mask, &new);
        }
        if word.scope >= Scope::Cluster
            && let Some(cluster) = self.cluster
            && let Some(all) = self.moments.near.get(&word.address)
            && let Some(carried) = all.get(&cluster)
        {
            let new = learned(carried, word, |new, seen, _| new.pending_near = seen);
            self.learn(warp, mask, &new);
        }
    }

    /// Lanes write a word that may order.
    pub fn write(&mut self, warp: u32, mask: u32, word: Word) {
        if !word.orders && !self.has_words() {
            return;
        }
        let all = self.snapshot(warp, mask);
        let own = Carried {
            seen: if word.orders {
                all.seen.clone()
            } else {
                all.fenced.clone()
            },
            proxied: all.proxied.clone(),
            loose: if self.volatile {
                let mut loose = all.loose.clone();
                loose.join(&all.seen);
                loose
            } else {
                Seen::default()
            },
        };
        put(&mut self.words, word, own);
        if word.global {
            self.write_abroad(word, all);
        }
    }

    /// Lanes that know something write a word which other blocks may read.
    fn write_abroad(&mut self, word: Word, all: Knowledge) {
        if !word.update {
            self.moments.near.remove(&word.address);
            self.moments.wide.remove(&word.address);
        }
        if word.scope == Scope::Block {
            return;
        }
        self.moments.speak(self.number, self.now);
        if let Some(cluster) = self.cluster {
            let published = (&all.near, &self.common.near);
            let carried = self.carried(word, &all, published);
            let near = self.moments.near.entry(word.address).or_default();
            near.entry(cluster).or_default().join(&carried);
        }
        if word.scope == Scope::Wide {
            let published = (&all.published, &self.common.published);
            let carried = self.carried(word, &all, published);
            if !carried.is_empty() {
                let wide = &mut self.moments.wide;
                wide.entry(word.address).or_default().join(&carried);
            }
        }
    }

    /// What a word takes to other blocks, where it may take what fences have
    /// published: for the lanes, and for the block.
    fn carried(&self, word: Word, all: &Knowledge, published: (&Seen, &Seen)) -> Carried {
        let (own, common) = if word.orders {
            (&all.seen, &self.common.seen)
        } else {
            published
        };
        let mut seen = own.clone();
        seen.join(common);
        let mut loose = Seen::default();
        if self.volatile {
            loose.clone_from(&all.loose);
            loose.join(&seen);
            loose.join(&self.common.loose);
            loose.join(&self.common.seen);
            loose = loose.abroad(self.number);
        }
        Carried {
            seen: seen.abroad(self.number),
            proxied: Seen::default(),
            loose,
        }
    }
}

/// What a read of `word` learns from what its writer left there: at once if it
/// acquires; else `wait` keeps what was seen, and seen through a proxy, for the
/// next fence.
fn learned(
    carried: &Carried,
    word: Word,
    wait: impl FnOnce(&mut Knowledge, Seen, Seen),
) -> Knowledge {
    let Carried {
        seen,
        proxied,
        loose,
    } = carried.clone();
    let mut new = Knowledge {
        loose,
        ..Knowledge::default()
    };
    if word.orders {
        (new.seen, new.proxied) = (seen, proxied);
    } else {
        new.ticket = Some(word.pc);
        wait(&mut new, seen, proxied);
    }
    new
}

fn put(words: &mut HashMap<u64, Carried>, word: Word, carried: Carried) {
    if word.update {
        if !carried.is_empty() {
            words.entry(word.address).or_default().join(&carried);
        }
    } else if carried.is_empty() {
        words.remove(&word.address);
    } else {
        words.insert(word.address, carried);
    }
}
