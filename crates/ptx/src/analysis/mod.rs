//! Facts about a function without running it: values in static single
//! assignment form, dominators and loops, and bits that are always the same.
//! Also addresses as affine expressions, and the shared variables that an
//! access may touch.
//!
//! Nothing here changes the text; the analyses refer to instructions by their
//! index in [`super::Function::instructions`], to blocks by their index in
//! [`super::Cfg::blocks`].

mod address;
mod affine;
mod context;
mod dominators;
mod known_bits;
mod loops;
mod meets;
mod notation;
mod source_index;
#[cfg(test)]
mod tests;
mod uniform;
mod values;

pub use super::operands::{reads, visit, writes};
pub use address::{
    AccessKind, SharedAccess, SharedVariable, Summaries, Touches, is_dynamic, shared_accesses,
};
pub use affine::{Affine, Affines, NotAffine, Term};
pub use context::Context;
pub use dominators::Dominators;
pub use known_bits::{BitFacts, KnownBits};
pub use loops::{Loop, Loops};
pub use meets::{Meeting, Meets, Relation};
pub use notation::plain_name;
pub use source_index::{Factor, SourceIndex};
pub use uniform::Uniformity;
pub use values::{Definition, Use, ValueId, Values};
