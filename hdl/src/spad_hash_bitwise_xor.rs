//! Bitwise XOR: each bank bit is one address bit or the XOR of any two.

use crate::configured::{Configurable, Decoder, Register, assign_lines, decoder_unit, index_width};
use crate::expr::{Expr, and_or, assign_bit, bit, combinational, equals, or_all, zero};
use crate::geometry::{Geometry, for_geometry};
use crate::module::{Module, Result, Unit, UnitDoc};
use rust_hdl::prelude::*;

/// Number of AND-OR groups whose outputs are XORed.
const GROUPS: usize = 4;

/// The two groups of address bits 4, 5, 6, ..., over and over.
const PAIRS: [(usize, usize); 6] = [(0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2)];

/// The groups that address bit `a` is in: bits 0 to 3 are in one group of
/// their own, every further bit is in two. Any two bits can thus be taken from
/// two different groups, with 2n-4 multiplexer inputs instead of the 2n-2 of
/// two multiplexers.
fn groups_of(a: usize) -> Vec<usize> {
    match a {
        0..GROUPS => vec![a],
        _ => {
            let (first, second) = PAIRS[(a - GROUPS) % PAIRS.len()];
            vec![first, second]
        }
    }
}

/// The address bits of each group, ascending; the select lines of a bank bit
/// are those of group 0, then group 1, 2, 3.
fn members(n: usize) -> [Vec<usize>; GROUPS] {
    std::array::from_fn(|g| (0..n).filter(|&a| groups_of(a).contains(&g)).collect())
}

/// Select lines of one bank bit.
const fn lines(n: usize) -> usize {
    2 * n - GROUPS
}

/// The bitwise XOR unit; `C = M * lines(N)`.
#[derive(LogicBlock, Default)]
struct HashBitwiseXor<const N: usize, const M: usize, const C: usize> {
    addr: Signal<In, Bits<N>>,
    cfg_sel: Signal<In, Bits<C>>,
    bank: Signal<Out, Bits<M>>,
}

impl<const N: usize, const M: usize, const C: usize> Logic for HashBitwiseXor<N, M, C> {
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
    let bank = |i: usize| {
        let mut line = i * lines(n);
        let [a, b, c, d] = members(n).map(|bits| -> Expr {
            and_or(bits.into_iter().map(|a| {
                line += 1;
                (bit("cfg_sel", line - 1), bit("addr", a))
            }))
        });
        (a ^ b) ^ (c ^ d)
    };
    combinational((0..m).map(|i| assign_bit("bank", i, bank(i))).collect())
}

/// Emits `spad_hash_bitwise_xor`.
fn unit(g: Geometry) -> Result<Module> {
    let list = |bits: &Vec<usize>| {
        let names: Vec<_> = bits.iter().map(usize::to_string).collect();
        names.join(" ")
    };
    let [g0, g1, g2, g3] = members(g.addr_bits).map(|bits| list(&bits));
    let unit = Unit::new(UnitDoc {
        name: "spad_hash_bitwise_xor".into(),
        summary: "bitwise XOR hash: each bank bit is one address bit or the XOR of any two, \
                  taken from four groups of AND-OR terms such that every pair of address bits \
                  lies in two different groups."
            .into(),
        parameters: g.parameters(),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "hash paper, section 4.4".into(),
        latency_cycles: 0,
    })
    .port("addr", "word address")
    .port(
        "cfg_sel",
        format!(
            "selects of bank bit i in bits [i*{} +: {0}], at most one per group; address bits \
             of the groups, from the low select on: {g0} / {g1} / {g2} / {g3}",
            lines(g.addr_bits)
        ),
    )
    .port("bank", "bank index");
    for_geometry!(g, unit.emit::<HashBitwiseXor<N, M, { M * lines(N) }>>())
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
        decoder_logic(N, I)
    }
}

/// The logic, one copy for all geometries.
fn decoder_logic(n: usize, index_bits: usize) -> Verilog {
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

/// Emits `spad_hash_decode_pair`.
fn decoder(g: Geometry) -> Result<Module> {
    let unit = decoder_unit(
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

/// `spad_hash_bitwise_xor` behind its registers.
pub(crate) struct BitwiseXor;

impl Configurable for BitwiseXor {
    fn emit(&self, g: Geometry) -> Result<Module> {
        unit(g)
    }

    fn registers(&self, g: Geometry) -> Vec<Register> {
        Register::each(g.bank_bits, 2 * index_width(g.addr_bits), |i| i)
    }

    fn write_doc(&self, g: Geometry) -> String {
        let bit = index_width(g.addr_bits);
        format!(
            "index i: address bits of bank bit i, the lower one in [{}:0], the upper one or 0 for \
             none in [{}:{bit}]",
            bit - 1,
            2 * bit - 1
        )
    }

    fn decoder(&self, g: Geometry) -> Result<Decoder> {
        decoder(g).map(Decoder::Each)
    }
}
