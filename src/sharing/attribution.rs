//! Which shared variables each instruction of an entry may access.
//!
//! A call counts as an access to whatever the functions access that it comes
//! to. An access that cannot be attributed counts for every variable.

use super::ranges::VariableSet;
use crate::ptx::Module;
use crate::ptx::analysis::{
    Affines, BitFacts, Context, Loops, SharedVariable, Summaries, Touches, Values, shared_accesses,
};
use crate::ptx::cfg::Cfg;
use crate::ptx::shared::SharedMemory;

/// An access that may be to any variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unattributed {
    /// Its line.
    pub line: u32,
    /// The line of what makes it impossible to say.
    pub because: u32,
    /// What that does.
    pub reason: &'static str,
}

/// The accesses of an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Attribution {
    /// Variables that each instruction may access.
    pub accesses: Vec<VariableSet>,
    /// Static instructions that may access each variable.
    pub counts: Vec<u32>,
    /// Those that may access any.
    pub unattributed: Vec<Unattributed>,
}

impl Attribution {
    /// Looks at `entry`; `memory` has the variables in the order of the bits.
    pub fn new(module: &Module, entry: u32, memory: &SharedMemory) -> Self {
        let function = &module.functions[entry as usize];
        let cfg = Cfg::new(function);
        let values = Values::new(function, &cfg);
        let context = Context::of(function);
        let loops = Loops::new(&cfg, values.dominators());
        let bits = BitFacts::new(module, function, &cfg, &values, &context);
        let affines = Affines::new(module, function, &cfg, &values, &loops, &bits, &context);
        let summaries = Summaries::new(module);
        let list = shared_accesses(module, function, &cfg, &values, &affines, &summaries);
        let line = |at: u32| function.instructions[at as usize].span.line;
        let count = memory.variables.len();
        let mut attribution = Attribution {
            accesses: vec![0; function.instructions.len()],
            counts: vec![0; count],
            unattributed: Vec::new(),
        };
        for access in list {
            let mut set: VariableSet = 0;
            for (bit, v) in memory.variables.iter().enumerate() {
                let variable = SharedVariable {
                    function: v.function,
                    variable: v.index,
                };
                if access.touches.may(variable) {
                    set |= 1 << bit;
                    attribution.counts[bit] += 1;
                }
            }
            attribution.accesses[access.at as usize] |= set;
            if let Touches::All { at, reason } = access.touches {
                attribution.unattributed.push(Unattributed {
                    line: line(access.at),
                    because: line(at),
                    reason,
                });
            }
        }
        attribution.unattributed.sort_unstable();
        attribution.unattributed.dedup();
        attribution
    }
}
