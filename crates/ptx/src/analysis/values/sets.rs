//! Lists of lists, and sets of blocks, for making values.

use crate::cfg::Cfg;

/// Lists one after the other.
#[derive(Debug)]
pub(super) struct Grouped<T> {
    items: Vec<T>,
    starts: Vec<u32>,
}

impl<T> Grouped<T> {
    /// Groups items, which are given with the index of their list.
    pub fn new(count: usize, mut items: Vec<(u32, T)>) -> Self {
        items.sort_by_key(|(list, _)| *list);
        let mut starts = vec![0u32; count + 1];
        for (list, _) in &items {
            starts[*list as usize + 1] += 1;
        }
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        Grouped {
            items: items.into_iter().map(|(_, item)| item).collect(),
            starts,
        }
    }

    /// The items of a list.
    pub fn of(&self, list: u32) -> &[T] {
        let (start, end) = (self.starts[list as usize], self.starts[list as usize + 1]);
        &self.items[start as usize..end as usize]
    }
}

/// Sets of blocks that are emptied at once.
pub(super) struct Marks {
    round: u32,
    live: Vec<u32>,
    written: Vec<u32>,
    frontier: Vec<u32>,
}

impl Marks {
    pub fn new(count: usize) -> Self {
        Marks {
            round: 0,
            live: vec![0; count],
            written: vec![0; count],
            frontier: vec![0; count],
        }
    }

    /// Marks the blocks at whose start a register is live that `readers` read
    /// before they write it, and `writers` write.
    pub fn live(&mut self, cfg: &Cfg, readers: &[u32], writers: &[u32]) {
        self.round += 1;
        for &block in writers {
            self.written[block as usize] = self.round;
        }
        let mut work = readers.to_vec();
        while let Some(block) = work.pop() {
            if std::mem::replace(&mut self.live[block as usize], self.round) == self.round {
                continue;
            }
            let predecessors = cfg.blocks[block as usize].predecessors.iter();
            work.extend(predecessors.filter(|&&p| self.written[p as usize] != self.round));
        }
    }

    pub fn is_live(&self, block: u32) -> bool {
        self.live[block as usize] == self.round
    }

    /// The iterated dominance frontier of `blocks`.
    pub fn frontier(&mut self, frontiers: &[Vec<u32>], blocks: &[u32]) -> Vec<u32> {
        self.round = self.round.max(1);
        let mut found = Vec::new();
        let mut work = blocks.to_vec();
        while let Some(block) = work.pop() {
            for &meeting in &frontiers[block as usize] {
                let mark = &mut self.frontier[meeting as usize];
                if std::mem::replace(mark, self.round) != self.round {
                    found.push(meeting);
                    work.push(meeting);
                }
            }
        }
        found
    }
}
