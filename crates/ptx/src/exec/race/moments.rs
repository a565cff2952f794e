//! State that the blocks of a launch share: which block each moment (time stamp) belongs
//! to, and the knowledge that synchronising words carry between blocks.
//!
//! Blocks run one after another, or take turns. Moments grow over all of them, so that each
//! is of one block: the one whose turn it was.

use super::mark::Mark;
use super::seen::Seen;
use super::words::Words;
use std::collections::BTreeMap;

/// The happens-before knowledge that a store attaches to a word and a load of it acquires.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    pub seen: Seen,
    /// Accesses that a proxy fence has made visible, for shared and for global memory.
    pub proxied: [Seen; 2],
    pub loose: Seen,
}

impl Carried {
    pub fn join(&mut self, other: &Carried) {
        self.seen.join(&other.seen);
        let both = self.proxied.iter_mut().zip(&other.proxied);
        both.for_each(|(own, new)| own.join(new));
        self.loose.join(&other.loose);
    }

    pub fn is_empty(&self) -> bool {
        let mut all = [&self.seen, &self.loose].into_iter().chain(&self.proxied);
        all.all(Seen::is_empty)
    }
}

/// A block of the launch.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Linear index of the block.
    linear: u64,
    /// Identifier of its cluster.
    cluster: u64,
    /// Moment at which the block last wrote a word that other blocks may read.
    spoke: u32,
}

/// The moments of a launch, and what is known between its blocks.
#[derive(Debug, Default)]
pub struct Moments {
    /// First moment and block number of each turn, in order.
    turns: Vec<(u32, u32)>,
    blocks: Vec<Block>,
    /// Blocks before this number have ended.
    running: u32,
    /// The moment at which the last of them ended.
    since: u32,
    /// Moment at which any block last wrote a word that others may read.
    spoke: u32,
    /// The moment at which the last turn ended.
    now: u32,
    /// Words that carry knowledge to all blocks.
    pub wide: Words<Carried>,
    /// Words that carry knowledge to the blocks of one cluster, by cluster.
    pub near: Words<BTreeMap<u64, Carried>>,
}

impl Moments {
    /// Begins a block of a cluster, which has its turn, and returns its number.
    pub fn begin(&mut self, linear: u64, cluster: u64, now: u32) -> u32 {
        let number = self.blocks.len() as u32;
        self.blocks.push(Block {
            linear,
            cluster,
            spoke: 0,
        });
        self.turn(number, now);
        number
    }

    /// Gives a block its turn from a moment on.
    pub fn turn(&mut self, number: u32, now: u32) {
        match self.turns.last() {
            Some(&(_, last)) if last == number => return,
            // Nothing happened in that turn.
            Some(&(start, _)) if start == now => {
                self.turns.pop();
            }
            _ => {}
        }
        self.turns.push((now, number));
    }

    /// Ends all blocks that have begun; they did nothing from this moment on.
    pub fn end(&mut self, now: u32) {
        self.since = now;
        self.running = self.blocks.len() as u32;
    }

    /// The turn ends at a moment, and the next begins there.
    pub fn stop(&mut self, now: u32) {
        self.now = self.now.max(now);
    }

    pub fn now(&self) -> u32 {
        self.now
    }

    /// The number of the block that a moment is of.
    pub fn block_at(&self, moment: u32) -> u32 {
        // Mostly it is asked for what happened in this turn.
        if let Some(&(start, number)) = self.turns.last()
            && start <= moment
        {
            return number;
        }
        let turn = self.turns.partition_point(|&(start, _)| start <= moment);
        let turn = turn.checked_sub(1).and_then(|at| self.turns.get(at));
        turn.map_or(0, |&(_, number)| number)
    }

    /// The linear index of a block.
    pub fn linear(&self, number: u32) -> Option<u64> {
        self.blocks.get(number as usize).map(|block| block.linear)
    }

    /// Identifier of the cluster of a block.
    pub fn cluster(&self, number: u32) -> Option<u64> {
        self.blocks.get(number as usize).map(|block| block.cluster)
    }

    /// A block writes a word that others may read.
    pub fn speak(&mut self, number: u32, now: u32) {
        if let Some(block) = self.blocks.get_mut(number as usize) {
            block.spoke = now;
            self.spoke = self.spoke.max(now);
        }
    }

    /// Whether no block can ever see an access of a block that has ended.
    #[inline(always)]
    pub fn is_hidden(&self, mark: &Mark) -> bool {
        self.is_surely_hidden(mark) || self.is_of_hidden_block(mark)
    }

    /// Whether an access is hidden because its block has ended and no block has written
    /// such a word since; cheaper than `is_hidden`, and mostly enough.
    #[inline(always)]
    pub fn is_surely_hidden(&self, mark: &Mark) -> bool {
        mark.moment >= self.spoke && mark.moment < self.since
    }

    #[inline(never)]
    fn is_of_hidden_block(&self, mark: &Mark) -> bool {
        let number = self.block_at(mark.moment);
        let spoke = self.blocks.get(number as usize).map_or(0, |b| b.spoke);
        number < self.running && spoke <= mark.moment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_of_the_block_whose_turn_it_was() {
        let mut moments = Moments::default();
        assert_eq!(moments.begin(7, 7, 1), 0);
        assert_eq!(moments.begin(9, 9, 1), 1);
        // Nothing was done in the first turn.
        moments.turn(0, 5);
        moments.turn(0, 6);
        moments.turn(1, 8);
        let of: Vec<u32> = [1, 4, 5, 7, 8, 100].map(|m| moments.block_at(m)).to_vec();
        assert_eq!(of, [1, 1, 0, 0, 1, 1]);
        assert_eq!((moments.linear(0), moments.linear(1)), (Some(7), Some(9)));
        assert_eq!(moments.linear(2), None);
    }

    #[test]
    fn what_a_block_did_is_hidden_once_it_has_ended_and_not_spoken_since() {
        let mut moments = Moments::default();
        moments.begin(0, 0, 1);
        let mark = |moment| Mark {
            moment,
            ..Mark::default()
        };
        moments.speak(0, 4);
        assert!(!moments.is_hidden(&mark(3)) && !moments.is_hidden(&mark(5)));
        moments.end(9);
        moments.begin(1, 1, 9);
        assert!(!moments.is_hidden(&mark(3)) && moments.is_hidden(&mark(5)));
        assert!(!moments.is_hidden(&mark(9)));
    }
}
