//! Bit-vector XOR: two windows of m address bits, the second one masked.

use crate::expr::{and_or, assign_bit, bit, combinational};
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
pub fn emit_unit(g: Geometry) -> Result<Module> {
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
