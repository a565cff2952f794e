//! A table in memory: one port to read, one to write; an SRAM macro on a chip.

use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, index_bits};
use crate::shell::Shell;
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    rows: usize,
    width: usize,
}

/// Emits the memory of `rows` words (2 or more) of `width` bits.
pub(crate) fn emit_helper(p: &Params, rows: usize, width: usize) -> Result<Module> {
    let doc = UnitDoc {
        name: format!("spad_table_ram_{rows}x{width}"),
        summary: "a table: one port to read, one to write, both synchronous. Replace it by an \
                  SRAM macro (1R1W); FPGA tools make memory of it. Its contents and rd_data are \
                  undefined until they are written and read. What is read of the row that is \
                  written in the same cycle is not relied on."
            .into(),
        parameters: format!("{rows} words of {width} bits"),
        timing: "read data in the next cycle, held until the next read".into(),
        paper: "microarchitecture/conflict-history.md".into(),
        latency_cycles: 1,
    };
    let row_bits = index_bits(rows);
    Shell::new(doc)
        .input("clk", 1, "clock")
        .input("rd_en", 1, "read in this cycle")
        .input("rd_row", row_bits, "row")
        .output("rd_data", width, "word of the last read")
        .input("wr_en", 1, "write in this cycle")
        .input("wr_row", row_bits, "row")
        .input("wr_data", width, "word to write")
        .emit_with("spad_table_ram.v.tera", p, &Extra { rows, width })
}
