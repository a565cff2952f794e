//! Matrices of values, out of registers and back.

use super::numbers::Half;
use crate::exec::image::matrices::Matrices;
use crate::exec::registers::Registers;
use crate::names::Type;
use crate::tensor::{float, integer, packed};

/// A bound on the elements of a tile: more than the matrices of any instruction have.
pub(super) const LIMIT: usize = 1024;

/// Matrices one after another, each by rows.
pub(super) struct Tile<T>(pub [T; LIMIT]);

impl<T: Copy + Default> Tile<T> {
    pub fn zeros() -> Self {
        Tile([T::default(); LIMIT])
    }

    /// A tile of words that have `count` elements each.
    #[inline(always)]
    fn of_words(
        registers: Registers,
        operand: &Matrices,
        count: u32,
        value: impl Fn(u32) -> T,
    ) -> Self {
        let mut tile = Tile::zeros();
        let mut places = operand.places.iter();
        for slot in &operand.slots {
            // SAFETY: decoding gives registers of 32 bits inside the file.
            let words = unsafe { registers.place::<[u32; 32]>(slot.at).read() };
            for n in 0..count {
                let shift = n * (32 / count);
                let mask = u32::MAX >> (32 - 32 / count);
                let values = words.map(|word| value(word >> shift & mask));
                if let Some(places) = places.next() {
                    for lane in 0..32 {
                        tile.0[usize::from(places[lane])] = values[lane];
                    }
                }
            }
        }
        tile
    }

    /// The words of registers with `count` elements each.
    fn to_words(
        &self,
        registers: Registers,
        operand: &Matrices,
        exec: u32,
        count: u32,
        bits: impl Fn(T) -> u32,
    ) {
        let mut places = operand.places.iter();
        for slot in &operand.slots {
            let mut words = [0u64; 32];
            for n in 0..count {
                if let Some(places) = places.next() {
                    for lane in 0..32 {
                        let value = bits(self.0[usize::from(places[lane])]);
                        words[lane] |= u64::from(value) << (n * (32 / count));
                    }
                }
            }
            registers.write(*slot, exec, &words);
        }
    }
}

impl Tile<f32> {
    pub fn floats(registers: Registers, operand: &Matrices) -> Self {
        // One loop for each type.
        macro_rules! of {
            ($ty:expr) => {
                Tile::of_words(registers, operand, packed($ty, 32), |bits| float($ty, bits))
            };
        }
        match operand.ty {
            Type::F16 => of!(Type::F16),
            Type::Bf16 => of!(Type::Bf16),
            Type::Tf32 => of!(Type::Tf32),
            Type::E4m3 => of!(Type::E4m3),
            Type::E5m2 => of!(Type::E5m2),
            _ => of!(Type::F32),
        }
    }

    /// NaN become the canonical one.
    pub fn write_floats(&self, registers: Registers, operand: &Matrices, exec: u32) {
        match operand.ty {
            Type::F16 => self.to_words(registers, operand, exec, 2, Half::bits),
            _ => self.to_words(registers, operand, exec, 1, |value| {
                if value.is_nan() {
                    0x7fff_ffff
                } else {
                    value.to_bits()
                }
            }),
        }
    }
}

impl Tile<i32> {
    pub fn integers(registers: Registers, operand: &Matrices) -> Self {
        macro_rules! of {
            ($ty:expr) => {
                Tile::of_words(registers, operand, packed($ty, 32), |bits| {
                    integer($ty, bits)
                })
            };
        }
        match operand.ty {
            Type::S8 => of!(Type::S8),
            Type::U8 => of!(Type::U8),
            Type::S4 => of!(Type::S4),
            Type::U4 => of!(Type::U4),
            // Words, of 32 single bits, too.
            _ => of!(Type::S32),
        }
    }

    /// Adds numbers, modulo 2^32 or clamped.
    pub fn add(&mut self, other: &Tile<i32>, clamped: bool) {
        for (sum, &other) in self.0.iter_mut().zip(&other.0) {
            *sum = if clamped {
                sum.saturating_add(other)
            } else {
                sum.wrapping_add(other)
            };
        }
    }

    pub fn write_integers(&self, registers: Registers, operand: &Matrices, exec: u32) {
        self.to_words(registers, operand, exec, 1, |value| value as u32);
    }
}

impl Tile<f64> {
    pub fn doubles(registers: Registers, operand: &Matrices) -> Self {
        let mut tile = Tile::zeros();
        for (slot, places) in operand.slots.iter().zip(&operand.places) {
            let values = registers.read(*slot);
            for lane in 0..32 {
                tile.0[usize::from(places[lane])] = f64::from_bits(values[lane]);
            }
        }
        tile
    }

    /// NaN become the canonical one.
    pub fn write_doubles(&self, registers: Registers, operand: &Matrices, exec: u32) {
        for (slot, places) in operand.slots.iter().zip(&operand.places) {
            let bits = |lane: usize| {
                let value = self.0[usize::from(places[lane])];
                if value.is_nan() {
                    0x7fff_ffff_ffff_ffff
                } else {
                    value.to_bits()
                }
            };
            registers.write(*slot, exec, &std::array::from_fn(bits));
        }
    }
}
