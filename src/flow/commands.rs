//! Commands that repeat the parts of a run, to be pasted into a shell.

use super::options::Options;
use super::software::PTX;
use crate::config::{Config, PRESETS};
use crate::hash::HashKind;
use crate::quote::shell;
use crate::report::{Advice, ChoiceKind, FlowReport, SoftwareLine};
use crate::synth::CellLibrary;

/// The whole run, then the commands of its tables; `report` has its choices.
pub(super) fn repeat(report: &FlowReport, options: &Options, machine: &Config) -> Vec<String> {
    let (input, on) = (
        shell(options.input.name()),
        machine_option(options, machine),
    );
    let library = match &options.library {
        CellLibrary::Liberty(path) => format!("--liberty {}", shell(path)),
        CellLibrary::Technology(name) => format!("--tech {}", shell(name)),
    };
    let best = report.recommended().map_or("mod", |m| m.hash.as_str());
    let best = shell(best);
    let (budget, cycles) = (options.budget.as_secs(), options.cycles);
    let by = judged_by(options);
    let fast = if options.fast { " --fast" } else { "" };
    let baseline = options.baseline.as_ref();
    let baseline = baseline.map_or(String::new(), |old| format!(" --baseline {}", shell(old)));
    let mut commands = vec![format!(
        "spadkit flow {input} {library} --budget {budget} --cycles {cycles}{fast}{by}{baseline} {on}"
    )];
    // The cycles of the choices in hardware, of the first by line.
    let units = report.choices.iter();
    let units = units.filter(|c| !matches!(c.kind, ChoiceKind::Software | ChoiceKind::Padding));
    commands.extend(units.map(|c| format!("spadkit sim {input} --hash {} {on}", shell(&c.hash))));
    commands.push(format!("spadkit sim {input} --hash mod --source {on}"));
    commands.push(format!(
        "spadkit tune {input} --software --budget {budget}{by} {on}"
    ));
    if let Some(software) = report.choice(ChoiceKind::Software)
        && options.input.launch().is_some()
        && !is_refused(report, &software.hash)
    {
        let hash = shell(&software.hash);
        commands.push(format!(
            "spadkit rewrite {input} --hash {hash} -o rewritten.ptx {on}"
        ));
    }
    commands.extend([
        format!("spadkit classify {input} {on}"),
        format!("spadkit conflicts {input} --hash mod {best} --per-pc{by} {on}"),
        format!("spadkit tune {input} --fits --budget {budget} {on}"),
        format!("spadkit encode {best} {on}"),
        format!("spadkit emit -o rtl {on}"),
        format!("spadkit cosim --trace {input} --cycles {cycles} {on}"),
        format!(
            "spadkit synth {} {library} {on}",
            measured_units(report).join(" ")
        ),
    ]);
    commands.iter().map(|c| c.trim_end().to_owned()).collect()
}

/// Whether the mapping is known not to go into the PTX.
fn is_refused(report: &FlowReport, hash: &str) -> bool {
    let mut front = report.software.iter().flat_map(|software| &software.front);
    front.any(|line| line.hash == hash && line.rewritten.is_none())
}

/// The option of a run that counts the accesses of the machine code.
fn judged_by(options: &Options) -> &'static str {
    match options.machine_code {
        Some(_) => " --machine-code",
        None => "",
    }
}

/// The command that puts mappings, ` --hash SPEC ...`, into the PTX of `input`. `input` and
/// `hashes` are quoted for a shell; `on` names the machine.
pub(crate) fn rewrite(input: &str, hashes: &str, file: &str, on: &str) -> String {
    format!("spadkit rewrite {input}{hashes} -o {file} {on}")
}

/// The option that names the machine.
pub(super) fn machine_option(options: &Options, machine: &Config) -> String {
    match &options.machine_option {
        Some(option) => option.clone(),
        // A machine that no preset has cannot be named.
        None if PRESETS.contains(&machine.name.as_str()) => format!("--preset {}", machine.name),
        None => String::new(),
    }
}

/// Advice for a machine without a hash unit, if a mapping gains.
pub(super) fn advice(report: &FlowReport, options: &Options, machine: &Config) -> Vec<Advice> {
    let Some(software) = &report.software else {
        return Vec::new();
    };
    if software.front.first().is_none_or(SoftwareLine::is_plain) {
        return Vec::new();
    }
    let (input, on) = (
        shell(options.input.name()),
        machine_option(options, machine),
    );
    let by = judged_by(options);
    let mut all = vec![(
        "paddings, swizzles and other index arithmetic, ranked",
        format!("spadkit tune {input} --software{by} {on}"),
    )];
    if let Some(best) = software.best.as_ref()
        && options.input.launch().is_some()
    {
        let hash = shell(best);
        all.push((
            "a mapping, this or a ranked one, put into the PTX",
            rewrite(&input, &format!(" --hash {hash}"), PTX, &on),
        ));
    }
    let advice = |(what, command): (&str, String)| Advice {
        what: what.to_owned(),
        command: command.trim_end().to_owned(),
    };
    all.into_iter().map(advice).collect()
}

/// The units that are synthesized: every configurable hash, the better fixed
/// one, and whatever the recommended mapping needs.
pub(super) fn measured_units(report: &FlowReport) -> Vec<String> {
    let mut units: Vec<String> = HashKind::ALL.map(|kind| kind.unit().to_owned()).into();
    // The fixed hash that is compared with.
    let fixed = report
        .mappings
        .iter()
        .filter(|m| m.is_fixed() && m.own_unit().is_some());
    units.extend(fixed.min_by_key(|m| m.conflicts).map(|m| m.unit.clone()));
    if let Some(best) = report.recommended() {
        let needed = [
            best.own_unit(),
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
