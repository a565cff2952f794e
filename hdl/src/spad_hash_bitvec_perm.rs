//! Bit-vector permutation: m consecutive address bits from bit k.

use crate::configured::{Configurable, Decoder, Register, assign_lines, decoder_unit, index_width};
use crate::expr::{and_or, assign_bit, bit, combinational, equals, or_all};
use crate::geometry::{Geometry, for_geometry};
use crate::module::{Module, Result, Unit, UnitDoc};
use crate::window::{Coarse, perm_direct, perm_steps};
use rust_hdl::prelude::*;

/// The bit-vector permutation unit: `A` coarse steps, `F = 2 + direct` fine
/// lines, `Y = M + 1` intermediate bits, `C = 2 * A`.
#[derive(LogicBlock, Default)]
struct HashBitvecPerm<
    const N: usize,
    const M: usize,
    const Y: usize,
    const C: usize,
    const F: usize,
> {
    addr: Signal<In, Bits<N>>,
    cfg_coarse: Signal<In, Bits<C>>,
    cfg_fine: Signal<In, Bits<F>>,
    bank: Signal<Out, Bits<M>>,
    window: Signal<Local, Bits<Y>>,
}

impl<const N: usize, const M: usize, const Y: usize, const C: usize, const F: usize> Logic
    for HashBitvecPerm<N, M, Y, C, F>
{
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.bank.connect();
        self.window.connect();
    }

    fn hdl(&self) -> Verilog {
        logic(N, M, Y, C, F)
    }
}

/// The logic, one copy for all geometries.
fn logic(
    n: usize,
    m: usize,
    window_bits: usize,
    coarse_lines: usize,
    fine_lines: usize,
) -> Verilog {
    let coarse = Coarse {
        select: "cfg_coarse",
        stride: 2,
        steps: [coarse_lines / 2; 2],
        addr_bits: n,
    };
    let direct = |i| {
        (2..fine_lines).map(move |f| (bit("cfg_fine", f), bit("addr", coarse_lines + f - 2 + i)))
    };
    let bank = |i| {
        let even = (bit("cfg_fine", 0), bit("window", i));
        let odd = (bit("cfg_fine", 1), bit("window", i + 1));
        and_or([even, odd].into_iter().chain(direct(i)))
    };
    let mut block = Vec::new();
    block.extend((0..window_bits).map(|j| assign_bit("window", j, coarse.output(j))));
    block.extend((0..m).map(|i| assign_bit("bank", i, bank(i))));
    combinational(block)
}

/// Emits `spad_hash_bitvec_perm`.
fn unit(g: Geometry) -> Result<Module> {
    let (n, m) = (g.addr_bits, g.bank_bits);
    let a = perm_steps(n, m);
    let unit = Unit::new(UnitDoc {
        name: "spad_hash_bitvec_perm".into(),
        summary: "bit-vector permutation hash: bank = addr[k+m-1:k], k from 0 to n-m, in a \
                  coarse and a fine step whose selects are decoded once per SM."
            .into(),
        parameters: g.parameters(),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "hash paper, section 4.1".into(),
        latency_cycles: 0,
    })
    .port("addr", "word address")
    .port(
        "cfg_coarse",
        format!(
            "one-hot k >> 1 in {a} bits, twice; all zero for k >= {}",
            2 * a
        ),
    )
    .port(
        "cfg_fine",
        format!(
            "one-hot: bit 0 for even and bit 1 for odd k below {0}, bit 2+t for k = {0}+t",
            2 * a
        ),
    )
    .port("bank", "bank index");
    for_geometry!(g, {
        const C: usize = 2 * perm_steps(N, M);
        const F: usize = 2 + perm_direct(N, M);
        unit.emit::<HashBitvecPerm<N, M, { M + 1 }, C, F>>()
    })
}

/// Decoder of `spad_hash_bitvec_perm`: register `k` of `K` bits.
#[derive(LogicBlock, Default)]
struct DecodeBitvecPerm<
    const N: usize,
    const M: usize,
    const K: usize,
    const C: usize,
    const F: usize,
> {
    k: Signal<In, Bits<K>>,
    cfg_coarse: Signal<Out, Bits<C>>,
    cfg_fine: Signal<Out, Bits<F>>,
}

impl<const N: usize, const M: usize, const K: usize, const C: usize, const F: usize> Logic
    for DecodeBitvecPerm<N, M, K, C, F>
{
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.cfg_coarse.connect();
        self.cfg_fine.connect();
    }

    fn hdl(&self) -> Verilog {
        decoder_logic(N, M, K, C)
    }
}

/// The logic, one copy for all geometries.
fn decoder_logic(n: usize, m: usize, k_bits: usize, coarse_lines: usize) -> Verilog {
    let k_is = |value| equals("k", k_bits, value);
    let any_k = |of: &dyn Fn(usize) -> bool| or_all((0..n - m + 1).filter(|&k| of(k)).map(k_is));
    let steps = coarse_lines / 2;
    let coarse =
        (0..coarse_lines).map(|line| any_k(&|k| k < coarse_lines && k / 2 == line % steps));
    let parity = (0..2).map(|p| any_k(&|k| k < coarse_lines && k % 2 == p));
    let direct = (coarse_lines..n - m + 1).map(k_is);
    combinational(
        assign_lines("cfg_coarse", coarse)
            .chain(assign_lines("cfg_fine", parity.chain(direct)))
            .collect(),
    )
}

/// Emits `spad_hash_decode_bitvec_perm`.
fn decoder(g: Geometry) -> Result<Module> {
    let unit = decoder_unit(
        g,
        "bitvec_perm",
        "offset k as select lines of spad_hash_bitvec_perm.",
    )
    .port("k", "first address bit, 0 to n-m")
    .port("cfg_coarse", "see spad_hash_bitvec_perm")
    .port("cfg_fine", "see spad_hash_bitvec_perm");
    for_geometry!(g, {
        const K: usize = index_width(N - M + 1);
        const C: usize = 2 * perm_steps(N, M);
        const F: usize = 2 + perm_direct(N, M);
        unit.emit::<DecodeBitvecPerm<N, M, K, C, F>>()
    })
}

/// `spad_hash_bitvec_perm` behind its registers.
pub(crate) struct BitvecPerm;

impl Configurable for BitvecPerm {
    fn emit(&self, g: Geometry) -> Result<Module> {
        unit(g)
    }

    fn registers(&self, g: Geometry) -> Vec<Register> {
        let (n, m) = (g.addr_bits, g.bank_bits);
        vec![Register::new("k", index_width(n - m + 1), 0)]
    }

    fn write_doc(&self, _: Geometry) -> String {
        "k".into()
    }

    fn decoder(&self, g: Geometry) -> Result<Decoder> {
        decoder(g).map(Decoder::Whole)
    }
}
