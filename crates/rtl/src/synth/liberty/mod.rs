//! Reads Liberty cell libraries: enough to distinguish one from another kind of
//! file, to know areas and flip-flops, and to find the buffer, inverter and
//! NAND2 that results refer to.

mod cell;
mod function;
mod library;
mod syntax;
mod table;

pub use cell::{Cell, Direction, Pin};
pub use library::Liberty;
