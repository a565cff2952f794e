//! Bit-vector permutation: m consecutive address bits from bit k.

use crate::expr::{and_or, assign_bit, bit, combinational};
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
pub fn emit_unit(g: Geometry) -> Result<Module> {
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
