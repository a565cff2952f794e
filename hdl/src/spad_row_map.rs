//! The row index that completes a linear bank function to a bijection.

use crate::address_widths::AddressWidths;
use crate::configured::{Configurable, Decoder, Register, assign_lines, decoder_unit, index_width};
use crate::module::{Module, Result, UnitDoc};
use crate::signal::{Bits, and_or};
use crate::unit::UnitBuilder;

/// Emits `spad_row_map`.
fn unit(g: AddressWidths) -> Result<Module> {
    let (n, m, rows) = (g.addr_bits, g.bank_bits, g.row_bits());
    let u = UnitBuilder::new(UnitDoc {
        name: "spad_row_map".into(),
        summary: "row index inside the bank: the address bits that are not pivots of the bank \
                  function. Row bit j is address bit m+j unless that bit is a pivot; the \
                  displaced row bits take low address bits."
            .into(),
        parameters: g.parameters(),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "beyond the papers: makes the bank functions of the hash paper bijective".into(),
        latency_cycles: 0,
    });
    let addr = u.input("addr", n, "word address");
    let about = "one-hot select of row bit j in bits [j*(m+1) +: m+1]: bit i < m takes addr[i], \
                 bit m takes addr[m+j]";
    let cfg_row_sel = u.input("cfg_row_sel", rows * (m + 1), about);
    let row = u.output("row", rows, "row index");
    let row_bit = |j: usize| {
        let sources = (0..m).chain([m + j]).enumerate();
        and_or(sources.map(|(line, a)| (cfg_row_sel.at(j * (m + 1) + line), addr.at(a))))
    };
    assign_lines(&u, row, (0..rows).map(row_bit));
    u.emit()
}

/// Emits `spad_hash_decode_row_bit`, the decoder of one row bit.
fn decoder(g: AddressWidths) -> Result<Module> {
    let m = g.bank_bits;
    let about = "the source of one row bit as select lines of spad_row_map.";
    let u = decoder_unit(g, "row_bit", about);
    let about = "0 keeps addr[m+j], i+1 takes addr[i]";
    let source = u.input("source", index_width(m + 1), about);
    let sel = u.output("sel", m + 1, "see spad_row_map");
    // The last line keeps addr[m+j].
    assign_lines(&u, sel, (1..=m).chain([0]).map(|value| source.is(value)));
    u.emit()
}

/// `spad_row_map`, fed by its registers.
pub(crate) struct RowMap;

impl Configurable for RowMap {
    fn emit(&self, g: AddressWidths) -> Result<Module> {
        unit(g)
    }

    fn registers(&self, g: AddressWidths) -> Vec<Register> {
        Register::each(g.row_bits(), index_width(g.bank_bits + 1), |_| 0)
    }

    fn write_doc(&self, _: AddressWidths) -> String {
        "index j: source of row bit j, 0 keeps addr[m+j], i+1 takes addr[i]".into()
    }

    fn decoder(&self, g: AddressWidths) -> Result<Decoder> {
        decoder(g).map(Decoder::Each)
    }
}
