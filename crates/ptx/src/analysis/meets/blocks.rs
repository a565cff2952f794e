//! Sets of blocks.

/// A set of numbers below a count.
#[derive(Clone, Debug)]
pub(super) struct Blocks(Vec<u64>);

impl Blocks {
    /// None of `count`.
    pub fn new(count: usize) -> Self {
        Blocks(vec![0; count.div_ceil(64)])
    }

    /// Adds one: whether it is new.
    pub fn insert(&mut self, block: u32) -> bool {
        let (word, bit) = (block as usize / 64, 1 << (block % 64));
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }

    pub fn has(&self, block: u32) -> bool {
        self.0[block as usize / 64] >> (block % 64) & 1 == 1
    }

    /// Adds all of another.
    pub fn join(&mut self, other: &Blocks) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }

    /// Keeps those that another has, too.
    pub fn meet(&mut self, other: &Blocks) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a &= b);
    }

    /// Every number in the set, going up.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.0).flat_map(|(at, &word)| {
            let mut left: u64 = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(64 * at + bit)
            })
        })
    }
}
