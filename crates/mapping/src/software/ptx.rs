//! PTX instructions of the operations of mappings, on 32-bit registers by their names.

use std::fmt::Display;

// The truth table for lop3: a is 0xf0, b 0xcc, c 0xaa.
const XOR_MASKED: u8 = 0xf0 ^ (0xcc & 0xaa);
const MERGE: u8 = (0xf0 & 0xaa) | (0xcc & !0xaa);

/// `to = value >> bits`
pub fn right(to: &str, value: &str, bits: impl Display) -> String {
    format!("shr.u32 {to}, {value}, {bits};")
}

/// `to = value << bits`
pub fn left(to: &str, value: &str, bits: u32) -> String {
    format!("shl.b32 {to}, {value}, {bits};")
}

/// `to = value & mask`
pub fn and(to: &str, value: &str, mask: u32) -> String {
    format!("and.b32 {to}, {value}, {mask:#x};")
}

/// `to = rest ^ (value & mask)`
pub fn xor_masked(to: &str, rest: &str, value: &str, mask: u32) -> String {
    format!("lop3.b32 {to}, {rest}, {value}, {mask:#x}, {XOR_MASKED:#x};")
}

/// The bits of `mask` from `inside`, the others from `outside`.
pub fn merge(to: &str, inside: &str, outside: &str, mask: u32) -> String {
    format!("lop3.b32 {to}, {inside}, {outside}, {mask:#x}, {MERGE:#x};")
}

/// `to = a + b`
pub fn add(to: &str, a: &str, b: &str) -> String {
    format!("add.u32 {to}, {a}, {b};")
}

/// `to = value * factor + add`
pub fn mul_add(to: &str, value: &str, factor: u32, add: &str) -> String {
    format!("mad.lo.u32 {to}, {value}, {factor}, {add};")
}

/// The high word of `value * factor`.
pub fn mul_high(to: &str, value: &str, factor: u32) -> String {
    format!("mul.hi.u32 {to}, {value}, {factor};")
}
