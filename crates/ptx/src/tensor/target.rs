//! Target that a module is compiled for.

use crate::ast::Module;

/// The compute capability of a module's `.target`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Target(pub u32);

impl Target {
    /// The target of a module; any target, if it names none.
    pub fn of(module: &Module) -> Target {
        Target(module.sm().unwrap_or(u32::MAX))
    }
}
