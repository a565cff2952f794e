//! The compiler half of scratchpad sharing: the paper's examples, random
//! control flow against an independent checker, the kit's own kernels.

mod assembler;
mod checker;
mod cli;
mod draw;
pub mod drawn;
mod flights;
mod forms;
mod kernels;
mod layouts;
mod paper;
mod random;
