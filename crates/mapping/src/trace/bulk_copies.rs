//! The parts of shared memory that bulk copies without a tensor map go through: the copy
//! engine keeps words in their order there.

use super::AccessTrace;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The field of a trace that has them.
pub const FIELD: &str = "bulk_copies";

/// A part of shared memory that an instruction copies as it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct BulkCopy {
    /// 1-based line of the PTX.
    pub ptx_line: u32,
    /// The file of the PTX, where several are linked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptx_file: Option<String>,
    /// From this shared memory to elsewhere.
    pub stores: bool,
    /// Offset of the first byte in shared memory.
    pub offset: u32,
    /// Number of bytes.
    pub bytes: u32,
}

impl BulkCopy {
    /// What a copy does to an array that it stores from, or writes: why that has no mapping.
    pub fn reason(stores: bool) -> &'static str {
        if stores {
            "a bulk copy reads it in the order of global memory"
        } else {
            "a bulk copy writes it in the order of global memory"
        }
    }

    fn end(&self) -> u32 {
        self.offset.saturating_add(self.bytes)
    }

    /// Whether some of its bytes are in the range.
    pub fn meets(&self, bytes: &Range<u32>) -> bool {
        self.offset < bytes.end && bytes.start < self.end()
    }

    /// Joins adjacent pieces of one instruction: a loop copies row by row.
    pub fn joined(pieces: impl IntoIterator<Item = BulkCopy>) -> Vec<BulkCopy> {
        let mut all: Vec<BulkCopy> = pieces.into_iter().collect();
        all.sort();
        let mut joined: Vec<BulkCopy> = Vec::new();
        for piece in all {
            let same = |last: &&mut BulkCopy| {
                let place = |c: &BulkCopy| (c.ptx_line, c.ptx_file.clone(), c.stores);
                place(last) == place(&piece) && piece.offset <= last.end()
            };
            match joined.last_mut().filter(same) {
                Some(last) => last.bytes = last.end().max(piece.end()) - last.offset,
                None => joined.push(piece),
            }
        }
        joined
    }
}

impl AccessTrace {
    /// The parts by line and offset; none where the trace does not name them.
    pub fn bulk_copies(&self) -> Vec<BulkCopy> {
        let field = self.extra.get(FIELD).cloned().unwrap_or_default();
        // Another tool may use the name for something else.
        let mut found: Vec<BulkCopy> = serde_json::from_value(field).unwrap_or_default();
        found.retain(|c| c.bytes > 0);
        found.sort();
        found
    }

    /// The parts within bytes `range`, counted from byte `base`, at most the first of them.
    pub(super) fn bulk_copies_in(&self, range: &Range<u32>, base: u32) -> Vec<BulkCopy> {
        let part = |copy: BulkCopy| {
            let start = copy.offset.max(range.start);
            let end = copy.end().min(range.end);
            copy.meets(range).then(|| BulkCopy {
                offset: start - base.min(start),
                bytes: end - start,
                ..copy
            })
        };
        self.bulk_copies().into_iter().filter_map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(ptx_line: u32, offset: u32, bytes: u32) -> BulkCopy {
        BulkCopy {
            ptx_line,
            ptx_file: None,
            stores: false,
            offset,
            bytes,
        }
    }

    #[test]
    fn rows_of_one_instruction_are_one_part() {
        let rows = [piece(4, 256, 128), piece(4, 0, 128), piece(4, 128, 128)];
        let others = [piece(4, 512, 16), piece(9, 528, 16)];
        let joined = BulkCopy::joined(rows.into_iter().chain(others));
        let expected = [piece(4, 0, 384), piece(4, 512, 16), piece(9, 528, 16)];
        assert_eq!(joined, expected);
    }
}
