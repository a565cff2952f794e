//! Lane vectors of the models: masks as integers, values in arrays.

/// A bit per lane, lane 0 in bit 0.
pub type LaneMask = u64;
/// A bit per warp slot.
pub type WarpMask = u128;

/// Lanes that the models have room for.
pub const MAX_LANES: usize = 64;
/// Banks that the models have room for.
pub const MAX_BANKS: usize = 64;

/// The bit of a warp slot, below 128.
#[inline(always)]
pub(crate) fn warp_bit(warp: usize) -> WarpMask {
    /// A look-up is shorter than a shift of 128 bits.
    static BITS: [WarpMask; 128] = {
        let mut bits = [0; 128];
        let mut warp = 0;
        while warp < 128 {
            bits[warp] = 1 << warp;
            warp += 1;
        }
        bits
    };
    BITS[warp % 128]
}

/// Numbers of the bits that are set in a mask.
macro_rules! set_bits {
    ($(#[$about:meta])* $name:ident $mask:ty) => {
        $(#[$about])*
        pub(crate) fn $name(mut mask: $mask) -> impl Iterator<Item = usize> {
            std::iter::from_fn(move || {
                if mask == 0 {
                    return None;
                }
                let lowest = mask.trailing_zeros() as usize;
                mask &= mask - 1;
                Some(lowest)
            })
        }
    };
}

set_bits! {
    /// The lanes of `mask`, lowest first.
    lanes_of LaneMask
}
set_bits! {
    /// The warps of `mask`, lowest first.
    warps_of WarpMask
}

/// Calls `act` for the lanes in `mask`, of `lanes` in all, lowest first. Mostly
/// all lanes are active, and no search is needed.
#[inline(always)]
pub(super) fn for_each_lane(mask: LaneMask, lanes: usize, act: impl FnMut(usize)) {
    if mask == all_lanes(lanes) {
        (0..lanes).for_each(act)
    } else {
        lanes_of(mask).for_each(act)
    }
}

/// A mask of all `lanes` lanes.
pub(super) fn all_lanes(lanes: usize) -> LaneMask {
    LaneMask::MAX >> (MAX_LANES - lanes)
}

/// Copies the words of the lanes in `mask`, of `lanes` in all, and leaves those
/// of the others alone.
pub(super) fn copy_words(mask: LaneMask, from: &[u64], to: &mut [u64], lanes: usize) {
    if mask == all_lanes(lanes) {
        to[..lanes].copy_from_slice(&from[..lanes])
    } else {
        lanes_of(mask).for_each(|lane| to[lane] = from[lane])
    }
}

/// Copies the words of the lanes in `mask`, of `lanes` in all; those of the
/// others become zero.
pub(super) fn copy_active(mask: LaneMask, from: &[u64], to: &mut [u64], lanes: usize) {
    to[..lanes].copy_from_slice(&from[..lanes]);
    for lane in lanes_of(all_lanes(lanes) & !mask) {
        to[lane] = 0;
    }
}

/// A mask of the bits in the bytes that `enables` names.
pub(super) fn byte_mask(enables: u8) -> u64 {
    const MASKS: [u64; 256] = {
        let mut masks = [0; 256];
        let mut enables = 0;
        while enables < 256 {
            let mut byte = 0;
            while byte < 8 {
                if enables >> byte & 1 == 1 {
                    masks[enables] |= 0xff << (8 * byte);
                }
                byte += 1;
            }
            enables += 1;
        }
        masks
    };
    MASKS[usize::from(enables)]
}

/// Bits 0, 2, 4, ... of `x`, packed.
pub fn even_bits(x: u64) -> u32 {
    let mut x = x & 0x5555_5555_5555_5555;
    x = (x | x >> 1) & 0x3333_3333_3333_3333;
    x = (x | x >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    x = (x | x >> 4) & 0x00ff_00ff_00ff_00ff;
    x = (x | x >> 8) & 0x0000_ffff_0000_ffff;
    (x | x >> 16) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_bits_pack() {
        assert_eq!(even_bits(0b01_01_10_01), 0b1101);
        assert_eq!(even_bits(u64::MAX), u32::MAX);
        for word in [0x5555_5555u32, 0xaaaa_aaaa, 0x1234_5678, 0xf00d_cafe] {
            let bit = |i: u32| (word >> (2 * i) & 1) << i;
            assert_eq!(even_bits(word.into()), (0..16).map(bit).sum::<u32>());
        }
    }
}
