//! The result of a rewriting.

use serde::{Serialize, Serializer};
use spadkit_mapping::trace::line_of_file;

/// An access that is not rewritten, or why nothing is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    /// 1-based line of the PTX.
    pub line: u32,
    /// The file of the PTX, where several are linked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx_file: Option<String>,
    /// Why.
    pub reason: String,
}

impl Left {
    /// Line of the access in the PTX, with the file where several are linked.
    pub fn place(&self) -> String {
        line_of_file(self.ptx_file.as_deref(), self.line)
    }
}

/// Bytes of shared memory of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SharedBytes {
    /// Bytes in the original kernel.
    pub before: u32,
    /// Bytes in the rewritten kernel.
    pub after: u32,
}

/// The offset of a part of dynamic shared memory in the rewritten kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MovedPart {
    /// Name of the part in the launch file.
    pub name: String,
    /// Offset of the first byte, from the beginning of dynamic shared memory.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
}

/// The outcome for a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The PTX with mapped accesses.
    Text(String),
    /// Why nothing was rewritten.
    Refused(String),
}

/// Serialised as the reason for a refusal, or null.
impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Verdict::Text(_) => serializer.serialize_none(),
            Verdict::Refused(reason) => serializer.serialize_some(reason),
        }
    }
}

/// The changes of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rewritten {
    /// The entry.
    pub entry: String,
    /// Instructions that access shared memory.
    pub accesses: usize,
    /// Accesses whose address is mapped.
    pub rewritten: usize,
    /// The PTX, or why there is none.
    #[serde(rename = "refused")]
    pub verdict: Verdict,
    /// Words that a mapping must leave together, where the one wanted does
    /// not.
    #[serde(skip)]
    pub together: Option<u32>,
    /// The first access that may touch variables with different mappings. If
    /// the mappings are equal, one mapping for all of shared memory was taken
    /// instead; else some variables are not mapped.
    pub mixed: Option<Left>,
    /// Accesses that are not rewritten.
    pub left: Vec<Left>,
    /// Variables that tensor copies or `wgmma` access in a swizzle mode of
    /// their own.
    #[serde(skip)]
    pub with_modes: Vec<String>,
    /// Variables that nothing stands in the way of, mapped by name.
    #[serde(skip)]
    pub free: Vec<String>,
    /// Instructions that the text has more than before.
    pub added_static: i64,
    /// Bytes of shared memory of a block.
    pub shared_bytes: SharedBytes,
    /// Bytes of dynamic shared memory that a launch must give, where it must
    /// give some.
    pub dynamic_shared: Option<u32>,
    /// The new offsets of the parts of dynamic shared memory, if some were mapped by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<MovedPart>,
    /// Threads of a block, where the text is right for these alone; it says so
    /// with `.reqntid`.
    pub block: Option<[u32; 3]>,
}

impl Rewritten {
    /// The PTX; `None` where it was refused.
    pub fn text(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Text(text) => Some(text),
            Verdict::Refused(_) => None,
        }
    }

    /// Why nothing was rewritten.
    pub fn refused(&self) -> Option<&str> {
        match &self.verdict {
            Verdict::Text(_) => None,
            Verdict::Refused(reason) => Some(reason),
        }
    }
}
