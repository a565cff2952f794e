//! The row index that completes a linear bank function to a bijection.

use crate::configured::{Configurable, Decoder, Register, assign_lines, decoder_unit, index_width};
use crate::expr::{and_or, assign_bit, bit, combinational, equals};
use crate::geometry::{Geometry, for_geometry};
use crate::module::{Module, Result, Unit, UnitDoc};
use rust_hdl::prelude::*;

/// The row map: `R = N - M` row bits, `C = R * (M + 1)`.
#[derive(LogicBlock, Default)]
struct RowMapLogic<const N: usize, const M: usize, const R: usize, const C: usize> {
    addr: Signal<In, Bits<N>>,
    cfg_row_sel: Signal<In, Bits<C>>,
    row: Signal<Out, Bits<R>>,
}

impl<const N: usize, const M: usize, const R: usize, const C: usize> Logic
    for RowMapLogic<N, M, R, C>
{
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.row.connect();
    }

    fn hdl(&self) -> Verilog {
        logic(M, R)
    }
}

/// The logic, one copy for all geometries.
fn logic(m: usize, row_bits: usize) -> Verilog {
    let row_bit = |j| {
        let sources = (0..m).chain([m + j]);
        let select = |choice| bit("cfg_row_sel", j * (m + 1) + choice);
        and_or(
            sources
                .enumerate()
                .map(|(c, a)| (select(c), bit("addr", a))),
        )
    };
    combinational(
        (0..row_bits)
            .map(|j| assign_bit("row", j, row_bit(j)))
            .collect(),
    )
}

/// Emits `spad_row_map`.
fn unit(g: Geometry) -> Result<Module> {
    let unit = Unit::new(UnitDoc {
        name: "spad_row_map".into(),
        summary: "row index inside the bank: the address bits that are not pivots of the bank \
                  function. Row bit j is address bit m+j unless that bit is a pivot; the \
                  displaced row bits take low address bits."
            .into(),
        parameters: g.parameters(),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "beyond the papers: makes the bank functions of the hash paper bijective".into(),
        latency_cycles: 0,
    })
    .port("addr", "word address")
    .port(
        "cfg_row_sel",
        "one-hot select of row bit j in bits [j*(m+1) +: m+1]: bit i < m takes addr[i], \
         bit m takes addr[m+j]",
    )
    .port("row", "row index");
    for_geometry!(g, {
        const R: usize = N - M;
        unit.emit::<RowMapLogic<N, M, R, { R * (M + 1) }>>()
    })
}

/// Decoder of one row bit of `spad_row_map`; `S = M + 1`.
#[derive(LogicBlock, Default)]
struct DecodeRowBit<const M: usize, const I: usize, const S: usize> {
    source: Signal<In, Bits<I>>,
    sel: Signal<Out, Bits<S>>,
}

impl<const M: usize, const I: usize, const S: usize> Logic for DecodeRowBit<M, I, S> {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.sel.connect();
    }

    fn hdl(&self) -> Verilog {
        decoder_logic(M, I)
    }
}

/// The logic, one copy for all geometries.
fn decoder_logic(m: usize, index_bits: usize) -> Verilog {
    // Source 0 keeps addr[m+j], which is the last line; i+1 takes addr[i].
    let sel = (1..=m)
        .chain([0])
        .map(|value| equals("source", index_bits, value));
    combinational(assign_lines("sel", sel).collect())
}

/// Emits `spad_hash_decode_row_bit`.
fn decoder(g: Geometry) -> Result<Module> {
    let unit = decoder_unit(
        g,
        "row_bit",
        "the source of one row bit as select lines of spad_row_map.",
    )
    .port("source", "0 keeps addr[m+j], i+1 takes addr[i]")
    .port("sel", "see spad_row_map");
    for_geometry!(g, {
        const I: usize = index_width(M + 1);
        unit.emit::<DecodeRowBit<M, I, { M + 1 }>>()
    })
}

/// `spad_row_map` behind its registers.
pub(crate) struct RowMap;

impl Configurable for RowMap {
    fn emit(&self, g: Geometry) -> Result<Module> {
        unit(g)
    }

    fn registers(&self, g: Geometry) -> Vec<Register> {
        Register::each(g.row_bits(), index_width(g.bank_bits + 1), |_| 0)
    }

    fn write_doc(&self, _: Geometry) -> String {
        "index j: source of row bit j, 0 keeps addr[m+j], i+1 takes addr[i]".into()
    }

    fn decoder(&self, g: Geometry) -> Result<Decoder> {
        decoder(g).map(Decoder::Each)
    }
}
