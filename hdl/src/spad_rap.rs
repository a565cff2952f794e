//! Random address permute-shift: `bank = (j + r_i) mod 2^m` with i the row of
//! a 2^m-wide matrix and j the column.

use crate::configured::{Configurable, Decoder, Register};
use crate::expr::{assign, combinational, equals, gated, or_all, slice, sum, wire};
use crate::geometry::{Geometry, for_geometry};
use crate::module::{Module, Result, Unit, UnitDoc};
use rust_hdl::prelude::*;

/// The RAP unit: `I` index bits choose one of `2^I` shifts; `C = 2^I * M`.
#[derive(LogicBlock, Default)]
struct RapLogic<const N: usize, const M: usize, const I: usize, const C: usize> {
    addr: Signal<In, Bits<N>>,
    cfg_shift: Signal<In, Bits<C>>,
    bank: Signal<Out, Bits<M>>,
    column: Signal<Local, Bits<M>>,
    row: Signal<Local, Bits<I>>,
    shift: Signal<Local, Bits<M>>,
}

impl<const N: usize, const M: usize, const I: usize, const C: usize> Logic
    for RapLogic<N, M, I, C>
{
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.bank.connect();
        self.column.connect();
        self.row.connect();
        self.shift.connect();
    }

    fn hdl(&self) -> Verilog {
        logic(M, I)
    }
}

/// The logic, one copy for all geometries.
fn logic(m: usize, index_bits: usize) -> Verilog {
    let shift_of = |row| {
        let shift = slice("cfg_shift", row * m, m);
        gated(m, shift, equals("row", index_bits, row))
    };
    combinational(vec![
        assign("column", slice("addr", 0, m)),
        assign("row", slice("addr", m, index_bits)),
        assign("shift", or_all((0..1 << index_bits).map(shift_of))),
        assign("bank", sum(wire("column"), wire("shift"))),
    ])
}

/// Bits that choose the shift: m, or fewer where the address is short.
pub(crate) const fn index_bits(n: usize, m: usize) -> usize {
    if n - m < m { n - m } else { m }
}

/// Emits `spad_rap`.
fn unit(g: Geometry) -> Result<Module> {
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
        unit.emit::<RapLogic<N, M, I, { M << I }>>()
    })
}

/// `spad_rap` behind its registers.
pub(crate) struct Rap;

impl Configurable for Rap {
    fn emit(&self, g: Geometry) -> Result<Module> {
        unit(g)
    }

    fn registers(&self, g: Geometry) -> Vec<Register> {
        let (n, m) = (g.addr_bits, g.bank_bits);
        Register::each(1 << index_bits(n, m), m, |_| 0)
    }

    fn write_doc(&self, _: Geometry) -> String {
        "index i: shift r_i".into()
    }

    fn decoder(&self, _: Geometry) -> Result<Decoder> {
        Ok(Decoder::None)
    }
}
