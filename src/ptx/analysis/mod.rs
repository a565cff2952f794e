//! What can be said of a function without running it: values in static
//! single assignment form, dominators and loops, bits that are always the
//! same, addresses as affine expressions, and which shared variables an
//! access may touch.
//!
//! Nothing here changes the text; the analyses refer to instructions by their
//! index in [`super::Function::instructions`], to blocks by their index in
//! [`super::Cfg::blocks`].

mod dominators;
mod loops;
mod operands;
mod values;

pub use dominators::Dominators;
pub use loops::{Loop, Loops};
pub use operands::{reads, visit, writes};
pub use values::{Definition, Use, ValueId, Values};
