//! Words that an atomic, volatile, relaxed, releasing or acquiring access writes, and the
//! knowledge that they carry.

use super::Order;
use crate::exec::ordering::Scope;
use crate::exec::race::lanes;
use crate::exec::race::moments::Carried;
use crate::exec::race::seen::{Knowledge, Seen};
use crate::exec::race::words::{Bytes, Words};
use std::collections::HashMap;

/// A word that lanes access, and how.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    pub bytes: Bytes,
    /// The word is in global memory, where other blocks may read it.
    pub global: bool,
    pub scope: Scope,
    /// The access acquires, if it is a read, or releases, if it is a write.
    pub orders: bool,
    /// The access is an atomic.
    pub update: bool,
    /// The instruction.
    pub pc: u32,
}

/// Knowledge that a thread has released by a word. A later strong store of the thread to
/// that word carries it, too, without another fence (a release pattern of the PTX ISA).
#[derive(Clone, Debug)]
pub struct Release {
    scope: Scope,
    /// The knowledge for the own block, and for other blocks.
    here: Seen,
    abroad: Seen,
}

/// The last release of each thread and scope, by word, warp and lane.
#[derive(Debug, Default)]
pub struct Releases(HashMap<(Bytes, u32, u32, Scope), Release>);

impl Releases {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A barrier of the block has been passed: the block knows it without.
    pub fn pass(&mut self) {
        self.0.retain(|_, release| !release.abroad.is_empty());
        self.0.values_mut().for_each(|r| r.here.forget_threads());
    }

    /// Earlier releases by lanes that write the word once more.
    fn of(&self, word: Word, warp: u32, mask: u32) -> Vec<Release> {
        if word.orders || self.0.is_empty() {
            return Vec::new();
        }
        let scopes = [Scope::Block, Scope::Cluster, Scope::Wide];
        let all = lanes(mask).flat_map(|lane| scopes.map(|s| (word.bytes, warp, lane, s)));
        all.filter_map(|at| self.0.get(&at).cloned()).collect()
    }

    fn put(&mut self, word: Word, warp: u32, mask: u32, release: &Release) {
        for lane in lanes(mask) {
            let at = (word.bytes, warp, lane, release.scope);
            self.0.insert(at, release.clone());
        }
    }
}

impl Order {
    /// Whether anything is known that a word may take along, or have brought.
    pub fn has_words(&self) -> bool {
        let moments = &self.moments;
        let carried = !moments.wide.is_empty() || !moments.near.is_empty();
        // A barrier hands on what fences before it have published.
        let published = [&self.common.published, &self.common.near];
        let published = published.iter().any(|seen| !seen.is_empty());
        let released = !self.words.is_empty() || !self.releases.is_empty();
        self.used || self.volatile || released || carried || published
    }

    /// Lanes read a word that may order.
    pub fn read(&mut self, warp: u32, mask: u32, word: Word) {
        if let Some(carried) = self.words.get(word.bytes) {
            let new = learned(carried, word, |new, seen| new.pending = seen);
            self.learn(warp, mask, &new);
        }
        if !word.global {
            return;
        }
        if word.scope == Scope::Wide
            && let Some(carried) = self.moments.wide.get(word.bytes)
        {
            let new = learned(carried, word, |new, seen| new.pending_wide = seen);
            self.learn(warp, mask, &new);
        }
        if word.scope >= Scope::Cluster
            && let Some(cluster) = self.cluster
            && let Some(all) = self.moments.near.get(word.bytes)
            && let Some(carried) = all.get(&cluster)
        {
            let new = learned(carried, word, |new, seen| new.pending_near = seen);
            self.learn(warp, mask, &new);
        }
    }

    /// A weak store replaces what its bytes took along.
    pub fn overwrite(&mut self, write: Bytes, global: bool) {
        self.words.remove(write);
        if global {
            self.moments.near.remove(write);
            self.moments.wide.remove(write);
        }
    }

    /// Whether a weak store may replace what a word takes along.
    pub fn has_carried(&self, global: bool) -> bool {
        let moments = &self.moments;
        !self.words.is_empty() || global && !(moments.wide.is_empty() && moments.near.is_empty())
    }

    /// Lanes write a word that may order.
    pub fn write(&mut self, warp: u32, mask: u32, word: Word) {
        if !word.orders && !self.has_words() {
            return;
        }
        let all = self.snapshot(warp, mask);
        let earlier = self.releases.of(word, warp, mask);
        let own = Carried {
            seen: if word.orders {
                all.seen.clone()
            } else {
                let mut seen = all.fenced.clone();
                earlier.iter().for_each(|r| seen.join(&r.here));
                seen
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
        let here = word.orders.then(|| own.seen.clone());
        put(&mut self.words, word, own);
        let abroad = if word.global {
            self.write_abroad(word, all, &earlier)
        } else {
            Seen::default()
        };
        if let Some(here) = here {
            let scope = word.scope;
            let release = Release {
                scope,
                here,
                abroad,
            };
            self.releases.put(word, warp, mask, &release);
        }
    }

    /// Lanes that know something, and have released it `earlier` by the same word, write
    /// a word which other blocks may read: what that takes to all blocks.
    fn write_abroad(&mut self, word: Word, all: Knowledge, earlier: &[Release]) -> Seen {
        if word.update {
            self.moments.near.update(word.bytes);
            self.moments.wide.update(word.bytes);
        } else {
            self.moments.near.remove(word.bytes);
            self.moments.wide.remove(word.bytes);
        }
        if word.scope == Scope::Block {
            return Seen::default();
        }
        let released = |seen: &mut Seen, scope: Scope| {
            let reach = earlier.iter().filter(|r| r.scope >= scope);
            reach.for_each(|r| seen.join(&r.abroad));
        };
        self.moments.speak(self.number, self.now);
        let mut taken = Seen::default();
        if let Some(cluster) = self.cluster {
            let published = (&all.near, &self.common.near);
            let mut carried = self.carried(word, &all, published);
            released(&mut carried.seen, Scope::Cluster);
            taken.clone_from(&carried.seen);
            let near = self.moments.near.entry(word.bytes);
            near.entry(cluster).or_default().join(&carried);
        }
        if word.scope == Scope::Wide {
            let published = (&all.published, &self.common.published);
            let mut carried = self.carried(word, &all, published);
            released(&mut carried.seen, Scope::Wide);
            taken.clone_from(&carried.seen);
            if !carried.is_empty() {
                let wide = &mut self.moments.wide;
                wide.entry(word.bytes).join(&carried);
            }
        }
        taken
    }

    /// Knowledge that a word carries to other blocks; without release semantics, only what
    /// fences have `published`, for the lanes and for the block.
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
            proxied: self.proxied_abroad(all),
            loose,
        }
    }
}

/// Knowledge that a read of `word` takes from what its writer left there: at once if the
/// read acquires; else `wait` keeps it for the next fence. What proxy fences have made
/// visible needs no further fence.
fn learned(carried: &Carried, word: Word, wait: impl FnOnce(&mut Knowledge, Seen)) -> Knowledge {
    let Carried {
        seen,
        proxied,
        loose,
    } = carried.clone();
    let mut new = Knowledge {
        loose,
        proxied,
        ..Knowledge::default()
    };
    if word.orders {
        new.seen = seen;
    } else {
        new.ticket = Some(word.pc);
        wait(&mut new, seen);
    }
    new
}

fn put(words: &mut Words<Carried>, word: Word, carried: Carried) {
    if word.update {
        if carried.is_empty() {
            words.update(word.bytes);
        } else {
            words.entry(word.bytes).join(&carried);
        }
    } else if carried.is_empty() {
        words.remove(word.bytes);
    } else {
        words.insert(word.bytes, carried);
    }
}
