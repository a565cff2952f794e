//! Bit-vector XOR: two windows of m address bits, the second one masked.

use crate::address_widths::AddressWidths;
use crate::configured::{Configurable, Decoder, Register, assign_lines, decoder_unit, index_width};
use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, and_or, or_all};
use crate::unit::UnitBuilder;
use crate::window::{Coarse, first_steps, second_steps};

/// Emits `spad_hash_bitvec_xor`.
fn unit(g: AddressWidths) -> Result<Module> {
    let (n, m) = (g.addr_bits, g.bank_bits);
    let (steps1, steps2) = (first_steps(n, m), second_steps(n));
    let u = UnitBuilder::new(UnitDoc {
        name: "spad_hash_bitvec_xor".into(),
        summary: "bit-vector XOR hash: bank = addr[k1+m-1:k1] ^ (addr[k2+m-1:k2] & mask), k1 \
                  from 0 to n-m, k2 from 0 to n-1; address bits from n upward read as zero. The \
                  mask is part of the fine selects, so it costs nothing here."
            .into(),
        parameters: g.parameters(),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "hash paper, section 4.2".into(),
        latency_cycles: 0,
    });
    let addr = u.input("addr", n, "word address");
    let about = format!("one-hot k1 / 3 in {steps1} bits, twice");
    let cfg_coarse1 = u.input("cfg_coarse1", 2 * steps1, &about);
    let cfg_fine1_n = u.input("cfg_fine1_n", 3, "one-cold k1 mod 3 (active low)");
    let [even, odd] = steps2;
    let about = format!("one-hot k2 >> 1 in {even} bits, then its low bits again in {odd}");
    let cfg_coarse2 = u.input("cfg_coarse2", n, &about);
    let about = "bits [2*i +: 2] for bank bit i: one-hot k2 mod 2 where mask[i] is set and k2+i < \
                 n, else 0";
    let cfg_fine2 = u.input("cfg_fine2", 2 * m, about);
    let bank = u.output("bank", m, "bank index");
    let window1 = u.wire("window1", m + 2);
    let window2 = u.wire("window2", m + 1);
    let coarse1 = Coarse {
        select: cfg_coarse1,
        stride: 3,
        steps: [steps1; 2],
        addr,
    };
    let coarse2 = Coarse {
        select: cfg_coarse2,
        stride: 2,
        steps: steps2,
        addr,
    };
    let reason = "the last odd step can be beyond the address";
    u.unused(3 * (steps1 - 1) + 1 >= n, cfg_coarse1, reason);
    assign_lines(&u, window1, (0..m + 2).map(|j| coarse1.output(j)));
    assign_lines(&u, window2, (0..m + 1).map(|j| coarse2.output(j)));
    let first = |i: usize| and_or((0..3).map(|f| (!cfg_fine1_n.at(f), window1.at(i + f))));
    let second = |i: usize| and_or((0..2).map(|f| (cfg_fine2.at(2 * i + f), window2.at(i + f))));
    assign_lines(&u, bank, (0..m).map(|i| first(i) ^ second(i)));
    u.emit()
}

/// Emits `spad_hash_decode_bitvec_xor`.
fn decoder(g: AddressWidths) -> Result<Module> {
    let (n, m) = (g.addr_bits, g.bank_bits);
    let (steps1, offsets) = (first_steps(n, m), n - m + 1);
    let about = "k1, k2 and mask as select lines of spad_hash_bitvec_xor.";
    let u = decoder_unit(g, "bitvec_xor", about);
    let about = "first address bit of the first window, 0 to n-m";
    let k1 = u.input("k1", index_width(offsets), about);
    let about = "first address bit of the second window, 0 to n-1";
    let k2 = u.input("k2", index_width(n), about);
    let mask = u.input("mask", m, "which bank bits the second window enters");
    let about = "see spad_hash_bitvec_xor";
    let cfg_coarse1 = u.output("cfg_coarse1", 2 * steps1, about);
    let cfg_fine1_n = u.output("cfg_fine1_n", 3, about);
    let cfg_coarse2 = u.output("cfg_coarse2", n, about);
    let cfg_fine2 = u.output("cfg_fine2", 2 * m, about);
    let where_k1 = |of: &dyn Fn(usize) -> bool| {
        let values = (0..offsets).filter(|&k| of(k));
        or_all(values.map(|k| k1.is(k)))
    };
    let where_k2 = |of: &dyn Fn(usize) -> bool| {
        let values = (0..n).filter(|&k| of(k));
        or_all(values.map(|k| k2.is(k)))
    };
    let coarse1 = (0..2 * steps1).map(|line| where_k1(&|k| k / 3 == line % steps1));
    assign_lines(&u, cfg_coarse1, coarse1);
    let fine1 = (0..3).map(|f| !where_k1(&|k| k % 3 == f));
    assign_lines(&u, cfg_fine1_n, fine1);
    let coarse2 = second_steps(n)
        .into_iter()
        .flat_map(|steps| (0..steps).map(|a| where_k2(&|k| k / 2 == a)));
    assign_lines(&u, cfg_coarse2, coarse2);
    let fine2 = (0..2 * m).map(|line| {
        let (i, f) = (line / 2, line % 2);
        mask.at(i) & where_k2(&|k| k % 2 == f && k + i < n)
    });
    assign_lines(&u, cfg_fine2, fine2);
    u.emit()
}

/// `spad_hash_bitvec_xor`, fed by its registers.
pub(crate) struct BitvecXor;

impl Configurable for BitvecXor {
    fn emit(&self, g: AddressWidths) -> Result<Module> {
        unit(g)
    }

    fn registers(&self, g: AddressWidths) -> Vec<Register> {
        let (n, m) = (g.addr_bits, g.bank_bits);
        vec![
            Register::new("k1", index_width(n - m + 1), 0),
            Register::new("k2", index_width(n), 0),
            Register::new("mask", m, 0),
        ]
    }

    fn write_doc(&self, _: AddressWidths) -> String {
        "index 0: k1, 1: k2, 2: mask".into()
    }

    fn decoder(&self, g: AddressWidths) -> Result<Decoder> {
        decoder(g).map(Decoder::Whole)
    }
}
