//! The fixed ADD hash: `bank = (addr[m-1:0] + addr[2m-1:m]) mod 2^m`.

use crate::expr::{assign, assign_bit, bit, combinational, sum, wire, zero};
use crate::geometry::{Geometry, for_geometry};
use crate::module::{Module, Result, Unit, UnitDoc};
use rust_hdl::prelude::*;

#[derive(LogicBlock, Default)]
struct HashAdd<const N: usize, const M: usize> {
    addr: Signal<In, Bits<N>>,
    bank: Signal<Out, Bits<M>>,
    low: Signal<Local, Bits<M>>,
    high: Signal<Local, Bits<M>>,
}

impl<const N: usize, const M: usize> Logic for HashAdd<N, M> {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.bank.connect();
        self.low.connect();
        self.high.connect();
    }

    fn hdl(&self) -> Verilog {
        logic(N, M)
    }
}

/// The logic, one copy for all geometries.
fn logic(n: usize, m: usize) -> Verilog {
    let addr = |a| if a < n { bit("addr", a) } else { zero() };
    let mut block: Vec<_> = (0..m)
        .flat_map(|i| {
            [
                assign_bit("low", i, addr(i)),
                assign_bit("high", i, addr(m + i)),
            ]
        })
        .collect();
    block.push(assign("bank", sum(wire("low"), wire("high"))));
    combinational(block)
}

/// Emits `spad_hash_add`.
pub fn emit_unit(g: Geometry) -> Result<Module> {
    let unit = Unit::new(UnitDoc {
        name: "spad_hash_add".into(),
        summary: "fixed ADD hash, for banks and for locks: the m low address bits plus the \
                  next m, modulo 2^m; address bits from n upward read as zero."
            .into(),
        parameters: g.parameters(),
        timing: "combinational".into(),
        paper: "atomics paper, section 4".into(),
        latency_cycles: 0,
    })
    .port("addr", "word address")
    .port("bank", "bank index")
    .unused_above(g, 2 * g.bank_bits);
    for_geometry!(g, unit.emit::<HashAdd<N, M>>())
}
