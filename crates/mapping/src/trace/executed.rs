//! The instructions that the warps of a block have executed, by lines of the PTX.

use std::sync::Arc;

/// Neighbouring instructions that a warp has executed with the same lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Warp of the block.
    pub warp: u32,
    /// Accesses of the warp to shared memory before it.
    pub before: u32,
    /// First and last line of the PTX.
    pub lines: (u32, u32),
    /// The lanes: bit 0 is lane 0.
    pub lanes: u32,
    /// One instruction, whose guard leaves out some of the lanes that reach it.
    pub is_guarded: bool,
}

/// All executions of a block: those of each warp in their order. It is empty where they are
/// not known, as in a trace from a file. It is no part of what traces are compared by.
#[derive(Clone, Debug, Default)]
pub struct Executed(Arc<Vec<Execution>>);

impl PartialEq for Executed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Executed {
    /// The executions, in the order of each warp.
    pub fn new(all: Vec<Execution>) -> Self {
        Executed(Arc::new(all))
    }

    /// Those of a warp, in order.
    pub fn of(&self, warp: u32) -> impl Iterator<Item = &Execution> {
        self.0.iter().filter(move |run| run.warp == warp)
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
