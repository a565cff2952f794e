//! The words of a co-simulation, and the ports in them.

use super::layout::{Layout, PortSlot};
use super::packing::{self, Packer, Unpacker};
use super::stimulus::Stimulus;
use crate::hash::PortValue;
use std::ops::Range;

/// The words of one cycle.
pub struct Frame<'a> {
    /// Inputs; they hold the values of the cycle before.
    pub inputs: &'a mut [u32],
    /// Expected outputs, to be written all of them but those that are ignored:
    /// what stands there before is of some earlier cycle.
    pub expected: &'a mut [u32],
    /// Output bits that are defined; all set before each cycle.
    pub care: &'a mut [u32],
    /// Set where some are not, so that nobody else need look for it.
    pub ignores: &'a mut bool,
}

/// The words of consecutive cycles, frame after frame.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    /// Inputs; the first frame holds those of the cycle before.
    pub inputs: Vec<u32>,
    /// Expected outputs.
    pub expected: Vec<u32>,
    /// Output bits that are defined.
    pub care: Vec<u32>,
    /// Number of frames.
    pub cycles: usize,
    input_words: usize,
    output_words: usize,
    /// Some output bits are not defined.
    ignores: bool,
}

impl Chunk {
    /// Room for the first `cycles` cycles of a run.
    pub fn new(layout: &Layout, cycles: usize) -> Self {
        let mut chunk = Chunk {
            input_words: layout.input_words,
            output_words: layout.output_words,
            ..Chunk::default()
        };
        chunk.next(cycles);
        chunk
    }

    /// Room for the `cycles` cycles that follow, in the same memory.
    pub fn next(&mut self, cycles: usize) {
        let end = self.cycles * self.input_words;
        if let Some(last) = end.checked_sub(self.input_words) {
            self.inputs.copy_within(last..end, 0);
        }
        self.cycles = cycles;
        self.inputs.resize(cycles * self.input_words, 0);
        self.expected.resize(cycles * self.output_words, 0);
        if std::mem::take(&mut self.ignores) {
            self.care.clear();
        }
        self.care.resize(cycles * self.output_words, u32::MAX);
    }

    /// The frame of cycle `i`, with the inputs of the one before: they keep
    /// their values until a bench drives others.
    #[inline]
    pub(super) fn frame(&mut self, i: usize) -> Frame<'_> {
        let (ins, outs) = (i * self.input_words, i * self.output_words);
        let (before, inputs) = self.inputs.split_at_mut(ins);
        let inputs = &mut inputs[..self.input_words];
        if let Some(start) = ins.checked_sub(self.input_words) {
            match inputs {
                // The address of a hash unit: less than a call to copy it.
                [address] => *address = before[start],
                _ => inputs.copy_from_slice(&before[start..]),
            }
        }
        Frame {
            inputs,
            expected: &mut self.expected[outs..outs + self.output_words],
            care: &mut self.care[outs..outs + self.output_words],
            ignores: &mut self.ignores,
        }
    }

    pub(super) fn truncate(&mut self, cycles: usize) {
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
    ignores: bool,
}

#[cfg(test)]
impl Words {
    /// All zero.
    pub(super) fn new(layout: &Layout) -> Self {
        Words {
            inputs: vec![0; layout.input_words],
            expected: vec![0; layout.output_words],
            care: vec![0; layout.output_words],
            ignores: false,
        }
    }

    /// The cycle as a bench fills it.
    pub(super) fn frame(&mut self) -> Frame<'_> {
        Frame {
            inputs: &mut self.inputs,
            expected: &mut self.expected,
            care: &mut self.care,
            ignores: &mut self.ignores,
        }
    }
}

/// Writes of the inputs, by a driver.
impl Frame<'_> {
    /// Drives a port of at most 32 bits.
    #[inline]
    pub fn drive(&mut self, port: &PortSlot, value: u32) {
        self.inputs[port.offset] = value;
    }

    /// Drives a port of any width.
    pub fn drive_wide(&mut self, port: &PortSlot, value: &PortValue) {
        let words = self.input_words(port).iter_mut();
        words.zip(value.u32_words()).for_each(|(w, v)| *w = v);
    }

    /// Drives a port of at most 128 bits.
    #[inline]
    pub fn drive_bits(&mut self, port: &PortSlot, value: u128) {
        put_bits(self.input_words(port), port, value);
    }

    /// Drives a vector of fields of `width` bits, at most 64, the first one in
    /// the low bits; fields beyond the port are dropped.
    #[inline]
    pub fn drive_fields<V: Into<u64>>(
        &mut self,
        port: &PortSlot,
        width: usize,
        values: impl IntoIterator<Item = V>,
    ) {
        pack(self.input_words(port), port, width, values);
    }

    /// Drives all bits of a port at random.
    #[inline(always)]
    pub fn drive_any(&mut self, port: &PortSlot, stimulus: &mut Stimulus) {
        match self.input_words(port) {
            [word] => *word = stimulus.bits() >> (32 - port.width),
            words => {
                stimulus.fill(words);
                cut(words, port);
            }
        }
    }

    /// Drives a random quarter of a port's words at random, for a payload that
    /// a unit only passes on. Each payload differs from the one before, and
    /// none of its bits stays for long, at a quarter of the draws.
    #[inline]
    pub fn drive_some(&mut self, port: &PortSlot, stimulus: &mut Stimulus) {
        let words = self.input_words(port);
        let some = some_quarter(words.len(), stimulus);
        stimulus.fill(&mut words[some]);
        cut(words, port);
    }

    #[inline]
    fn input_words(&mut self, port: &PortSlot) -> &mut [u32] {
        &mut self.inputs[port.offset..port.offset + port.words]
    }
}

/// Reads of the inputs, by driver and golden model.
impl Frame<'_> {
    /// The words that an input is driven with.
    #[inline]
    pub fn driven_words(&self, port: &PortSlot) -> &[u32] {
        &self.inputs[port.offset..port.offset + port.words]
    }

    /// The value of an input of at most 32 bits.
    #[inline]
    pub fn driven(&self, port: &PortSlot) -> u32 {
        self.inputs[port.offset]
    }

    /// The value of an input of at most 128 bits.
    #[inline]
    pub fn driven_bits(&self, port: &PortSlot) -> u128 {
        packing::join(self.driven_words(port))
    }

    /// The fields of `width` bits, at most 64, that an input is driven with.
    #[inline]
    pub fn driven_fields(&self, port: &PortSlot, width: usize) -> impl Iterator<Item = u64> {
        let mut fields = Unpacker::new(self.driven_words(port), width);
        (0..port.width.div_ceil(width)).map(move |_| fields.next())
    }

    /// The field of `width` bits, at most 32, that an input is driven with at `index`.
    #[inline]
    pub fn driven_field(&self, port: &PortSlot, width: usize, index: usize) -> u32 {
        let at = index * width;
        let words = &self.driven_words(port)[at / 32..];
        let high = words.get(1).copied().unwrap_or(0);
        let bits = u64::from(high) << 32 | u64::from(words[0]);
        (bits >> (at % 32) & ((1 << width) - 1)) as u32
    }

    /// The fields of `width` bits that an input is driven with, as integers
    /// that are wide enough for them.
    pub fn driven_list<V: TryFrom<u64> + Default>(&self, port: &PortSlot, width: usize) -> Vec<V> {
        self.driven_fields(port, width)
            .map(|value| V::try_from(value).unwrap_or_default())
            .collect()
    }

    /// The fields of `width` bits that an input is driven with, in an array, with zeros
    /// after them.
    #[inline]
    pub fn driven_array<V: TryFrom<u64> + Default + Copy, const N: usize>(
        &self,
        port: &PortSlot,
        width: usize,
    ) -> [V; N] {
        let mut array = [V::default(); N];
        for (slot, value) in array.iter_mut().zip(self.driven_fields(port, width)) {
            *slot = V::try_from(value).unwrap_or_default();
        }
        array
    }

    /// The value of a lane mask or other input of at most 64 bits.
    #[inline]
    pub fn driven_mask(&self, port: &PortSlot) -> u64 {
        match *self.driven_words(port) {
            [word] => word.into(),
            [low, high, ..] => u64::from(high) << 32 | u64::from(low),
            [] => 0,
        }
    }

    /// Whether an input of one bit is high.
    #[inline]
    pub fn is_high(&self, port: &PortSlot) -> bool {
        self.driven(port) != 0
    }

    /// The value of an output of at most 128 bits, in the cycle that the golden model has answered.
    #[inline]
    pub fn shown_bits(&self, port: &PortSlot) -> u128 {
        packing::join(&self.expected[port.offset..port.offset + port.words])
    }

    /// The fields of `width` bits, at most 64, that an output shows.
    pub fn shown_fields(&self, port: &PortSlot, width: usize) -> impl Iterator<Item = u64> {
        let words = &self.expected[port.offset..port.offset + port.words];
        let mut fields = Unpacker::new(words, width);
        (0..port.width.div_ceil(width)).map(move |_| fields.next())
    }

    /// Whether an output of one bit shows a one.
    #[inline]
    pub fn shows(&self, port: &PortSlot) -> bool {
        self.expected[port.offset] != 0
    }
}

/// Expected outputs, by a golden model.
impl Frame<'_> {
    /// Expects a value on a port of at most 32 bits.
    #[inline]
    pub fn expect(&mut self, port: &PortSlot, value: u32) {
        self.expected[port.offset] = value;
    }

    /// Expects a value on a port of at most 128 bits.
    #[inline]
    pub fn expect_bits(&mut self, port: &PortSlot, value: u128) {
        put_bits(self.output_words(port), port, value);
    }

    /// Expects a vector of fields of `width` bits, at most 64, the first one in
    /// the low bits; zeros if there are too few.
    #[inline]
    pub fn expect_fields<V: Into<u64>>(
        &mut self,
        port: &PortSlot,
        width: usize,
        values: impl IntoIterator<Item = V>,
    ) {
        pack(self.output_words(port), port, width, values);
    }

    /// Takes the expected fields of an output, of different widths, along with
    /// the value that an input is driven with.
    #[inline]
    pub(super) fn expected_record(
        &mut self,
        port: &PortSlot,
        input: &PortSlot,
    ) -> (Packer<'_>, &[u32]) {
        let expected = &mut self.expected[port.offset..port.offset + port.words];
        let driven = &self.inputs[input.offset..input.offset + input.words];
        (Packer::new(expected), driven)
    }

    /// Expects 32-bit words on a port of any width, the first one in the low
    /// bits.
    #[inline]
    pub fn expect_words(&mut self, port: &PortSlot, words: &[u32]) {
        self.output_words(port).copy_from_slice(words);
    }

    /// Expects on a port what an input of the same width is driven with.
    #[inline]
    pub fn expect_driven(&mut self, port: &PortSlot, input: &PortSlot) {
        let expected = &mut self.expected[port.offset..port.offset + port.words];
        expected.copy_from_slice(&self.inputs[input.offset..input.offset + input.words]);
    }

    /// Expects zeros on a port of any width.
    #[inline]
    pub fn expect_zeros(&mut self, port: &PortSlot) {
        self.output_words(port).fill(0);
    }

    /// Expects zeros on all ports.
    #[inline]
    pub fn expect_all_zeros(&mut self) {
        self.expected.fill(0);
    }

    /// No output is defined in this cycle.
    pub fn ignore_all(&mut self) {
        *self.ignores = true;
        self.care.fill(0);
    }

    /// The port's value is not defined in this cycle.
    pub fn ignore(&mut self, port: &PortSlot) {
        *self.ignores = true;
        self.care[port.offset..port.offset + port.words].fill(0);
    }

    #[inline]
    fn output_words(&mut self, port: &PortSlot) -> &mut [u32] {
        &mut self.expected[port.offset..port.offset + port.words]
    }
}

/// A run of a quarter of `count` positions, at least one.
#[inline]
pub(super) fn some_quarter(count: usize, stimulus: &mut Stimulus) -> Range<usize> {
    let quarter = count.div_ceil(4);
    // Mostly four; a division would take as long as all the rest.
    let parts = 1 + (1..4).filter(|k| k * quarter < count).count();
    let first = stimulus.below(parts as u32) as usize * quarter;
    first..(first + quarter).min(count)
}

/// Writes an integer to a port of at most 128 bits; bits beyond it are dropped.
#[inline]
fn put_bits(words: &mut [u32], port: &PortSlot, value: u128) {
    match words {
        [word] => *word = value as u32,
        [low, high] => (*low, *high) = (value as u32, (value >> 32) as u32),
        _ => {
            for (i, word) in words.iter_mut().enumerate() {
                *word = (value >> (32 * i)) as u32;
            }
        }
    }
    cut(words, port);
}

/// Drops the bits of the last word that are beyond the port.
#[inline]
fn cut(words: &mut [u32], port: &PortSlot) {
    if let (Some(last), 1..) = (words.last_mut(), port.width % 32) {
        *last &= (1 << (port.width % 32)) - 1;
    }
}

/// Packs fields of `width` bits into the words of a port; fields beyond it are
/// dropped.
#[inline]
fn pack<V: Into<u64>>(
    words: &mut [u32],
    port: &PortSlot,
    width: usize,
    values: impl IntoIterator<Item = V>,
) {
    let values = values.into_iter().take(port.width.div_ceil(width));
    let mut packer = Packer::new(words);
    values.for_each(|value| packer.push(width, value.into()));
    packer.finish();
    cut(words, port);
}
