//! Numbers that draw the order and the length of turns.

/// A number below `n`, drawn.
pub fn draw(state: &mut u64, n: u32) -> u32 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) as u32) % n
}

/// Puts them in an order that is drawn.
pub fn shuffle(state: &mut u64, order: &mut [usize]) {
    for at in (1..order.len()).rev() {
        order.swap(at, draw(state, at as u32 + 1) as usize);
    }
}

/// The first state, of a run's seed and the linear index of its block.
pub fn seeded(seed: u64, block: u64) -> u64 {
    seed ^ block.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
