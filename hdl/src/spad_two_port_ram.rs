//! One bank with a port to read and a port to write: the place where a two-port
//! SRAM macro goes.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::unit::Unit;

/// Emits `spad_two_port_ram`.
pub(crate) fn emit_helper(p: &Params) -> Result<Module> {
    let u = Unit::new(UnitDoc {
        name: "spad_two_port_ram".into(),
        summary: "one bank with a port to read and one to write, both synchronous, whole words. \
                  Replace it by an SRAM macro (1R1W); FPGA tools infer block RAM. What is read \
                  of the row that is written in the same cycle is not relied on."
            .into(),
        parameters: p.text(&["ROWS", "D"]),
        timing: "read data in the next cycle, held until the next read".into(),
        paper: "microarchitecture/atomic-bank.md".into(),
        latency_cycles: 1,
    });
    let s = u.all_sizes(p);
    u.input("clk", 1, "clock");
    let rd_en = u.input("rd_en", 1, "read in this cycle");
    let rd_row = u.input("rd_row", s.RW, "row, must be below ROWS (not checked here)");
    let rd_data = u.output("rd_data", s.D, "word of the last read");
    let wr_en = u.input("wr_en", 1, "write in this cycle");
    let wr_row = u.input("wr_row", s.RW, "row, must be below ROWS (not checked here)");
    let wr_data = u.input("wr_data", s.D, "word to write");

    let mem = u.memory("mem", p.ROWS, p.D);
    let out = u.register("out", s.D);
    let out = out.without_reset("it is not relied on before the first read");
    u.section(
        "Like a macro, the array powers up with unknown words. Only the recorded test benches \
         and spadkit cosim start from zeros.",
    );
    u.starts_as_zeros(mem);
    u.paragraph();
    u.at_clock().when(wr_en).next(mem.word(wr_row), wr_data);
    u.paragraph();
    u.at_clock().when(rd_en).next(out, mem.word(rd_row));
    u.paragraph();
    u.assign(rd_data, out);
    u.emit()
}
