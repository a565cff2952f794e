//! One bank with a read port and a write port: the module that a two-port SRAM macro replaces.

use crate::item::Memory;
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::size::Size;
use crate::unit::UnitBuilder;

/// Emits `spad_two_port_ram`.
pub(crate) fn emit_helper(p: &Params) -> Result<Module> {
    let u = UnitBuilder::new(UnitDoc {
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
    let about = "row, must be below ROWS (not checked here)";
    ports_and_array(&u, (p.ROWS, s.RW), (p.D, s.D), about, |mem| {
        u.section(
            "Like a macro, the array powers up with unknown words. Only the recorded test benches \
             and spadkit cosim start from zeros.",
        );
        u.starts_as_zeros(mem);
    });
    u.emit()
}

/// The ports and the array of a memory with a port to read and one to write, which
/// has as many rows and bits as stated, each with its size: `about` says what a row
/// is, `start` what the array starts with.
pub(crate) fn ports_and_array(
    u: &UnitBuilder,
    (rows, row_bits): (usize, Size),
    (bits, width): (usize, Size),
    about: &str,
    start: impl FnOnce(Memory),
) {
    u.input("clk", 1, "clock");
    let rd_en = u.input("rd_en", 1, "read in this cycle");
    let rd_row = u.input("rd_row", row_bits, about);
    let rd_data = u.output("rd_data", width, "word of the last read");
    let wr_en = u.input("wr_en", 1, "write in this cycle");
    let wr_row = u.input("wr_row", row_bits, about);
    let wr_data = u.input("wr_data", width, "word to write");

    let mem = u.memory_of_two_ports("mem", rows, bits);
    let out = u.register("out", width);
    let out = out.without_reset("it is not relied on before the first read");
    start(mem);
    u.paragraph();
    u.at_clock().when(wr_en).next(mem.word(wr_row), wr_data);
    u.paragraph();
    u.at_clock().when(rd_en).next(out, mem.word(rd_row));
    u.paragraph();
    u.assign(rd_data, out);
}
