//! A mapping as texts to paste: source code, register writes, Verilog.

use crate::config::Config;
use crate::error::Result;
use crate::report::names::capital;
use crate::report::{CodeText, MappingLine, OtherMapping, UnitSetting, in_machine_code};
use crate::rtl::{Design, Dir};
use crate::software::{Language, Layout, LayoutSpec, render};
use crate::suggest::{LineChange, Python, Suggestion};
use crate::trace::{ptx_text, without_folder};
use std::fmt::Write;

/// The title of a change that only makes the rows of arrays longer.
pub(super) const LONGER_ROWS: &str = "longer rows: the declaration alone changes";

/// The forms of a change of the source: the names of languages.
pub const OF_SOURCE: [&str; 4] = ["CUDA", "Numba", "CuTe DSL", "Gluon"];

/// Whether the changes are longer rows in the declarations, and nothing else.
pub(super) fn is_declared(suggestions: &[Suggestion]) -> bool {
    !suggestions.is_empty() && suggestions.iter().all(Suggestion::is_declaration_alone)
}

/// A mapping in software in each language; `command` puts it into the PTX of a
/// launch file.
pub fn in_software(
    spec: &LayoutSpec,
    machine: &Config,
    suggestions: &[Suggestion],
    cost: &str,
    command: Option<&str>,
) -> Result<Vec<CodeText>> {
    let layout = Layout::new(spec, machine.geometry)?;
    let mut all = vec![source(&layout, suggestions, cost)];
    for language in [Language::Cute, Language::Triton] {
        all.extend(of_compiler(&layout, suggestions, language));
    }
    all.push(ptx(&layout, command));
    Ok(all)
}

/// A text that needs no change by hand.
fn complete(form: &'static str, what: &str, cost: &str, text: String) -> CodeText {
    CodeText {
        form,
        what: what.to_owned(),
        cost: cost.to_owned(),
        text,
        mapping: None,
        by_hand: 0,
        note: String::new(),
    }
}

/// The changes of the source, or the function where there are none.
fn source(layout: &Layout, suggestions: &[Suggestion], of_choice: &str) -> CodeText {
    let text = match suggestions {
        [] => render(layout, Language::Cuda).code,
        some => some.iter().map(source_text).collect::<Vec<_>>().join("\n"),
    };
    let longer = !suggestions.is_empty() && suggestions.iter().all(Suggestion::has_longer_rows);
    let (what, cost) = if is_declared(suggestions) {
        (LONGER_ROWS, "no instruction")
    } else if suggestions.iter().any(Suggestion::has_another_layout) {
        (
            "another layout of the array",
            "its compiler makes the instructions",
        )
    } else if longer {
        ("longer rows, and their length for wmma", "no instruction")
    } else {
        (
            "the function, and every line that accesses the array",
            of_choice,
        )
    };
    let python = suggestions.iter().find_map(|s| s.python);
    let form = python.map_or("CUDA", Python::name);
    let mapping = other_mapping(layout, suggestions);
    let cost = match &mapping {
        // The price of the choice is that of another mapping.
        Some(_) if cost == of_choice => "index arithmetic, not measured",
        _ => cost,
    };
    CodeText {
        mapping,
        by_hand: suggestions.iter().map(|s| s.by_hand().count()).sum(),
        note: in_machine_code(suggestions).map_or(String::new(), |code| {
            format!("Of the changed source, {}.", code.text())
        }),
        ..complete(form, what, cost, text)
    }
}

/// The mappings of the changes, where one of them is not `layout`.
fn other_mapping(layout: &Layout, suggestions: &[Suggestion]) -> Option<OtherMapping> {
    if suggestions.iter().all(|s| s.hash == *layout.spec()) {
        return None;
    }
    let hash = |s: &Suggestion| match suggestions.len() {
        1 => s.hash.to_string(),
        _ => format!("{}={}", s.array, s.hash),
    };
    let hashes: Vec<String> = suggestions.iter().map(hash).collect();
    Some(OtherMapping {
        hash: hashes.join(" "),
        conflicts: suggestions.iter().map(|s| s.conflicts).sum(),
        conflicts_before: suggestions.iter().map(|s| s.conflicts_before).sum(),
    })
}

/// The layout of the array for a language whose compiler makes the instructions; `None`
/// where it cannot say it.
fn of_compiler(
    layout: &Layout,
    suggestions: &[Suggestion],
    language: Language,
) -> Option<CodeText> {
    let own = suggestions.iter().filter_map(|s| {
        let template = s.template(language)?;
        let (hash, left) = (&template.hash, template.conflicts);
        let left = format!("{}: {hash} leaves {left} conflicts", s.array);
        Some(format!("// {left}\n{}\n", template.code))
    });
    let own: String = own.collect();
    let code = render(layout, language);
    let (what, text) = match (own.is_empty(), &code.reason) {
        (false, _) => ("the layout of the array".to_owned(), own.clone()),
        (true, Some(reason)) => (format!("not the same: {reason}"), code.code),
        (true, None) => ("the layout of the array".to_owned(), code.code),
    };
    let form = match language {
        Language::Cute => "CuTe",
        _ => "Triton",
    };
    let cost = "its compiler makes the instructions";
    let has_own = !own.is_empty();
    let mapping = has_own
        .then(|| other_mapping(layout, suggestions))
        .flatten();
    (!text.is_empty()).then(|| CodeText {
        mapping,
        ..complete(form, &what, cost, text)
    })
}

/// The function of an address, and the command that puts it into the kernel.
fn ptx(layout: &Layout, command: Option<&str>) -> CodeText {
    let ptx = render(layout, Language::Ptx);
    let count = ptx.operations.unwrap_or_default();
    let cost = format!("{count} instructions for an address");
    match command {
        Some(command) => {
            let what = "the command that rewrites the kernel, and the function that it puts in";
            let text = format!("// {command}\n{}", ptx.code);
            complete("PTX", what, &cost, text)
        }
        None => {
            let what = "the function from an index to its place";
            complete("PTX", what, &cost, ptx.code)
        }
    }
}

/// What begins a comment in the language of a change.
pub(super) fn comment(s: &Suggestion) -> &'static str {
    if s.python.is_some() { "#" } else { "//" }
}

/// The function of an array and its lines, changed.
pub(super) fn source_text(s: &Suggestion) -> String {
    let comment = comment(s);
    let mut text = s.function.clone();
    if !text.is_empty() {
        text.push('\n');
    }
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{comment} {}: {} of {} conflicts are left.",
        s.array, s.conflicts, s.conflicts_before
    );
    if let Some(growth) = s.growth_text() {
        let _ = writeln!(text, "{comment} {growth}.");
    }
    if let Some(torn) = s.torn_text() {
        let _ = writeln!(text, "{comment} {torn}.");
    }
    if let Some(code) = in_machine_code(std::slice::from_ref(s)) {
        let _ = writeln!(text, "{comment} {}.", capital(&code.text()));
    }
    for declaration in &s.declarations {
        let place = without_folder(&declaration.source);
        let (old, changed) = (&declaration.text, declaration.changed_with_others());
        let _ = writeln!(text, "{comment} {place}, was: {old}\n{changed}");
    }
    for line in &s.lines {
        let place = place_of(line);
        match (line.statement_with_others(), line.in_names_of_the_source()) {
            (Some((old, changed)), _) => {
                let _ = writeln!(text, "{comment} {place}, was: {old}\n{changed}");
            }
            (None, Some(changes)) => {
                let _ = writeln!(text, "{comment} {place}");
                for (old, new) in changes {
                    let _ = writeln!(text, "{comment}   {old}  becomes  {new}");
                }
            }
            (None, None) => {
                let old = line
                    .text
                    .as_ref()
                    .map_or(String::new(), |t| format!(": {t}"));
                let calls = line.inlined_at.first().map_or(String::new(), |call| {
                    format!(", called in {}", without_folder(call))
                });
                let _ = writeln!(
                    text,
                    "{comment} {place}{calls}{old}\n{comment}   {}",
                    s.advice(line)
                );
            }
        }
    }
    text
}

/// A line with the suggested index: the whole line, or an expression in it; for
/// the page of the source.
pub(super) fn change_of(line: &LineChange, s: &Suggestion) -> String {
    let expression = || Some(line.in_names_of_the_source()?.first()?.1.to_owned());
    let wrapped = || {
        if line.is_of_rows() {
            s.advice(line)
        } else {
            s.wrapped(line).1
        }
    };
    line.statement_with_others()
        .map(|(_, changed)| changed.to_owned())
        .or_else(expression)
        .unwrap_or_else(wrapped)
}

fn place_of(line: &LineChange) -> String {
    let ptx = || {
        let access = line.accesses.first()?;
        Some(ptx_text(access.ptx_file.as_deref(), access.ptx_line?))
    };
    let source = line.place().map(|s| without_folder(s).to_owned());
    source
        .or_else(ptx)
        .unwrap_or_else(|| "a line that is not known".to_owned())
}

/// A mapping in hardware: the writes that load it, and instances with the
/// ports tied.
pub(super) fn in_hardware(
    mapping: &MappingLine,
    machine: &Config,
    cost: &str,
) -> Result<Vec<CodeText>> {
    let mut all = Vec::new();
    if mapping.config_unit.is_some() || mapping.needs_row_map() {
        let what = "wr_data for wr_index 0, 1, ... of each register file";
        let cost = format!("{} writes before the kernel starts", writes(mapping));
        all.push(complete("registers", what, &cost, registers(mapping)));
    }
    if mapping.own_unit().is_some() {
        let what = "bank and row of a lane, with the configuration tied";
        all.push(complete("Verilog", what, cost, verilog(mapping, machine)?));
    }
    Ok(all)
}

fn settings(mapping: &MappingLine) -> impl Iterator<Item = UnitSetting> + '_ {
    [mapping.bank(), mapping.row_map.clone()].into_iter()
}

fn writes(mapping: &MappingLine) -> usize {
    settings(mapping).map(|s| s.registers.len()).sum()
}

fn registers(mapping: &MappingLine) -> String {
    let mut text = format!("/* {} */\n", mapping.hash);
    let array = |s: &UnitSetting, note: &str| {
        let unit = s.config_unit.as_deref()?;
        let (count, values) = (s.registers.len(), s.registers.join(", "));
        Some(format!(
            "static const unsigned {unit}[{count}] = {{{values}}};{note}\n"
        ))
    };
    for setting in settings(mapping) {
        text += &array(&setting, "").unwrap_or_default();
    }
    if let Some(path) = &mapping.path {
        let note = " /* in spad_sm_path, in place of the first */";
        text += &array(path, note).unwrap_or_default();
    }
    text
}

/// Instances of the bank unit and the row map.
fn verilog(mapping: &MappingLine, machine: &Config) -> Result<String> {
    let mut units = vec![mapping.unit.clone()];
    if mapping.needs_row_map() {
        units.push(mapping.row_map.unit.clone());
    }
    let design = Design::emit(&units, machine)?;
    let (n, m) = (machine.geometry.addr_bits(), machine.geometry.bank_bits());
    let mut text = format!(
        "// {}: connect addr, the word address of a lane\nwire [{}:0] addr;\nwire [{}:0] bank;\nwire [{}:0] row;\n",
        mapping.hash,
        n - 1,
        m - 1,
        n - m - 1
    );
    for setting in settings(mapping) {
        let Some(unit) = design.units.iter().find(|u| u.name == setting.unit) else {
            continue;
        };
        let connect = |port: &crate::rtl::Port| {
            let value = setting.ports.iter().find(|(name, _)| *name == port.name);
            let inner = match (value, port.dir) {
                (Some((_, value)), Dir::In) => {
                    format!("{}'h{}", port.width, value.trim_start_matches("0x"))
                }
                _ => port.name.clone(),
            };
            format!("    .{}({inner})", port.name)
        };
        let ports: Vec<String> = unit.ports.iter().map(connect).collect();
        let of = unit.name.trim_start_matches("spad_");
        text += &format!("{} {of}_of_lane (\n{}\n);\n", unit.top, ports.join(",\n"));
    }
    if !mapping.needs_row_map() {
        text += &format!("assign row = addr[{}:{m}]; // no row map needed\n", n - 1);
    }
    Ok(text)
}
