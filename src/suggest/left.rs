//! Arrays that are better left as they are: what the compiler no longer merges costs
//! more than the mapping saves.

use super::{Suggestion, TornLine};
use crate::software::LayoutSpec;
use serde::Serialize;

/// An array for which no change of the source pays.
#[derive(Clone, Debug, Serialize)]
pub struct LeftAlone {
    /// The array in the texts.
    pub array: String,
    /// The best mapping for the changed source.
    pub hash: LayoutSpec,
    /// Conflicts of the accesses to it as it is.
    pub conflicts_before: u64,
    /// The same under the mapping, the accesses of `torn` counted apart.
    pub conflicts: u64,
    /// The lines whose wide accesses would become several.
    pub torn: Vec<TornLine>,
}

/// The array of a change that does not pay.
impl From<Suggestion> for LeftAlone {
    fn from(s: Suggestion) -> Self {
        LeftAlone {
            array: s.array,
            hash: s.hash,
            conflicts_before: s.conflicts_before,
            conflicts: s.conflicts,
            torn: s.torn,
        }
    }
}
