//! Two-level window selection, shared by the two bit-vector units.
//!
//! A window of consecutive address bits is chosen in a coarse step (AND-OR over
//! address bits a fixed stride apart) and a fine step. That takes about half
//! the gates of one flat multiplexer per bank bit. The coarse selects come
//! twice, for even and for odd outputs: a select with more than five loads
//! would need a buffer in the path of every access.

use crate::signal::{Bits, Expr, Signal, and_or};

/// Coarse stage: output `j` is the OR over steps `a` of
/// `select_p[a] & addr[stride * a + j]` with `p = j % 2`; the port holds the
/// lines of `select_0`, then those of `select_1`.
pub(crate) struct Coarse {
    /// The select port.
    pub select: Signal,
    /// Address bits between two steps.
    pub stride: usize,
    /// Number of steps for even and for odd outputs.
    pub steps: [usize; 2],
    /// The address; bits from its width on are zero.
    pub addr: Signal,
}

impl Coarse {
    /// Bit `j` of the window before the fine step.
    pub(crate) fn output(&self, j: usize) -> Expr {
        let first_line = (j % 2) * self.steps[0];
        let source = |a: usize| self.stride * a + j;
        let addr_bits = self.addr.width.value().unwrap_or(0);
        let within = (0..self.steps[j % 2]).filter(|&a| source(a) < addr_bits);
        let line = |a: usize| self.select.at(first_line + a);
        and_or(within.map(|a| (line(a), self.addr.at(source(a)))))
    }
}

/// Steps of the coarse stage of `spad_hash_bitvec_perm`: offsets 0 to
/// `2 * steps - 1` go through it, the few beyond go straight to the fine stage.
pub(crate) const fn perm_steps(n: usize, m: usize) -> usize {
    2 * ((n - m + 2) / 4)
}

/// Offsets of `spad_hash_bitvec_perm` beyond the coarse stage.
pub(crate) const fn perm_direct(n: usize, m: usize) -> usize {
    (n - m + 1).saturating_sub(2 * perm_steps(n, m))
}

/// Steps of the first window of `spad_hash_bitvec_xor`, three offsets each.
pub(crate) const fn first_steps(n: usize, m: usize) -> usize {
    (n - m + 1).div_ceil(3)
}

/// Steps of the second window of `spad_hash_bitvec_xor`, two offsets each, for
/// even and for odd outputs: n select lines in all.
pub(crate) const fn second_steps(n: usize) -> [usize; 2] {
    [n.div_ceil(2), n / 2]
}
