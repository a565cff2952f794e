//! Kinds of evidence.

use serde::{Deserialize, Serialize};

/// The kind of evidence that a measured value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// Follows from a formula or a definition of the paper.
    Formula,
    /// Counted on the accesses or the text of a kernel: conflicts, blocks,
    /// instructions. No clock takes part.
    Counted,
    /// Read off a clock or a power meter: cycles, IPC, stalls, delay, area.
    Timed,
    /// The input was chosen to fit what the paper publishes about it.
    Inferred,
    /// The published value is an input of the kit as well, so that a difference is a
    /// mistake of copying.
    Identity,
}

impl Evidence {
    /// Every kind of evidence, in the order of the page.
    pub const ALL: [Evidence; 5] = [
        Evidence::Formula,
        Evidence::Counted,
        Evidence::Timed,
        Evidence::Inferred,
        Evidence::Identity,
    ];

    /// The kind's word on the page.
    pub fn word(self) -> &'static str {
        match self {
            Evidence::Formula => "formula",
            Evidence::Counted => "counted",
            Evidence::Timed => "timed",
            Evidence::Inferred => "inferred",
            Evidence::Identity => "identity",
        }
    }

    /// A value that agrees says something about the models.
    pub fn is_own(self) -> bool {
        !matches!(self, Evidence::Inferred | Evidence::Identity)
    }
}
