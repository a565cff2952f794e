//! One bank: the module that an SRAM macro replaces.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::unit::UnitBuilder;

/// Emits `spad_bank_ram`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let u = UnitBuilder::new(UnitDoc {
        name: "spad_bank_ram".into(),
        summary: "one scratchpad bank: one port, synchronous, byte enables. Replace it by an \
                  SRAM macro; only dout after a read is relied on. A reset never clears the array. \
                  FPGA tools infer block RAM."
            .into(),
        parameters: p.text(&["ROWS", "D", "DB"]),
        timing: "read data in the next cycle, held until the next read".into(),
        paper: "microarchitecture/bank-ram.md".into(),
        latency_cycles: 1,
    });
    let s = u.all_sizes(p);
    let [_, rst] = u.clocked();
    let en = u.input("en", 1, "access in this cycle");
    let we = u.input("we", 1, "1 write, 0 read");
    let be = u.input("be", s.DB, "bytes to write");
    let about = "row, must be below ROWS (not checked here)";
    let row = u.input("row", s.RW, about);
    let wdata = u.input("wdata", s.D, "data to write");
    let dout = u.output("dout", s.D, "data of the last read");

    let mem = u.memory("mem", p.ROWS, p.D);
    let out = u.register("out", s.D).reset(0);
    u.section(
        "Like a macro, the array powers up with unknown words, so that a four-state simulation \
         shows a word that is read before it is written. Only the recorded test benches and \
         spadkit cosim start from zeros.",
    );
    u.starts_as_zeros(mem);
    u.paragraph();
    let writes = en & we & !rst;
    u.at_clock()
        .when(writes)
        .next_bytes(mem.word(row), be, wdata);
    u.paragraph();
    u.at_clock().when(en & !we).next(out, mem.word(row));
    u.paragraph();
    u.assign(dout, out);
    Ok(vec![u.emit()?])
}
