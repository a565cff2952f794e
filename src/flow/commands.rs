//! Commands that repeat the parts of a run, to be pasted into a shell.

use super::options::{Library, Options};
use crate::config::{Config, PRESETS};
use crate::hash::HashKind;
use crate::quote::shell;
use crate::report::FlowReport;

/// The commands, in the order of the stages.
pub(super) fn repeat(report: &FlowReport, options: &Options, machine: &Config) -> Vec<String> {
    let input = shell(&options.input);
    let on = match &options.machine_option {
        Some(option) => option.clone(),
        // A machine that no preset has cannot be named.
        None if PRESETS.contains(&machine.name.as_str()) => format!("--preset {}", machine.name),
        None => String::new(),
    };
    let library = match &options.library {
        Library::Liberty(path) => format!("--liberty {}", shell(path)),
        Library::Technology(name) => format!("--tech {}", shell(name)),
    };
    let best = report.recommended().map_or("mod", |m| m.hash.as_str());
    let best = shell(best);
    let mut commands = vec![
        format!("spadkit classify {input} {on}"),
        format!("spadkit conflicts {input} --hash mod {best} --per-pc {on}"),
        format!("spadkit tune {input} --fits {on}"),
        format!("spadkit encode {best} {on}"),
    ];
    if machine.lacks_rtl().is_none() {
        let units = measured_units(report).join(" ");
        commands.extend([
            format!("spadkit emit -o rtl {on}"),
            format!(
                "spadkit cosim --trace {input} --cycles {} {on}",
                options.cycles
            ),
            format!("spadkit synth {units} {library} {on}"),
        ]);
    }
    commands.iter().map(|c| c.trim_end().to_owned()).collect()
}

/// The units that are synthesized: every configurable hash, and whatever the
/// recommended mapping needs.
pub(super) fn measured_units(report: &FlowReport) -> Vec<String> {
    let mut units: Vec<String> = HashKind::ALL.map(|kind| kind.unit().to_owned()).into();
    if let Some(best) = report.recommended() {
        let needed = [
            (best.unit != "none").then_some(&best.unit),
            best.needs_row_map().then_some(&best.row_map.unit),
        ];
        for unit in needed.into_iter().flatten() {
            if !units.contains(unit) {
                units.push(unit.clone());
            }
        }
    }
    units
}
