//! What removes the conflicts, as changes of the source.

use super::measure::Measured;
use crate::capture::statics::launch_indices;
use crate::config::Config;
use crate::error::Result;
use crate::interrupt;
use crate::search::Control;
use crate::software::choice::{Array, Effort, MappingKind, choices, per_variable};
use crate::suggest::{LineChange, SourceFiles, Suggestion, Tuned, suggestions};
use crate::workload::Input;
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Duration;

/// A mapping, and the lines that change.
#[derive(Serialize)]
pub(super) struct Fix {
    pub mapping: String,
    pub conflicts_before: u64,
    pub conflicts: u64,
    /// A sentence.
    pub text: String,
    /// The function that the changed lines call.
    pub function: String,
    pub lines: Vec<ChangedLine>,
    /// The lines are all that changes: no access is left out, and the array has
    /// room.
    pub complete: bool,
}

/// A line and what becomes of it.
#[derive(Serialize)]
pub(super) struct ChangedLine {
    /// `file:line`.
    pub source: String,
    pub text: String,
    pub changed: String,
}

/// For each array that is best changed.
pub(super) fn of(
    measured: &Measured,
    input: &Input,
    machine: &Config,
    budget: Duration,
) -> Result<Vec<Fix>> {
    let Some(trace) = &measured.trace else {
        return Ok(Vec::new());
    };
    let indices = input.launch().map(launch_indices).transpose()?;
    let effort = Effort {
        control: Control::none().stop_when(&interrupt::requested),
        budget,
    };
    let (geometry, rule) = (machine.geometry, machine.conflict_rule());
    let room = machine.block_words;
    let kinds = MappingKind::all();
    let array = Array::new(trace, geometry, rule, room);
    let whole = choices(&array, &kinds, &effort)?;
    let apart = per_variable(trace, geometry, rule, room, &kinds, &effort)?;
    let tuned = Tuned {
        trace,
        geometry,
        rule,
        whole: (&array, &whole),
        apart: apart.as_ref(),
        indices: &indices.unwrap_or_default(),
    };
    let mut source = SourceFiles::beside(input.name());
    let found = suggestions(&tuned, &mut |place| source.line(place));
    Ok(found.changes.iter().map(|s| fix(s, &mut source)).collect())
}

fn fix(s: &Suggestion, source: &mut SourceFiles) -> Fix {
    let mut changed = |line: &LineChange| {
        let (place, (text, changed)) = (line.place()?, line.statement()?);
        // A review replaces whole lines: a statement of several is left to a person.
        let is_a_line = source.line(place).as_deref() == Some(text);
        is_a_line.then(|| ChangedLine {
            source: place.to_owned(),
            text: text.to_owned(),
            changed: changed.to_owned(),
        })
    };
    let mut lines: Vec<ChangedLine> = s.lines.iter().filter_map(&mut changed).collect();
    lines.extend(s.declarations.iter().map(|d| ChangedLine {
        source: d.source.clone(),
        text: d.text.clone(),
        changed: d.changed_text.clone(),
    }));
    let places: BTreeSet<&str> = lines.iter().map(|l| l.source.as_str()).collect();
    let has_room = s.elements <= s.elements_before || !s.declarations.is_empty();
    let complete = lines.len() == s.lines.len() + s.declarations.len()
        && places.len() == lines.len()
        && s.tensor_copies.is_empty()
        && has_room;
    Fix {
        mapping: s.hash.to_string(),
        conflicts_before: s.conflicts_before,
        conflicts: s.conflicts,
        text: format!(
            "{} on {} leaves {} of {} conflicts",
            s.hash, s.array, s.conflicts, s.conflicts_before
        ),
        function: s.function.clone(),
        lines,
        complete,
    }
}
