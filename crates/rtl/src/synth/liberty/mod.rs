//! Reading Liberty cell libraries: enough of them to tell one from a file
//! that is none, to know areas and flip-flops, and to find the buffer,
//! inverter and NAND2 that results are related to.

mod cell;
mod function;
mod library;
mod syntax;
mod table;

pub use cell::{Cell, Direction, Pin};
pub use library::Liberty;
