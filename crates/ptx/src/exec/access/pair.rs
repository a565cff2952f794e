//! Values of 128 bits, which two registers of 64 bits hold.

use super::Unit;
use crate::exec::image::{MemoryOp, Transfer};
use crate::exec::machine::Machine;
use crate::exec::registers::{Pair, Registers, active};

/// `mov.b128`, also from and to two parts of 64 bits.
pub fn copy(registers: Registers, [to, from]: [Pair; 2], exec: u32) {
    // Both are read first: parts may be exchanged.
    let values = from.map(|slot| registers.read(slot));
    for (slot, values) in to.iter().zip(&values) {
        registers.write(*slot, exec, values);
    }
}

/// `atom.exch.b128` and `atom.cas.b128`: lane after lane. Blocks run one after
/// the other where one of them is to global memory.
pub fn atomic(m: &mut Machine, info: &MemoryOp, exec: u32) {
    let Transfer::AtomicPair(update) = &info.transfer else {
        return;
    };
    let pointers = m.resolve(info, exec);
    let read = |pair: Pair| pair.map(|slot| m.registers.read(slot));
    let new = read(update.new);
    let expected = update.expected.map(read);
    let mut results = [[0; 32]; 2];
    for lane in active(exec).map(|lane| lane as usize) {
        for (half, old) in results.iter_mut().enumerate() {
            // SAFETY: `resolve` gives aligned pointers to all bytes of the access.
            old[lane] = unsafe { u64::get(pointers[lane].wrapping_add(8 * half)) };
        }
        let is_expected =
            |e: [[u64; 32]; 2]| (0..2).all(|half| e[half][lane] == results[half][lane]);
        if expected.is_none_or(is_expected) {
            for (half, new) in new.iter().enumerate() {
                // SAFETY: `resolve` gives aligned pointers to all bytes of the access.
                unsafe { new[lane].put(pointers[lane].wrapping_add(8 * half)) };
            }
        }
    }
    if let Some(result) = update.result {
        for (slot, values) in result.iter().zip(&results) {
            m.registers.write(*slot, exec, values);
        }
    }
}
