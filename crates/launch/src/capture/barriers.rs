//! Distinguishes barriers of the whole block from those of a part of it.

use spadkit_ptx::exec::Meeting;

/// The threads of a block that have not exited, and those that wait.
pub(super) struct Barriers {
    threads: u32,
    alive: Vec<u32>,
    waiting: Vec<Meeting>,
}

/// A barrier that has let its threads go.
pub(super) struct Passed {
    /// Whether the threads of the block that had not exited were all at it.
    pub all: bool,
    /// Whether it is for all threads of the block, and none has only arrived.
    pub whole: bool,
    /// Arrivals at it, once per warp, by ascending warp.
    pub arrivals: Vec<Meeting>,
}

impl Barriers {
    /// No thread of a block of `threads` has exited.
    pub fn new(threads: u32) -> Self {
        let lanes = |warp: u32| match threads - 32 * warp {
            32.. => u32::MAX,
            some => (1 << some) - 1,
        };
        Barriers {
            threads,
            alive: (0..threads.div_ceil(32)).map(lanes).collect(),
            waiting: Vec::new(),
        }
    }

    /// Lanes begin to wait.
    pub fn arrive(&mut self, meeting: &Meeting) {
        self.waiting.push(*meeting);
    }

    /// Lanes have left the kernel.
    pub fn exit(&mut self, warp: u32, lanes: u32) {
        self.alive[warp as usize] &= !lanes;
    }

    /// The barrier of that number lets its threads go.
    pub fn pass(&mut self, number: u32) -> Passed {
        let here = |a: &Meeting| a.number == number;
        let (mut here, rest): (Vec<_>, Vec<_>) = self.waiting.drain(..).partition(here);
        self.waiting = rest;
        here.sort_by_key(|a| a.warp);
        here.dedup_by(|next, first| {
            let same = next.warp == first.warp;
            first.lanes |= if same { next.lanes } else { 0 };
            same
        });
        let arrived = |warp: usize| {
            let found = here.iter().find(|a| a.warp as usize == warp);
            found.map_or(0, |a| a.lanes)
        };
        let mut alive = self.alive.iter().enumerate();
        let all = alive.all(|(warp, alive)| alive & !arrived(warp) == 0);
        let counted = here.iter().find_map(|a| a.threads);
        let whole =
            counted.is_none_or(|threads| threads >= self.threads && here.len() == self.alive.len());
        Passed {
            all,
            whole: all && whole,
            arrivals: here,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(warp: u32, lanes: u32, number: u32) -> Meeting {
        Meeting {
            warp,
            pc: 7,
            lanes,
            number,
            threads: None,
            waits: true,
            cluster: false,
        }
    }

    #[test]
    fn a_barrier_is_whole_when_all_that_live_are_there() {
        let mut barriers = Barriers::new(40);
        barriers.arrive(&arrival(0, u32::MAX, 0));
        assert!(!barriers.pass(0).whole);
        // Two halves of a warp, another warp whose last four have exited, and
        // somebody at another barrier.
        barriers.exit(1, 0xf0);
        barriers.arrive(&arrival(1, 0xf, 1));
        barriers.arrive(&arrival(0, 0xffff_0000, 1));
        barriers.arrive(&arrival(0, 0x0000_ffff, 1));
        barriers.arrive(&arrival(1, 1, 2));
        let passed = barriers.pass(1);
        assert!(passed.whole);
        let lanes: Vec<u32> = passed.arrivals.iter().map(|a| a.lanes).collect();
        assert_eq!(lanes, [u32::MAX, 0xf]);
        assert_eq!(barriers.pass(2).arrivals.len(), 1);
    }

    /// Who has exited, or only arrives, makes no barrier of a part one of the whole block.
    #[test]
    fn a_barrier_of_fewer_threads_is_never_whole() {
        let mut barriers = Barriers::new(96);
        let counted = |warp, threads| Meeting {
            threads: Some(threads),
            ..arrival(warp, u32::MAX, 1)
        };
        barriers.exit(2, u32::MAX);
        (0..2).for_each(|warp| barriers.arrive(&counted(warp, 64)));
        let passed = barriers.pass(1);
        assert!(passed.all && !passed.whole);
        // One of all threads, of which a warp that has exited has arrived before.
        (0..2).for_each(|warp| barriers.arrive(&counted(warp, 96)));
        assert!(!barriers.pass(1).whole);
        let mut all = Barriers::new(64);
        (0..2).for_each(|warp| all.arrive(&counted(warp, 64)));
        assert!(all.pass(1).whole);
    }
}
