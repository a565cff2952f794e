//! Statements of several lines: the compiler may give an access the line of another part
//! of its statement, as that of the value which is stored.

use super::SourceLine;
use super::change::LineChange;
use super::files::split;
use super::scan::{Text, word};
use std::collections::BTreeMap;

/// The lines with the accesses of those that do not name the array at the one line of
/// their statement that does.
pub(super) fn to_naming_lines(
    lines: Vec<LineChange>,
    array: &str,
    text: &mut SourceLine,
) -> Vec<LineChange> {
    let mut files: BTreeMap<String, Text> = BTreeMap::new();
    let mut all = Vec::new();
    let mut moved = Vec::new();
    for line in lines {
        match naming_line(&line, array, &mut files, text) {
            Some(source) => moved.push(LineChange {
                text: text(&source),
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

/// That line, where it is another one.
fn naming_line(
    line: &LineChange,
    array: &str,
    files: &mut BTreeMap<String, Text>,
    text: &mut SourceLine,
) -> Option<String> {
    let (file, number) = split(line.source.as_deref()?)?;
    let own = line.text.as_deref()?;
    // Most lines name it, or are statements of their own.
    if word(own, array).is_some() {
        return None;
    }
    let place = files
        .entry(file.to_owned())
        .or_insert_with(|| Text::of_file(file, text));
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
    use super::super::change::AccessChange;
    use super::super::files::lines_of;
    use super::*;

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
        let mut text = lines_of(SOURCE);
        let source = format!("k.cu:{number}");
        let line = LineChange {
            text: text(&source),
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
        let mut text = lines_of(SOURCE);
        let accessed = |source: &str| LineChange {
            text: text(source),
            source: Some(source.to_owned()),
            accesses: vec![AccessChange::default()],
            ..LineChange::default()
        };
        let two = ["k.cu:3", "k.cu:2"].map(accessed);
        let lines = to_naming_lines(two.into(), "tile", &mut text);
        assert_eq!((lines.len(), lines[0].accesses.len()), (1, 2));
    }

    #[test]
    fn other_lines_stay() {
        // Two lines of the statement name it, or none does.
        for own in [2, 4, 8, 9] {
            assert_eq!(line(own), format!("k.cu:{own}"));
        }
    }
}
