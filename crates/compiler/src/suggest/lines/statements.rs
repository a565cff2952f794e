//! Statements of several lines: the compiler may give an access the line of another part
//! of its statement, as that of the value which is stored.

use super::change::LineChange;
use super::declared_pointers::{pointers, pointers_to_rows};
use super::other_names::OtherNames;
use super::types::Types;
use super::wrapped::Wrap;
use crate::suggest::SourceFiles;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::declarations::Declaration;
use crate::suggest::source::edits::{self, CallChange, Edit, Maps};
use crate::suggest::source::files::split;
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::word;
use std::ops::RangeInclusive;

/// A statement whose lines end within the brackets of elements, or before brackets, so that
/// it changes as a whole:
///
/// ```text
/// x = tile[row +
///          1]
///         [column];
/// ```
pub(in crate::suggest) struct Split {
    from: usize,
    to: usize,
}

impl Split {
    /// The one with a line.
    pub fn at(place: &Text, line: u32) -> Option<Self> {
        let start = place.start_of_line(line)?;
        let own = &place.masked[start..place.line_end(start)];
        let begin = start + own.len() - own.trim_start().len();
        let to = place.statement_end(begin);
        let from = after_heads(place, place.statement_start(begin), begin)?;
        let statement = &place.masked[from..to];
        let is_whole = statement.ends_with(';') && !statement.contains(['{', '}', '#']);
        let mut ends = statement.match_indices('\n').map(|(at, _)| from + at);
        let is_split = ends.any(|end| {
            let open = place.open_before(end).filter(|open| *open >= from);
            let next = place.masked[end..to].trim_start();
            open.is_some_and(|open| place.masked[open..].starts_with('[')) || next.starts_with('[')
        });
        (is_whole && is_split).then_some(Split { from, to })
    }

    /// Lines of the statement.
    pub fn lines(&self, place: &Text) -> RangeInclusive<u32> {
        place.line_of(self.from)..=place.line_of(self.to - 1)
    }

    /// The statement with all elements of the array under `function`.
    pub fn changed(
        &self,
        file: &str,
        place: &Text,
        seen: &Declaration,
        mapped: Mapped,
    ) -> Option<CallChange> {
        // A comment in an index would go into it.
        let code = Text::new(place.masked[self.from..self.to].to_owned());
        let mut edits = seen.edits(&code, mapped)?;
        for edit in &mut edits {
            edit.from += self.from;
            edit.to += self.from;
        }
        let source = format!("{file}:{}", place.line_of(self.from));
        let change = edits::change(source, place, (self.from, self.to), &edits)?;
        Some(CallChange {
            maps: Maps::Indices,
            ..change
        })
    }
}

/// Puts the elements of the array in a line under `function`: in its whole statement, where
/// they take several lines.
pub(in crate::suggest) fn change_elements(
    line: &mut LineChange,
    seen: &Declaration,
    mapped: Mapped,
    sources: &mut SourceFiles,
) {
    let (Some(place), Some(old)) = (&line.source, &line.text) else {
        return;
    };
    line.call = split_change(place, seen, mapped, sources);
    if line.call.is_none() {
        line.changed_text = seen.changed(old, mapped);
        line.declared = line.changed_text.as_ref().map(|_| seen.clone());
    }
    if !line.is_by_hand()
        && let Some(call) = with_pointers(place, seen, mapped, sources)
    {
        (line.changed_text, line.declared) = (None, None);
        line.call = Some(call);
    }
}

/// The statement or the line with the elements of the array under `function`, and the address
/// of each element that it names through a pointer; `None` where it names none, or in a way that
/// is not understood.
fn with_pointers(
    source: &str,
    seen: &Declaration,
    mapped: Mapped,
    sources: &mut SourceFiles,
) -> Option<CallChange> {
    let (file, number) = split(source)?;
    let place = sources.text(file);
    let line = place.start_of_line(number)?;
    let (from, to) = match Split::at(&place, number) {
        Some(split) => (split.from, split.to),
        None => (line, place.line_end(line)),
    };
    let all = OtherNames::at(&place, to, mapped.array, Vec::new());
    if all.named_in(&place.masked[from..to]).is_empty() {
        return None;
    }
    let known = pointers(&place, to, mapped.array)?;
    let walking = known.walking.clone();
    let wrap = Wrap {
        names: &known.names(),
        rows: &pointers_to_rows(&place, to),
        own: None,
        of_structures: false,
        walking: &walking,
        start: mapped.array,
        function: mapped.function,
        passed: &[],
    };
    let types = Types::of(file, sources);
    let kept = types.kept(mapped.array, Some(mapped.unit));
    let mut edits = wrap.edits(&place, (from, to), (kept, number))?;
    let code = Text::new(place.masked[from..to].to_owned());
    let own = seen.edits(&code, mapped)?.into_iter().map(|edit| Edit {
        from: edit.from + from,
        to: edit.to + from,
        ..edit
    });
    (!edits.is_empty()).then_some(())?;
    edits.extend(own);
    let source = format!("{file}:{}", place.line_of(from));
    let change = edits::change(source, &place, (from, to), &edits)?;
    Some(CallChange {
        maps: Maps::Both,
        ..change
    })
}

/// The change of the statement with a line, where its elements take several lines.
fn split_change(
    source: &str,
    seen: &Declaration,
    mapped: Mapped,
    sources: &mut SourceFiles,
) -> Option<CallChange> {
    let (file, number) = split(source)?;
    let place = sources.text(file);
    Split::at(&place, number)?.changed(file, &place, seen, mapped)
}

/// The start of the statement that contains `begin`, after directives and the end of `for (...)`.
fn after_heads(place: &Text, from: usize, begin: usize) -> Option<usize> {
    let before = place.masked.get(from..begin)?;
    let directive = before.match_indices('\n').rfind(|(at, _)| {
        let line = before[..*at].rsplit('\n').next().unwrap_or_default();
        line.trim_start().starts_with('#')
    });
    let from = from + directive.map_or(0, |(at, _)| at);
    let mut depth = 0;
    let head = place.masked[from..begin].char_indices().filter(|(_, c)| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        *c == ')' && depth < 0
    });
    let from = head.last().map_or(from, |(at, _)| from + at + 1);
    Some(begin - place.masked[from..begin].trim_start().len())
}

/// Moves the accesses of lines that do not name the array to the one line of their
/// statement that does.
pub(in crate::suggest) fn to_naming_lines(
    lines: Vec<LineChange>,
    array: &str,
    sources: &mut SourceFiles,
) -> Vec<LineChange> {
    let mut all = Vec::new();
    let mut moved = Vec::new();
    for line in lines {
        match naming_line(&line, array, sources) {
            Some(source) => moved.push(LineChange {
                text: sources.line(&source),
                source: Some(source),
                ..line
            }),
            None => all.push(line),
        }
    }
    for line in moved {
        let same = |l: &&mut LineChange| l.chain() == line.chain();
        match all.iter_mut().find(same) {
            Some(known) => known.take_accesses(line),
            None => all.push(line),
        }
    }
    all
}

/// The one other line of the statement of `line` that names the array.
fn naming_line(line: &LineChange, array: &str, sources: &mut SourceFiles) -> Option<String> {
    let (file, number) = split(line.source.as_deref()?)?;
    let own = line.text.as_deref()?;
    // Most lines name it, or are statements of their own.
    if word(own, array).is_some() {
        return None;
    }
    let place = sources.text(file);
    let start = place.start_of_line(number)?;
    let end = place.line_end(start);
    let own = place.masked[start..end].trim_end();
    if own.trim_end_matches(';').contains([';', '{', '}']) || own.trim().is_empty() {
        return None;
    }
    let begin = start + own.len() - own.trim_start().len();
    let (from, to) = (place.statement_start(begin), place.statement_end(begin));
    let numbers = place.line_of(from)..=place.line_of(to.saturating_sub(1));
    let mut naming = numbers.filter(|n| {
        let start = place.start_of_line(*n).unwrap_or(to).max(from);
        let end = place.line_end(start).min(to);
        start < end && word(&place.masked[start..end], array).is_some()
    });
    let found = naming.next().filter(|_| naming.next().is_none())?;
    Some(format!("{file}:{found}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::lines::change::AccessChange;
    use crate::suggest::source::files::given;

    const SOURCE: &str = "void k() {
tile[i] =
    in[i];
tile[i] = 1; in[0] = 2;
for (int i = 0; i < n; i++)
    out[i] = tile[i] +
        tile[i + 1] +
        in[i];
in[1] = 3;
}";

    /// The line to which an access at a line goes.
    fn line(number: u32) -> String {
        let mut text = given(SOURCE);
        let source = format!("k.cu:{number}");
        let line = LineChange {
            text: text.line(&source),
            source: Some(source),
            accesses: vec![AccessChange::default()],
            ..LineChange::default()
        };
        to_naming_lines(vec![line], "tile", &mut text)
            .remove(0)
            .source
            .unwrap()
    }

    #[test]
    fn an_access_goes_to_the_line_that_names_the_array() {
        assert_eq!(line(3), "k.cu:2");
    }

    #[test]
    fn lines_of_one_statement_become_one() {
        let mut text = given(SOURCE);
        let mut accessed = |source: &str| LineChange {
            text: text.line(source),
            source: Some(source.to_owned()),
            accesses: vec![AccessChange::default()],
            ..LineChange::default()
        };
        let two = ["k.cu:3", "k.cu:2"].map(&mut accessed);
        let lines = to_naming_lines(two.into(), "tile", &mut text);
        assert_eq!((lines.len(), lines[0].accesses.len()), (1, 2));
    }

    /// The changed statement with a line, if it changes as a whole.
    fn split(source: &str, line: u32) -> Option<(String, String)> {
        let place = Text::new(source.to_owned());
        let seen = Declaration {
            element: "float".to_owned(),
            dimensions: vec!["4".to_owned(), "W + 1".to_owned()],
        };
        let split = Split::at(&place, line)?;
        let call = split.changed("k.cu", &place, &seen, Mapped::words("tile", "f"))?;
        Some((call.source, call.changed_text))
    }

    #[test]
    fn a_statement_that_ends_lines_within_an_element_changes_as_a_whole() {
        let source = "void k() {
#pragma unroll
    for (int i = 0; i < n; ++i)
        x[i] =
            tile[row +
                 1] // the next
                [i];
    tile[0]
        [1] = tile[1][0];
    tile[0][0] =
        x[0];
    if (tile[n
             ][0] > 0) { return; }
}";
        let first = "x[i] = (&tile[0][0])[f((row + 1) * (W + 1) + i)];";
        let second = "(&tile[0][0])[f(0 * (W + 1) + 1)] = (&tile[0][0])[f(1 * (W + 1) + 0)];";
        for line in 4..=7 {
            let found = split(source, line);
            assert_eq!(found, Some(("k.cu:4".to_owned(), first.to_owned())));
        }
        for line in [8, 9] {
            let found = split(source, line);
            assert_eq!(found, Some(("k.cu:8".to_owned(), second.to_owned())));
        }
        for line in [10, 11, 12, 13] {
            assert_eq!(split(source, line), None);
        }
    }

    #[test]
    fn other_lines_stay() {
        // Two lines of the statement name it, or none does.
        for own in [2, 4, 8, 9] {
            assert_eq!(line(own), format!("k.cu:{own}"));
        }
    }
}
