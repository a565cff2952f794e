//! The fixed XOR hash: `bank = addr[m-1:0] ^ addr[2m-1:m]`.

use crate::address_widths::AddressWidths;
use crate::configured::unused_above;
use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, xor_all};
use crate::unit::UnitBuilder;
use spadkit_names::HASH_XOR;

/// Emits `spad_hash_xor`.
pub fn emit_unit(g: AddressWidths) -> Result<Module> {
    let (n, m) = (g.addr_bits, g.bank_bits);
    let u = UnitBuilder::new(UnitDoc {
        name: HASH_XOR.into(),
        summary: "fixed XOR hash, for banks and for locks: the m low address bits XOR the \
                  next m; address bits from n upward read as zero."
            .into(),
        parameters: g.parameters(),
        timing: "combinational".into(),
        paper: "atomics paper, section 4; hash paper, section 7.1 (fixed bit-vector XOR)".into(),
        latency_cycles: 0,
    });
    let addr = u.input("addr", n, "word address");
    let bank = u.output("bank", m, "bank index");
    unused_above(&u, g, addr, 2 * m);
    for i in 0..m {
        let terms = [i, m + i].into_iter().filter(|&a| a < n);
        u.assign(bank.at(i), xor_all(terms.map(|a| addr.at(a))));
    }
    u.emit()
}
