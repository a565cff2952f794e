//! Numbers that draw the order and the length of turns.

/// A number below `n`, drawn.
pub fn draw(state: &mut u64, n: u32) -> u32 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) as u32) % n
}
