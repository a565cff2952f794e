//! What a bench of a unit has to provide.

use super::layout::{Layout, PortSlot};
use crate::config::Config;
use crate::error::Result;
use crate::hash::{PortValue, uniform};
use crate::trace::AccessTrace;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// What a bench is made for.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The machine.
    pub config: &'a Config,
    /// Where the unit's ports lie.
    pub layout: &'a Layout,
    /// Accesses to replay, where the unit takes accesses; else random ones.
    pub trace: Option<&'a AccessTrace>,
}

/// The stimulus and golden model of one unit.
pub trait Bench {
    /// One clock cycle: drives the inputs, steps the model, and records the
    /// outputs that the unit shows before the next rising edge.
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame);

    /// As many cycles as `chunk` has room for, or up to the end of the
    /// stimulus, where the chunk is cut off; whether that was reached. Fails
    /// behind the cycle after which the stimulus cannot go on.
    fn cycles(&mut self, stimulus: &mut Stimulus, chunk: &mut Chunk) -> Result<bool> {
        // Here, not at the callers: nothing in the loop is called dynamically.
        for i in 0..chunk.cycles {
            self.cycle(stimulus, &mut chunk.frame(i));
            stimulus.cycle += 1;
            match self.ended() {
                Ok(false) => {}
                end => {
                    chunk.truncate(i + 1);
                    return end;
                }
            }
        }
        Ok(false)
    }

    /// Whether the stimulus has come to its end; random stimulus never does.
    /// Fails where the stimulus cannot go on.
    fn ended(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// The golden model at power-up, to answer to another stimulus; `None`
    /// where the unit has no state, and each cycle stands for itself.
    fn golden(&self) -> Option<Box<dyn Golden>> {
        None
    }
}

/// What drives the inputs of a unit: a neighbour that keeps the rules of the
/// unit's environment. It sees the ports and nothing behind them.
pub trait Driver {
    /// Drives the inputs of the next cycle; those that it leaves keep their
    /// values.
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame);

    /// Looks at the cycle with the outputs that the unit shows in it.
    fn follow(&mut self, _stimulus: &mut Stimulus, _frame: &Frame) {}
}

/// A golden model behind the ports of its unit: what it answers to any inputs,
/// whoever chose them.
pub trait Golden {
    /// One clock cycle: reads the inputs that the frame holds, steps the model,
    /// and records the outputs that it expects.
    fn respond(&mut self, frame: &mut Frame);
}

/// A driver, and a golden model that answers to it.
pub(super) struct DrivenBench<D, G> {
    pub(super) driver: D,
    pub(super) golden: G,
    power_up: Box<dyn Fn() -> G>,
    clocked: bool,
}

impl<D: Driver, G: Golden> DrivenBench<D, G> {
    /// `power_up` makes the golden model as it is at power-up, each time anew.
    pub(super) fn new(setup: &Setup, driver: D, power_up: impl Fn() -> G + 'static) -> Self {
        DrivenBench {
            driver,
            golden: power_up(),
            power_up: Box::new(power_up),
            clocked: setup.layout.clocked,
        }
    }
}

impl<D: Driver, G: Golden + 'static> Bench for DrivenBench<D, G> {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        self.driver.drive(stimulus, frame);
        self.golden.respond(frame);
        self.driver.follow(stimulus, frame);
        if self.clocked && stimulus.cycle == 0 {
            frame.ignore_all(); // before the first reset
        }
    }

    fn golden(&self) -> Option<Box<dyn Golden>> {
        Some(Box::new((self.power_up)()))
    }
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

/// The words of consecutive cycles, frame after frame.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    /// Inputs; the first frame holds those of the cycle before.
    pub inputs: Vec<u32>,
    /// Expected outputs.
    pub expected: Vec<u32>,
    /// Which output bits are defined.
    pub care: Vec<u32>,
    /// Number of frames.
    pub cycles: usize,
    input_words: usize,
    output_words: usize,
}

impl Chunk {
    /// Room for `cycles` cycles.
    pub fn new(layout: &Layout, cycles: usize) -> Self {
        let (input_words, output_words) = (layout.input_words, layout.output_words);
        Chunk {
            inputs: vec![0; cycles * input_words],
            expected: vec![0; cycles * output_words],
            care: vec![u32::MAX; cycles * output_words],
            cycles,
            input_words,
            output_words,
        }
    }

    /// The frame of cycle `i`, with the inputs of the one before: they keep
    /// their values until a bench drives others.
    #[inline]
    fn frame(&mut self, i: usize) -> Frame<'_> {
        let (ins, outs) = (i * self.input_words, i * self.output_words);
        let (before, inputs) = self.inputs.split_at_mut(ins);
        let inputs = &mut inputs[..self.input_words];
        if let Some(start) = ins.checked_sub(self.input_words) {
            inputs.copy_from_slice(&before[start..]);
        }
        Frame {
            inputs,
            expected: &mut self.expected[outs..outs + self.output_words],
            care: &mut self.care[outs..outs + self.output_words],
        }
    }

    fn truncate(&mut self, cycles: usize) {
        self.cycles = cycles;
        self.inputs.truncate(cycles * self.input_words);
        for words in [&mut self.expected, &mut self.care] {
            words.truncate(cycles * self.output_words);
        }
    }
}

/// The words of one cycle, owned.
#[cfg(test)]
pub(super) struct Words {
    inputs: Vec<u32>,
    expected: Vec<u32>,
    care: Vec<u32>,
}

#[cfg(test)]
impl Words {
    /// All zero.
    pub(super) fn new(layout: &Layout) -> Self {
        Words {
            inputs: vec![0; layout.input_words],
            expected: vec![0; layout.output_words],
            care: vec![0; layout.output_words],
        }
    }

    /// As a bench takes them.
    pub(super) fn frame(&mut self) -> Frame<'_> {
        Frame {
            inputs: &mut self.inputs,
            expected: &mut self.expected,
            care: &mut self.care,
        }
    }
}

impl Frame<'_> {
    /// Drives a port of at most 32 bits.
    #[inline]
    pub fn drive(&mut self, port: &PortSlot, value: u32) {
        self.inputs[port.offset] = value;
    }

    /// Drives a port of any width.
    pub fn drive_wide(&mut self, port: &PortSlot, value: &PortValue) {
        let words = &mut self.inputs[port.offset..port.offset + port.words];
        words.iter_mut().zip(value.u32_words()).for_each(set);
    }

    /// Expects a value on a port of at most 32 bits.
    #[inline]
    pub fn expect(&mut self, port: &PortSlot, value: u32) {
        self.expected[port.offset] = value;
    }

    /// Expects a value on a port of any width.
    pub fn expect_wide(&mut self, port: &PortSlot, value: &PortValue) {
        let words = &mut self.expected[port.offset..port.offset + port.words];
        words.iter_mut().zip(value.u32_words()).for_each(set);
    }

    /// Drives a port of at most 128 bits.
    pub fn drive_bits(&mut self, port: &PortSlot, value: u128) {
        self.drive_fields(port, port.width, [value]);
    }

    /// Expects a value on a port of at most 128 bits.
    pub fn expect_bits(&mut self, port: &PortSlot, value: u128) {
        self.expect_fields(port, port.width, [value]);
    }

    /// Drives a vector of fields of `width` bits, the first one in the low bits.
    pub fn drive_fields<V: Into<u128>>(
        &mut self,
        port: &PortSlot,
        width: usize,
        values: impl IntoIterator<Item = V>,
    ) {
        pack(
            &mut self.inputs[port.offset..port.offset + port.words],
            port,
            width,
            values,
        );
    }

    /// Expects a vector of fields of `width` bits, the first one in the low bits.
    pub fn expect_fields<V: Into<u128>>(
        &mut self,
        port: &PortSlot,
        width: usize,
        values: impl IntoIterator<Item = V>,
    ) {
        pack(
            &mut self.expected[port.offset..port.offset + port.words],
            port,
            width,
            values,
        );
    }

    /// Drives a port of any width with 32-bit words, the first one in the low
    /// bits.
    pub fn drive_words(&mut self, port: &PortSlot, words: impl IntoIterator<Item = u32>) {
        let place = &mut self.inputs[port.offset..port.offset + port.words];
        put_words(place, port, words);
    }

    /// Expects 32-bit words on a port of any width, the first one in the low
    /// bits; zeros where there are too few.
    pub fn expect_words(&mut self, port: &PortSlot, words: &[u32]) {
        let place = &mut self.expected[port.offset..port.offset + port.words];
        put_words(place, port, words.iter().copied());
    }

    /// The words that an input is driven with.
    pub fn driven_words(&self, port: &PortSlot) -> &[u32] {
        &self.inputs[port.offset..port.offset + port.words]
    }

    /// What an input of at most 32 bits is driven with.
    pub fn driven(&self, port: &PortSlot) -> u32 {
        self.inputs[port.offset]
    }

    /// What an input of at most 128 bits is driven with.
    pub fn driven_bits(&self, port: &PortSlot) -> u128 {
        join(&self.inputs[port.offset..port.offset + port.words])
    }

    /// The fields of `width` bits, at most 64, that an input is driven with.
    pub fn driven_fields(&self, port: &PortSlot, width: usize) -> impl Iterator<Item = u64> {
        let words = &self.inputs[port.offset..port.offset + port.words];
        (0..port.width).step_by(width).map(move |start| {
            let at = |i: usize| u128::from(words.get(i).copied().unwrap_or(0));
            let first = start / 32;
            let bits = at(first) | at(first + 1) << 32 | at(first + 2) << 64;
            (bits >> (start % 32)) as u64 & (u64::MAX >> (64 - width))
        })
    }

    /// The fields of `width` bits that an input is driven with, as integers
    /// that are wide enough for them.
    pub fn driven_list<V: TryFrom<u64> + Default>(&self, port: &PortSlot, width: usize) -> Vec<V> {
        self.driven_fields(port, width)
            .map(|value| V::try_from(value).unwrap_or_default())
            .collect()
    }

    /// What a lane mask or other input of at most 64 bits is driven with.
    pub fn driven_mask(&self, port: &PortSlot) -> u64 {
        self.driven_bits(port) as u64
    }

    /// Whether an input of one bit is high.
    pub fn is_high(&self, port: &PortSlot) -> bool {
        self.driven(port) != 0
    }

    /// What an output of at most 128 bits shows, in the cycle that the golden
    /// model has answered to.
    pub fn shown_bits(&self, port: &PortSlot) -> u128 {
        join(&self.expected[port.offset..port.offset + port.words])
    }

    /// Whether an output of one bit shows a one.
    pub fn shows(&self, port: &PortSlot) -> bool {
        self.expected[port.offset] != 0
    }

    /// No output is defined in this cycle.
    pub fn ignore_all(&mut self) {
        self.care.fill(0);
    }

    /// The port's value is not defined in this cycle.
    pub fn ignore(&mut self, port: &PortSlot) {
        self.care[port.offset..port.offset + port.words].fill(0);
    }
}

fn set((word, value): (&mut u32, u32)) {
    *word = value;
}

/// Words of at most 128 bits, low word first.
fn join(words: &[u32]) -> u128 {
    let low_last = words.iter().rev();
    low_last.fold(0, |value, &word| value << 32 | u128::from(word))
}

/// Writes words to a port, and zeros behind them; bits beyond it are dropped.
fn put_words(place: &mut [u32], port: &PortSlot, words: impl IntoIterator<Item = u32>) {
    let mut words = words.into_iter();
    for word in &mut *place {
        *word = words.next().unwrap_or(0);
    }
    if let (Some(last), 1..) = (place.last_mut(), port.width % 32) {
        *last &= (1 << (port.width % 32)) - 1;
    }
}

/// Packs fields of `width` bits into words; fields beyond the port are dropped.
fn pack<V: Into<u128>>(
    words: &mut [u32],
    port: &PortSlot,
    width: usize,
    values: impl IntoIterator<Item = V>,
) {
    words.fill(0);
    for (start, value) in (0..port.width).step_by(width).zip(values) {
        let bits = width.min(port.width - start);
        let mut value = value.into() & (u128::MAX >> (128 - bits));
        let (mut word, mut shift) = (start / 32, start % 32);
        while value != 0 {
            words[word] |= (value << shift) as u32;
            value >>= 32 - shift;
            (word, shift) = (word + 1, 0);
        }
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

    /// `width` random bits, at most 128.
    pub fn wide(&mut self, width: usize) -> u128 {
        let value = (0..4).fold(0u128, |v, _| v << 32 | u128::from(self.rng.next_u32()));
        value & (u128::MAX >> (128 - width))
    }

    /// 32 random bits.
    #[inline]
    pub fn bits(&mut self) -> u32 {
        self.rng.next_u32()
    }
}
