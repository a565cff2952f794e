//! Performance counters beside the path: degrees, stalls, retries.

use crate::codes::counter;
use crate::module::{Module, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::spad_pick;
use serde::Serialize;

#[derive(Serialize)]
struct Extra {
    /// Counters.
    count: usize,
    /// Values of the index.
    places: usize,
}

/// Emits `spad_counters`.
pub(crate) fn emit_unit(p: &Params) -> Result<Vec<Module>> {
    let places = 1 << counter::FIELD.width;
    let pick = spad_pick::emit_helper()?;
    let extra = Extra {
        count: counter::FIELD.codes.len(),
        places,
    };
    let doc = UnitDoc {
        name: "spad_counters".into(),
        summary: "performance counters beside spad_sm_path: passes, conflict degrees, stalls, \
                  rounds of atomics. An option: the path does not need them."
            .into(),
        parameters: p.text(&["DG"]),
        timing: "an event is counted two cycles later; a counter is shown in the cycle behind \
                 its index"
            .into(),
        paper: "microarchitecture/counters.md".into(),
        latency_cycles: 1,
    };
    let module = Shell::new(doc)
        .clocked()
        .input("clear", 1, "all counters start again from 0")
        .input("iss_valid", 1, "of the path: a pass enters EXE")
        .input("stall", 2, "of the path: why EXE is held")
        .input("masked", 1, "of the path: the mask holds a ready warp back")
        .input("seq_state", 3, "of the path: state of the retry sequencer")
        .input("wb_valid", 1, "of the path: a result is written back")
        .input("wb_ready", 1, "the register file takes it")
        .input("wb_src", 2, "of the path: where the result comes from")
        .input("wb_kind", 4, "of the path: kind of the instruction")
        .input("wb_degree", p.DG, "of the path: its conflict degree")
        .input("wr_en", 1, "sets a counter")
        .input("wr_index", counter::FIELD.width, "which one")
        .input("wr_data", 32, "to what")
        .input("rd_index", counter::FIELD.width, "which counter is shown")
        .output("rd_count", 32, "the counter; 0 if there is none")
        .instantiates(&pick)
        .emit_with("spad_counters.v.tera", p, &extra)?;
    Ok(vec![pick, module])
}
