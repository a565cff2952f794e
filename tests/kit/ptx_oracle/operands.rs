//! Operands to try: edge values and random ones of a type.

use crate::reference;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::Rng;

/// Types of integers.
pub const INTEGERS: [&str; 6] = ["u16", "s16", "u32", "s32", "u64", "s64"];

/// Types of floating-point numbers.
pub const FLOATS: [&str; 4] = ["f16", "bf16", "f32", "f64"];

/// A kind of operand: its type in PTX, and what its register is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    pub ty: &'static str,
    /// `b16`, `b32`, `b64`.
    pub register: &'static str,
    pub bits: u32,
}

pub fn kind(ty: &'static str) -> Kind {
    let bits = match ty {
        "u8" | "s8" => 8,
        "u16" | "s16" | "f16" | "bf16" | "b16" => 16,
        "u64" | "s64" | "f64" | "b64" => 64,
        _ => 32,
    };
    let register = match bits {
        8 | 16 => "b16",
        32 => "b32",
        _ => "b64",
    };
    Kind { ty, register, bits }
}

/// Edge values and random ones, as bits of a type.
pub fn operand(kind: Kind, rng: &mut ChaCha12Rng) -> u64 {
    let random = rng.next_u64();
    let pick = (rng.next_u32() % 4, rng.next_u32());
    let edges: &[u64] = match kind.ty {
        "f16" | "f16x2" => &[
            0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
            0x7e00, 0x7fff, 0x3555, 0x4248,
        ],
        "bf16" | "bf16x2" => &[
            0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x3f80, 0xbf80, 0x7f7f, 0xff7f, 0x7f80, 0xff80,
            0x7fc0, 0x7fff, 0x3eab, 0x4049,
        ],
        "f32" => &[
            0,
            0x8000_0000,
            1,
            0x8000_0001,
            0x7f_ffff,
            0x80_0000,
            0x3f80_0000,
            0xbf80_0000,
            0x7f7f_ffff,
            0xff7f_ffff,
            0x7f80_0000,
            0xff80_0000,
            0x7fc0_0000,
            0x7fff_ffff,
            0x4f00_0000,
            0xcf00_0000,
            0x4f80_0000,
            0x3f00_0000,
            0x4b80_0000,
            0x3fff_ffff,
            0x3400_0000,
            0x0080_0001,
            0x4000_0000,
            0x5f00_0000,
        ],
        "f64" => &[
            0,
            1 << 63,
            1,
            (1 << 63) | 1,
            0xf_ffff_ffff_ffff,
            0x10_0000_0000_0000,
            0x3ff0_0000_0000_0000,
            0xbff0_0000_0000_0000,
            0x7fef_ffff_ffff_ffff,
            0xffef_ffff_ffff_ffff,
            0x7ff0_0000_0000_0000,
            0xfff0_0000_0000_0000,
            0x7ff8_0000_0000_0000,
            0x41e0_0000_0000_0000,
            0xc1e0_0000_0000_0000,
            0x43e0_0000_0000_0000,
            0x3fe0_0000_0000_0000,
            0x47ef_ffff_ffff_ffff,
            0x36a0_0000_0000_0000,
            0x3810_0000_0000_0000,
        ],
        _ => &[
            0,
            1,
            2,
            3,
            7,
            8,
            15,
            16,
            31,
            32,
            33,
            63,
            64,
            65,
            127,
            128,
            255,
            256,
            0x7fff,
            0x8000,
            0xffff,
            0x10000,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            0x1_0000_0000,
            0x7fff_ffff_ffff_ffff,
            0x8000_0000_0000_0000,
            u64::MAX,
            u64::MAX - 1,
            0x00ff_ffff,
            0x0080_0000,
        ],
    };
    let edge = |n: u32| edges[n as usize % edges.len()];
    let value = match (pick.0, kind.ty) {
        (0 | 1, "f16x2" | "bf16x2") => edge(pick.1) | edge(pick.1 >> 8) << 16,
        (0 | 1, _) => edge(pick.1),
        // Floats of like magnitude, so that sums cancel and round.
        (2, "f32") => (0x3f00_0000 + (random & 0x1ff_ffff)) | ((random >> 32 & 1) << 31),
        (2, "f64") => (0x3fe0_0000_0000_0000 + (random >> 10)) | ((random & 1) << 63),
        (2, "f16") => 0x3800 + (random & 0xfff),
        (2, _) if !kind.ty.contains('f') => random & 0xff,
        _ => random,
    };
    reference::truncate(value, kind.bits)
}
