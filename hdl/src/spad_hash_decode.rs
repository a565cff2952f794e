//! Decoders from compact configuration registers to the select lines of the
//! hash units. They stand in `spad_hash_config`, once per SM, so that none of
//! this is in the path of an access.

use crate::expr::{Expr, assign_bit, bit, combinational, equals, or_all, zero};
use crate::geometry::{Geometry, for_geometry};
use crate::module::{Module, Result, Unit, UnitDoc};
use crate::spad_hash_bitwise_xor::{groups_of, lines, members};
use crate::window::{first_steps, perm_direct, perm_steps, second_steps};
use rust_hdl::core::ast::VerilogStatement;
use rust_hdl::prelude::*;

/// Bits that count from 0 to `values - 1`.
pub(crate) const fn index_width(values: usize) -> usize {
    values.next_power_of_two().trailing_zeros() as usize
}

/// `name[i] = value(i)` for every line of a select port.
fn assign_lines(
    name: &str,
    values: impl IntoIterator<Item = Expr>,
) -> impl Iterator<Item = VerilogStatement> {
    values
        .into_iter()
        .enumerate()
        .map(move |(i, value)| assign_bit(name, i, value))
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
        bitvec_perm_logic(N, M, K, C)
    }
}

/// The logic, one copy for all geometries.
fn bitvec_perm_logic(n: usize, m: usize, k_bits: usize, coarse_lines: usize) -> Verilog {
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
        bitvec_xor_logic(N, M, K1, K2, A, F)
    }
}

/// The logic, one copy for all geometries.
fn bitvec_xor_logic(
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
        bit_logic(N, I)
    }
}

/// The logic, one copy for all geometries.
fn bit_logic(n: usize, index_bits: usize) -> Verilog {
    let sel = (0..n).map(|a| equals("index", index_bits, a));
    combinational(assign_lines("sel", sel).collect())
}

/// Decoder of one bank bit of `spad_hash_bitwise_xor`; `S = lines(N)`.
#[derive(LogicBlock, Default)]
struct DecodePair<const N: usize, const I: usize, const S: usize> {
    first: Signal<In, Bits<I>>,
    second: Signal<In, Bits<I>>,
    sel: Signal<Out, Bits<S>>,
    is_first: Signal<Local, Bits<N>>,
    is_second: Signal<Local, Bits<N>>,
}

impl<const N: usize, const I: usize, const S: usize> Logic for DecodePair<N, I, S> {
    fn update(&mut self) {}

    fn connect(&mut self) {
        self.sel.connect();
        self.is_first.connect();
        self.is_second.connect();
    }

    fn hdl(&self) -> Verilog {
        pair_logic(N, I)
    }
}

/// The logic, one copy for all geometries.
fn pair_logic(n: usize, index_bits: usize) -> Verilog {
    // `first` takes the first group of its bit; `second` does too, unless
    // `first` is there already: then it takes its other group.
    let taken = |g| {
        let home = (0..n).filter(move |&a| groups_of(a)[0] == g);
        or_all(home.map(|a| bit("is_first", a)))
    };
    let line = |(g, a): (usize, usize)| {
        let (first, second) = (bit("is_first", a), bit("is_second", a));
        match groups_of(a)[..] {
            [_] => first | second,
            [home, _] if home == g => first | (second & !taken(g)),
            [home, ..] => second & taken(home),
            [] => zero(),
        }
    };
    let sel = members(n)
        .into_iter()
        .enumerate()
        .flat_map(|(g, bits)| bits.into_iter().map(move |a| (g, a)));
    let is_first = (0..n).map(|a| equals("first", index_bits, a));
    // 0 as the second bit means that there is none.
    let is_second = (0..n).map(|a| match a {
        0 => zero(),
        _ => equals("second", index_bits, a),
    });
    combinational(
        assign_lines("is_first", is_first)
            .chain(assign_lines("is_second", is_second))
            .chain(assign_lines("sel", sel.map(line)))
            .collect(),
    )
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
        row_bit_logic(M, I)
    }
}

/// The logic, one copy for all geometries.
fn row_bit_logic(m: usize, index_bits: usize) -> Verilog {
    // Source 0 keeps addr[m+j], which is the last line; i+1 takes addr[i].
    let sel = (1..=m)
        .chain([0])
        .map(|value| equals("source", index_bits, value));
    combinational(assign_lines("sel", sel).collect())
}

fn unit(g: Geometry, what: &str, summary: &str) -> Unit {
    Unit::new(UnitDoc {
        name: format!("spad_hash_decode_{what}"),
        summary: summary.into(),
        parameters: g.parameters(),
        timing: "combinational, behind the registers of spad_hash_config".into(),
        paper: "hash paper, section 4".into(),
        latency_cycles: 0,
    })
}

/// Emits `spad_hash_decode_bitvec_perm`.
pub(crate) fn bitvec_perm(g: Geometry) -> Result<Module> {
    let unit = unit(
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

/// Emits `spad_hash_decode_bitvec_xor`.
pub(crate) fn bitvec_xor(g: Geometry) -> Result<Module> {
    let unit = unit(
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

/// Emits `spad_hash_decode_bit`.
pub(crate) fn bitwise_perm(g: Geometry) -> Result<Module> {
    let unit = unit(g, "bit", "an address bit's index as one-hot select lines.")
        .port("index", "address bit, 0 to n-1")
        .port("sel", "select lines, bit a for addr[a]");
    for_geometry!(g, {
        const I: usize = index_width(N);
        unit.emit::<DecodeBit<N, I>>()
    })
}

/// Emits `spad_hash_decode_pair`.
pub(crate) fn bitwise_xor(g: Geometry) -> Result<Module> {
    let unit = unit(
        g,
        "pair",
        "one or two address bits as select lines of one bank bit of spad_hash_bitwise_xor.",
    )
    .port("first", "address bit, 0 to n-1")
    .port("second", "address bit above first, or 0 for none")
    .port("sel", "see spad_hash_bitwise_xor");
    for_geometry!(g, {
        const I: usize = index_width(N);
        unit.emit::<DecodePair<N, I, { lines(N) }>>()
    })
}

/// Emits `spad_hash_decode_row_bit`.
pub(crate) fn row_map(g: Geometry) -> Result<Module> {
    let unit = unit(
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
