//! The fragments of `mma` and `mma.sp`, as the PTX ISA draws them.

use super::fragment::Bit::{self, Column, Matrix, Row};
use super::fragment::Fragment;
use crate::names::Word;

/// The fragments of a product: `a` is m x k (of a sparse one m x k/2), `b`
/// k x n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragments {
    /// Fragment of the first factor.
    pub a: Fragment,
    /// Fragment of the second factor.
    pub b: Fragment,
}

/// A row of the tables: a shape for elements of some size.
pub(super) struct Tile {
    pub shape: Word,
    /// Rows, columns, and length of the inner products.
    pub size: [u32; 3],
    /// Bits of an element.
    pub bits: u32,
    /// The first compute capability that has it.
    pub target: u32,
    pub fragments: Fragments,
}

const R0: Bit = Row(0);
const R1: Bit = Row(1);
const R2: Bit = Row(2);
const R3: Bit = Row(3);
const R4: Bit = Row(4);
const R5: Bit = Row(5);
const R6: Bit = Row(6);
const R7: Bit = Row(7);
const C0: Bit = Column(0);
const C1: Bit = Column(1);
const C2: Bit = Column(2);
const C3: Bit = Column(3);
const C4: Bit = Column(4);
const C5: Bit = Column(5);
const C7: Bit = Column(7);
/// The four products of the quad pairs of `.m8n8k4`.
const Q0: Bit = Matrix(0);
const Q1: Bit = Matrix(1);

type Bits = &'static [Bit];

/// Lanes of `a`: four side by side in a row, each with `2^skip` elements.
const fn lanes_of_a(skip: u8) -> [Bit; 5] {
    [Column(skip), Column(skip + 1), R0, R1, R2]
}

/// Lanes of `b`: four below each other in a column.
const fn lanes_of_b(skip: u8) -> [Bit; 5] {
    [Row(skip), Row(skip + 1), C0, C1, C2]
}

const fn tile(shape: Word, size: [u32; 3], bits: u32, target: u32, a: Bits, b: Bits) -> Tile {
    // Elements of a register of 32 bits, as a power of two.
    let skip = match bits {
        1 => 5,
        4 => 3,
        8 => 2,
        16 => 1,
        _ => 0,
    };
    let a = Fragment {
        lane: lanes_of_a(skip),
        element: a,
    };
    let b = Fragment {
        lane: lanes_of_b(skip),
        element: b,
    };
    Tile {
        shape,
        size,
        bits,
        target,
        fragments: Fragments { a, b },
    }
}

use Word::{
    M8n8k4, M8n8k16, M8n8k32, M8n8k128, M16n8k4, M16n8k8, M16n8k16, M16n8k32, M16n8k64, M16n8k128,
    M16n8k256,
};

/// Where the elements of a lane are, after the bits of the lane.
pub(super) const DENSE: &[Tile] = &[
    tile(M16n8k8, [16, 8, 8], 16, 75, &[C0, R3], &[R0]),
    tile(M16n8k16, [16, 8, 16], 16, 80, &[C0, R3, C3], &[R0, R3]),
    tile(M16n8k4, [16, 8, 4], 32, 80, &[R3], &[]),
    tile(M16n8k8, [16, 8, 8], 32, 80, &[R3, C2], &[R2]),
    tile(M8n8k4, [8, 8, 4], 64, 80, &[], &[]),
    tile(M16n8k4, [16, 8, 4], 64, 90, &[R3], &[]),
    tile(M16n8k8, [16, 8, 8], 64, 90, &[R3, C2], &[R2]),
    tile(M16n8k16, [16, 8, 16], 64, 90, &[R3, C2, C3], &[R2, R3]),
    tile(M8n8k16, [8, 8, 16], 8, 75, &[C0, C1], &[R0, R1]),
    tile(M16n8k16, [16, 8, 16], 8, 80, &[C0, C1, R3], &[R0, R1]),
    tile(
        M16n8k32,
        [16, 8, 32],
        8,
        80,
        &[C0, C1, R3, C4],
        &[R0, R1, R4],
    ),
    tile(M8n8k32, [8, 8, 32], 4, 75, &[C0, C1, C2], &[R0, R1, R2]),
    tile(
        M16n8k32,
        [16, 8, 32],
        4,
        80,
        &[C0, C1, C2, R3],
        &[R0, R1, R2],
    ),
    tile(
        M16n8k64,
        [16, 8, 64],
        4,
        80,
        &[C0, C1, C2, R3, C5],
        &[R0, R1, R2, R5],
    ),
    tile(
        M8n8k128,
        [8, 8, 128],
        1,
        75,
        &[C0, C1, C2, C3, C4],
        &[R0, R1, R2, R3, R4],
    ),
    tile(
        M16n8k128,
        [16, 8, 128],
        1,
        80,
        &[C0, C1, C2, C3, C4, R3],
        &[R0, R1, R2, R3, R4],
    ),
    tile(
        M16n8k256,
        [16, 8, 256],
        1,
        80,
        &[C0, C1, C2, C3, C4, R3, C7],
        &[R0, R1, R2, R3, R4, R7],
    ),
];

/// Tiles of `mma.sp`, whose `a` has half the columns.
pub(super) const SPARSE: &[Tile] = &[
    tile(M16n8k16, [16, 8, 16], 16, 80, &[C0, R3], &[R0, R3]),
    tile(M16n8k32, [16, 8, 32], 16, 80, &[C0, R3, C3], &[R0, R3, R4]),
    tile(M16n8k8, [16, 8, 8], 32, 80, &[R3], &[R2]),
    tile(M16n8k16, [16, 8, 16], 32, 80, &[R3, C2], &[R2, R3]),
    tile(M16n8k32, [16, 8, 32], 8, 80, &[C0, C1, R3], &[R0, R1, R4]),
    tile(
        M16n8k64,
        [16, 8, 64],
        8,
        80,
        &[C0, C1, R3, C4],
        &[R0, R1, R4, R5],
    ),
    tile(
        M16n8k64,
        [16, 8, 64],
        4,
        80,
        &[C0, C1, C2, R3],
        &[R0, R1, R2, R5],
    ),
    tile(
        M16n8k128,
        [16, 8, 128],
        4,
        80,
        &[C0, C1, C2, R3, C5],
        &[R0, R1, R2, R5, R6],
    ),
];

/// Volta's product of eight lanes, four at a time: by rows and by columns.
const fn quads(lane: [Bit; 5], element: Bits) -> Fragment {
    Fragment { lane, element }
}
pub(super) const QUADS_A: [Fragment; 2] = [
    quads([R0, R1, Q0, Q1, R2], &[C0, C1]),
    quads([C0, C1, Q0, Q1, R2], &[R0, R1]),
];
pub(super) const QUADS_B: [Fragment; 2] = [
    quads([R0, R1, Q0, Q1, C2], &[C0, C1]),
    quads([C0, C1, Q0, Q1, C2], &[R0, R1]),
];
pub(super) const QUADS_F16: Fragment = quads([R0, R1, Q0, Q1, R2], &[C0, C1, C2]);
pub(super) const QUADS_F32: Fragment = quads([R0, C1, Q0, Q1, R2], &[C0, R1, C2]);

/// The accumulator of 8 columns, and of 8 or 16 rows.
pub(super) const ACCUMULATOR_8: Fragment = Fragment {
    lane: lanes_of_a(1),
    element: &[C0],
};
pub(super) const ACCUMULATOR_16: Fragment = Fragment {
    lane: lanes_of_a(1),
    element: &[C0, R3],
};

/// Dense and sparse fragments of a shape for elements of this many bits; none
/// if there is no such shape. `sparse`: of `mma.sp`.
pub fn fragments(shape: Word, bits: u32, sparse: bool) -> Option<Fragments> {
    row(shape, bits, sparse).map(|tile| tile.fragments)
}

pub(super) fn row(shape: Word, bits: u32, sparse: bool) -> Option<&'static Tile> {
    let is = |tile: &&Tile| tile.shape == shape && tile.bits == bits;
    rows(sparse).iter().find(is)
}

pub(super) fn rows(sparse: bool) -> &'static [Tile] {
    if sparse { SPARSE } else { DENSE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every element of a matrix is held once, and the sizes are those of the
    /// shape.
    #[test]
    fn fragments_cover_their_matrices() {
        let covers = |fragment: &Fragment, size: [u32; 3]| {
            assert_eq!(fragment.size(), size);
            let all = (0..32).flat_map(|l| (0..fragment.elements()).map(move |e| (l, e)));
            let places: BTreeSet<_> = all.map(|(l, e)| fragment.place(l, e)).collect();
            assert_eq!(places.len() as u32, size.iter().product::<u32>());
        };
        for (sparse, tile) in DENSE
            .iter()
            .map(|t| (1, t))
            .chain(SPARSE.iter().map(|t| (2, t)))
        {
            let [m, n, k] = tile.size;
            covers(&tile.fragments.a, [1, m, k / sparse]);
            covers(&tile.fragments.b, [1, k, n]);
        }
        covers(&ACCUMULATOR_8, [1, 8, 8]);
        covers(&ACCUMULATOR_16, [1, 16, 8]);
        for n in 0..2 {
            covers(&QUADS_A[n], [4, 8, 4]);
            covers(&QUADS_B[n], [4, 4, 8]);
        }
        covers(&QUADS_F16, [4, 8, 8]);
        covers(&QUADS_F32, [4, 8, 8]);
    }

    /// The formulas of the PTX ISA's text, where the tables have bits.
    #[test]
    fn fragments_are_those_of_the_isa() {
        let place = |row: u32, column: u32| super::super::Place {
            matrix: 0,
            row,
            column,
        };
        for lane in 0..32u32 {
            let (group, member) = (lane >> 2, lane % 4);
            let f16 = fragments(M16n8k16, 16, false).unwrap();
            for i in 0..8 {
                let row = if i < 2 || (4..6).contains(&i) {
                    group
                } else {
                    group + 8
                };
                let column = member * 2 + (i & 1) + if i >= 4 { 8 } else { 0 };
                assert_eq!(f16.a.place(lane, i), place(row, column));
            }
            for i in 0..4 {
                let row = member * 2 + (i & 1) + if i >= 2 { 8 } else { 0 };
                assert_eq!(f16.b.place(lane, i), place(row, group));
                let row = if i < 2 { group } else { group + 8 };
                let column = member * 2 + (i & 1);
                assert_eq!(ACCUMULATOR_16.place(lane, i), place(row, column));
            }
            let s8 = fragments(M16n8k32, 8, false).unwrap();
            for i in 0..16 {
                let row = if i < 4 || (8..12).contains(&i) {
                    group
                } else {
                    group + 8
                };
                let column = member * 4 + (i & 3) + if i >= 8 { 16 } else { 0 };
                assert_eq!(s8.a.place(lane, i), place(row, column));
            }
            let f64 = fragments(M16n8k16, 64, false).unwrap();
            for i in 0..8 {
                let row = if i % 2 == 0 { group } else { group + 8 };
                let column = i * 2 - (i * 2) % 4 + member;
                assert_eq!(f64.a.place(lane, i), place(row, column));
            }
            let s4 = fragments(M16n8k64, 4, false).unwrap();
            for i in 0..32 {
                let row = if i < 8 || (16..24).contains(&i) {
                    group
                } else {
                    group + 8
                };
                let column = member * 8 + (i & 7) + if i >= 16 { 32 } else { 0 };
                assert_eq!(s4.a.place(lane, i), place(row, column));
            }
            let b1 = fragments(M16n8k256, 1, false).unwrap();
            for i in 0..64 {
                let row = member * 32 + (i & 31) + if i >= 32 { 128 } else { 0 };
                assert_eq!(b1.b.place(lane, i), place(row, group));
            }
        }
    }

    /// The same of Volta's pairs of quads.
    #[test]
    fn quad_pairs_are_those_of_the_isa() {
        for lane in 0..32u32 {
            let (matrix, high) = (lane / 4 % 4, if lane < 16 { 0 } else { 4 });
            let place = |row: u32, column: u32| super::super::Place {
                matrix,
                row,
                column,
            };
            for i in 0..4 {
                assert_eq!(QUADS_A[0].place(lane, i), place(lane % 4 + high, i));
                assert_eq!(QUADS_A[1].place(lane, i), place(i + high, lane % 4));
                assert_eq!(QUADS_B[0].place(lane, i), place(lane % 4, i + high));
                assert_eq!(QUADS_B[1].place(lane, i), place(i, lane % 4 + high));
            }
            for i in 0..8 {
                assert_eq!(QUADS_F16.place(lane, i), place(lane % 4 + high, i));
                let row = (lane & 1) + (i & 2) + high;
                let column = (i & 4) + (lane & 2) + (i & 1);
                assert_eq!(QUADS_F32.place(lane, i), place(row, column));
            }
        }
    }
}
