//! The parts of shared memory that tensor copies go through: there the copy
//! engine puts words in one of its swizzle modes, and in no other order.

use super::AccessTrace;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The field of a trace that has them.
pub const FIELD: &str = "tensor_copies";

/// A part of shared memory that an instruction copies by a tensor map.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TensorCopy {
    /// 1-based line of the PTX.
    pub ptx_line: u32,
    /// The file of the PTX, where several are linked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptx_file: Option<String>,
    /// Whether it copies from shared memory to global memory.
    pub stores: bool,
    /// Offset of the first byte in shared memory.
    pub offset: u32,
    /// Number of bytes in shared memory.
    pub bytes: u32,
    /// The swizzle of the map, in bytes: 0, 32, 64 or 128.
    pub swizzle: u32,
    /// Bytes of a row of the map's box.
    pub row_bytes: u32,
}

impl AccessTrace {
    /// The parts by line and offset; none where the trace does not name them.
    pub fn tensor_copies(&self) -> Vec<TensorCopy> {
        let field = self.extra.get(FIELD).cloned().unwrap_or_default();
        // Another tool may use the name for something else.
        let mut found: Vec<TensorCopy> = serde_json::from_value(field).unwrap_or_default();
        found.retain(|c| [0, 32, 64, 128].contains(&c.swizzle));
        found.sort();
        found
    }

    /// The parts within bytes `range`, counted from byte `base`, at most the
    /// first of them.
    pub(super) fn tensor_copies_in(&self, range: Range<u32>, base: u32) -> Vec<TensorCopy> {
        let part = |mut copy: TensorCopy| {
            let start = copy.offset.max(range.start);
            let end = copy.offset.saturating_add(copy.bytes).min(range.end);
            (copy.offset, copy.bytes) = (start - base.min(start), end.saturating_sub(start));
            (copy.bytes > 0).then_some(copy)
        };
        self.tensor_copies().into_iter().filter_map(part).collect()
    }
}
