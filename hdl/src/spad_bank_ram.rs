//! One bank: the place where an SRAM macro goes.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;

/// Emits `spad_bank_ram`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let doc = UnitDoc {
        name: "spad_bank_ram".into(),
        summary: "one scratchpad bank: one port, synchronous, byte enables. Replace it by an \
                  SRAM macro; only dout after a read is relied on. The array powers up as zeros \
                  in simulation, which users must not rely on; rst never clears it. FPGA tools \
                  make block RAM of it."
            .into(),
        parameters: p.text(&["ROWS", "D", "BE"]),
        timing: "read data in the next cycle, held until the next read".into(),
        paper: "microarchitecture/bank-ram.md".into(),
        latency_cycles: 1,
    };
    let module = Shell::new(doc)
        .clocked()
        .input("en", 1, "access in this cycle")
        .input("we", 1, "1 write, 0 read")
        .input("be", p.BE, "bytes to write")
        .input(
            "row",
            p.RW,
            "row, below ROWS: nothing here looks whether it is",
        )
        .input("wdata", p.D, "data to write")
        .output("dout", p.D, "data of the last read")
        .emit("spad_bank_ram.v.tera", p)?;
    Ok(vec![module])
}
