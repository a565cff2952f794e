//! Bit-vector XOR: two windows of m address bits, the second one masked.

use crate::configured::{Configurable, Decoder, Register, assign_lines, decoder_unit, index_width};
use crate::expr::{and_or, assign_bit, bit, combinational, equals, or_all};
use crate::geometry::{Geometry, for_geometry};
use crate::module::{Module, Result, Unit, UnitDoc};
use crate::window::{Coarse, first_steps, second_steps};
use rust_hdl::prelude::*;

/// The bit-vector XOR unit: `A` is twice the coarse steps of the first window,
/// `Y = M + 2` and `Z = M + 1` their intermediate bits, `F = 2 * M`.
#[derive(LogicBlock, Default)]
struct HashBitvecXor<
    const N: usize,
    const M: usize,
    const A: usize,
    const Y: usize,
    const Z: usize,
    const F: usize,
> {
    addr: Signal<In, Bits<N>>,
    cfg_coarse1: Signal<In, Bits<A>>,
    cfg_fine1_n: Signal<In, Bits<3>>,
    cfg_coarse2: Signal<In, Bits<N>>,
    cfg_fine2: Signal<In, Bits<F>>,
    bank: Signal<Out, Bits<M>>,
    window1: Signal<Local, Bits<Y>>,
    window2: Signal<Local, Bits<Z>>,
}

impl<const N: usize, const M: usize, const A: usize, const Y: usize, const Z: usize, const F: usize>
    Logic for HashBitvecXor<N, M, A, Y, Z, F>
{
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.bank.connect();
        self.window1.connect();
        self.window2.connect();
    }

    fn hdl(&self) -> Verilog {
        logic(N, M, A, Y, Z)
    }
}

/// The logic, one copy for all geometries.
fn logic(
    n: usize,
    m: usize,
    coarse_lines: usize,
    window1_bits: usize,
    window2_bits: usize,
) -> Verilog {
    let coarse1 = Coarse {
        select: "cfg_coarse1",
        stride: 3,
        steps: [coarse_lines / 2; 2],
        addr_bits: n,
    };
    let coarse2 = Coarse {
        select: "cfg_coarse2",
        stride: 2,
        steps: second_steps(n),
        addr_bits: n,
    };
    let first = |i| and_or((0..3).map(|f| (!bit("cfg_fine1_n", f), bit("window1", i + f))));
    let second = |i| and_or((0..2).map(|f| (bit("cfg_fine2", 2 * i + f), bit("window2", i + f))));
    let mut block = Vec::new();
    block.extend((0..window1_bits).map(|j| assign_bit("window1", j, coarse1.output(j))));
    block.extend((0..window2_bits).map(|j| assign_bit("window2", j, coarse2.output(j))));
    block.extend((0..m).map(|i| assign_bit("bank", i, first(i) ^ second(i))));
    combinational(block)
}

/// Emits `spad_hash_bitvec_xor`.
fn unit(g: Geometry) -> Result<Module> {
    let [even, odd] = second_steps(g.addr_bits);
    let unit = Unit::new(UnitDoc {
        name: "spad_hash_bitvec_xor".into(),
        summary: "bit-vector XOR hash: bank = addr[k1+m-1:k1] ^ (addr[k2+m-1:k2] & mask), k1 \
                  from 0 to n-m, k2 from 0 to n-1; address bits from n upward read as zero. The \
                  mask is part of the fine selects, so it costs nothing here."
            .into(),
        parameters: g.parameters(),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "hash paper, section 4.2".into(),
        latency_cycles: 0,
    })
    .port("addr", "word address")
    .port(
        "cfg_coarse1",
        format!(
            "one-hot k1 / 3 in {} bits, twice",
            first_steps(g.addr_bits, g.bank_bits)
        ),
    )
    .port("cfg_fine1_n", "one-cold k1 mod 3 (active low)")
    .port(
        "cfg_coarse2",
        format!(
            "one-hot k2 >> 1 in {} bits, then its low bits again in {}",
            even, odd
        ),
    )
    .port(
        "cfg_fine2",
        "bits [2*i +: 2] for bank bit i: one-hot k2 mod 2 where mask[i] is set and k2+i < n, \
         else 0",
    )
    .port("bank", "bank index");
    for_geometry!(g, {
        const A: usize = 2 * first_steps(N, M);
        unit.emit::<HashBitvecXor<N, M, A, { M + 2 }, { M + 1 }, { 2 * M }>>()
    })
}

/// Decoder of `spad_hash_bitvec_xor`.
#[derive(LogicBlock, Default)]
struct DecodeBitvecXor<
    const N: usize,
    const M: usize,
    const K1: usize,
    const K2: usize,
    const A: usize,
    const F: usize,
> {
    k1: Signal<In, Bits<K1>>,
    k2: Signal<In, Bits<K2>>,
    mask: Signal<In, Bits<M>>,
    cfg_coarse1: Signal<Out, Bits<A>>,
    cfg_fine1_n: Signal<Out, Bits<3>>,
    cfg_coarse2: Signal<Out, Bits<N>>,
    cfg_fine2: Signal<Out, Bits<F>>,
}

impl<
    const N: usize,
    const M: usize,
    const K1: usize,
    const K2: usize,
    const A: usize,
    const F: usize,
> Logic for DecodeBitvecXor<N, M, K1, K2, A, F>
{
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.cfg_coarse1.connect();
        self.cfg_fine1_n.connect();
        self.cfg_coarse2.connect();
        self.cfg_fine2.connect();
    }

    fn hdl(&self) -> Verilog {
        decoder_logic(N, M, K1, K2, A, F)
    }
}

/// The logic, one copy for all geometries.
fn decoder_logic(
    n: usize,
    m: usize,
    k1_bits: usize,
    k2_bits: usize,
    coarse_lines: usize,
    fine_lines: usize,
) -> Verilog {
    let k1_where = |of: &dyn Fn(usize) -> bool| {
        let values = (0..n - m + 1).filter(|&k| of(k));
        or_all(values.map(|k| equals("k1", k1_bits, k)))
    };
    let k2_where = |of: &dyn Fn(usize) -> bool| {
        let values = (0..n).filter(|&k| of(k));
        or_all(values.map(|k| equals("k2", k2_bits, k)))
    };
    let coarse1 = (0..coarse_lines).map(|line| k1_where(&|k| k / 3 == line % (coarse_lines / 2)));
    let fine1 = (0..3).map(|f| !k1_where(&|k| k % 3 == f));
    let coarse2 = second_steps(n)
        .into_iter()
        .flat_map(|steps| (0..steps).map(|a| k2_where(&|k| k / 2 == a)));
    let fine2 = (0..fine_lines).map(|line| {
        let (i, f) = (line / 2, line % 2);
        bit("mask", i) & k2_where(&|k| k % 2 == f && k + i < n)
    });
    combinational(
        assign_lines("cfg_coarse1", coarse1)
            .chain(assign_lines("cfg_fine1_n", fine1))
            .chain(assign_lines("cfg_coarse2", coarse2))
            .chain(assign_lines("cfg_fine2", fine2))
            .collect(),
    )
}

/// Emits `spad_hash_decode_bitvec_xor`.
fn decoder(g: Geometry) -> Result<Module> {
    let unit = decoder_unit(
        g,
        "bitvec_xor",
        "k1, k2 and mask as select lines of spad_hash_bitvec_xor.",
    )
    .port("k1", "first address bit of the first window, 0 to n-m")
    .port("k2", "first address bit of the second window, 0 to n-1")
    .port("mask", "which bank bits the second window enters")
    .port("cfg_coarse1", "see spad_hash_bitvec_xor")
    .port("cfg_fine1_n", "see spad_hash_bitvec_xor")
    .port("cfg_coarse2", "see spad_hash_bitvec_xor")
    .port("cfg_fine2", "see spad_hash_bitvec_xor");
    for_geometry!(g, {
        const K1: usize = index_width(N - M + 1);
        const K2: usize = index_width(N);
        const A: usize = 2 * first_steps(N, M);
        unit.emit::<DecodeBitvecXor<N, M, K1, K2, A, { 2 * M }>>()
    })
}

/// `spad_hash_bitvec_xor` behind its registers.
pub(crate) struct BitvecXor;

impl Configurable for BitvecXor {
    fn emit(&self, g: Geometry) -> Result<Module> {
        unit(g)
    }

    fn registers(&self, g: Geometry) -> Vec<Register> {
        let (n, m) = (g.addr_bits, g.bank_bits);
        vec![
            Register::new("k1", index_width(n - m + 1), 0),
            Register::new("k2", index_width(n), 0),
            Register::new("mask", m, 0),
        ]
    }

    fn write_doc(&self, _: Geometry) -> String {
        "index 0: k1, 1: k2, 2: mask".into()
    }

    fn decoder(&self, g: Geometry) -> Result<Decoder> {
        decoder(g).map(Decoder::Whole)
    }
}
