//! The FuseSoC core: CAPI2 with the flow API.

use super::design::{Design, SourceFile};
use spadkit_hdl::RAM_ZEROS;
use std::fmt::Write as _;

/// `spadkit.core`: targets `default` (the Verilog), `lint` (Verilator on the
/// last unit, which is the SM path if the design has it), `sim` (all test
/// benches in Icarus), and both for each unit.
pub(super) fn core(design: &Design) -> String {
    let main = design.units.last().map_or("", |unit| &unit.top);
    let mut core = format!(
        "CAPI=2:\n\
         # SPDX-License-Identifier: MIT OR Apache-2.0\n\
         name: spadkit:scratchpad:{}{}:{}\n\
         description: Scratchpad path of a GPU streaming multiprocessor ({})\n\
         filesets:\n{}",
        design.style.prefix,
        design.machine.name,
        env!("CARGO_PKG_VERSION"),
        design.geometry,
        fileset("rtl", &design.files),
    );
    let has_benches = !design.benches.is_empty();
    if has_benches {
        core += &fileset("tb", &design.benches);
    }
    let _ = write!(
        core,
        "targets:\n  \
           default: &default\n    filesets: [rtl]\n    toplevel: {main}\n  \
           lint: &lint\n    <<: *default\n    flow: lint\n    flow_options:\n      \
             tool: verilator\n      verilator_options: [-Wall]\n"
    );
    if has_benches {
        let tops: Vec<String> = design.units.iter().map(|u| u.bench_module()).collect();
        let _ = write!(
            core,
            "  sim: &sim\n    filesets: [rtl, tb]\n    flow: sim\n    flow_options:\n      \
             tool: icarus\n      iverilog_options: [-g2005, -D{RAM_ZEROS}]\n    \
             toplevel:\n      - {}\n",
            tops.join("\n      - ")
        );
    }
    for unit in &design.units {
        let top = &unit.top;
        let _ = writeln!(core, "  lint_{top}:\n    <<: *lint\n    toplevel: {top}");
        if has_benches {
            let bench = unit.bench_module();
            let _ = writeln!(core, "  sim_{top}:\n    <<: *sim\n    toplevel: {bench}");
        }
    }
    core
}

fn fileset(name: &str, files: &[SourceFile]) -> String {
    let head = format!("  {name}:\n    file_type: verilogSource\n    files:\n");
    files.iter().fold(head, |mut text, file| {
        let _ = writeln!(text, "      - {}", file.name);
        text
    })
}
