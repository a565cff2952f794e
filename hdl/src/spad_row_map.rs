//! The row index that completes a linear bank function to a bijection.

use crate::expr::{and_or, assign_bit, bit, combinational};
use crate::geometry::{Geometry, for_geometry};
use crate::module::{Module, Result, Unit, UnitDoc};
use rust_hdl::prelude::*;

/// The row map: `R = N - M` row bits, `C = R * (M + 1)`.
#[derive(LogicBlock, Default)]
struct RowMap<const N: usize, const M: usize, const R: usize, const C: usize> {
    addr: Signal<In, Bits<N>>,
    cfg_row_sel: Signal<In, Bits<C>>,
    row: Signal<Out, Bits<R>>,
}

impl<const N: usize, const M: usize, const R: usize, const C: usize> Logic for RowMap<N, M, R, C> {
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
pub fn emit_unit(g: Geometry) -> Result<Module> {
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
        unit.emit::<RowMap<N, M, R, { R * (M + 1) }>>()
    })
}
