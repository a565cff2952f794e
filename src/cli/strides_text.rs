//! Strides as S0·2^k, for `classify`.

use crate::trace::pattern;
use serde_json::{Value, json};

pub(super) fn stride_json(stride: u64) -> Value {
    let (s0, k) = pattern::odd_part(stride);
    json!({"stride": stride, "s0": s0, "k": k})
}

pub(super) fn show_strides(strides: &[u64]) -> String {
    let show = |&stride: &u64| {
        let (s0, k) = pattern::odd_part(stride);
        format!("{stride} = {s0}·2^{k}")
    };
    match strides {
        [] => "none".to_owned(),
        _ => strides.iter().map(show).collect::<Vec<_>>().join(", "),
    }
}
