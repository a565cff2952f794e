//! The crossbars: requests from lanes to banks, read data back.

use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::spad_pick;

/// Emits `spad_crossbar` behind its selector.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let (l, m, b) = (p.L, p.m, p.B);
    let pick = spad_pick::emit_helper()?;
    let doc = UnitDoc {
        name: "spad_crossbar".into(),
        summary: "rows and store data from lanes to banks, read data from banks to lanes. All \
                  served lanes of a bank are on one word, and each byte of it is written by one \
                  of them at most."
            .into(),
        parameters: p.text(&["n", "m", "L", "B", "R", "D", "BE"]),
        timing: "combinational".into(),
        paper: "microarchitecture/crossbar.md".into(),
        latency_cycles: 0,
    };
    let module = Shell::new(doc)
        .input("leader", l, "the group's leaders, at most one per bank")
        .input("lane_bank", l * m, "bank of each lane, m bits")
        .input("lane_row", l * p.R, "row, R bits per lane")
        .input("lane_data", l * p.D, "store data, D bits per lane")
        .input(
            "lane_writes",
            l * p.BE,
            "bytes each lane writes, BE bits per lane; a byte of a bank is of one lane at most",
        )
        .output("bank_row", b * p.R, "row of the bank's leader; 0 if unused")
        .output(
            "bank_wdata",
            b * p.D,
            "store data; 0 where nothing is written",
        )
        .output("bank_wbe", b * p.BE, "bytes that are written")
        .input("sel_valid", l, "response: lanes to route to")
        .input("sel_bank", l * m, "response: bank of each, m bits")
        .input("bank_rdata", b * p.D, "read data, D bits per bank")
        .output("lane_rdata", l * p.D, "read data, D bits per lane; else 0")
        .instantiates(&pick)
        .emit("spad_crossbar.v.tera", p)?;
    Ok(vec![pick, module])
}
