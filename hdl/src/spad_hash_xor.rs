//! The fixed XOR hash: `bank = addr[m-1:0] ^ addr[2m-1:m]`.

use crate::expr::{assign_bit, bit, combinational, xor_all};
use crate::geometry::{Geometry, for_geometry};
use crate::module::{Module, Result, Unit, UnitDoc};
use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
struct HashXor<const N: usize, const M: usize> {
    addr: Signal<In, Bits<N>>,
    bank: Signal<Out, Bits<M>>,
}

impl<const N: usize, const M: usize> Logic for HashXor<N, M> {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.bank.connect();
    }

    fn hdl(&self) -> Verilog {
        logic(N, M)
    }
}

/// The logic, one copy for all geometries.
fn logic(n: usize, m: usize) -> Verilog {
    let terms = |i| {
        [i, m + i]
            .into_iter()
            .filter(|&a| a < n)
            .map(|a| bit("addr", a))
    };
    combinational(
        (0..m)
            .map(|i| assign_bit("bank", i, xor_all(terms(i))))
            .collect(),
    )
}

/// Emits `spad_hash_xor`.
pub fn emit_unit(g: Geometry) -> Result<Module> {
    let unit = Unit::new(UnitDoc {
        name: "spad_hash_xor".into(),
        summary: "fixed XOR hash, for banks and for locks: the m low address bits XOR the \
                  next m; address bits from n upward read as zero."
            .into(),
        parameters: g.parameters(),
        timing: "combinational".into(),
        paper: "atomics paper, section 4; hash paper, section 7.1 (fixed bit-vector XOR)".into(),
        latency_cycles: 0,
    })
    .port("addr", "word address")
    .port("bank", "bank index")
    .unused_above(g, 2 * g.bank_bits);
    for_geometry!(g, unit.emit::<HashXor<N, M>>())
}
