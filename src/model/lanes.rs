//! Lane vectors of the models: masks as integers, values in arrays.

/// A bit per lane, lane 0 in bit 0.
pub type LaneMask = u64;
/// A bit per warp slot.
pub type WarpMask = u128;

/// Lanes that the models have room for.
pub const MAX_LANES: usize = 64;
/// Banks that the models have room for.
pub const MAX_BANKS: usize = 64;

/// The lanes of `mask`, lowest first.
pub(super) fn lanes_of(mut mask: LaneMask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}
