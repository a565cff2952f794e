//! Vector clocks: which actions of other threads each thread of a block has observed.
//!
//! A barrier of the whole block orders everything; between two of them
//! (an interval) threads are ordered by barriers of some warps, by
//! instructions that name lanes, and by atomics, volatile and relaxed
//! accesses with a fence or of release and acquire: what a thread did before
//! a fence and a store of such a word, others have seen after they have read
//! the word and passed a fence. A lock and a flag are such words.

use std::collections::HashMap;

/// Times up to which others have been seen, by warp; what is not there is 0.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    warps: Vec<(u32, [u32; 32])>,
}

impl Seen {
    fn get(&self, thread: u32) -> u32 {
        match self.warps.binary_search_by_key(&(thread / 32), |w| w.0) {
            Ok(at) => self.warps[at].1[thread as usize % 32],
            Err(_) => 0,
        }
    }

    fn warp(&mut self, warp: u32) -> &mut [u32; 32] {
        let at = match self.warps.binary_search_by_key(&warp, |w| w.0) {
            Ok(at) => at,
            Err(at) => {
                self.warps.insert(at, (warp, [0; 32]));
                at
            }
        };
        &mut self.warps[at].1
    }

    fn raise(&mut self, thread: u32, time: u32) {
        let of = &mut self.warp(thread / 32)[thread as usize % 32];
        *of = time.max(*of);
    }

    fn join(&mut self, other: &Seen) {
        for (warp, times) in &other.warps {
            let own = self.warp(*warp);
            own.iter_mut()
                .zip(times)
                .for_each(|(a, b)| *a = (*b).max(*a));
        }
    }
}

/// When a thread did something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    pub thread: u32,
    interval: u32,
    time: u32,
}

#[derive(Clone, Debug, Default)]
struct Thread {
    /// Its own time: how often others could see what it did.
    now: u32,
    seen: Seen,
    /// What who reads its words sees, since its last fence.
    released: Option<Seen>,
    /// What it sees after its next fence.
    pending: Seen,
}

/// The order of a block's threads.
#[derive(Debug, Default)]
pub struct Order {
    threads: Vec<Thread>,
    /// What words carry to who reads them.
    words: HashMap<u64, Seen>,
    /// What threads bring that arrive at barriers and do not wait.
    arrived: HashMap<u32, Seen>,
    interval: u32,
    /// Whether there is anything but the interval.
    used: bool,
}

impl Order {
    pub fn new(threads: u32) -> Self {
        Order {
            threads: vec![Thread::default(); threads as usize],
            interval: 1,
            ..Order::default()
        }
    }

    /// A barrier of the whole block.
    pub fn barrier(&mut self) {
        self.interval += 1;
        if std::mem::take(&mut self.used) {
            self.words.clear();
            for thread in &mut self.threads {
                thread.seen.warps.clear();
                thread.pending.warps.clear();
                thread.released = None;
            }
        }
    }

    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        self.barrier();
        self.arrived.clear();
    }

    pub fn stamp(&self, thread: u32) -> Stamp {
        Stamp {
            thread,
            interval: self.interval,
            time: self.threads[thread as usize].now,
        }
    }

    /// Whether the thread has seen what was done then.
    pub fn has_seen(&self, thread: u32, then: Stamp) -> bool {
        then.thread == thread
            || self.has_passed(then)
            || self.threads[thread as usize].seen.get(then.thread) > then.time
    }

    /// Whether that was before the last barrier of the block.
    pub fn has_passed(&self, then: Stamp) -> bool {
        then.interval < self.interval
    }

    /// Everything that the thread has done and seen.
    fn all_of(&mut self, thread: u32) -> Seen {
        self.used = true;
        let own = &mut self.threads[thread as usize];
        own.now += 1;
        let mut all = own.seen.clone();
        all.raise(thread, own.now);
        all
    }

    /// Each of the threads sees what all of them did.
    pub fn meet(&mut self, threads: &[u32]) {
        let joint = Seen::default();
        self.meet_with(joint, threads);
    }

    fn meet_with(&mut self, mut joint: Seen, threads: &[u32]) {
        for &thread in threads {
            let all = self.all_of(thread);
            joint.join(&all);
        }
        for &thread in threads {
            self.threads[thread as usize].seen.clone_from(&joint);
        }
    }

    /// Threads arrive at a barrier and go on.
    pub fn arrive(&mut self, number: u32, threads: &[u32]) {
        for &thread in threads {
            let all = self.all_of(thread);
            self.arrived.entry(number).or_default().join(&all);
        }
    }

    /// A barrier lets some threads of the block go.
    pub fn pass(&mut self, number: u32, threads: &[u32]) {
        let arrived = self.arrived.remove(&number).unwrap_or_default();
        self.meet_with(arrived, threads);
    }

    /// A fence.
    pub fn fence(&mut self, thread: u32) {
        let own = &mut self.threads[thread as usize];
        let pending = std::mem::take(&mut own.pending);
        own.seen.join(&pending);
        let all = self.all_of(thread);
        self.threads[thread as usize].released = Some(all);
    }

    /// A thread reads a word that may order; at once, or at its next fence.
    pub fn read(&mut self, thread: u32, word: u64, acquire: bool) {
        let Some(seen) = self.words.get(&word) else {
            return;
        };
        let own = &mut self.threads[thread as usize];
        if acquire {
            own.seen.join(seen)
        } else {
            own.pending.join(seen)
        }
    }

    /// A word that carries nothing any more.
    pub fn forget(&mut self, word: u64) {
        self.words.remove(&word);
    }

    /// A thread writes a word that may order: what it did until now, or until
    /// its last fence, goes with it.
    pub fn write(&mut self, thread: u32, word: u64, release: bool) {
        if release {
            let all = self.all_of(thread);
            self.words.entry(word).or_default().join(&all);
        } else if let Some(released) = &self.threads[thread as usize].released {
            self.words.entry(word).or_default().join(released);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_carries_what_was_done_before_the_fence() {
        let mut order = Order::new(96);
        let before = order.stamp(0);
        order.fence(0);
        let after = order.stamp(0);
        order.write(0, 8, false);
        order.read(70, 8, false);
        assert!(!order.has_seen(70, before));
        order.fence(70);
        assert!(order.has_seen(70, before) && !order.has_seen(70, after));
        // And on to who reads the next word.
        order.write(70, 16, true);
        order.read(40, 16, true);
        assert!(order.has_seen(40, before) && !order.has_seen(40, after));
        order.barrier();
        assert!(order.has_seen(5, after));
    }

    #[test]
    fn who_arrives_is_seen_and_sees_nothing() {
        let mut order = Order::new(64);
        let (one, other) = (order.stamp(1), order.stamp(40));
        order.arrive(3, &[1]);
        let late = order.stamp(1);
        order.pass(3, &[40]);
        assert!(order.has_seen(40, one) && !order.has_seen(40, late));
        assert!(!order.has_seen(1, other));
        order.meet(&[1, 2]);
        assert!(order.has_seen(2, late) && !order.has_seen(3, late));
    }
}
