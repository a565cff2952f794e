//! Bitwise permutation: each bank bit is any one address bit.

use crate::configured::{Configurable, Decoder, Register, assign_lines, decoder_unit, index_width};
use crate::expr::{and_or, assign_bit, bit, combinational, equals};
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
fn unit(g: Geometry) -> Result<Module> {
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

/// One-hot decoder of an index; `spad_hash_bitwise_perm` has one per bank bit.
#[derive(LogicBlock, Default)]
struct DecodeBit<const N: usize, const I: usize> {
    index: Signal<In, Bits<I>>,
    sel: Signal<Out, Bits<N>>,
}

impl<const N: usize, const I: usize> Logic for DecodeBit<N, I> {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.sel.connect();
    }

    fn hdl(&self) -> Verilog {
        decoder_logic(N, I)
    }
}

/// The logic, one copy for all geometries.
fn decoder_logic(n: usize, index_bits: usize) -> Verilog {
    let sel = (0..n).map(|a| equals("index", index_bits, a));
    combinational(assign_lines("sel", sel).collect())
}

/// Emits `spad_hash_decode_bit`.
fn decoder(g: Geometry) -> Result<Module> {
    let unit = decoder_unit(g, "bit", "an address bit's index as one-hot select lines.")
        .port("index", "address bit, 0 to n-1")
        .port("sel", "select lines, bit a for addr[a]");
    for_geometry!(g, {
        const I: usize = index_width(N);
        unit.emit::<DecodeBit<N, I>>()
    })
}

/// `spad_hash_bitwise_perm` behind its registers.
pub(crate) struct BitwisePerm;

impl Configurable for BitwisePerm {
    fn emit(&self, g: Geometry) -> Result<Module> {
        unit(g)
    }

    fn registers(&self, g: Geometry) -> Vec<Register> {
        Register::each(g.bank_bits, index_width(g.addr_bits), |i| i)
    }

    fn write_doc(&self, _: Geometry) -> String {
        "index i: address bit of bank bit i".into()
    }

    fn decoder(&self, g: Geometry) -> Result<Decoder> {
        decoder(g).map(Decoder::Each)
    }
}
