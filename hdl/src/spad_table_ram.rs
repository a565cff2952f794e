//! A table in memory: one port to read, one to write; an SRAM macro on a chip.

use crate::module::{Module, Result, UnitDoc};
use crate::params::{Params, TABLE_TAGS};
use crate::size::index_bits;
use crate::spad_two_port_ram::ports_and_array;
use crate::unit::UnitBuilder;

/// What the table holds.
fn content(name: &str) -> &'static str {
    match name {
        TABLE_TAGS => "tags of the conflict history alone, which an update reads",
        _ => "tags of the conflict history with their values, which a look-up reads",
    }
}

/// Emits the table called `name`.
pub(crate) fn emit_helper(name: &str, p: &Params) -> Result<Module> {
    let (rows, width) = p.memory(name).expect("one of the tables");
    let u = UnitBuilder::new(UnitDoc {
        name: name.into(),
        summary: format!(
            "{}: one port to read, one to write, both synchronous. Replace it by an SRAM macro \
             (1R1W); FPGA tools make memory of it. Its contents and rd_data are undefined until \
             they are written and read. What is read of the row that is written in the same \
             cycle is not relied on.",
            content(name)
        ),
        parameters: format!("{rows} words of {width} bits"),
        timing: "read data in the next cycle, held until the next read".into(),
        paper: "microarchitecture/conflict-history.md".into(),
        latency_cycles: 1,
    });
    let row_bits = index_bits(rows).into();
    ports_and_array(&u, (rows, row_bits), (width, width.into()), "row", |_| {});
    u.emit()
}
