//! Parts of a trace: the variables of shared memory, where it names them, and
//! wide accesses split.

use super::access::{Access, AccessTrace};
use super::bulk_copies::FIELD as BULK_COPIES;
use super::remote::SITES_FIELD as REMOTE_SITES;
use super::tensor_copies::FIELD as TENSOR_COPIES;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::ops::Range;

/// The field of a trace that has them.
pub const FIELD: &str = "shared_variables";

/// A variable of shared memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedVariable {
    /// Name of the variable; for dynamic shared memory, the names of all variables
    /// that refer to it.
    pub name: String,
    /// Offset of its first byte.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Bytes between the begin of dynamic shared memory and a part of it that the launch
    /// file names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<u32>,
}

impl AccessTrace {
    /// The variables by offset; none where the trace does not name them.
    pub fn shared_variables(&self) -> Vec<SharedVariable> {
        let field = self.extra.get(FIELD).cloned().unwrap_or_default();
        // Another tool may use the name for something else.
        let mut found: Vec<SharedVariable> = serde_json::from_value(field).unwrap_or_default();
        let inside = |v: &SharedVariable| {
            let end = v.offset.checked_add(v.bytes);
            v.bytes > 0 && end.is_some_and(|end| end <= self.shared_bytes)
        };
        found.retain(inside);
        found.sort_by_key(|v| v.offset);
        found
    }

    /// The trace with accesses wider than `bytes` split into several, one after the
    /// other.
    pub fn narrowed(&self, bytes: u32) -> AccessTrace {
        let split = |access: &Access| -> Vec<Access> {
            let width = access.bytes.min(bytes);
            let piece = |i: u32| Access {
                addrs: access
                    .addrs
                    .iter()
                    .map(|a| Some((*a)? + i * width / 4))
                    .collect(),
                bytes: width,
                ..access.clone()
            };
            (0..access.bytes / width).map(piece).collect()
        };
        AccessTrace {
            accesses: self.accesses.iter().flat_map(split).collect(),
            barriers: Vec::new(),
            // The accesses are others, so their places among the executions are not known.
            executed: Default::default(),
            ..self.clone()
        }
    }

    /// The accesses to words `range` alone, as a trace of its own that counts
    /// from word `base`, at most the first of them: lanes that are elsewhere
    /// are inactive.
    pub fn part(&self, range: Range<u32>, base: u32) -> AccessTrace {
        let own = |addr: Option<u32>| Some(addr.filter(|a| range.contains(a))? - base);
        let part = |access: &Access| {
            let addrs: Vec<Option<u32>> = access.addrs.iter().map(|a| own(*a)).collect();
            let active = addrs.iter().any(Option::is_some);
            active.then(|| Access {
                addrs,
                ..access.clone()
            })
        };
        let mut extra = self.extra.clone();
        if extra.contains_key(TENSOR_COPIES) {
            let copies = self.tensor_copies_in(4 * range.start..4 * range.end, 4 * base);
            extra.insert(TENSOR_COPIES.to_owned(), json!(copies));
        }
        if extra.contains_key(BULK_COPIES) {
            let copies = self.bulk_copies_in(&(4 * range.start..4 * range.end), 4 * base);
            extra.insert(BULK_COPIES.to_owned(), json!(copies));
        }
        // They count from the start of shared memory.
        extra.remove(REMOTE_SITES);
        AccessTrace {
            accesses: self.accesses.iter().filter_map(part).collect(),
            shared_bytes: 4 * (range.end - base),
            barriers: Vec::new(),
            extra,
            // The accesses are others, so their places among the executions are not known.
            executed: Default::default(),
            ..self.clone()
        }
    }
}
