//! Co-simulation: the Verilated RTL against the golden model, lockstep.
//!
//! A [`Bench`](crate::units::Bench) steps the golden model through constrained random stimulus and
//! records, cycle by cycle, the inputs and the outputs that it expects. The
//! RTL replays the inputs in bulk, in a shared object that Verilator made, and
//! every output bit of every cycle is compared.

mod compiled;
mod declared;
mod flow;
mod lockstep;
mod shrink;
mod testbench;
mod verilated;
mod wave;

pub use compiled::Compiled;
pub use flow::{CosimOptions, CosimResult, PATH, Replay, cosim_all, cosim_unit, each_unit};
pub use lockstep::{Lockstep, Mismatch, Outcome, Recording, record_inputs};
pub use shrink::Shrunk;
pub use testbench::{BENCH_CYCLES, add_test_benches};
pub use verilated::{Instance, VerilatedUnit};
