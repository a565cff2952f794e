//! Lines that name an array without an access of their own: the compiler has put it
//! into that of another line, or knows the value.

use super::SourceLine;
use super::files::split;
use super::lines::LineChange;
use super::scan::{Text, word};
use super::source::Declarations;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Lines of a file that are read at most.
const MOST_LINES: u32 = 100_000;

/// Such lines where the array is what those of `known` access.
pub(super) fn lines(
    known: &[LineChange],
    array: &str,
    function: &str,
    declarations: &Declarations,
    text: &mut SourceLine,
) -> Vec<LineChange> {
    let mut by_file: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    let own = known.iter().filter(|l| l.changed_text.is_some());
    for (file, line) in own.filter_map(|l| split(l.source.as_deref()?)) {
        by_file.entry(file).or_default().insert(line);
    }
    let mut found = Vec::new();
    for (file, own) in by_file {
        let place = file_text(file, text);
        let mut done: BTreeSet<u32> = own.clone();
        done.extend(declarations.lines_of(file, &place));
        for line in own {
            let Some(scope) = scope(file, line, &place, declarations, text) else {
                continue;
            };
            for line in scope.filter(|line| done.insert(*line)) {
                let source = format!("{file}:{line}");
                found.extend(change(source, array, function, declarations, text));
            }
        }
    }
    found
}

/// A line of the array that no access names.
fn change(
    source: String,
    array: &str,
    function: &str,
    declarations: &Declarations,
    text: &mut SourceLine,
) -> Option<LineChange> {
    let old = text(&source).filter(|old| word(old, array).is_some())?;
    let seen = declarations.seen_from(&source, text)?;
    let new = seen.changed(&old, array, function)?;
    Some(LineChange {
        source: Some(source),
        inlined_at: Vec::new(),
        text: Some(old),
        changed_text: Some(new),
        with_others: None,
        declared: Some(seen.clone()),
        call: None,
        conflicts: 0,
        accesses: Vec::new(),
    })
}

/// All lines of a file.
fn file_text(file: &str, text: &mut SourceLine) -> Text {
    let lines = (1..MOST_LINES).map_while(|line| text(&format!("{file}:{line}")));
    let all: Vec<String> = lines.collect();
    Text::new(all.join("\n"))
}

/// The lines in which the array of `line` has its name: the block of its declaration,
/// or the function around the line, where the declaration is outside.
fn scope(
    file: &str,
    line: u32,
    place: &Text,
    declarations: &Declarations,
    text: &mut SourceLine,
) -> Option<RangeInclusive<u32>> {
    let declared = place.start_of_line(declarations.last_seen(file, line, text)?)?;
    let declared = declared + place.masked[declared..].find("__shared__")?;
    let (from, to) = match place.function_around(declared) {
        Some(_) => (declared, place.block_end(declared)),
        None => {
            let function = place.outermost_function(place.start_of_line(line)?)?;
            (function.body, place.block_end(function.body))
        }
    };
    Some(place.line_of(from)..=place.line_of(to))
}
