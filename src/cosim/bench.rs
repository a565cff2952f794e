//! What a bench of a unit has to provide.

use super::layout::PortSlot;
use crate::hash::{PortValue, uniform};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The stimulus and golden model of one unit.
pub trait Bench {
    /// One clock cycle: drives the inputs, steps the model, and records the
    /// outputs that the unit shows before the next rising edge.
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame);
}

/// The words of one cycle.
pub struct Frame<'a> {
    /// Inputs; they hold the values of the cycle before.
    pub inputs: &'a mut [u32],
    /// Expected outputs.
    pub expected: &'a mut [u32],
    /// Which output bits are defined; all set before each cycle.
    pub care: &'a mut [u32],
}

impl Frame<'_> {
    /// Drives a port of at most 32 bits.
    #[inline]
    pub fn drive(&mut self, port: &PortSlot, value: u32) {
        self.inputs[port.offset] = value;
    }

    /// Drives a port of any width.
    pub fn drive_wide(&mut self, port: &PortSlot, value: &PortValue) {
        let words = value.to_u32_words();
        self.inputs[port.offset..port.offset + port.words].copy_from_slice(&words);
    }

    /// Expects a value on a port of at most 32 bits.
    #[inline]
    pub fn expect(&mut self, port: &PortSlot, value: u32) {
        self.expected[port.offset] = value;
    }

    /// Expects a value on a port of any width.
    pub fn expect_wide(&mut self, port: &PortSlot, value: &PortValue) {
        let words = value.to_u32_words();
        self.expected[port.offset..port.offset + port.words].copy_from_slice(&words);
    }

    /// The port's value is not defined in this cycle.
    pub fn ignore(&mut self, port: &PortSlot) {
        self.care[port.offset..port.offset + port.words].fill(0);
    }
}

/// The source of all random choices of a co-simulation: the same seed gives
/// the same run on every machine.
pub struct Stimulus {
    rng: ChaCha8Rng,
    /// Clock cycles since the start.
    pub cycle: u64,
}

impl Stimulus {
    /// Starts at cycle 0.
    pub fn new(seed: u64) -> Self {
        Stimulus {
            rng: ChaCha8Rng::seed_from_u64(seed),
            cycle: 0,
        }
    }

    /// A uniform integer below `bound`.
    #[inline]
    pub fn below(&mut self, bound: u32) -> u32 {
        uniform(&mut self.rng, bound)
    }

    /// True once in `n` times.
    #[inline]
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// 32 random bits.
    #[inline]
    pub fn bits(&mut self) -> u32 {
        self.rng.next_u32()
    }
}
