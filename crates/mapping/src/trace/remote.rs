//! Accesses to shared memory of other blocks of the cluster: a trace has their number, and the
//! instructions that make them.

use super::place::ptx_text;
use super::{AccessTrace, without_folder};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The field of a trace that has their number.
pub const FIELD: &str = "remote_accesses";
/// The field of a trace that has the instructions.
pub const SITES_FIELD: &str = "remote_sites";

/// An instruction that accesses shared memory of other blocks. They have their arrays where
/// this block has its own, so other blocks access these with it, too.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RemoteSite {
    /// `file:line` of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// 1-based line of the PTX.
    pub ptx_line: u32,
    /// The file of the PTX, where several are linked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptx_file: Option<String>,
    /// Offset of the first byte that it accesses in the other block.
    pub offset: u32,
    /// Bytes from there to behind the last.
    pub bytes: u32,
}

impl RemoteSite {
    /// Whether it may access some of these bytes.
    pub fn meets(&self, bytes: &Range<u32>) -> bool {
        self.offset < bytes.end && bytes.start < self.offset.saturating_add(self.bytes)
    }

    /// The line for people, the source without its folder: `k.cu:12`.
    pub fn line(&self) -> String {
        let own = self.source.as_deref().map(without_folder);
        own.map_or_else(
            || ptx_text(self.ptx_file.as_deref(), self.ptx_line),
            str::to_owned,
        )
    }
}

impl AccessTrace {
    /// Instructions of warps that access shared memory of other blocks: they are none of
    /// the accesses.
    pub fn remote_accesses(&self) -> u64 {
        let field = self.extra.get(FIELD);
        field.and_then(|n| n.as_u64()).unwrap_or(0)
    }

    /// The instructions that access shared memory of other blocks, by their lines; none where
    /// the trace does not name them.
    pub fn remote_sites(&self) -> Vec<RemoteSite> {
        let field = self.extra.get(SITES_FIELD).cloned().unwrap_or_default();
        // Another tool may use the name for something else.
        let mut found: Vec<RemoteSite> = serde_json::from_value(field).unwrap_or_default();
        found.sort();
        found
    }
}
