//! Accesses to shared memory, and which variables each may touch.
//!
//! Addresses are followed through moves, arithmetic, `cvta`, selections and
//! phis. Arithmetic that starts from one variable's address is assumed to stay
//! in that variable, as compilers assume. If a constant offset alone leads out
//! of it, the access may touch everything, because the assembler decides where
//! the neighbours are. Dynamic variables (`extern .shared`) all start at the
//! same address: an access that touches one may touch all of them. An address
//! that went through memory, or came back from a call, may be any.
//!
//! Accesses with generic addresses count where the address may be one of
//! shared memory: it comes from a shared variable, or from an unknown source.
//! Pointers that the host passes to an entry are taken to be global ones: it
//! has no address of shared memory to pass.

mod accesses;
mod calls;
mod origin;
mod sites;

pub use accesses::{SharedAccess, shared_accesses};
pub use calls::Summaries;
pub use sites::AccessKind;

use crate::ast::{Function, Module, Symbol, Variable};
use std::collections::BTreeSet;

/// A shared variable of a module: of module scope, or of the body of a
/// function (which need not be the one that accesses it).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SharedVariable {
    /// The function that declares it, as index of [`Module::functions`]; none
    /// for module scope.
    pub function: Option<u32>,
    /// Index in [`Module::variables`] or [`Function::variables`].
    pub variable: u32,
}

impl SharedVariable {
    /// The variable that `symbol` names in the function with that index.
    pub fn new(function: u32, symbol: Symbol) -> Self {
        match symbol {
            Symbol::Module(variable) => SharedVariable {
                function: None,
                variable,
            },
            Symbol::Local(variable) => SharedVariable {
                function: Some(function),
                variable,
            },
        }
    }

    /// The variable.
    pub fn of(self, module: &Module) -> &Variable {
        match self.function {
            None => &module.variables[self.variable as usize],
            Some(f) => &module.functions[f as usize].variables[self.variable as usize],
        }
    }

    /// The symbol by which the function with that index names it; none if it
    /// cannot.
    pub fn symbol(self, function: u32) -> Option<Symbol> {
        match self.function {
            None => Some(Symbol::Module(self.variable)),
            Some(f) => (f == function).then_some(Symbol::Local(self.variable)),
        }
    }
}

/// The shared variables that an access may touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touches {
    /// Any of these variables, and no other shared memory.
    Variables(BTreeSet<SharedVariable>),
    /// Any shared memory of the block.
    All {
        /// The instruction that makes it impossible to say, in the function
        /// with the access.
        at: u32,
        /// Reason why it is impossible.
        reason: &'static str,
    },
}

impl Touches {
    /// Whether the variable may be touched.
    pub fn may(&self, variable: SharedVariable) -> bool {
        match self {
            Touches::Variables(set) => set.contains(&variable),
            Touches::All { .. } => true,
        }
    }

    /// The variable that is touched, if it is the only one.
    pub fn only(&self) -> Option<SharedVariable> {
        match self {
            Touches::Variables(set) if set.len() == 1 => set.first().copied(),
            _ => None,
        }
    }
}

/// Whether a variable's size is not in the text: it starts after all others.
pub fn is_dynamic(variable: &Variable) -> bool {
    variable.bytes == 0 || variable.linkage == crate::ast::Linkage::Extern
}

/// Index of `function`, which must be one of the module's.
fn index_of(module: &Module, function: &Function) -> u32 {
    let same = |f: &Function| std::ptr::eq(f, function);
    let by_name = || {
        module
            .functions
            .iter()
            .position(|f| f.name == function.name)
    };
    let found = module.functions.iter().position(same).or_else(by_name);
    found.unwrap_or(0) as u32
}
