//! The indices that accesses compute, by the lines of the PTX.

use spadkit_ptx::analysis::SourceIndex;
use std::collections::{BTreeMap, BTreeSet};

/// Indices of shared variables that accesses compute.
#[derive(Clone, Debug, Default)]
pub struct Indices {
    pub(super) by_line: BTreeMap<PtxLine, SourceIndex>,
    pub(super) of_data: BTreeSet<PtxLine>,
}

/// The PTX file, where several are linked, and the 1-based line in it.
pub type PtxLine = (Option<String>, u32);

impl Indices {
    /// The index of the access in a line of the PTX.
    pub fn get(&self, line: &PtxLine) -> Option<&SourceIndex> {
        self.by_line.get(line)
    }

    /// The shared variables of all accesses, as the PTX names them.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.by_line.values().map(|index| index.variable.as_str())
    }

    /// Whether the address of that access depends on a value from memory.
    pub fn depends_on_data(&self, line: &PtxLine) -> bool {
        self.of_data.contains(line)
    }
}
