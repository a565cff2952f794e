//! Any GF(2) matrix: `bank[i] = parity(addr & row_i)`. Subsumes every linear hash.

use crate::address_widths::AddressWidths;
use crate::configured::{Configurable, Decoder, Register, assign_lines};
use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, xor_all};
use crate::unit::UnitBuilder;

/// Emits `spad_hash_matrix`.
fn unit(g: AddressWidths) -> Result<Module> {
    let (n, m) = (g.addr_bits, g.bank_bits);
    let u = UnitBuilder::new(UnitDoc {
        name: "spad_hash_matrix".into(),
        summary: "bank index as a product with any matrix over GF(2): bank bit i is the \
                  parity of the address bits that row mask i selects."
            .into(),
        parameters: g.parameters(),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "hash paper, section 4 (XOR-based functions)".into(),
        latency_cycles: 0,
    });
    let addr = u.input("addr", n, "word address");
    let about = "row masks: bits [i*n +: n] are the mask of bank bit i";
    let cfg_rows = u.input("cfg_rows", n * m, about);
    let bank = u.output("bank", m, "bank index");
    let row = |i: usize| xor_all((0..n).map(|a| cfg_rows.at(i * n + a) & addr.at(a)));
    assign_lines(&u, bank, (0..m).map(row));
    u.emit()
}

/// `spad_hash_matrix`, fed by its registers.
pub(crate) struct Matrix;

impl Configurable for Matrix {
    fn emit(&self, g: AddressWidths) -> Result<Module> {
        unit(g)
    }

    fn registers(&self, g: AddressWidths) -> Vec<Register> {
        Register::each(g.bank_bits, g.addr_bits, |i| 1 << i)
    }

    fn write_doc(&self, _: AddressWidths) -> String {
        "index i: row mask of bank bit i".into()
    }

    fn decoder(&self, _: AddressWidths) -> Result<Decoder> {
        Ok(Decoder::None)
    }
}
