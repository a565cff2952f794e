//! Strides as S0·2^k, for `classify`.

use crate::trace::pattern;
use serde::Serialize;

/// A stride in words, as its odd part times a power of two.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Stride {
    stride: u64,
    s0: u64,
    k: u32,
}

impl Stride {
    /// All of `strides`.
    pub fn all(strides: &[u64]) -> Vec<Self> {
        let of = |&stride: &u64| {
            let (s0, k) = pattern::odd_part(stride);
            Stride { stride, s0, k }
        };
        strides.iter().map(of).collect()
    }
}

pub(super) fn show_strides(strides: &[Stride]) -> String {
    let show = |Stride { stride, s0, k }: &Stride| format!("{stride} = {s0}·2^{k}");
    match strides {
        [] => "none".to_owned(),
        _ => strides.iter().map(show).collect::<Vec<_>>().join(", "),
    }
}
