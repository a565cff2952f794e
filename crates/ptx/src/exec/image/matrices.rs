//! Products of matrices, decoded: which registers and which places of shared
//! memory hold the elements.

use crate::exec::registers::Slot;
use crate::names::Type;
use crate::tensor::{Arithmetic, Descriptor, Major, Sparsity};
use std::ops::Range;

/// A matrix in the registers of the lanes.
#[derive(Clone)]
pub struct Matrices {
    pub ty: Type,
    pub slots: Vec<Slot>,
    /// By element of the registers, its index in the matrices, by rows, lane after lane.
    pub places: Vec<[u16; 32]>,
}

impl Matrices {
    /// Bits that are handled as one value: of single bits 32.
    pub fn value_bits(ty: Type) -> u32 {
        match ty {
            Type::B1 => 32,
            ty => ty.bits(),
        }
    }
}

/// A product of matrices.
pub struct TensorOp {
    /// Number of matrices at a time.
    pub matrices: usize,
    /// Rows, columns, and products of a sum: elements, of single bits words.
    pub size: [usize; 3],
    pub arithmetic: Arithmetic,
    pub a: Matrices,
    pub b: Matrices,
    pub c: Matrices,
    pub d: Matrices,
    /// Row of `b` for each element of a row of `a`, row after row.
    pub rows: Vec<u16>,
    /// For a sparse `a`, its metadata.
    pub sparse: Option<(Sparsity, Slot)>,
}

/// A product of a warpgroup, as one of its four warps computes it: 16 of the
/// 64 rows.
pub struct GroupOp {
    /// Columns of the result.
    pub columns: u32,
    /// Products of a sum: elements, of single bits words.
    pub products: usize,
    pub arithmetic: Arithmetic,
    /// Whether one of the factors is negated.
    pub negated: bool,
    pub a: Factor,
    pub b: Stored,
    /// Accumulator and result: parts of `width` columns, the last perhaps of
    /// fewer.
    pub sums: Vec<Matrices>,
    pub width: u32,
    /// A predicate: whether the accumulator counts, or the sums begin at zero.
    pub adds: Slot,
    /// Row of `b` for each element of a row of `a`, row after row.
    pub rows: Vec<u16>,
    /// For a sparse `a`, its metadata.
    pub sparse: Option<(Sparsity, Slot)>,
}

/// The first factor.
pub enum Factor {
    Held(Matrices),
    Stored(Stored),
}

/// Rows of a warp.
pub const ROWS: u32 = 16;

impl GroupOp {
    /// The part of `a` in memory that a warp of a warpgroup reads.
    pub fn part_of_a(&self, warp: u32) -> Option<(&Stored, Part)> {
        let Factor::Stored(a) = &self.a else {
            return None;
        };
        let rows = warp % 4 * ROWS..(warp % 4 + 1) * ROWS;
        Some((a, a.part(rows)))
    }

    /// The whole of `b`.
    pub fn part_of_b(&self) -> (&Stored, Part) {
        (&self.b, self.b.part(0..self.columns))
    }
}

/// A factor in shared memory.
pub struct Stored {
    /// The register with its descriptor.
    pub descriptor: Slot,
    pub ty: Type,
    pub major: Major,
    /// Extent of the factors along the inner products.
    pub k: u32,
}

impl Stored {
    /// Elements of a piece of 16 bytes.
    pub fn per_piece(&self) -> u32 {
        128 / self.ty.bits()
    }

    /// The pieces of some rows of `a`, or columns of `b`.
    pub fn part(&self, rows: Range<u32>) -> Part {
        let per = self.per_piece();
        match self.major {
            Major::K => Part {
                runs: rows,
                pieces: 0..self.k / per,
            },
            Major::Mn => Part {
                runs: 0..self.k,
                pieces: rows.start / per..rows.end / per,
            },
        }
    }
}

/// Pieces of a factor: the same ones of several runs. They are read as
/// `ldmatrix` reads rows: eight runs at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub runs: Range<u32>,
    pub pieces: Range<u32>,
}

impl Part {
    /// Number of pieces.
    pub fn count(&self) -> u32 {
        self.runs.len() as u32 * self.pieces.len() as u32
    }

    /// The number of a piece of a run.
    pub fn number(&self, run: u32, piece: u32) -> u32 {
        let (run, piece) = (run - self.runs.start, piece - self.pieces.start);
        (run / 8 * self.pieces.len() as u32 + piece) * 8 + run % 8
    }

    /// Run and piece of the `n`-th.
    pub fn place(&self, n: u32) -> (u32, u32) {
        let (eight, run) = (n / 8, n % 8);
        let pieces = self.pieces.len() as u32;
        (
            self.runs.start + eight / pieces * 8 + run,
            self.pieces.start + eight % pieces,
        )
    }

    /// Addresses and lanes of the accesses, 32 pieces each.
    pub fn accesses(&self, stored: &Stored, bits: u64) -> impl Iterator<Item = ([u64; 32], u32)> {
        let (descriptor, major) = (Descriptor::new(bits), stored.major);
        let count = self.count();
        (0..count).step_by(32).map(move |first| {
            let lanes = (count - first).min(32);
            let address = |lane: usize| {
                let (run, piece) = self.place(first + (lane as u32).min(lanes - 1));
                u64::from(descriptor.place(major, run, piece))
            };
            (std::array::from_fn(address), u32::MAX >> (32 - lanes))
        })
    }
}
