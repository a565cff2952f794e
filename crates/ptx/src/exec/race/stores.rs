//! Asynchronous copies in flight to or from global memory, by the thread that began them. A
//! copy has written, or read, once the thread has waited for its group.

use std::collections::HashMap;

/// Copies of one thread.
#[derive(Clone, Debug, Default)]
struct Thread {
    groups: u32,
    /// By copy, the number of groups committed before it, and its moment.
    open: Vec<(u32, u32)>,
}

/// Copies in flight of the threads of a block.
#[derive(Debug, Default)]
pub struct Stores(HashMap<u32, Thread>);

impl Stores {
    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// A thread begins a copy at a moment.
    pub fn begin(&mut self, thread: u32, moment: u32) {
        let of = self.0.entry(thread).or_default();
        of.open.push((of.groups, moment));
    }

    /// Commits everything the thread has begun as one group.
    pub fn commit(&mut self, thread: u32) {
        if let Some(of) = self.0.get_mut(&thread) {
            of.groups += 1;
        }
    }

    /// Waits until at most `left` groups are in flight (`None`: none) and returns the
    /// moment of the last copy that completed.
    pub fn wait(&mut self, thread: u32, left: Option<u32>) -> Option<u32> {
        let of = self.0.get_mut(&thread)?;
        let until = left.map_or(u32::MAX, |left| of.groups.saturating_sub(left));
        let ended = of.open.iter().filter(|(group, _)| *group < until);
        let last = ended.map(|(_, moment)| *moment).max();
        of.open.retain(|(group, _)| *group >= until);
        last
    }

    /// Whether the copy that began at a moment is in flight.
    pub fn is_open(&self, thread: u32, moment: u32) -> bool {
        let of = self.0.get(&thread);
        of.is_some_and(|of| of.open.iter().any(|(_, m)| *m == moment))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_the_groups_before_those_it_leaves() {
        let mut stores = Stores::default();
        stores.commit(3);
        stores.begin(3, 10);
        stores.commit(3);
        stores.begin(3, 11);
        stores.begin(3, 12);
        stores.commit(3);
        stores.begin(3, 13);
        assert_eq!(
            (stores.wait(4, Some(0)), stores.wait(3, Some(2))),
            (None, None)
        );
        assert_eq!(stores.wait(3, Some(1)), Some(10));
        assert!(!stores.is_open(3, 10) && stores.is_open(3, 11) && !stores.is_open(4, 11));
        // What is in no group no wait is for.
        assert_eq!(stores.wait(3, Some(0)), Some(12));
        assert!(stores.is_open(3, 13));
        stores.clear();
        assert!(!stores.is_open(3, 13));
    }
}
