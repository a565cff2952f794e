//! Why something cannot be emitted.

use thiserror::Error;

/// A mistake in the description of the hardware itself.
#[derive(Debug, Error)]
pub enum HdlError {
    /// The description is not complete, or contradicts a rule.
    #[error("{unit}: the description has a mistake: {reason}")]
    Check {
        /// The module.
        unit: String,
        /// What is missing or wrong.
        reason: String,
    },
    /// A template does not render.
    #[error("template {name}: {reason}")]
    Template {
        /// The template.
        name: String,
        /// Tera's reason.
        reason: String,
    },
    /// No unit has this name.
    #[error("there is no unit '{name}'")]
    UnknownUnit {
        /// The name asked for.
        name: String,
    },
    /// The machine has no such unit.
    #[error("this machine has no {unit}: {reason}")]
    NotThere {
        /// The unit asked for.
        unit: String,
        /// The feature that the machine lacks.
        reason: String,
    },
    /// The machine is not one that can be emitted.
    #[error("the machine cannot be emitted; expected {expected}")]
    Machine {
        /// The rule that does not hold.
        expected: String,
    },
    /// The geometry is not in the table.
    #[error("geometry n={addr_bits} m={bank_bits} is not supported: expected {expected}")]
    Geometry {
        /// n.
        addr_bits: usize,
        /// m.
        bank_bits: usize,
        /// The legal n and m.
        expected: String,
    },
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, HdlError>;
