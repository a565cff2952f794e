//! The 128 bytes of a map: a mark, then every field at a place of its own.

use super::rules::Wrong;
use super::{Boxed, MOST_DIMENSIONS, TensorMap};
use crate::names::{Type, Word};
use crate::tensor::Swizzle;

/// Bytes of a map.
pub const BYTES: usize = 128;

/// The begin of the bytes of a map.
const MARK: [u8; 8] = *b"spadmap1";

/// Element types in the order of their numbers in `tensormap.replace` (PTX
/// ISA); none for those that are not supported.
const ELEMENTS: [Option<Type>; 11] = [
    Some(Type::U8),
    Some(Type::U16),
    Some(Type::U32),
    Some(Type::S32),
    Some(Type::U64),
    Some(Type::S64),
    Some(Type::F16),
    Some(Type::F32),
    None,
    Some(Type::F64),
    Some(Type::Bf16),
];

/// A field of a map; of fields with several values, one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exec) enum Field {
    Address,
    /// One less than the dimensions.
    Rank,
    Box(usize),
    Extent(usize),
    Stride(usize),
    Step(usize),
    Element,
    Interleave,
    Swizzle,
    Atomicity,
    Fill,
    Mode,
    Lower(usize),
    Upper(usize),
}

impl Field {
    /// The field of `tensormap.replace` that a word names; `at` for those with
    /// several values.
    pub fn named(word: Word, at: usize) -> Option<Field> {
        Some(match word {
            Word::GlobalAddress => Field::Address,
            Word::Rank => Field::Rank,
            Word::BoxDim => Field::Box(at),
            Word::GlobalDim => Field::Extent(at),
            Word::GlobalStride => Field::Stride(at),
            Word::ElementStride => Field::Step(at),
            Word::Elemtype => Field::Element,
            Word::InterleaveLayout => Field::Interleave,
            Word::SwizzleMode => Field::Swizzle,
            Word::SwizzleAtomicity => Field::Atomicity,
            Word::FillMode => Field::Fill,
            _ => return None,
        })
    }

    /// Number of values that a field has.
    pub fn values(self) -> usize {
        match self {
            Field::Box(_) | Field::Extent(_) | Field::Step(_) => MOST_DIMENSIONS,
            Field::Stride(_) => MOST_DIMENSIONS - 1,
            Field::Lower(_) | Field::Upper(_) => MOST_DIMENSIONS - 2,
            _ => 1,
        }
    }

    /// First byte, and how many there are.
    fn place(self) -> (usize, usize) {
        match self {
            Field::Address => (8, 8),
            Field::Extent(at) => (16 + 8 * at, 8),
            Field::Stride(at) => (56 + 8 * at, 8),
            Field::Box(at) => (88 + 2 * at, 2),
            Field::Step(at) => (98 + at, 1),
            Field::Rank => (103, 1),
            Field::Element => (104, 1),
            Field::Interleave => (105, 1),
            Field::Swizzle => (106, 1),
            Field::Atomicity => (107, 1),
            Field::Fill => (108, 1),
            Field::Mode => (109, 1),
            Field::Lower(at) => (110 + 2 * at, 2),
            Field::Upper(at) => (116 + 2 * at, 2),
        }
    }
}

fn get(bytes: &[u8; BYTES], field: Field) -> u64 {
    let (at, size) = field.place();
    let mut value = [0; 8];
    value[..size].copy_from_slice(&bytes[at..at + size]);
    u64::from_le_bytes(value)
}

/// A number that the field has no room for becomes its largest one, which is
/// valid for none of them.
fn put(bytes: &mut [u8; BYTES], field: Field, value: u64) {
    let (at, size) = field.place();
    let value = value.min(u64::MAX >> (64 - 8 * size));
    bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
}

/// `tensormap.replace`: a map with another value of a field, which need not be
/// valid yet. A map may begin as zeros. None where the bytes are not a map.
pub(in crate::exec) fn replaced(
    mut bytes: [u8; BYTES],
    field: Field,
    value: u64,
) -> Option<[u8; BYTES]> {
    if bytes == [0; BYTES] {
        bytes[..MARK.len()].copy_from_slice(&MARK);
    }
    if !bytes.starts_with(&MARK) {
        return None;
    }
    put(&mut bytes, field, value);
    Some(bytes)
}

impl TensorMap {
    /// The bytes that a kernel is given.
    pub fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..MARK.len()].copy_from_slice(&MARK);
        let mut set = |field, value| put(&mut bytes, field, value);
        set(Field::Address, self.address);
        set(Field::Rank, (self.extent.len() as u64).wrapping_sub(1));
        for (at, &extent) in self.extent.iter().enumerate() {
            set(Field::Extent(at), extent);
        }
        for (at, &stride) in self.strides.iter().enumerate() {
            set(Field::Stride(at), stride);
        }
        for (at, &step) in self.steps.iter().enumerate() {
            set(Field::Step(at), step.into());
        }
        let element = ELEMENTS.iter().position(|e| *e == Some(self.element));
        set(Field::Element, element.unwrap_or(ELEMENTS.len()) as u64);
        let swizzle = Swizzle::ALL.iter().position(|s| *s == self.swizzle);
        set(Field::Swizzle, swizzle.unwrap_or(0) as u64);
        set(Field::Fill, self.nan_fill.into());
        match &self.boxed {
            Boxed::Tile(extent) => {
                for (at, &n) in extent.iter().enumerate() {
                    set(Field::Box(at), n.into());
                }
            }
            Boxed::Pixels {
                lower,
                upper,
                channels,
                count,
            } => {
                set(Field::Mode, 1);
                set(Field::Box(0), (*channels).into());
                set(Field::Box(1), (*count).into());
                for (at, (&low, &high)) in lower.iter().zip(upper).enumerate() {
                    set(Field::Lower(at), u64::from(low as i16 as u16));
                    set(Field::Upper(at), u64::from(high as i16 as u16));
                }
            }
        }
        bytes
    }

    /// The map that the bytes are, checked by all rules; otherwise what is
    /// wrong.
    pub fn decode(bytes: &[u8; BYTES]) -> Result<TensorMap, Wrong> {
        if !bytes.starts_with(&MARK) {
            return Err(Wrong::new(
                "tensor map",
                "the bytes are not a tensor map",
                "a tensor_map argument of the launch file, or tensormap.replace on zeros",
            ));
        }
        let rank = get(bytes, Field::Rank) as usize + 1;
        if rank > MOST_DIMENSIONS {
            return Err(Wrong::rank(rank));
        }
        let of = |field: fn(usize) -> Field, count: usize| -> Vec<u64> {
            (0..count).map(|at| get(bytes, field(at))).collect()
        };
        let narrow = |all: Vec<u64>| all.into_iter().map(|n| n as u32).collect::<Vec<u32>>();
        let signed = |field| -> Vec<i32> {
            let corners = of(field, rank.saturating_sub(2));
            corners
                .into_iter()
                .map(|n| i32::from(n as u16 as i16))
                .collect()
        };
        let boxed = match get(bytes, Field::Mode) {
            0 => Boxed::Tile(narrow(of(Field::Box, rank))),
            _ => Boxed::Pixels {
                lower: signed(Field::Lower),
                upper: signed(Field::Upper),
                channels: get(bytes, Field::Box(0)) as u32,
                count: get(bytes, Field::Box(1)) as u32,
            },
        };
        let map = TensorMap {
            address: get(bytes, Field::Address),
            element: element(get(bytes, Field::Element))?,
            extent: of(Field::Extent, rank),
            strides: of(Field::Stride, rank - 1),
            boxed,
            steps: narrow(of(Field::Step, rank)),
            swizzle: swizzle(bytes)?,
            nan_fill: match get(bytes, Field::Fill) {
                0 => false,
                1 => true,
                n => return Err(Wrong::new("fill", &format!("fill mode {n}"), "0 or 1")),
            },
        };
        map.check()?;
        Ok(map)
    }
}

fn element(number: u64) -> Result<Type, Wrong> {
    let found = ELEMENTS.get(number as usize).copied().flatten();
    found.ok_or_else(|| {
        Wrong::new(
            "type",
            &format!("element type {number}"),
            "u8, u16, u32, s32, u64, s64, f16, bf16, f32 or f64; .tf32, .ftz and packed types are \
             not supported",
        )
    })
}

fn swizzle(bytes: &[u8; BYTES]) -> Result<Swizzle, Wrong> {
    let interleave = get(bytes, Field::Interleave);
    if interleave != 0 {
        let what = format!("interleave layout {interleave}");
        return Err(Wrong::new(
            "interleave",
            &what,
            "0: none; others are not supported",
        ));
    }
    let atomicity = get(bytes, Field::Atomicity);
    if atomicity != 0 {
        let what = format!("swizzle atomicity {atomicity}");
        return Err(Wrong::new(
            "swizzle",
            &what,
            "0: 16 bytes; others are not supported",
        ));
    }
    let mode = get(bytes, Field::Swizzle);
    let found = Swizzle::ALL.get(mode as usize).copied();
    let expected = "0 to 3: none, 32, 64 or 128 bytes";
    found.ok_or_else(|| Wrong::new("swizzle", &format!("swizzle mode {mode}"), expected))
}
