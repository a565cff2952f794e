//! What to type, for people.

use super::{AccessChange, CopyChange, Suggestion};
use crate::trace::{line_of_file, ptx_text};

impl AccessChange {
    /// Where it is in the PTX; of several files, in which.
    pub fn ptx_place(&self) -> Option<String> {
        Some(ptx_text(self.ptx_file.as_deref(), self.ptx_line?))
    }
}

impl Suggestion {
    /// Bytes that the address of the array is a multiple of.
    pub fn span_bytes(&self) -> u32 {
        let spans = self.tensor_copies.iter().map(CopyChange::span_bytes);
        spans.max().unwrap_or(128)
    }

    /// What changes in the maps of its tensor copies, a sentence for each.
    pub fn copy_texts(&self) -> Vec<String> {
        let text = |copy: &CopyChange| {
            format!(
                "the map of the tensor copy at PTX {} gets {}",
                line_of_file(copy.ptx_file.as_deref(), copy.ptx_line),
                copy.enumerator()
            )
        };
        self.tensor_copies.iter().map(text).collect()
    }
}
