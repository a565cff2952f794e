//! Layouts: where each word of an array is stored.

use crate::geometry::Geometry;
use crate::hash::{BankFunction, HashSpec, Mapping};
use serde::Serialize;
use spadkit_base::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// A layout as written on the command line: any hash spec, or one of those
/// that only software has.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LayoutSpec {
    /// Word i goes to row(i) * 2^m + bank(i) of the hash.
    Hash(HashSpec),
    /// `pad:every=32,by=1`: word i goes to i + by * floor(i / every).
    Pad {
        /// Words after which the gap comes.
        every: u32,
        /// Words of the gap.
        by: u32,
    },
    /// `swizzle:B,M,S`: CuTe's `Swizzle<B, M, S>` on word indices, i ^ ((i &
    /// ((2^B - 1) << (M + S))) >> S); for negative S i ^ ((i & ((2^B - 1) <<
    /// M)) << -S).
    Swizzle {
        /// B: bits that are XORed.
        bits: u32,
        /// M: low bits that stay.
        base: u32,
        /// S: distance of the two groups of bits; B at least, either sign.
        shift: i32,
    },
}

impl fmt::Display for LayoutSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutSpec::Hash(spec) => spec.fmt(f),
            LayoutSpec::Pad { every, by } => write!(f, "pad:every={every},by={by}"),
            LayoutSpec::Swizzle { bits, base, shift } => {
                write!(f, "swizzle:{bits},{base},{shift}")
            }
        }
    }
}

impl Serialize for LayoutSpec {
    fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

/// Also `tma:32`, `tma:64` and `tma:128`, the swizzle modes of tensor maps, which
/// are swizzles: `tma:128` is `swizzle:3,2,3`.
impl FromStr for LayoutSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if let Some(args) = text.strip_prefix("pad:") {
            return padding(text, args);
        }
        if let Some(args) = text.strip_prefix("swizzle:") {
            return swizzle(text, args);
        }
        if let Some(mode) = text.strip_prefix("tma:") {
            let bits = match mode {
                "32" => 1,
                "64" => 2,
                "128" => 3,
                _ => return Err(wrong(text, "no swizzle mode", "tma:32, tma:64 or tma:128")),
            };
            // Units of 16 bytes are permuted by the number of their row of 128 bytes.
            return Ok(LayoutSpec::Swizzle {
                bits,
                base: 2,
                shift: 3,
            });
        }
        let hash = text.parse().map(LayoutSpec::Hash);
        hash.map_err(|error: Error| {
            error.also_expected("pad:every=32,by=1, swizzle:5,0,5, tma:128")
        })
    }
}

fn wrong(text: &str, what: &str, expected: &str) -> Error {
    let what = format!("layout '{text}': {what}");
    Error::usage(what, format!("expected {expected}"))
}

/// `every=K,by=P` of the layout `text`.
fn padding(text: &str, args: &str) -> Result<LayoutSpec> {
    const FORM: &str = "pad:every=K,by=P, such as pad:every=32,by=1";
    let value = |name: &str| {
        let mut given = args.split(',').filter_map(|a| a.split_once('='));
        let (_, value) = given.find(|(n, _)| *n == name)?;
        number(value)
    };
    let known = args.split(',').count() == 2;
    let (Some(every), Some(by), true) = (value("every"), value("by"), known) else {
        return Err(wrong(text, "the parameters are malformed", FORM));
    };
    if every == 0 || every > MAX_WORDS || by > MAX_WORDS {
        return Err(wrong(
            text,
            "a parameter is out of range",
            "every 1 to 65536, by 0 to 65536",
        ));
    }
    Ok(LayoutSpec::Pad { every, by })
}

/// `B,M,S` of the layout `text`.
fn swizzle(text: &str, args: &str) -> Result<LayoutSpec> {
    const FORM: &str = "swizzle:B,M,S, such as swizzle:5,0,5";
    let parts: Vec<&str> = args.split(',').collect();
    let &[bits, base, shift] = parts.as_slice() else {
        return Err(wrong(text, "three numbers are needed", FORM));
    };
    let magnitude = shift.strip_prefix('-').unwrap_or(shift);
    let numbers = (number(bits), number(base), number(magnitude));
    let (Some(bits), Some(base), Some(magnitude)) = numbers else {
        return Err(wrong(text, "a parameter is not a number", FORM));
    };
    // CuTe asks for the same: the groups of bits do not overlap.
    if magnitude < bits || bits + base + magnitude > ADDRESS_BITS {
        return Err(wrong(
            text,
            "the groups of bits overlap or lie beyond an address",
            "B at most |S|, and B + M + |S| at most 16",
        ));
    }
    let sign = if shift.starts_with('-') { -1 } else { 1 };
    Ok(LayoutSpec::Swizzle {
        bits,
        base,
        shift: sign * magnitude as i32,
    })
}

/// Shared memory never has more.
const MAX_WORDS: u32 = 1 << ADDRESS_BITS;
const ADDRESS_BITS: u32 = *Geometry::ADDR_BITS.end();

fn number(text: &str) -> Option<u32> {
    // u32::from_str would take a leading '+'.
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| digits)
}

/// A layout made concrete for one geometry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    spec: LayoutSpec,
    geometry: Geometry,
    mapping: Option<Mapping>,
}

impl Layout {
    /// The layout of `spec`, or why the geometry has none such.
    pub fn new(spec: &LayoutSpec, geometry: Geometry) -> Result<Self> {
        let mapping = match spec {
            LayoutSpec::Hash(hash) => Some(Mapping::new(hash, geometry)?),
            _ => None,
        };
        if let LayoutSpec::Swizzle { bits, base, shift } = spec
            && bits + base + shift.unsigned_abs() > geometry.addr_bits()
        {
            return Err(Error::usage(
                format!("layout '{spec}' for {geometry}: it reads bits beyond the address"),
                format!("B + M + |S| is at most {}", geometry.addr_bits()),
            ));
        }
        Ok(Layout {
            spec: spec.clone(),
            geometry,
            mapping,
        })
    }

    /// The spec.
    pub fn spec(&self) -> &LayoutSpec {
        &self.spec
    }

    /// The geometry.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// The underlying hash; `None` for padding and swizzles.
    pub fn mapping(&self) -> Option<&Mapping> {
        self.mapping.as_ref()
    }

    /// The word in which word `index` of the array is kept.
    pub fn place(&self, index: u32) -> u32 {
        match (&self.spec, &self.mapping) {
            (&LayoutSpec::Pad { every, by }, _) => index + by * (index / every),
            (&LayoutSpec::Swizzle { bits, base, shift }, _) => {
                let mask = (1u32 << bits) - 1;
                let distance = shift.unsigned_abs();
                match shift {
                    0.. => index ^ (index & mask << (base + distance)) >> distance,
                    _ => index ^ (index & mask << base) << distance,
                }
            }
            (_, Some(mapping)) => {
                mapping.row(index) << self.geometry.bank_bits() | mapping.bank(index)
            }
            (LayoutSpec::Hash(_), None) => unreachable!("a hash has its mapping"),
        }
    }

    /// The bank in which word `index` of the array is kept.
    pub fn bank(&self, index: u32) -> u32 {
        self.place(index) & self.geometry.bank_mask()
    }

    /// Words of shared memory that an array of `words` words needs.
    pub fn words_needed(&self, words: u32) -> u32 {
        (0..words).map(|i| self.place(i) + 1).max().unwrap_or(0)
    }

    /// Whether vectors of `vector` words that are aligned to their size stay
    /// in one piece, and aligned, in an array of `words` words.
    pub fn keeps_vectors(&self, vector: u32, words: u32) -> bool {
        let starts = (0..words).step_by(vector.max(1) as usize);
        starts.into_iter().all(|start| {
            let place = self.place(start);
            let end = (start + vector).min(words);
            place.is_multiple_of(vector)
                && (start + 1..end).all(|i| self.place(i) == place + (i - start))
        })
    }

    /// The layout as a matrix over GF(2): bit j of the stored word index is the
    /// parity of the index bits in element j. `None` if the layout is not
    /// linear.
    pub fn rows(&self) -> Option<Vec<u32>> {
        let linear = match (&self.spec, &self.mapping) {
            (LayoutSpec::Swizzle { .. }, _) => true,
            (_, Some(mapping)) => matches!(mapping.bank_function(), BankFunction::Linear(_)),
            _ => false,
        };
        if !linear {
            return None;
        }
        let n = self.geometry.addr_bits();
        let columns: Vec<u32> = (0..n).map(|i| self.place(1 << i)).collect();
        let row = |j: u32| {
            let bits = columns.iter().enumerate();
            bits.fold(0, |row, (i, column)| row | (column >> j & 1) << i)
        };
        Some((0..n).map(row).collect())
    }
}
