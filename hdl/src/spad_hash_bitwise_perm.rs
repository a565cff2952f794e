//! Bitwise permutation: each bank bit is any one address bit.

use crate::address_widths::AddressWidths;
use crate::configured::{Configurable, Decoder, Register, assign_lines, decoder_unit, index_width};
use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, and_or};
use crate::unit::UnitBuilder;

/// Emits `spad_hash_bitwise_perm`.
fn unit(g: AddressWidths) -> Result<Module> {
    let (n, m) = (g.addr_bits, g.bank_bits);
    let u = UnitBuilder::new(UnitDoc {
        name: "spad_hash_bitwise_perm".into(),
        summary: "bitwise permutation hash: each bank bit is one address bit, chosen by \
                  one-hot selects that are decoded once per SM."
            .into(),
        parameters: g.parameters(),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "hash paper, section 4.3".into(),
        latency_cycles: 0,
    });
    let addr = u.input("addr", n, "word address");
    let about = "one-hot select of bank bit i in bits [i*n +: n]: bit a takes addr[a]";
    let cfg_sel = u.input("cfg_sel", n * m, about);
    let bank = u.output("bank", m, "bank index");
    let chosen = |i: usize| and_or((0..n).map(|a| (cfg_sel.at(i * n + a), addr.at(a))));
    assign_lines(&u, bank, (0..m).map(chosen));
    u.emit()
}

/// Emits `spad_hash_decode_bit`: one-hot lines of an index, for one bank bit.
fn decoder(g: AddressWidths) -> Result<Module> {
    let n = g.addr_bits;
    let about = "an address bit's index as one-hot select lines.";
    let u = decoder_unit(g, "bit", about);
    let index = u.input("index", index_width(n), "address bit, 0 to n-1");
    let sel = u.output("sel", n, "select lines, bit a for addr[a]");
    assign_lines(&u, sel, (0..n).map(|a| index.is(a)));
    u.emit()
}

/// `spad_hash_bitwise_perm`, fed by its registers.
pub(crate) struct BitwisePerm;

impl Configurable for BitwisePerm {
    fn emit(&self, g: AddressWidths) -> Result<Module> {
        unit(g)
    }

    fn registers(&self, g: AddressWidths) -> Vec<Register> {
        Register::each(g.bank_bits, index_width(g.addr_bits), |i| i)
    }

    fn write_doc(&self, _: AddressWidths) -> String {
        "index i: address bit of bank bit i".into()
    }

    fn decoder(&self, g: AddressWidths) -> Result<Decoder> {
        decoder(g).map(Decoder::Each)
    }
}
