//! `wmma.load` and `wmma.store`: a matrix between memory and registers, by the
//! accesses that the machine code makes (`crate::tensor::pieces`).

use super::whole_warp;
use crate::exec::access::Unit;
use crate::exec::image::matrices::Matrices;
use crate::exec::image::{MemoryOp, Moved, Transfer};
use crate::exec::machine::Machine;

/// A bound on the words of a matrix: more than any has.
const WORDS: usize = 512;

/// Puts the addresses of the pieces into their register.
pub(in crate::exec) fn place(m: &Machine, moved: &Moved, exec: u32) {
    let lane = exec.trailing_zeros() % 32;
    let base = m
        .registers
        .read_lane(moved.base, lane)
        .wrapping_add(moved.offset as u64);
    let bytes = row_bytes(m, moved, exec);
    let address = |lane: usize| match moved.pieces.places.get(lane) {
        Some(&(run, byte)) => base.wrapping_add(u64::from(run) * bytes + u64::from(byte)),
        None => base,
    };
    m.registers
        .write(moved.addresses, u32::MAX, &std::array::from_fn(address));
}

/// Bytes from one run of the matrix in memory to the next: a row, or a column where it
/// is stored by columns.
pub(in crate::exec) fn row_bytes(m: &Machine, moved: &Moved, exec: u32) -> u64 {
    let lane = exec.trailing_zeros() % 32;
    let stride = moved
        .stride
        .map_or(u64::from(moved.long()), |s| m.registers.read_lane(s, lane));
    u64::from(moved.registers.ty.bits()).wrapping_mul(stride) / 8
}

/// Loads or stores a matrix.
pub(in crate::exec) fn moved(m: &mut Machine, info: &MemoryOp, exec: u32) {
    whole_warp(m, exec);
    let Transfer::Fragment(first) = &info.transfer else {
        return;
    };
    let mut words = [0u32; WORDS];
    if first.store {
        words = gathered(m, first);
    }
    for access in &m.image.memory[info.index as usize..][..first.accesses as usize] {
        if let Transfer::Fragment(moved) = &access.transfer {
            place(m, moved, exec);
            let pointers = m.resolve(access, moved.lanes());
            for (pointer, &(run, byte)) in pointers.iter().zip(&moved.pieces.places) {
                let at = run * moved.long_bytes() + byte;
                // SAFETY: `resolve` gives pointers to the bytes of a piece, aligned.
                unsafe { piece(moved, *pointer, at, &mut words) }
            }
        }
    }
    if !first.store {
        spread(m, first, exec, &words);
    }
}

/// Moves a piece between memory and byte `at` of the matrix.
///
/// # Safety
/// As for [`Unit`], for all bytes of a piece.
unsafe fn piece(moved: &Moved, pointer: *mut u8, at: u32, words: &mut [u32; WORDS]) {
    let (word, shift) = (at as usize / 4, at % 4 * 8);
    // SAFETY: the caller's promise.
    unsafe {
        match (moved.pieces.bytes, moved.store) {
            (1, true) => ((words[word] >> shift) as u8).put(pointer),
            (2, true) => ((words[word] >> shift) as u16).put(pointer),
            (1, false) => words[word] |= u32::from(u8::get(pointer)) << shift,
            (2, false) => words[word] |= u32::from(u16::get(pointer)) << shift,
            (bytes, store) => {
                for n in 0..bytes as usize / 4 {
                    let pointer = pointer.wrapping_add(4 * n);
                    if store {
                        words[word + n].put(pointer);
                    } else {
                        words[word + n] = u32::get(pointer);
                    }
                }
            }
        }
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
