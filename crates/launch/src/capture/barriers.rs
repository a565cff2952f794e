//! Distinguishes barriers of the whole block from those of a part of it.

/// A warp, or some lanes of it, at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arrival {
    pub warp: u32,
    /// The barrier instruction.
    pub pc: u32,
    pub lanes: u32,
    /// Number of the barrier; none where a register has it.
    pub number: Option<u32>,
}

/// The threads of a block that have not exited, and those that wait.
pub(super) struct Barriers {
    alive: Vec<u32>,
    waiting: Vec<Arrival>,
}

/// A barrier that has let its threads go.
pub(super) struct Passed {
    /// Whether the threads of the block that had not exited were all at it.
    pub whole: bool,
    /// Arrivals at it, once per warp, by ascending warp.
    pub arrivals: Vec<Arrival>,
}

impl Barriers {
    /// No thread of a block of `threads` has exited.
    pub fn new(threads: u32) -> Self {
        let lanes = |warp: u32| match threads - 32 * warp {
            32.. => u32::MAX,
            some => (1 << some) - 1,
        };
        Barriers {
            alive: (0..threads.div_ceil(32)).map(lanes).collect(),
            waiting: Vec::new(),
        }
    }

    /// Lanes begin to wait.
    pub fn arrive(&mut self, arrival: Arrival) {
        self.waiting.push(arrival);
    }

    /// Lanes have left the kernel.
    pub fn exit(&mut self, warp: u32, lanes: u32) {
        self.alive[warp as usize] &= !lanes;
    }

    /// The barrier of that number lets its threads go.
    pub fn pass(&mut self, number: u32) -> Passed {
        let here = |a: &Arrival| a.number.is_none_or(|n| n == number);
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
        Passed {
            whole: alive.all(|(warp, alive)| alive & !arrived(warp) == 0),
            arrivals: here,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(warp: u32, lanes: u32, number: u32) -> Arrival {
        Arrival {
            warp,
            pc: 7,
            lanes,
            number: Some(number),
        }
    }

    #[test]
    fn a_barrier_is_whole_when_all_that_live_are_there() {
        let mut barriers = Barriers::new(40);
        barriers.arrive(arrival(0, u32::MAX, 0));
        assert!(!barriers.pass(0).whole);
        // Two halves of a warp, another warp whose last four have exited, and
        // somebody at another barrier.
        barriers.exit(1, 0xf0);
        barriers.arrive(arrival(1, 0xf, 1));
        barriers.arrive(arrival(0, 0xffff_0000, 1));
        barriers.arrive(arrival(0, 0x0000_ffff, 1));
        barriers.arrive(arrival(1, 1, 2));
        let passed = barriers.pass(1);
        assert!(passed.whole);
        let lanes: Vec<u32> = passed.arrivals.iter().map(|a| a.lanes).collect();
        assert_eq!(lanes, [u32::MAX, 0xf]);
        assert_eq!(barriers.pass(2).arrivals.len(), 1);
    }
}
