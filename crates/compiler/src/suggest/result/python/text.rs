//! The text of Python: calls with their arguments, and numbers by name.

use crate::suggest::array::room::DeclarationChange;
use crate::suggest::source::edits::{Edit, applied};
use crate::suggest::source::scan::{Text, arguments};
use crate::suggest::source::words::is_word;
use std::ops::Range;

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub text: String,
    pub from: usize,
}

impl Part {
    fn of(line: &str, (from, to): (usize, usize)) -> Self {
        let part = &line[from..to];
        let blanks = part.len() - part.trim_start().len();
        Part {
            text: part.trim().to_owned(),
            from: from + blanks,
        }
    }

    pub fn to(&self) -> usize {
        self.from + self.text.len()
    }

    /// The value of `key=value`.
    pub fn value_of(&self, key: &str) -> Option<Part> {
        let value = self.text.strip_prefix(key)?.trim_start();
        let value = value.strip_prefix('=').filter(|v| !v.starts_with('='))?;
        let value = value.trim();
        Some(Part {
            text: value.to_owned(),
            from: self.to() - value.len(),
        })
    }

    /// The items of a tuple or of a list.
    pub fn items(&self) -> Option<Vec<Part>> {
        self.text.starts_with(['(', '[']).then_some(())?;
        let text = Text::new(self.text.clone());
        let close = text.closing(0)?;
        (close + 1 == self.text.len()).then_some(())?;
        let items = text.split(1, close, ',').into_iter();
        let items = items.map(|span| Part::of(&self.text, span));
        let moved = items.filter(|item| !item.text.is_empty()).map(|item| Part {
            from: self.from + item.from,
            ..item
        });
        Some(moved.collect())
    }
}

/// The calls of a function in a line: where the name of each begins, and its arguments.
pub(super) fn calls(line: &str, function: &str) -> Vec<(usize, Vec<Part>)> {
    let text = Text::new(line.to_owned());
    let wanted = format!("{function}(");
    let all = text.masked.match_indices(&wanted);
    let own = all.filter(|(at, _)| !text.masked[..*at].ends_with(is_word));
    let call = |(at, _): (usize, &str)| {
        let parts = arguments(&text, at + function.len())?;
        let parts = parts.into_iter().map(|span| Part::of(line, span));
        Some((at, parts.filter(|p| !p.text.is_empty()).collect()))
    };
    own.filter_map(call).collect()
}

/// The name that the value of the call at `at` gets: `tile` of `tile = cuda.shared.array(...)`.
pub(super) fn assigned(line: &str, at: usize) -> Option<&str> {
    let before = line[..at].trim_end_matches(|c: char| c == '.' || is_word(c));
    let target = before.trim_end().strip_suffix('=')?.trim_end();
    // `tile: gl.constexpr = ...`
    let target = target.rsplit(';').next()?.split(':').next()?.trim();
    (!target.is_empty() && target.chars().all(is_word)).then_some(target)
}

/// A number, or a name that a line of the file gives one: `TILE = 32`.
pub(super) fn number(text: &str, lines: &[String]) -> Option<u32> {
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    (!text.is_empty() && text.chars().all(is_word)).then_some(())?;
    let given = |line: &String| {
        let (name, value) = line.split_once('=')?;
        let name = name.split(':').next()?.trim();
        let value = value.split('#').next()?.trim();
        let value = value.strip_prefix("gl.constexpr(").unwrap_or(value);
        let value = value.strip_suffix(')').unwrap_or(value);
        (name == text).then(|| value.parse().ok())
    };
    let mut values = lines.iter().filter_map(given);
    let first = values.next()??;
    values.all(|other| other == Some(first)).then_some(first)
}

/// A line with `new` in the place of a part.
pub(super) fn changed(
    (file, number): (&str, usize),
    line: &str,
    part: &Part,
    new: String,
) -> Option<DeclarationChange> {
    let edit = Edit {
        from: part.from,
        to: part.to(),
        new,
    };
    Some(DeclarationChange {
        source: format!("{file}:{number}"),
        changed_text: applied(line, std::slice::from_ref(&edit))?,
        with_others: None,
        bytes: None,
        edit,
        text: line.to_owned(),
    })
}

/// `32` and `1` as `33`, `TILE` and `1` as `TILE + 1`.
pub(super) fn plus(text: &str, more: u32) -> String {
    match text.parse::<u32>() {
        Ok(number) => (number + more).to_string(),
        Err(_) => format!("{text} + {more}"),
    }
}

/// The lines, counted from 0, of the function that has all of these lines, counted from 1.
pub(super) fn function_around(numbers: &[usize], lines: &[String]) -> Option<Range<usize>> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let (first, last) = (numbers.iter().min()?, numbers.iter().max()?);
    let is_head = |line: &String| line.trim_start().starts_with("def ");
    let before = lines.get(..*first)?;
    let inside = indent(lines.get(first - 1)?);
    let head = before
        .iter()
        .rposition(|l| is_head(l) && indent(l) < inside);
    let Some(head) = head else {
        // The file is not the whole one.
        return Some(0..lines.len());
    };
    let is_end = |line: &String| {
        let code = line.trim();
        !code.is_empty() && !code.starts_with(['#', ')']) && indent(line) <= indent(&lines[head])
    };
    let end = lines[head + 1..].iter().position(is_end);
    let end = end.map_or(lines.len(), |end| head + 1 + end);
    (*last <= end).then_some(head..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_their_arguments() {
        let line = "s = sm.allocate_tensor(f32, cute.make_layout((32, TILE), stride=(32, 1)), 16)";
        let (at, layout) = calls(line, "make_layout").pop().unwrap();
        assert!(line[at..].starts_with("make_layout"));
        let shape: Vec<String> = layout[0]
            .items()
            .unwrap()
            .into_iter()
            .map(|p| p.text)
            .collect();
        assert_eq!(shape, ["32", "TILE"]);
        let stride = layout[1].value_of("stride").unwrap();
        let first = &stride.items().unwrap()[0];
        assert_eq!(&line[first.from..first.to()], "32");
        assert!(line[..first.from].ends_with("stride=("));
        assert!(calls("remake_layout((1, 2))", "make_layout").is_empty());
    }

    #[test]
    fn names_have_numbers_where_all_lines_agree() {
        let lines = ["TILE = 16  # words", "ROWS: int = 8", "N = 4", "N = 5"];
        let lines = lines.map(str::to_owned);
        let of = |text: &str| number(text, &lines);
        assert_eq!(
            (of("12"), of("TILE"), of("ROWS")),
            (Some(12), Some(16), Some(8))
        );
        assert_eq!((of("N"), of("OTHER"), of("a.b")), (None, None, None));
    }

    #[test]
    fn a_function_ends_where_the_next_begins() {
        let text = "def f():\n  a\n\n  b\ndef g():\n  c\n";
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        assert_eq!(function_around(&[4, 2], &lines), Some(0..4));
        assert_eq!(function_around(&[6], &lines), Some(4..6));
        assert_eq!(function_around(&[2, 6], &lines), None);
    }
}
