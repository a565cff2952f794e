//! Lines that name elements of an array by a pointer, and that the run does not reach:
//! they change, too, or the source would be right for this launch alone.

use super::change::LineChange;
use super::declared_pointers::{Pointers, pointers};
use super::pointers_to_start;
use super::types::Types;
use super::wrapped::pointers_change;
use crate::suggest::SourceFiles;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::files::split;
use crate::suggest::source::words::word;
use std::collections::BTreeSet;

/// Lines that the run does not reach, in the functions in which pointers into the
/// array change. `unit`: bytes that every mapping keeps together.
pub(in crate::suggest) fn lines(
    known: &[LineChange],
    mapped: Mapped,
    sources: &mut SourceFiles,
) -> Vec<LineChange> {
    let Mapped { array, unit, .. } = mapped;
    let mut done: BTreeSet<String> = known
        .iter()
        .filter_map(|l| Some(l.place()?.to_owned()))
        .collect();
    done.extend(known.iter().filter_map(|l| l.source.clone()));
    let mut functions = BTreeSet::new();
    let mut found = Vec::new();
    for line in known.iter().filter(|l| l.is_by_pointers()) {
        let Some((file, number)) = line.source.as_deref().and_then(split) else {
            continue;
        };
        let place = sources.text(file);
        let around = place
            .start_of_line(number)
            .and_then(|at| Some((at, place.function_around(at)?)));
        let Some((at, around)) =
            around.filter(|(_, f)| functions.insert((file.to_owned(), f.body)))
        else {
            continue;
        };
        let start = pointers_to_start::pointer(
            line.source.as_deref().unwrap_or_default(),
            (&place, at),
            array,
            sources,
        );
        let seen = start.as_deref().unwrap_or(array);
        let known = pointers(&place, at, seen).map(Pointers::names);
        let mut names = known.unwrap_or_default();
        names.extend(start);
        let types = Types::of(file, sources);
        let kept = types.kept(array, Some(unit));
        let lines = place.line_of(around.body)..=place.line_of(place.block_end(around.body));
        for number in lines {
            let source = format!("{file}:{number}");
            let named = place.start_of_line(number).is_some_and(|from| {
                let own = &place.masked[from..place.line_end(from)];
                names.iter().any(|name| word(own, name).is_some())
            });
            if !named || done.contains(&source) {
                continue;
            }
            let call = pointers_change(&source, kept, mapped, sources);
            found.extend(call.map(|call| LineChange {
                text: sources.line(&source),
                source: Some(source),
                call: Some(call),
                ..LineChange::default()
            }));
        }
    }
    found
}
