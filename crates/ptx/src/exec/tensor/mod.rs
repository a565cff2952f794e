//! Products of matrices (`mma`, `wmma.mma`, `wgmma`).
//!
//! Every element of the result is its accumulator plus the products of a row
//! and a column, added one after another in the order of the columns of `a`.
//! A product is exact. Sums of f16 are kept in f64 and rounded once for each
//! instruction, as devices do; in other formats each sum is rounded (a fused
//! multiply-add). Devices add several products at a time, with fewer
//! roundings and some truncations; the PTX ISA leaves their order open.

mod group;
mod moved;
mod numbers;
mod pieces;
mod sums;
mod tile;

use super::api::FindingKind;
use super::image::matrices::TensorOp;
use super::machine::Machine;
use super::registers::Slot;
use crate::tensor::{Arithmetic, Sparsity};
pub(super) use group::multiply as multiply_group;
pub(super) use moved::{moved, place, row_bytes};
use numbers::Rounded;
use sums::Products;
use tile::Tile;

/// `d = a b + c`, for all lanes of the warp.
pub(super) fn multiply(m: &mut Machine, op: &TensorOp, exec: u32) {
    whole_warp(m, exec);
    let found = op
        .sparse
        .map(|(sparsity, slot)| chosen(m, op.size[0], sparsity, slot));
    let rows = found.as_ref().unwrap_or(&op.rows);
    let products = Products {
        matrices: op.matrices,
        size: op.size,
        rows,
    };
    let vector = m.image.vector;
    let registers = m.registers;
    // One by one: an array of them would be copied as a whole.
    match op.arithmetic {
        Arithmetic::Double(round) => {
            let a = Tile::doubles(registers, &op.a);
            let b = Tile::doubles(registers, &op.b);
            let mut sums = Tile::doubles(registers, &op.c);
            match Rounded::new(round) {
                None => products.run(vector, &a, &b, &mut sums, f64::mul_add),
                Some(round) => {
                    products.run(vector, &a, &b, &mut sums, |a, b, c| {
                        round.add_product(a, b, c)
                    });
                }
            }
            sums.write_doubles(registers, &op.d, exec);
        }
        Arithmetic::Single | Arithmetic::Half => {
            let a = Tile::floats(registers, &op.a);
            let b = Tile::floats(registers, &op.b);
            let mut sums = Tile::floats(registers, &op.c);
            products.floats(vector, op.arithmetic, [&a, &b], &mut sums);
            sums.write_floats(registers, &op.d, exec);
        }
        Arithmetic::Integer { .. } | Arithmetic::Bits { .. } => {
            let a = Tile::integers(registers, &op.a);
            let b = Tile::integers(registers, &op.b);
            let mut sums = Tile::integers(registers, &op.c);
            products.integers(vector, op.arithmetic, [&a, &b], &mut sums);
            sums.write_integers(registers, &op.d, exec);
        }
    }
}

/// An instruction with `.aligned` is for all lanes of the warp together.
pub(super) fn whole_warp(m: &mut Machine, exec: u32) {
    if exec != u32::MAX {
        let text = format!(
            "only lanes {exec:#010x} execute it: an instruction with .aligned must be executed by all 32 lanes \
             of a warp; otherwise its result is undefined"
        );
        m.found(
            FindingKind::InvalidMask,
            exec.trailing_zeros() % 32,
            None,
            None,
            text,
        );
    }
}

/// The rows of `b` that the metadata chooses, for each element of `a`.
fn chosen(m: &mut Machine, rows_of_a: usize, sparsity: Sparsity, slot: Slot) -> Vec<u16> {
    let words = m.registers.read(slot);
    let mut rows = Vec::new();
    let mut wrong = None;
    for row in 0..rows_of_a as u32 {
        for chunk in 0..sparsity.chunks {
            let (lane, bit) = sparsity.place(row, chunk);
            let metadata = (words[lane as usize] >> bit) as u32 & 15;
            if !sparsity.is_valid(metadata) {
                wrong.get_or_insert((lane, bit, metadata));
            }
            let first = chunk * sparsity.chunk;
            let kept = 0..sparsity.kept();
            rows.extend(kept.map(|n| (first + sparsity.column(metadata, n)) as u16));
        }
    }
    if let Some((lane, bit, metadata)) = wrong {
        let expected = match sparsity.chunk {
            2 => "0b0100 or 0b1110",
            _ => "two places in ascending order",
        };
        let text = format!(
            "the metadata of lane {lane} has {metadata:#06b} in bits {bit} to {}: expected \
             {expected}",
            bit + 3
        );
        m.found(FindingKind::InvalidMetadata, lane, None, None, text);
    }
    rows
}
