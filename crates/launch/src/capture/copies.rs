//! Asynchronous copies of a warp that have not been waited for.

use std::collections::VecDeque;

/// Registers that represent copies in flight: what waits for a group of copies
/// reads theirs. Each copy takes the next of the numbers that no register of
/// the kernel has.
#[derive(Default)]
pub(super) struct Copies {
    issued: usize,
    /// Numbers of the copies since the last commit.
    open: Vec<u8>,
    /// Committed groups, the oldest first.
    groups: VecDeque<Vec<u8>>,
}

/// An instruction `cp.async` without a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyControl {
    /// Makes a group of the copies so far.
    Commit,
    /// Waits for all groups but this many of the youngest.
    Wait(usize),
    /// Waits for all copies.
    WaitAll,
}

impl Copies {
    /// The number of a new copy, one of `free`; none if there is none.
    pub fn issue(&mut self, free: std::ops::Range<usize>) -> Option<u8> {
        let number = (free.start + self.issued % free.len().max(1)) as u8;
        self.issued += 1;
        (!free.is_empty()).then(|| {
            self.open.push(number);
            number
        })
    }

    /// The numbers of the youngest copies that nobody has waited for, which are
    /// there last; 255 if there are fewer.
    pub fn youngest(&self) -> [u8; 4] {
        let all = self.groups.iter().flatten().chain(&self.open);
        let mut numbers = all.rev().copied();
        std::array::from_fn(|_| numbers.next().unwrap_or(u8::MAX))
    }

    /// Commits or waits: the numbers to wait for, those of the youngest copies
    /// first, which are there last.
    pub fn control(&mut self, control: CopyControl) -> Vec<u8> {
        // A wait for all closes the group as a commit does.
        if !matches!(control, CopyControl::Wait(_)) {
            self.groups.push_back(std::mem::take(&mut self.open));
        }
        let keep = match control {
            CopyControl::Commit => return Vec::new(),
            CopyControl::Wait(keep) => keep,
            CopyControl::WaitAll => 0,
        };
        let count = self.groups.len().saturating_sub(keep);
        let mut numbers: Vec<u8> = self.groups.drain(..count).flatten().collect();
        numbers.reverse();
        numbers.dedup();
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use CopyControl::{Commit, Wait, WaitAll};

    #[test]
    fn a_wait_names_the_copies_of_the_older_groups() {
        let mut copies = Copies::default();
        let issue = |copies: &mut Copies| copies.issue(10..14);
        assert_eq!(
            [issue(&mut copies), issue(&mut copies)],
            [Some(10), Some(11)]
        );
        copies.control(Commit);
        assert_eq!(issue(&mut copies), Some(12));
        // Not committed: nobody waits for it yet.
        assert!(copies.control(Wait(1)).is_empty());
        assert_eq!(copies.youngest(), [12, 11, 10, 255]);
        assert_eq!(copies.control(Wait(0)), [11, 10]);
        copies.control(Commit);
        copies.control(Commit);
        assert_eq!(issue(&mut copies), Some(13));
        // An empty group counts, too.
        assert_eq!(copies.control(Wait(1)), [12]);
        assert_eq!(copies.control(WaitAll), [13]);
        assert_eq!(issue(&mut copies), Some(10));
        assert_eq!(copies.issue(255..255), None);
    }
}
