//! Bitwise XOR: each bank bit is one address bit or the XOR of any two.

use crate::address_widths::AddressWidths;
use crate::configured::{Configurable, Decoder, Register, assign_lines, decoder_unit, index_width};
use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, Expr, and_or, or_all};
use crate::unit::UnitBuilder;

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

/// Emits `spad_hash_bitwise_xor`.
fn unit(g: AddressWidths) -> Result<Module> {
    let (n, m) = (g.addr_bits, g.bank_bits);
    let list = |bits: Vec<usize>| {
        let names: Vec<_> = bits.iter().map(usize::to_string).collect();
        names.join(" ")
    };
    let [g0, g1, g2, g3] = members(n).map(list);
    let u = UnitBuilder::new(UnitDoc {
        name: "spad_hash_bitwise_xor".into(),
        summary: "bitwise XOR hash: each bank bit is one address bit or the XOR of any two, \
                  taken from four groups of AND-OR terms such that every pair of address bits \
                  lies in two different groups."
            .into(),
        parameters: g.parameters(),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "hash paper, section 4.4".into(),
        latency_cycles: 0,
    });
    let addr = u.input("addr", n, "word address");
    let about = format!(
        "selects of bank bit i in bits [i*{} +: {0}], at most one per group; address bits of the \
         groups, from the low select on: {g0} / {g1} / {g2} / {g3}",
        lines(n)
    );
    let cfg_sel = u.input("cfg_sel", m * lines(n), &about);
    let bank = u.output("bank", m, "bank index");
    for i in 0..m {
        let mut line = i * lines(n);
        let [a, b, c, d] = members(n).map(|bits| {
            and_or(bits.into_iter().map(|a| {
                line += 1;
                (cfg_sel.at(line - 1), addr.at(a))
            }))
        });
        u.assign(bank.at(i), (a ^ b) ^ (c ^ d));
    }
    u.emit()
}

/// Emits `spad_hash_decode_pair`, the decoder of one bank bit.
fn decoder(g: AddressWidths) -> Result<Module> {
    let n = g.addr_bits;
    let about = "one or two address bits as select lines of one bank bit of spad_hash_bitwise_xor.";
    let u = decoder_unit(g, "pair", about);
    let first = u.input("first", index_width(n), "address bit, 0 to n-1");
    let about = "address bit above first, or 0 for none";
    let second = u.input("second", index_width(n), about);
    let sel = u.output("sel", lines(n), "see spad_hash_bitwise_xor");
    let [is_first, is_second] = u.wires(["is_first", "is_second"], n);
    assign_lines(&u, is_first, (0..n).map(|a| first.is(a)));
    // 0 as the second bit means that there is none.
    u.assign(is_second.at(0), 0);
    for a in 1..n {
        u.assign(is_second.at(a), second.is(a));
    }
    // `first` takes the first group of its bit. `second` does too, unless
    // `first` has taken that group: then it takes the other group of its bit.
    let taken = |g| {
        let home = (0..n).filter(move |&a| groups_of(a)[0] == g);
        or_all(home.map(|a| is_first.at(a)))
    };
    let line = |g: usize, a: usize| -> Expr {
        let (first, second) = (is_first.at(a), is_second.at(a));
        match groups_of(a)[..] {
            [home, _] if home == g => first | (second & !taken(g)),
            [home, _] => second & taken(home),
            _ => first | second,
        }
    };
    let members = members(n).into_iter().enumerate();
    let lines = members.flat_map(|(g, bits)| bits.into_iter().map(move |a| (g, a)));
    assign_lines(&u, sel, lines.map(|(g, a)| line(g, a)));
    u.emit()
}

/// `spad_hash_bitwise_xor`, fed by its registers.
pub(crate) struct BitwiseXor;

impl Configurable for BitwiseXor {
    fn emit(&self, g: AddressWidths) -> Result<Module> {
        unit(g)
    }

    fn registers(&self, g: AddressWidths) -> Vec<Register> {
        Register::each(g.bank_bits, 2 * index_width(g.addr_bits), |i| i)
    }

    fn write_doc(&self, g: AddressWidths) -> String {
        let bit = index_width(g.addr_bits);
        format!(
            "index i: address bits of bank bit i, the lower one in [{}:0], the upper one or 0 for \
             none in [{}:{bit}]",
            bit - 1,
            2 * bit - 1
        )
    }

    fn decoder(&self, g: AddressWidths) -> Result<Decoder> {
        decoder(g).map(Decoder::Each)
    }
}
