//! The scratchpad in other designs: the units behind a bus as their neighbours
//! see them, the rules of the neighbours, assertions about the inside,
//! SystemVerilog.

mod amo;
mod axi;
mod inside;
mod neighbours;
mod obi;
mod public;
mod rtl;
mod rules;
mod soc;
mod stream;
mod system;
mod tcdm;
mod tilelink;
mod wide_stream;

use crate::common::tools::missing;
