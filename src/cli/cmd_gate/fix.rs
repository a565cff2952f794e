//! Fixes that remove the conflicts, as changes of the source.

use super::measure::Measured;
use crate::capture::statics::launch_indices;
use crate::cli::machine_code::Judge;
use crate::config::Config;
use crate::error::Result;
use crate::interrupt;
use crate::search::Control;
use crate::software::choice::{Effort, MappingKind};
use crate::suggest::{
    FunctionNames, LineChange, Region, Search, SourceFiles, SplitWide, Suggestion,
    defines_what_is_in, split, torn_verdict,
};
use crate::trace::without_folder;
use crate::workload::Input;
use serde::Serialize;
use std::time::Duration;

/// A mapping, and the lines that change.
#[derive(Serialize)]
pub(super) struct Fix {
    pub mapping: String,
    pub conflicts_before: u64,
    pub conflicts: u64,
    /// A sentence.
    pub text: String,
    /// The functions that the changed lines call, as one text.
    pub function: String,
    #[serde(skip)]
    pub functions: Vec<Function>,
    pub lines: Vec<ChangedLine>,
    /// The lines are all that changes: no access is left out, and the array has
    /// room.
    pub complete: bool,
}

/// A function that changed lines call.
#[derive(Clone, PartialEq)]
pub(super) struct Function {
    pub name: String,
    pub text: String,
}

/// A statement and what becomes of it.
#[derive(Clone, Serialize)]
pub(super) struct ChangedLine {
    /// `file:line`.
    pub source: String,
    pub text: String,
    pub changed: String,
    /// The changed text with the changes of the other fixes, where they change it, too.
    #[serde(skip)]
    with_others: Option<String>,
    /// Place of the statement.
    #[serde(skip)]
    pub region: Region,
}

impl ChangedLine {
    /// The file as the PTX names it.
    pub fn file(&self) -> &str {
        split(&self.source).map_or("", |(file, _)| file)
    }

    /// Whether the statement is in the line `file:line`, or goes on there.
    pub fn covers(&self, place: &str) -> bool {
        let rows = self.region.start.0..=self.region.end.0;
        split(place)
            .is_some_and(|(file, line)| file == self.file() && rows.contains(&(line as usize)))
    }

    /// Whether it is the definition of a macro that a line of the source names.
    pub fn defines_what_is_in(&self, line: &str) -> bool {
        defines_what_is_in(&self.text, line)
    }

    fn overlaps(&self, other: &ChangedLine) -> bool {
        self.file() == other.file() && self.region.overlaps(&other.region)
    }
}

/// The fixes for the conflicts of a kernel.
#[derive(Default)]
pub(super) struct FixSearch {
    pub fixes: Vec<Fix>,
    /// A note on the fixes, or the reason why there are none.
    pub note: Option<String>,
    /// A clause that says that the fixes are not judged by the machine code, and why.
    pub doubt: Option<String>,
}

/// Sentences without the last period.
pub(super) fn sentences(all: impl IntoIterator<Item = String>) -> Option<String> {
    let all: Vec<String> = all.into_iter().collect();
    (!all.is_empty()).then(|| all.join(" ").trim_end_matches('.').to_owned())
}

impl FixSearch {
    /// None, for want of a budget.
    pub fn not_searched() -> Self {
        FixSearch {
            note: Some("No fix was searched for (--budget 0)".to_owned()),
            ..FixSearch::default()
        }
    }
}

/// Searches fixes for each array that is best changed, within a budget of each
/// search.
pub(super) fn of(
    measured: &Measured,
    input: &Input,
    machine: &Config,
    (budget, judge): (Duration, Judge),
    names: &mut FunctionNames,
) -> Result<FixSearch> {
    let Some(trace) = &measured.trace else {
        return Ok(FixSearch::default());
    };
    let indices = input.launch().map(launch_indices).transpose()?;
    let effort = Effort {
        control: Control::none().stop_when(&interrupt::requested),
        budget,
    };
    let search = Search {
        trace,
        geometry: machine.geometry,
        rule: machine.conflict_rule(),
        room: input.shared_room(machine)?,
        kinds: &MappingKind::all(),
        effort: &effort,
    };
    let searched = search.run(SplitWide::IfNoneGains)?;
    let judgement = judge.of_changes(input, trace, machine);
    let indices = indices.unwrap_or_default();
    let tuned = searched.tuned(&indices, judgement.trace());
    let mut source = SourceFiles::beside(input.name());
    let found = source.suggestions_of(&tuned, &searched.narrower, names);
    let fixes: Vec<Fix> = found.changes.iter().map(|s| fix(s, &mut source)).collect();
    let none = found.changes.is_empty() && found.left.is_empty();
    let notes = [
        none.then(|| "No mapping in software leaves fewer conflicts.".to_owned()),
        tuned.in_order(),
        torn_verdict(&found.changes, &found.left),
    ];
    let both = found.changes.iter().zip(&fixes);
    let reasons = both.filter_map(|(s, fix)| open(s, fix));
    let note = sentences(notes.into_iter().flatten().chain(reasons));
    let doubt = judgement.doubt(&found.changes);
    Ok(FixSearch {
        fixes,
        note,
        doubt: doubt.and_then(|doubt| sentences([doubt])),
    })
}

fn fix(s: &Suggestion, source: &mut SourceFiles) -> Fix {
    let mut lines = Vec::new();
    let mut add = |place: &str, (text, changed): (&str, &str), with_others: &Option<String>| {
        lines.extend(source.region(place, text).map(|region| ChangedLine {
            source: place.to_owned(),
            text: text.to_owned(),
            changed: changed.to_owned(),
            with_others: with_others.clone(),
            region,
        }));
    };
    for line in &s.lines {
        if let (Some(place), Some(statement)) = (line.place(), line.statement()) {
            add(place, statement, &line.with_others);
        }
    }
    for d in &s.declarations {
        add(&d.source, (&d.text, &d.changed_text), &d.with_others);
    }
    let has_room = s.elements <= s.elements_before || !s.declarations.is_empty();
    let complete = lines.len() == s.lines.len() + s.declarations.len()
        && !any_overlap(&lines)
        && s.tensor_copies.is_empty()
        && s.lines.iter().all(|line| line.used_in.is_empty())
        && has_room;
    Fix {
        mapping: s.hash.to_string(),
        conflicts_before: s.conflicts_before,
        conflicts: s.conflicts,
        text: format!(
            "{} on {}{} leaves {} of {} conflicts{}{}",
            s.hash,
            s.array,
            s.parts_text(),
            s.conflicts,
            s.conflicts_before,
            s.data_text()
                .map_or(String::new(), |text| format!("; {text}")),
            price(s)
        ),
        functions: function(s).into_iter().collect(),
        function: s.function.clone(),
        lines,
        complete,
    }
}

/// Clauses on what a change costs: where it may not pay, or where longer rows need no
/// instruction.
fn price(s: &Suggestion) -> String {
    let costs = s.costs_as_much();
    let declared = s.padding.as_ref().filter(|p| p.in_declaration);
    let declared = declared.map(|p| {
        format!(
            "{} in the declaration, without an instruction more, leaves {}: {}",
            p.hash,
            p.conflicts,
            p.declaration.trim_end_matches(';')
        )
    });
    let clauses = costs.into_iter().chain(declared);
    clauses.map(|text| format!("; {text}")).collect()
}

/// Why a change is not a fix that a tool can apply: what is left to a person.
fn open(s: &Suggestion, fix: &Fix) -> Option<String> {
    if fix.complete {
        return None;
    }
    let mut reasons = Vec::new();
    let by_hand: Vec<&LineChange> = s.by_hand().collect();
    let mut places: Vec<&str> = by_hand.iter().filter_map(|line| line.place()).collect();
    places.dedup();
    let unknown = by_hand.iter().filter(|line| line.place().is_none()).count();
    if !places.is_empty() {
        let names: Vec<&str> = places.iter().map(|place| without_folder(place)).collect();
        let has = if names.len() == 1 { "has" } else { "have" };
        reasons.push(format!("{} {has} to be changed by hand", names.join(", ")));
    }
    if unknown > 0 {
        reasons.push(format!(
            "{unknown} accesses are in lines that are not known"
        ));
    }
    let given = s.lines.len() - by_hand.len() + s.declarations.len();
    if fix.lines.len() < given {
        reasons.push("a statement is not found in its file".to_owned());
    }
    if any_overlap(&fix.lines) {
        reasons.push("two of the changed statements overlap".to_owned());
    }
    reasons.extend(s.copy_texts());
    let others = s.lines.iter().filter_map(LineChange::users_text);
    reasons.extend(others);
    reasons.extend(s.growth_text());
    Some(format!(
        "The change for {} is no fix that can be applied as it is: {}.",
        s.array,
        reasons.join("; ")
    ))
}

/// The function of the mapping; none where no line calls one.
fn function(s: &Suggestion) -> Option<Function> {
    (!s.function.is_empty()).then(|| Function {
        name: s.function_name.clone(),
        text: s.function.clone(),
    })
}

fn any_overlap(lines: &[ChangedLine]) -> bool {
    let mut pairs =
        (lines.iter().enumerate()).flat_map(|(n, a)| lines[n + 1..].iter().map(move |b| (a, b)));
    pairs.any(|(a, b)| a.overlaps(b))
}

/// Several fixes as one. None where two change a statement, and it is not known what
/// both make of it.
pub(super) fn together(fixes: &[&Fix]) -> Option<Fix> {
    let mut lines: Vec<ChangedLine> = Vec::new();
    for line in fixes.iter().flat_map(|fix| &fix.lines) {
        let all = line.with_others.as_ref().unwrap_or(&line.changed);
        let known = lines
            .iter()
            .any(|l| (l.file(), l.region, &l.changed) == (line.file(), line.region, all));
        if !known {
            let changed = all.clone();
            lines.push(ChangedLine {
                changed,
                ..line.clone()
            });
        }
    }
    let functions: Vec<Function> = (fixes.iter().flat_map(|fix| &fix.functions))
        .cloned()
        .collect();
    let texts: Vec<&str> = fixes.iter().map(|fix| fix.text.as_str()).collect();
    (!any_overlap(&lines)).then(|| Fix {
        mapping: String::new(),
        conflicts_before: fixes.iter().map(|fix| fix.conflicts_before).sum(),
        conflicts: fixes.iter().map(|fix| fix.conflicts).sum(),
        text: format!("Together: {}", texts.join("; ")),
        function: functions.iter().map(|f| f.text.as_str()).collect(),
        functions,
        lines,
        complete: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_about_the_lines_that_name_its_macro() {
        let mut line = ChangedLine {
            source: "k.cu:1".to_owned(),
            text: "#define TILE(i, j) tile[(j) * 32 + (i)]".to_owned(),
            changed: String::new(),
            with_others: None,
            region: Region {
                start: (1, 1),
                end: (1, 2),
            },
        };
        assert!(line.defines_what_is_in("x = TILE(i, 0);"));
        for other in ["x = TILES(i, 0);", "x = tile[i];", ""] {
            assert!(!line.defines_what_is_in(other), "{other}");
        }
        line.text = "x = TILE(i, 0);".to_owned();
        assert!(!line.defines_what_is_in("x = TILE(i, 0);"));
    }
}
