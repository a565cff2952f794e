//! Longer rows in the declarations of arrays as a text to paste: each declaration before and after.

use super::code::{LONGER_ROWS, comment, is_declared, source_text};
use crate::report::CodeText;
use crate::suggest::{Padding, SourceFiles, Suggestion, split};
use crate::trace::without_folder;
use std::collections::BTreeSet;

/// The padding of all arrays that change; `None` where one of them has none in its
/// declaration alone, or where the lengths that wmma takes change, too.
pub(super) fn in_declarations(
    suggestions: &[Suggestion],
    files: &mut SourceFiles,
) -> Option<CodeText> {
    if !may_be_declared(suggestions) {
        return None;
    }
    let mut changed = Vec::new();
    let (mut rest, mut bytes) = (String::new(), 0);
    for s in suggestions {
        s.declared_padding()?;
        let Some(padding) = &s.padding else {
            bytes += wasted_bytes(s);
            rest += &source_text(s);
            continue;
        };
        bytes += padding.wasted_bytes;
        let comment = comment(s);
        rest += &format!(
            "{comment} {}: {} of {} conflicts are left.\n",
            s.array, padding.conflicts, s.conflicts_before
        );
        let more = s.padded_launch_text();
        rest += &more.map_or(String::new(), |launch| format!("{comment} {launch}.\n"));
        if !change(s, padding, &mut changed, files) {
            rest += &format!(
                "{comment} the declaration of {}:\n{}\n",
                s.array, padding.declaration
            );
        }
    }
    let comment = suggestions.first().map_or("//", comment);
    for Change { place, old, new } in changed {
        rest += &format!("{comment} {}, was: {old}\n{new}\n", without_folder(&place));
    }
    Some(CodeText {
        form: "padding",
        what: LONGER_ROWS.to_owned(),
        cost: format!("no instruction, {bytes} bytes of shared memory"),
        text: rest,
        mapping: None,
        by_hand: 0,
        note: "The changed source was not compiled or run.".to_owned(),
    })
}

/// `file:line` and text of each declaration with the padding of its arrays.
pub(super) fn changed_declarations(
    suggestions: &[Suggestion],
    files: &mut SourceFiles,
) -> Vec<(String, String)> {
    let mut changed = Vec::new();
    let mut whole = Vec::new();
    for s in suggestions {
        match &s.padding {
            Some(padding) => {
                change(s, padding, &mut changed, files);
            }
            None => {
                let own = s.declarations.iter();
                whole.extend(own.map(|d| (d.source.clone(), d.changed_with_others().to_owned())));
            }
        }
    }
    let parts = changed.into_iter().map(|c| (c.place, c.new));
    parts.chain(whole).collect()
}

/// Whether some changes are longer rows only, or could be replaced by longer rows.
pub(super) fn may_be_declared(suggestions: &[Suggestion]) -> bool {
    !suggestions.iter().all(Suggestion::has_longer_rows) || is_declared(suggestions)
}

/// Bytes that the padding in the declaration of an array adds.
pub(super) fn wasted_bytes(s: &Suggestion) -> u32 {
    match &s.padding {
        Some(padding) => padding.wasted_bytes,
        None => s.added_bytes(),
    }
}

/// A line of a declaration, with the longer rows of all its arrays.
struct Change {
    place: String,
    old: String,
    new: String,
}

/// Changes the declaration of an array in the line that has it; whether it is found.
fn change(
    s: &Suggestion,
    padding: &Padding,
    changed: &mut Vec<Change>,
    files: &mut SourceFiles,
) -> bool {
    let Some((place, old)) = declaration(s, padding, files) else {
        return false;
    };
    let known = changed.iter().position(|c| c.place == place);
    let at = known.unwrap_or_else(|| {
        let new = old.clone();
        changed.push(Change { place, old, new });
        changed.len() - 1
    });
    match with_longer_rows(&changed[at].new, &s.array, &padding.declaration) {
        Some(new) => {
            changed[at].new = new;
            true
        }
        None => false,
    }
}

/// `file:line` and text of the declaration of the array: the last one before its accesses.
fn declaration(
    s: &Suggestion,
    padding: &Padding,
    files: &mut SourceFiles,
) -> Option<(String, String)> {
    let places = s.lines.iter().flat_map(|line| {
        let own = line.source.iter().chain(&line.inlined_at);
        own.filter_map(|place| split(place))
    });
    let places: BTreeSet<(&str, u32)> = places.collect();
    places.into_iter().find_map(|(file, last)| {
        let lines = files.lines(file)?;
        let before = lines.iter().enumerate().take(last as usize);
        let is_it = |text: &str| {
            text.contains("__shared__")
                && with_longer_rows(text, &s.array, &padding.declaration).is_some()
        };
        let (at, text) = before.rev().find(|(_, text)| is_it(text))?;
        Some((format!("{file}:{}", at + 1), text.trim().to_owned()))
    })
}

/// `line` with the rows that `array` has in `declaration`, where it declares the array with
/// the same outer dimensions.
fn with_longer_rows(line: &str, array: &str, declaration: &str) -> Option<String> {
    let of_changed = dimensions(declaration, array)?;
    let of_line = dimensions(line, array)?;
    let text = |text: &str, (from, to): (usize, usize)| -> String {
        text[from..to].split_whitespace().collect()
    };
    let (row, outer) = of_changed.split_last()?;
    let (own, others) = of_line.split_last()?;
    let same = others.len() == outer.len()
        && (others.iter().zip(outer)).all(|(a, b)| text(line, *a) == text(declaration, *b));
    let longer = &declaration[row.0..row.1];
    (same && text(line, *own) != text(declaration, *row))
        .then(|| format!("{}{longer}{}", &line[..own.0], &line[own.1..]))
}

/// The spans of the dimensions of `array` in a declaration.
fn dimensions(text: &str, array: &str) -> Option<Vec<(usize, usize)>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let named = text.match_indices(array).find(|(at, _)| {
        let after = text[at + array.len()..].trim_start();
        !text[..*at].ends_with(is_word) && after.starts_with('[')
    })?;
    let mut at = named.0 + array.len();
    let mut found = Vec::new();
    loop {
        let rest = text[at..].trim_start();
        at = text.len() - rest.len();
        if !rest.starts_with('[') {
            return (!found.is_empty()).then_some(found);
        }
        let mut depth = 0;
        let end = rest.char_indices().find_map(|(i, c)| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            (depth == 0).then_some(at + i)
        })?;
        found.push((at + 1, end));
        at = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_of_the_array_alone_becomes_longer() {
        let changed = |line: &str| with_longer_rows(line, "b", "__shared__ float b[N][M + 1];");
        assert_eq!(
            changed("alignas(16) __shared__ float ab[N][M], b[N] [ M ], c[N][M]; // b[N][M]")
                .as_deref(),
            Some("alignas(16) __shared__ float ab[N][M], b[N] [M + 1], c[N][M]; // b[N][M]")
        );
        for other in [
            "__shared__ float ab[N][M];",
            "__shared__ float b[K][M];",
            "__shared__ float b[N];",
            "b[N][M + 1]",
        ] {
            assert_eq!(changed(other), None, "{other}");
        }
    }
}
