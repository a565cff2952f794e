//! `wmma.load` and `wmma.store`: a matrix between memory and registers, in
//! pieces of 16 bytes (or a row), one to each lane, as `ldmatrix` reads rows.
//! Large matrices take two accesses.

use super::whole_warp;
use crate::ptx::exec::image::matrices::Matrices;
use crate::ptx::exec::image::{MemoryOp, Moved, Transfer};
use crate::ptx::exec::machine::Machine;

/// More words than any matrix has.
const WORDS: usize = 512;

/// Puts the addresses of the pieces into their register.
pub(in crate::ptx::exec) fn place(m: &Machine, moved: &Moved, exec: u32) {
    let lane = exec.trailing_zeros() % 32;
    let base = m
        .registers
        .read_lane(moved.base, lane)
        .wrapping_add(moved.offset as u64);
    let [_, long] = moved.runs();
    let stride = moved
        .stride
        .map_or(u64::from(long), |s| m.registers.read_lane(s, lane));
    let bytes = u64::from(moved.registers.ty.bits()) * stride / 8;
    let piece_bytes = moved.piece_bytes();
    let per_run = long * moved.registers.ty.bits() / 8 / piece_bytes;
    let address = |lane: usize| {
        let piece = moved.first + lane as u32;
        let (run, at) = (piece / per_run, piece % per_run);
        base.wrapping_add(u64::from(run) * bytes + u64::from(piece_bytes * at))
    };
    m.registers
        .write(moved.addresses, u32::MAX, &std::array::from_fn(address));
}

/// Loads or stores a matrix.
pub(in crate::ptx::exec) fn moved(m: &mut Machine, info: &MemoryOp, exec: u32) {
    whole_warp(m, exec);
    let Transfer::Fragment(first) = &info.transfer else {
        return;
    };
    let mut words = [0u32; WORDS];
    if first.store {
        words = gathered(m, first);
    }
    let accesses = first.pieces().div_ceil(32);
    for access in &m.image.memory[info.index as usize..][..accesses as usize] {
        if let Transfer::Fragment(moved) = &access.transfer {
            place(m, moved, exec);
            let pointers = m.resolve(access, moved.lanes());
            let pieces = (moved.pieces() - moved.first).min(32) as usize;
            for (lane, pointer) in pointers.iter().enumerate().take(pieces) {
                let count = moved.piece_bytes() as usize / 4;
                let at = (moved.first as usize + lane) * count;
                for (word, value) in words[at..at + count].iter_mut().enumerate() {
                    let pointer = pointer.wrapping_add(4 * word);
                    // SAFETY: `resolve` gives pointers to the bytes of a piece, aligned.
                    unsafe {
                        use crate::ptx::exec::access::Unit;
                        if moved.store {
                            value.put(pointer)
                        } else {
                            *value = u32::get(pointer)
                        }
                    }
                }
            }
        }
    }
    if !first.store {
        spread(m, first, exec, &words);
    }
}

/// Bits of an element, and where they are among the words of the matrix as
/// memory has it.
fn bit_of(moved: &Moved, place: u16) -> usize {
    let ty = moved.registers.ty;
    let bits = Matrices::value_bits(ty) as usize;
    let [rows, columns] = moved.size.map(|n| n as usize);
    // Places of single bits count words, which lie along the runs.
    let shrink = bits / ty.bits() as usize;
    let (rows, columns) = if moved.by_columns {
        (rows / shrink, columns)
    } else {
        (rows, columns / shrink)
    };
    let place = usize::from(place);
    let (row, column) = (place / columns, place % columns);
    let number = if moved.by_columns {
        column * rows + row
    } else {
        place
    };
    number * bits
}

/// The registers of a matrix in memory's order.
fn gathered(m: &Machine, moved: &Moved) -> [u32; WORDS] {
    let mut words = [0; WORDS];
    each(moved, |slot, shift, bits, lane, at| {
        let value = m.registers.read_lane(moved.registers.slots[slot], lane) >> shift;
        let value = value & (u64::MAX >> (64 - bits));
        words[at / 32] |= (value as u32) << (at % 32);
        if bits == 64 {
            words[at / 32 + 1] = (value >> 32) as u32;
        }
    });
    words
}

/// The matrix in memory's order to registers.
fn spread(m: &Machine, moved: &Moved, exec: u32, words: &[u32; WORDS]) {
    let mut values = vec![[0u64; 32]; moved.registers.slots.len()];
    each(moved, |slot, shift, bits, lane, at| {
        let high = if bits == 64 { words[at / 32 + 1] } else { 0 };
        let value = u64::from(words[at / 32] >> (at % 32)) | u64::from(high) << 32;
        values[slot][lane as usize] |= (value & (u64::MAX >> (64 - bits))) << shift;
    });
    for (slot, values) in moved.registers.slots.iter().zip(&values) {
        m.registers.write(*slot, exec, values);
    }
    for slot in &moved.unused {
        m.registers.write(*slot, exec, &[0; 32]);
    }
}

/// Each element: its register, lowest bit there, size, lane, and bit in the
/// matrix.
fn each(moved: &Moved, mut found: impl FnMut(usize, u32, u32, u32, usize)) {
    let bits = Matrices::value_bits(moved.registers.ty);
    let per = (32 / bits).max(1) as usize;
    for (n, lanes) in moved.registers.places.iter().enumerate() {
        for (lane, &place) in lanes.iter().enumerate() {
            let shift = (n % per) as u32 * bits;
            found(n / per, shift, bits, lane as u32, bit_of(moved, place));
        }
    }
}
