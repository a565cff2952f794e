//! The canonical layouts of the PTX ISA, as it writes them: shapes and
//! strides of the two dimensions, then a swizzle of the address.

use super::*;

/// Number of bits that a mode exchanges.
fn bits_of(mode: u64) -> u32 {
    match mode {
        0 => 0,
        1 => 3,
        2 => 2,
        _ => 1,
    }
}

/// `Swizzle<B, 4, 3>`
fn swizzle(mode: u64, address: u32) -> u32 {
    let mask = (1 << bits_of(mode)) - 1;
    address ^ ((address >> 7 & mask) << 4)
}

/// The offset of a coordinate in nested dimensions: sizes and strides, the
/// last without an end.
fn offset(mut coordinate: u32, dimensions: &[(u32, u32)]) -> u32 {
    let mut sum = 0;
    for &(size, stride) in dimensions {
        let own = if size == 0 {
            coordinate
        } else {
            coordinate % size
        };
        sum += own * stride;
        coordinate /= size.max(1);
    }
    sum
}

/// The bit of shared memory where an element begins, by its coordinates along
/// M or N and along K.
pub(super) fn place(descriptor: u64, by_mn: bool, ty: &str, mn: u32, k: u32) -> u32 {
    let bytes = |at: u32| (descriptor >> at & 0x3fff) as u32 * 16;
    let (start, leading, stride) = (bytes(0), bytes(16) * 8, bytes(32) * 8);
    let (element, mode) = (bits(ty), descriptor >> 62);
    let t = 128 / element;
    // In bits: T elements have 128 of them.
    let of_t = 128;
    let wide = 1 << bits_of(mode);
    let offset = match (by_mn, mode) {
        (false, 0) => {
            offset(mn, &[(8, of_t), (0, stride)]) + offset(k, &[(t, element), (0, leading)])
        }
        (false, _) => {
            let along_k = offset(k, &[(t, element), (0, of_t)]);
            offset(mn, &[(8, wide * of_t), (0, stride)]) + along_k
        }
        (true, 0) => {
            offset(mn, &[(t, element), (1, of_t), (0, stride)])
                + offset(k, &[(8, of_t), (0, leading)])
        }
        (true, _) => {
            let along_mn = offset(mn, &[(t, element), (wide, of_t), (0, leading)]);
            along_mn + offset(k, &[(8, wide * of_t), (0, stride)])
        }
    };
    // Where the pattern of the swizzle begins is a multiple of its size, or
    // what the base says.
    let base = (descriptor >> 49 & 7) as u32 * 128;
    let address = start + offset / 8;
    let swizzled = base + swizzle(mode, address.wrapping_sub(base) & 0x3ffff);
    8 * swizzled + offset % 8
}
