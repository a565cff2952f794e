//! The tensor copies of an array, and the mode that their maps get.

use super::target::Target;
use serde::Serialize;
use spadkit_mapping::trace::TensorCopy;

/// A copy whose tensor map changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CopyChange {
    /// 1-based line of the PTX.
    pub ptx_line: u32,
    /// The file of the PTX, where several are linked.
    pub ptx_file: Option<String>,
    /// The swizzle of the map, in bytes; 0 for none.
    pub swizzle: u32,
}

/// The copies of a target under its best mapping.
pub(in crate::suggest) fn copies(target: &Target) -> Vec<CopyChange> {
    let best = target.choices.best().layout.spec();
    let copies = target.array.copies_under(best).into_iter();
    let change = |(copy, swizzle): (&TensorCopy, u32)| CopyChange {
        ptx_line: copy.ptx_line,
        ptx_file: copy.ptx_file.clone(),
        swizzle,
    };
    let mut changes: Vec<CopyChange> = copies.map(change).collect();
    changes.dedup();
    changes
}

impl CopyChange {
    /// The enumerator of the CUDA driver API.
    pub(in crate::suggest) fn enumerator(&self) -> String {
        match self.swizzle {
            0 => "CU_TENSOR_MAP_SWIZZLE_NONE".to_owned(),
            bytes => format!("CU_TENSOR_MAP_SWIZZLE_{bytes}B"),
        }
    }

    /// Bytes after which the mode repeats: what the array's address is a
    /// multiple of.
    pub(in crate::suggest) fn span_bytes(&self) -> u32 {
        (8 * self.swizzle).max(128)
    }
}
