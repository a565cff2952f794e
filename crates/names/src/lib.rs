//! What the hardware and the software of spadkit must agree on: hash units by name,
//! and the bits of their addresses. Nothing here computes.

#![forbid(unsafe_code)]

mod address_bits;
mod hashes;

pub use address_bits::{ADDR_BITS, BANK_BITS};
pub use hashes::{Configured, HASH_ADD, HASH_XOR, HashKind, PathHash};
