//! The fixed ADD hash: `bank = (addr[m-1:0] + addr[2m-1:m]) mod 2^m`.

use crate::address_widths::AddressWidths;
use crate::configured::unused_above;
use crate::module::{Module, Result, UnitDoc};
use crate::signal::Bits;
use crate::unit::UnitBuilder;
use spadkit_names::HASH_ADD;

/// Emits `spad_hash_add`.
pub fn emit_unit(g: AddressWidths) -> Result<Module> {
    let (n, m) = (g.addr_bits, g.bank_bits);
    let u = UnitBuilder::new(UnitDoc {
        name: HASH_ADD.into(),
        summary: "fixed ADD hash, for banks and for locks: the m low address bits plus the \
                  next m, modulo 2^m; address bits from n upward read as zero."
            .into(),
        parameters: g.parameters(),
        timing: "combinational".into(),
        paper: "atomics paper, section 4".into(),
        latency_cycles: 0,
    });
    let addr = u.input("addr", n, "word address");
    let bank = u.output("bank", m, "bank index");
    unused_above(&u, g, addr, 2 * m);
    let low = u.name("low", addr.part(0, m));
    let high = u.name("high", addr.part(m, m.min(n - m)).extended(m));
    u.assign(bank, low + high);
    u.emit()
}
