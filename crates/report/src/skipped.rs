//! The parts that a run leaves out.

use serde::{Serialize, Serializer};
use std::fmt::{self, Display, Formatter};

/// A part of the run that was left out, and why.
#[derive(Clone, Debug)]
pub struct Skipped {
    /// The part that was left out.
    pub part: Part,
    /// Why.
    pub reason: String,
}

/// A part of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A mapping in software is put into the PTX.
    Rewriting,
    /// The kernel runs on the model of the SM.
    Cycles,
    /// The resources of a block under a mapping.
    Resources(String),
    /// The SM's pipeline in Verilog.
    Pipeline,
    /// Another part, in words.
    Other(&'static str),
}

impl Skipped {
    /// `part`, and why it was left out.
    pub fn new(part: Part, reason: impl Display) -> Self {
        Skipped {
            part,
            reason: reason.to_string(),
        }
    }

    /// Whether a mapping was not put into the PTX.
    pub fn is_of_rewriting(&self) -> bool {
        self.part == Part::Rewriting
    }
}

impl Display for Part {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Part::Rewriting => f.write_str("rewriting"),
            Part::Cycles => f.write_str("cycles"),
            Part::Resources(hash) => write!(f, "registers and occupancy of {hash}"),
            Part::Pipeline => f.write_str("the SM's pipeline in Verilog"),
            Part::Other(words) => f.write_str(words),
        }
    }
}

impl Display for Skipped {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.part, self.reason)
    }
}

/// Serialised as the sentence.
impl Serialize for Skipped {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
