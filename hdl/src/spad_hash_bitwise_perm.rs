//! Bitwise permutation: each bank bit is any one address bit.

use crate::expr::{and_or, assign_bit, bit, combinational};
use crate::geometry::{Geometry, for_geometry};
use crate::module::{Module, Result, Unit, UnitDoc};
use rust_hdl::prelude::*;

/// The bitwise permutation unit; `C = N * M`.
#[derive(LogicBlock, Default)]
struct HashBitwisePerm<const N: usize, const M: usize, const C: usize> {
    addr: Signal<In, Bits<N>>,
    cfg_sel: Signal<In, Bits<C>>,
    bank: Signal<Out, Bits<M>>,
}

impl<const N: usize, const M: usize, const C: usize> Logic for HashBitwisePerm<N, M, C> {
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
    let chosen = |i| and_or((0..n).map(|a| (bit("cfg_sel", i * n + a), bit("addr", a))));
    combinational((0..m).map(|i| assign_bit("bank", i, chosen(i))).collect())
}

/// Emits `spad_hash_bitwise_perm`.
pub fn emit_unit(g: Geometry) -> Result<Module> {
    let unit = Unit::new(UnitDoc {
        name: "spad_hash_bitwise_perm".into(),
        summary: "bitwise permutation hash: each bank bit is one address bit, chosen by \
                  one-hot selects that are decoded once per SM."
            .into(),
        parameters: g.parameters(),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "hash paper, section 4.3".into(),
        latency_cycles: 0,
    })
    .port("addr", "word address")
    .port(
        "cfg_sel",
        "one-hot select of bank bit i in bits [i*n +: n]: bit a takes addr[a]",
    )
    .port("bank", "bank index");
    for_geometry!(g, unit.emit::<HashBitwisePerm<N, M, { N * M }>>())
}
