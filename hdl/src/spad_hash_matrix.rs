//! Any GF(2) matrix: `bank[i] = parity(addr & row_i)`. Subsumes every linear hash.

use crate::configured::{Configurable, Decoder, Register};
use crate::expr::{assign_bit, bit, combinational, xor_all};
use crate::geometry::{Geometry, for_geometry};
use crate::module::{Module, Result, Unit, UnitDoc};
use rust_hdl::prelude::*;

/// The matrix unit; `C = N * M`.
#[derive(LogicBlock, Default)]
struct HashMatrix<const N: usize, const M: usize, const C: usize> {
    addr: Signal<In, Bits<N>>,
    cfg_rows: Signal<In, Bits<C>>,
    bank: Signal<Out, Bits<M>>,
}

impl<const N: usize, const M: usize, const C: usize> Logic for HashMatrix<N, M, C> {
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
    let row = |i| xor_all((0..n).map(|a| bit("cfg_rows", i * n + a) & bit("addr", a)));
    combinational((0..m).map(|i| assign_bit("bank", i, row(i))).collect())
}

/// Emits `spad_hash_matrix`.
fn unit(g: Geometry) -> Result<Module> {
    let unit = Unit::new(UnitDoc {
        name: "spad_hash_matrix".into(),
        summary: "bank index as a product with any matrix over GF(2): bank bit i is the \
                  parity of the address bits that row mask i selects."
            .into(),
        parameters: g.parameters(),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "hash paper, section 4 (XOR-based functions)".into(),
        latency_cycles: 0,
    })
    .port("addr", "word address")
    .port(
        "cfg_rows",
        "row masks: bits [i*n +: n] are the mask of bank bit i",
    )
    .port("bank", "bank index");
    for_geometry!(g, unit.emit::<HashMatrix<N, M, { N * M }>>())
}

/// `spad_hash_matrix` behind its registers.
pub(crate) struct Matrix;

impl Configurable for Matrix {
    fn emit(&self, g: Geometry) -> Result<Module> {
        unit(g)
    }

    fn registers(&self, g: Geometry) -> Vec<Register> {
        Register::each(g.bank_bits, g.addr_bits, |i| 1 << i)
    }

    fn write_doc(&self, _: Geometry) -> String {
        "index i: row mask of bank bit i".into()
    }

    fn decoder(&self, _: Geometry) -> Result<Decoder> {
        Ok(Decoder::None)
    }
}
