//! A table in memory: one port to read, one to write; an SRAM macro on a chip.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::size::index_bits;
use crate::unit::Unit;

/// Emits the table called `name`.
pub(crate) fn emit_helper(name: &str, p: &Params) -> Result<Module> {
    let (rows, width) = p.memory(name).expect("one of the tables");
    let u = Unit::new(UnitDoc {
        name: name.into(),
        summary: "a table: one port to read, one to write, both synchronous. Replace it by an \
                  SRAM macro (1R1W); FPGA tools make memory of it. Its contents and rd_data are \
                  undefined until they are written and read. What is read of the row that is \
                  written in the same cycle is not relied on."
            .into(),
        parameters: format!("{rows} words of {width} bits"),
        timing: "read data in the next cycle, held until the next read".into(),
        paper: "microarchitecture/conflict-history.md".into(),
        latency_cycles: 1,
    });
    let row_bits = index_bits(rows);
    u.input("clk", 1, "clock");
    let rd_en = u.input("rd_en", 1, "read in this cycle");
    let rd_row = u.input("rd_row", row_bits, "row");
    let rd_data = u.output("rd_data", width, "word of the last read");
    let wr_en = u.input("wr_en", 1, "write in this cycle");
    let wr_row = u.input("wr_row", row_bits, "row");
    let wr_data = u.input("wr_data", width, "word to write");

    let mem = u.memory("mem", rows, width);
    let out = u.register("out", width);
    let out = out.without_reset("it is not relied on before the first read");
    u.paragraph();
    u.at_clock().when(wr_en).next(mem.word(wr_row), wr_data);
    u.paragraph();
    u.at_clock().when(rd_en).next(out, mem.word(rd_row));
    u.paragraph();
    u.assign(rd_data, out);
    u.emit()
}
