//! A plain interpreter of PTX: one thread at a time, one instruction at a
//! time, values as 64-bit patterns, floating point through LLVM's soft floats.
//!
//! It is the second opinion on the warp executor: written from the tables of
//! the PTX ISA, it shares the front end with it and nothing else, and knows
//! nothing of warps, masks or reconvergence. What it does not do (shuffles,
//! votes, matrices, approximate functions) it refuses.

#![allow(dead_code)] // each test crate that includes this uses a part
#![allow(clippy::too_many_lines)] // one match over all forms

mod access;
mod control;
mod convert;
mod float;
mod integer;
mod memory;
mod operand;
mod small;
mod thread;
mod value;

pub use memory::GlobalMemory;
pub use thread::{Launch, run};

use spadkit::ptx::Type;

/// The low bits of `value` that a type has.
pub fn truncate(value: u64, bits: u32) -> u64 {
    match bits {
        64.. => value,
        bits => value & ((1 << bits) - 1),
    }
}

/// The low `bits` bits of `value` as a signed number.
pub fn signed(value: u64, bits: u32) -> i64 {
    match bits {
        64.. => value as i64,
        bits => (value << (64 - bits)) as i64 >> (64 - bits),
    }
}

/// `value` of type `ty` in a register of `bits` bits: signed types are
/// extended with their sign, the others with zeros.
pub fn extend(value: u64, ty: Type, bits: u32) -> u64 {
    let value = truncate(value, ty.bits());
    if ty.is_signed() {
        truncate(signed(value, ty.bits()) as u64, bits)
    } else {
        truncate(value, bits)
    }
}
