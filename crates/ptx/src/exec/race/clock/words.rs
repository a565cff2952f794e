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
}

impl Order {
    /// Lanes read a word that may order.
    pub fn read(&mut self, warp: u32, mask: u32, word: Word) {
        if let Some(carried) = self.words.get(&word.address) {
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
                new.pending = [seen, proxied];
            }
            self.learn(warp, mask, &new);
        }
        if word.global
            && let Some(carried) = self.moments.wide.get(&word.address)
        {
            let Carried { seen, loose, .. } = carried.clone();
            let mut new = Knowledge {
                loose,
                ..Knowledge::default()
            };
            if word.orders && word.scope == Scope::Wide {
                new.seen = seen;
            } else {
                new.pending_wide[0] = seen;
            }
            self.learn(warp, mask, &new);
        }
    }

    /// Lanes write a word that may order.
    pub fn write(&mut self, warp: u32, mask: u32, word: Word) {
        let fenced = self.used || !self.words.is_empty() || !self.moments.wide.is_empty();
        if !word.orders && !fenced && !self.volatile {
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
        if !word.global || word.scope != Scope::Wide {
            if word.global && !word.update {
                self.moments.wide.remove(&word.address);
            }
            return;
        }
        let mut seen = if word.orders { all.seen } else { all.published };
        let common = if word.orders {
            &self.common.seen
        } else {
            &self.common.published
        };
        seen.join(common);
        let number = self.number;
        self.moments.speak(number, self.now);
        let mut loose = Seen::default();
        if self.volatile {
            loose = all.loose;
            loose.join(&seen);
            loose.join(&self.common.loose);
            loose.join(&self.common.seen);
            loose = loose.abroad(number);
        }
        let abroad = Carried {
            seen: seen.abroad(number),
            proxied: Seen::default(),
            loose,
        };
        put(&mut self.moments.wide, word, abroad);
    }
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
