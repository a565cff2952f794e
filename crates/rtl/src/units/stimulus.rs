//! The random choices of a co-simulation.

/// The source of all random choices of a co-simulation: the same seed gives
/// the same run on every machine.
///
/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, OOPSLA 2014): a few instructions for 64 bits, none of which
/// waits for those of the draw before. A cycle of a small unit draws more than
/// it computes.
pub struct Stimulus {
    state: u64,
    /// Clock cycles since the start.
    pub cycle: u64,
}

impl Stimulus {
    /// Starts at cycle 0.
    pub fn new(seed: u64) -> Self {
        Stimulus {
            state: seed,
            cycle: 0,
        }
    }

    /// 64 random bits.
    #[inline]
    pub fn bits64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// 32 random bits.
    #[inline]
    pub fn bits(&mut self) -> u32 {
        (self.bits64() >> 32) as u32
    }

    /// An integer below `bound`, each as likely as another to 1 in 2^32.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        ((u64::from(self.bits()) * u64::from(bound)) >> 32) as u32
    }

    /// True once in `n` times.
    #[inline]
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// `width` random bits, at most 64.
    #[inline]
    pub fn word(&mut self, width: usize) -> u64 {
        self.bits64() & (u64::MAX >> (64 - width))
    }

    /// `width` random bits, at most 128.
    #[inline]
    pub fn wide(&mut self, width: usize) -> u128 {
        match width {
            ..=64 => self.word(width).into(),
            _ => u128::from(self.word(width - 64)) << 64 | u128::from(self.bits64()),
        }
    }

    /// Random bits for all of `words`.
    #[inline]
    pub fn fill(&mut self, words: &mut [u32]) {
        let mut pairs = words.chunks_exact_mut(2);
        for pair in &mut pairs {
            let bits = self.bits64();
            pair[0] = bits as u32;
            pair[1] = (bits >> 32) as u32;
        }
        if let [last] = pairs.into_remainder() {
            *last = self.bits();
        }
    }
}
