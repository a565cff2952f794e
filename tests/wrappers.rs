//! The scratchpad in other designs: the units behind a bus as their neighbours
//! see them, the rules of the neighbours, assertions about the inside,
//! SystemVerilog.

mod common;
#[path = "wrappers/inside.rs"]
mod inside;
#[path = "wrappers/rtl.rs"]
mod rtl;
#[path = "wrappers/rules.rs"]
mod rules;
#[path = "wrappers/stream.rs"]
mod stream;
#[path = "wrappers/system.rs"]
mod system;
#[path = "wrappers/tcdm.rs"]
mod tcdm;

use common::tools::missing;
