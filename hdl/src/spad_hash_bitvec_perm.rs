//! Bit-vector permutation: m consecutive address bits from bit k.

use crate::address_widths::AddressWidths;
use crate::configured::{Configurable, Decoder, Register, assign_lines, decoder_unit, index_width};
use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, and_or, or_all};
use crate::unit::UnitBuilder;
use crate::window::{Coarse, perm_direct, perm_steps};

/// Emits `spad_hash_bitvec_perm`.
fn unit(g: AddressWidths) -> Result<Module> {
    let (n, m) = (g.addr_bits, g.bank_bits);
    let (steps, direct) = (perm_steps(n, m), perm_direct(n, m));
    let u = UnitBuilder::new(UnitDoc {
        name: "spad_hash_bitvec_perm".into(),
        summary: "bit-vector permutation hash: bank = addr[k+m-1:k], k from 0 to n-m, in a \
                  coarse and a fine step whose selects are decoded once per SM."
            .into(),
        parameters: g.parameters(),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "hash paper, section 4.1".into(),
        latency_cycles: 0,
    });
    let addr = u.input("addr", n, "word address");
    let about = format!(
        "one-hot k >> 1 in {steps} bits, twice; all zero for k >= {}",
        2 * steps
    );
    let cfg_coarse = u.input("cfg_coarse", 2 * steps, &about);
    let about = format!(
        "one-hot: bit 0 for even and bit 1 for odd k below {0}, bit 2+t for k = {0}+t",
        2 * steps
    );
    let cfg_fine = u.input("cfg_fine", 2 + direct, &about);
    let bank = u.output("bank", m, "bank index");
    let window = u.wire("window", m + 1);
    let coarse = Coarse {
        select: cfg_coarse,
        stride: 2,
        steps: [steps; 2],
        addr,
    };
    assign_lines(&u, window, (0..=m).map(|j| coarse.output(j)));
    let chosen = |i: usize| {
        let near = (0..2).map(|f| (cfg_fine.at(f), window.at(i + f)));
        let far = (0..direct).map(|t| (cfg_fine.at(2 + t), addr.at(2 * steps + t + i)));
        and_or(near.chain(far))
    };
    assign_lines(&u, bank, (0..m).map(chosen));
    u.emit()
}

/// Emits `spad_hash_decode_bitvec_perm`.
fn decoder(g: AddressWidths) -> Result<Module> {
    let (n, m) = (g.addr_bits, g.bank_bits);
    let (steps, offsets) = (perm_steps(n, m), n - m + 1);
    let about = "offset k as select lines of spad_hash_bitvec_perm.";
    let u = decoder_unit(g, "bitvec_perm", about);
    let k = u.input("k", index_width(offsets), "first address bit, 0 to n-m");
    let about = "see spad_hash_bitvec_perm";
    let cfg_coarse = u.output("cfg_coarse", 2 * steps, about);
    let cfg_fine = u.output("cfg_fine", 2 + perm_direct(n, m), about);
    let where_k = |of: &dyn Fn(usize) -> bool| {
        let near = (0..offsets.min(2 * steps)).filter(|&value| of(value));
        or_all(near.map(|value| k.is(value)))
    };
    let coarse = (0..2 * steps).map(|line| where_k(&|k| k / 2 == line % steps));
    assign_lines(&u, cfg_coarse, coarse);
    let parity = (0..2).map(|p| where_k(&|k| k % 2 == p));
    let direct = (2 * steps..offsets).map(|value| k.is(value));
    assign_lines(&u, cfg_fine, parity.chain(direct));
    u.emit()
}

/// `spad_hash_bitvec_perm`, fed by its registers.
pub(crate) struct BitvecPerm;

impl Configurable for BitvecPerm {
    fn emit(&self, g: AddressWidths) -> Result<Module> {
        unit(g)
    }

    fn registers(&self, g: AddressWidths) -> Vec<Register> {
        let (n, m) = (g.addr_bits, g.bank_bits);
        vec![Register::new("k", index_width(n - m + 1), 0)]
    }

    fn write_doc(&self, _: AddressWidths) -> String {
        "k".into()
    }

    fn decoder(&self, g: AddressWidths) -> Result<Decoder> {
        decoder(g).map(Decoder::Whole)
    }
}
