//! Random numbers, the same for the same seed on every machine.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::ops::{Bound, RangeBounds};

pub struct Draw(ChaCha12Rng);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Draw(ChaCha12Rng::seed_from_u64(seed))
    }

    /// One of a range of integers, which is not empty.
    pub fn of<T>(&mut self, range: impl RangeBounds<T>) -> T
    where
        T: Copy + TryFrom<u64> + TryInto<u64>,
    {
        let number = |v: &T| (*v).try_into().ok().expect("no negative number");
        let Bound::Included(low) = range.start_bound().map(number) else {
            panic!("a range begins somewhere");
        };
        let count = match range.end_bound().map(number) {
            Bound::Included(last) => last + 1 - low,
            Bound::Excluded(end) => end - low,
            Bound::Unbounded => panic!("a range ends somewhere"),
        };
        let drawn = T::try_from(low + self.0.next_u64() % count);
        drawn.ok().expect("inside the range")
    }
}
