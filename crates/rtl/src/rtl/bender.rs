//! `Bender.yml`: the package for PULP's dependency manager.

use super::design::{Design, SourceFile};
use std::fmt::Write as _;

/// The manifest: the Verilog, or for the target `spadkit_sv` the SystemVerilog
/// files that replace or complete it (`all`, in the order of `filelist_sv.f`).
pub(super) fn manifest(design: &Design, all: &[SourceFile]) -> String {
    let name = format!("spadkit_{}{}", design.style.prefix, design.machine.name);
    let mut text = format!(
        "# SPDX-License-Identifier: MIT OR Apache-2.0\n\
         # Scratchpad path of a GPU streaming multiprocessor ({})\n\
         package:\n  name: {}\n  authors: [spadkit]\nsources:\n",
        design.geometry,
        name.replace('.', "_"),
    );
    let mut group = |target: Option<&str>, files: &[SourceFile]| {
        let target = target.map_or(String::new(), |t| format!("target: {t}\n    "));
        let _ = writeln!(text, "  - {target}files:");
        for file in files {
            let _ = writeln!(text, "      - {}", file.name);
        }
    };
    if design.system.is_empty() {
        group(None, &design.files);
    } else {
        group(Some("not(spadkit_sv)"), &design.files);
        group(Some("spadkit_sv"), all);
    }
    text
}
