//! Shared by the caches: the tags of their lines, and the lines being fetched.

use std::collections::{BTreeSet, HashMap};

/// No line: more than addresses have.
const EMPTY: u64 = u64::MAX;

/// The tags of a cache with sets of `ways` lines, of which the least recently
/// used one makes room.
pub(super) struct Tags {
    ways: usize,
    sets: u64,
    /// Set by set, each from the line used last to the one used first.
    lines: Vec<u64>,
}

impl Tags {
    pub fn new(size_bytes: u32, ways: u32, line_bytes: u32) -> Self {
        let sets = size_bytes / line_bytes / ways;
        Tags {
            ways: ways as usize,
            sets: sets.into(),
            lines: vec![EMPTY; (sets * ways) as usize],
        }
    }

    fn set(&mut self, line: u64) -> &mut [u64] {
        let first = (line % self.sets) as usize * self.ways;
        &mut self.lines[first..first + self.ways]
    }

    /// Uses `line`; whether it was there.
    pub fn touch(&mut self, line: u64) -> bool {
        let set = self.set(line);
        match set.iter().position(|&l| l == line) {
            Some(at) => {
                set[..=at].rotate_right(1);
                true
            }
            None => false,
        }
    }

    /// Inserts `line`, which must not be present; returns the evicted line.
    pub fn insert(&mut self, line: u64) -> Option<u64> {
        let set = self.set(line);
        set.rotate_right(1);
        let evicted = std::mem::replace(&mut set[0], line);
        (evicted != EMPTY).then_some(evicted)
    }

    /// Removes `line` if it is present.
    pub fn evict(&mut self, line: u64) {
        let set = self.set(line);
        if let Some(at) = set.iter().position(|&l| l == line) {
            set[at..].rotate_left(1);
            set[set.len() - 1] = EMPTY;
        }
    }
}

/// Lines that loads have asked for and that are not back.
#[derive(Default)]
pub(super) struct UnderWay {
    /// The cycle of each line's data.
    data: HashMap<u64, u64>,
    /// The entries of `data` as (cycle, line), in order.
    order: BTreeSet<(u64, u64)>,
}

impl UnderWay {
    /// The cycle of the data of `line`, if it is under way in `cycle`, which is
    /// never before that of another call.
    pub fn find(&mut self, line: u64, cycle: u64) -> Option<u64> {
        self.forget(cycle);
        self.data.get(&line).copied()
    }

    /// The first cycle, `cycle` or later, in which fewer than `most` lines are
    /// under way; no more than `most` are.
    pub fn room(&mut self, most: usize, cycle: u64) -> u64 {
        self.forget(cycle);
        match self.order.first() {
            Some(&(data, _)) if self.order.len() >= most => {
                self.forget(data);
                data
            }
            _ => cycle,
        }
    }

    /// `line`, which is not under way, is until `data`.
    pub fn add(&mut self, line: u64, data: u64) {
        self.data.insert(line, data);
        self.order.insert((data, line));
    }

    /// Lines that arrived by `cycle` are no longer pending.
    fn forget(&mut self, cycle: u64) {
        while let Some(&(data, line)) = self.order.first() {
            if data > cycle {
                break;
            }
            self.order.pop_first();
            self.data.remove(&line);
        }
    }
}
