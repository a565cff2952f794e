//! `wgmma.mma_async`: a product of a warpgroup, warp after warp.
//!
//! The 16 rows of the result that a warp holds need its own rows of `a` and
//! all of `b`, nothing of the other warps. So each warp computes its rows when
//! it executes the instruction, at once: nobody may write the factors, and
//! nobody may read the sums, before they have been waited for.

use super::pieces::{Piece, View};
use super::sums::Products;
use super::tile::Tile;
use super::{chosen, whole_warp};
use crate::exec::access::Unit;
use crate::exec::check::groups;
use crate::exec::image::matrices::{Factor, GroupOp, Matrices, Part, ROWS, Stored};
use crate::exec::image::{MemoryOp, Transfer};
use crate::exec::machine::Machine;
use crate::exec::registers::Registers;
use crate::tensor::Arithmetic;

/// Computes the rows of the warp.
pub(in crate::exec) fn multiply(m: &mut Machine, info: &MemoryOp, exec: u32) {
    let Transfer::Factors(op) = &info.transfer else {
        return;
    };
    whole_warp(m, exec);
    let operands = groups::check(m, op, exec);
    let [of_a, of_b] = operands.descriptors;
    let a = op
        .part_of_a(m.warp)
        .map(|(stored, part)| read(m, info, (stored, part), of_a));
    let b = read(m, info, op.part_of_b(), of_b);
    m.shared_accesses += 1;
    let found = op
        .sparse
        .map(|(sparsity, slot)| chosen(m, ROWS as usize, sparsity, slot));
    let work = Work {
        op,
        a,
        b,
        rows: found.as_ref().unwrap_or(&op.rows),
        adds: operands.adds,
        vector: m.image.vector,
        registers: m.registers,
        exec,
    };
    match op.arithmetic {
        Arithmetic::Integer { .. } | Arithmetic::Bits { .. } => work.run::<i32>(),
        _ => work.run::<f32>(),
    }
}

/// The pieces of a part of a factor.
fn read<'a>(
    m: &mut Machine,
    info: &MemoryOp,
    (stored, part): (&'a Stored, Part),
    bits: u64,
) -> View<'a> {
    let mut pieces: Vec<Piece> = Vec::with_capacity(part.count() as usize);
    for (addresses, lanes) in part.accesses(stored, bits) {
        let pointers = m.resolve_shared(info, lanes, &addresses);
        for pointer in &pointers[..lanes.count_ones() as usize] {
            // SAFETY: `resolve_shared` gives aligned pointers to 16 bytes.
            pieces.push(unsafe { [u64::get(*pointer), u64::get(pointer.wrapping_add(8))] });
        }
    }
    View {
        stored,
        part,
        pieces,
    }
}

/// The part of a product that a warp computes, of values of one kind.
struct Work<'a> {
    op: &'a GroupOp,
    /// Place of `a` in memory.
    a: Option<View<'a>>,
    b: View<'a>,
    /// Row of `b` of each element of `a`.
    rows: &'a [u16],
    /// Whether the accumulator counts.
    adds: bool,
    vector: bool,
    registers: Registers,
    exec: u32,
}

impl Work<'_> {
    fn run<T: Number>(&self) {
        let op = self.op;
        let mut a = match (&op.a, &self.a) {
            (Factor::Held(held), _) => T::held(self.registers, held),
            (_, Some(view)) => T::stored(view, &view.part, [op.products, 1]),
            _ => Tile::zeros(),
        };
        if op.negated {
            a.0.iter_mut().for_each(|value| *value = T::negated(*value));
        }
        for (n, sums) in (0..).zip(&op.sums) {
            let first = n * op.width;
            let columns = first..(first + op.width).min(op.columns);
            let width = columns.len();
            let part = op.b.part(columns);
            let b = T::stored(&self.b, &part, [1, width]);
            let mut tile = if self.adds {
                T::held(self.registers, sums)
            } else {
                Tile::zeros()
            };
            let products = Products {
                matrices: 1,
                size: [ROWS as usize, width, op.products],
                rows: self.rows,
            };
            T::add(&products, self, [&a, &b], &mut tile);
            T::write(&tile, self.registers, sums, self.exec);
        }
    }
}

/// A kind of value that products are computed of.
trait Number: Copy + Default {
    fn held(registers: Registers, held: &Matrices) -> Tile<Self>;
    fn stored(view: &View, part: &Part, strides: [usize; 2]) -> Tile<Self>;
    fn negated(self) -> Self;
    fn add(products: &Products, work: &Work, factors: [&Tile<Self>; 2], sums: &mut Tile<Self>);
    fn write(tile: &Tile<Self>, registers: Registers, to: &Matrices, exec: u32);
}

impl Number for f32 {
    fn held(registers: Registers, held: &Matrices) -> Tile<f32> {
        Tile::floats(registers, held)
    }
    fn stored(view: &View, part: &Part, strides: [usize; 2]) -> Tile<f32> {
        view.floats(part, strides)
    }
    fn negated(self) -> f32 {
        -self
    }
    fn add(products: &Products, work: &Work, factors: [&Tile<f32>; 2], sums: &mut Tile<f32>) {
        products.floats(work.vector, work.op.arithmetic, factors, sums);
    }
    fn write(tile: &Tile<f32>, registers: Registers, to: &Matrices, exec: u32) {
        tile.write_floats(registers, to, exec);
    }
}

impl Number for i32 {
    fn held(registers: Registers, held: &Matrices) -> Tile<i32> {
        Tile::integers(registers, held)
    }
    fn stored(view: &View, part: &Part, strides: [usize; 2]) -> Tile<i32> {
        view.integers(part, strides)
    }
    fn negated(self) -> i32 {
        -self
    }
    fn add(products: &Products, work: &Work, factors: [&Tile<i32>; 2], sums: &mut Tile<i32>) {
        products.integers(work.vector, work.op.arithmetic, factors, sums);
    }
    fn write(tile: &Tile<i32>, registers: Registers, to: &Matrices, exec: u32) {
        tile.write_integers(registers, to, exec);
    }
}
