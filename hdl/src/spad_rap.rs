//! Random address permute-shift: `bank = (j + r_i) mod 2^m` with i the row of
//! a 2^m-wide matrix and j the column.

use crate::address_widths::AddressWidths;
use crate::configured::{Configurable, Decoder, Register, unused_above};
use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, or_all};
use crate::unit::UnitBuilder;
use spadkit_names::Configured;

/// Bits that choose the shift: m, or fewer where the address is short.
pub(crate) const fn index_bits(n: usize, m: usize) -> usize {
    if n - m < m { n - m } else { m }
}

/// Emits `spad_rap`.
fn unit(g: AddressWidths) -> Result<Module> {
    let (n, m) = (g.addr_bits, g.bank_bits);
    let bits = index_bits(n, m);
    let u = UnitBuilder::new(UnitDoc {
        name: Configured::Rap.unit().into(),
        summary: "random address permute-shift (RAP) or random address shift (RAS): row i of \
                  a matrix with 2^m columns is rotated by r_i; the row index is addr >> m."
            .into(),
        parameters: g.parameters(),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "RAP paper, section IV".into(),
        latency_cycles: 0,
    });
    let about = "word address: column in bits [m-1:0], row i in the next m bits";
    let addr = u.input("addr", n, about);
    let about = "shifts: r_i in bits [i*m +: m]; a permutation for RAP, any values for RAS";
    let cfg_shift = u.input("cfg_shift", m << bits, about);
    let bank = u.output("bank", m, "bank index");
    unused_above(&u, g, addr, 2 * m);
    let column = u.name("column", addr.part(0, m));
    let row = u.name("row", addr.part(m, bits));
    let shift_of = |i: usize| cfg_shift.part(i * m, m).gated(row.is(i));
    let shift = u.name("shift", or_all((0..1 << bits).map(shift_of)));
    u.assign(bank, column + shift);
    u.emit()
}

/// `spad_rap`, fed by its registers.
pub(crate) struct Rap;

impl Configurable for Rap {
    fn emit(&self, g: AddressWidths) -> Result<Module> {
        unit(g)
    }

    fn registers(&self, g: AddressWidths) -> Vec<Register> {
        let (n, m) = (g.addr_bits, g.bank_bits);
        Register::each(1 << index_bits(n, m), m, |_| 0)
    }

    fn write_doc(&self, _: AddressWidths) -> String {
        "index i: shift r_i".into()
    }

    fn decoder(&self, _: AddressWidths) -> Result<Decoder> {
        Ok(Decoder::None)
    }
}
