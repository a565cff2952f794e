//! Random address permute-shift: `bank = (j + r_i) mod 2^m` with i the row of
//! a 2^m-wide matrix and j the column.

use crate::expr::{and_or, assign, assign_bit, bit, combinational, equals, sum, wire};
use crate::geometry::{Geometry, for_geometry};
use crate::module::{Module, Result, Unit, UnitDoc};
use rust_hdl::prelude::*;

/// The RAP unit: `I` index bits choose one of `W = 2^I` shifts; `C = W * M`.
#[derive(LogicBlock, Default)]
struct Rap<const N: usize, const M: usize, const I: usize, const W: usize, const C: usize> {
    addr: Signal<In, Bits<N>>,
    cfg_shift: Signal<In, Bits<C>>,
    bank: Signal<Out, Bits<M>>,
    column: Signal<Local, Bits<M>>,
    row: Signal<Local, Bits<I>>,
    chosen: Signal<Local, Bits<W>>,
    shift: Signal<Local, Bits<M>>,
}

impl<const N: usize, const M: usize, const I: usize, const W: usize, const C: usize> Logic
    for Rap<N, M, I, W, C>
{
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.bank.connect();
        self.column.connect();
        self.row.connect();
        self.chosen.connect();
        self.shift.connect();
    }

    fn hdl(&self) -> Verilog {
        logic(M, I, W)
    }
}

/// The logic, one copy for all geometries.
fn logic(m: usize, index_bits: usize, shifts: usize) -> Verilog {
    let mut block = Vec::new();
    block.extend((0..m).map(|b| assign_bit("column", b, bit("addr", b))));
    block.extend((0..index_bits).map(|b| assign_bit("row", b, bit("addr", m + b))));
    block.extend((0..shifts).map(|v| assign_bit("chosen", v, equals("row", index_bits, v))));
    block.extend((0..m).map(|b| {
        let terms = (0..shifts).map(|v| (bit("chosen", v), bit("cfg_shift", v * m + b)));
        assign_bit("shift", b, and_or(terms))
    }));
    block.push(assign("bank", sum(wire("column"), wire("shift"))));
    combinational(block)
}

/// Bits that choose the shift: m, or fewer where the address is short.
pub(crate) const fn index_bits(n: usize, m: usize) -> usize {
    if n - m < m { n - m } else { m }
}

/// Emits `spad_rap`.
pub fn emit_unit(g: Geometry) -> Result<Module> {
    let unit = Unit::new(UnitDoc {
        name: "spad_rap".into(),
        summary: "random address permute-shift (RAP) or random address shift (RAS): row i of \
                  a matrix with 2^m columns is rotated by r_i; the row index is addr >> m."
            .into(),
        parameters: g.parameters(),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "RAP paper, section IV".into(),
        latency_cycles: 0,
    })
    .port(
        "addr",
        "word address: column in bits [m-1:0], row i in the next m bits",
    )
    .port(
        "cfg_shift",
        "shifts: r_i in bits [i*m +: m]; a permutation for RAP, any values for RAS",
    )
    .port("bank", "bank index")
    .unused_above(g, 2 * g.bank_bits);
    for_geometry!(g, {
        const I: usize = index_bits(N, M);
        unit.emit::<Rap<N, M, I, { 1 << I }, { M << I }>>()
    })
}
