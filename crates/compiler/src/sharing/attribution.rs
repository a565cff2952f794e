//! Attributes each instruction of an entry to the shared variables that it may access.
//!
//! A call counts as an access to everything that the called functions access. A
//! wait for asynchronous copies counts as an access to all that they write,
//! because they may be in flight until then. An access that cannot be
//! attributed counts for every variable.

use super::layout::Variable;
use super::ranges::VariableSet;
use spadkit_ptx::analysis::{
    AccessKind, Affines, BitFacts, Context, Loops, SharedAccess, SharedVariable, Summaries,
    Touches, Values, shared_accesses,
};
use spadkit_ptx::ast::Linkage;
use spadkit_ptx::cfg::Cfg;
use spadkit_ptx::shared;
use spadkit_ptx::{Function, Module, Opcode, Word};
use std::ops::Range;

/// An access that may be to any variable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unattributed {
    /// Line of the access.
    pub line: u32,
    /// The line of what makes it impossible to say.
    pub because: u32,
    /// The reason.
    pub reason: &'static str,
}

/// The target of an access: a variable, or a part of the dynamic ones.
#[derive(Clone, Debug)]
pub(super) struct Attributed {
    /// The variable; for a part of dynamic shared memory, all dynamic ones, as they
    /// share one address.
    pub of: Vec<shared::SharedVariable>,
    pub variable: Variable,
    /// Bytes of the part, where it is one.
    pub bytes: Option<Range<u32>>,
}

impl Attributed {
    /// Whether an access that begins at one of these bytes of dynamic memory may be
    /// to it.
    fn may(&self, access: &SharedAccess, begins: Option<(u32, u32)>) -> bool {
        let touched = |v: &shared::SharedVariable| {
            access.touches.may(SharedVariable {
                function: v.function,
                variable: v.index,
            })
        };
        let meets = match (&self.bytes, begins) {
            (Some(own), Some((low, high))) => {
                let end = u64::from(high) + u64::from(access.bytes.max(1));
                low < own.end && end > u64::from(own.start)
            }
            _ => true,
        };
        meets && self.of.iter().any(touched)
    }
}

/// The bytes of dynamic memory at which an access may begin, where that is known.
fn begins(
    module: &Module,
    function: &Function,
    affines: &Affines,
    access: &SharedAccess,
) -> Option<(u32, u32)> {
    let is_dynamic = |symbol| {
        let v = module.variable(function, symbol);
        shared::is_shared(v.space) && (v.bytes == 0 || v.linkage == Linkage::Extern)
    };
    let plain = [AccessKind::Load, AccessKind::Store, AccessKind::Atomic];
    let known = access
        .expression
        .as_ref()
        .filter(|_| plain.contains(&access.kind));
    known.and_then(|address| affines.offset_range(address, is_dynamic))
}

/// The accesses of an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Attribution {
    /// Variables that each instruction may access.
    pub accesses: Vec<VariableSet>,
    /// Static instructions that may access each variable.
    pub counts: Vec<u32>,
    /// Accesses that may be to any variable.
    pub unattributed: Vec<Unattributed>,
}

impl Attribution {
    /// Looks at `entry`; the variables are in the order of the bits.
    pub fn new(module: &Module, entry: u32, variables: &[Attributed]) -> Self {
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
        let count = variables.len();
        let mut attribution = Attribution {
            accesses: vec![0; function.instructions.len()],
            counts: vec![0; count],
            unattributed: Vec::new(),
        };
        let mut copied: VariableSet = 0;
        for access in list {
            let mut set: VariableSet = 0;
            let begins = begins(module, function, &affines, &access);
            for (bit, v) in variables.iter().enumerate() {
                if v.may(&access, begins) {
                    set |= 1 << bit;
                    attribution.counts[bit] += 1;
                }
            }
            attribution.accesses[access.at as usize] |= set;
            if access.kind == AccessKind::Copy {
                copied |= set;
            }
            if let Touches::All { at, reason } = access.touches {
                attribution.unattributed.push(Unattributed {
                    line: line(access.at),
                    because: line(at),
                    reason,
                });
            }
        }
        for (set, i) in attribution.accesses.iter_mut().zip(&function.instructions) {
            let waits = i.one_of(&[Word::WaitGroup, Word::WaitAll]).is_some();
            *set |= if waits && i.opcode == Opcode::Cp {
                copied
            } else {
                0
            };
        }
        attribution.unattributed.sort_unstable();
        attribution.unattributed.dedup();
        attribution
    }
}
