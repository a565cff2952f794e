//! Accesses that the compiler has moved to another line: a load that both branches of
//! an `if` have is done before it, and has its line. What changes is the line that has
//! the access in the source.

use super::SourceLine;
use super::change::LineChange;
use super::files::split;
use super::lvalue::pointer_change;
use super::pointers::{pointers, pointers_change};
use super::scan::{Text, is_word, word};
use super::types::Types;
use std::collections::BTreeMap;

/// What begins a statement that has others in it.
const HEADS: [&str; 5] = ["if", "else", "for", "while", "switch"];

/// Gives the accesses of each line that has none in its text to the lines of its
/// statement that have them. `unit`: bytes that every mapping keeps together.
pub(super) fn to_their_lines(
    lines: &mut Vec<LineChange>,
    types: &BTreeMap<String, Types>,
    (array, unit): (&str, u32),
    function: &str,
    text: &mut SourceLine,
) {
    let mut at = 0;
    while at < lines.len() {
        let own = own_lines(&lines[at], array, text);
        let Some((file, numbers)) = own.filter(|(_, numbers)| !numbers.is_empty()) else {
            at += 1;
            continue;
        };
        let moved = lines.remove(at);
        let mut first = true;
        for number in numbers {
            let source = format!("{file}:{number}");
            let known = lines.iter().position(|l| l.place() == Some(&source));
            let index = known.unwrap_or_else(|| {
                let kept = types.get(&file).map(|t| t.kept(array, Some(unit)));
                let call = kept.and_then(|kept| {
                    pointers_change(&source, kept, array, function, text).or_else(|| {
                        let op = (moved.only_op()?, kept);
                        pointer_change(&source, op, array, function, text)
                    })
                });
                lines.push(LineChange {
                    text: text(&source),
                    source: Some(source.clone()),
                    inlined_at: moved.inlined_at.clone(),
                    call,
                    ..LineChange::default()
                });
                lines.len() - 1
            });
            lines[index].moved_to.clone_from(&moved.source);
            if std::mem::take(&mut first) {
                lines[index].conflicts += moved.conflicts;
                lines[index].accesses.extend(moved.accesses.iter().cloned());
            }
        }
    }
}

/// The file, and the lines of a statement that have an access, where its head has none.
fn own_lines(line: &LineChange, array: &str, text: &mut SourceLine) -> Option<(String, Vec<u32>)> {
    if line.statement().is_some() || line.accesses.is_empty() {
        return None;
    }
    let (file, number) = split(line.source.as_deref()?)?;
    let place = Text::of_file(file, text);
    let start = place.start_of_line(number)?;
    let end = place.line_end(start);
    let mut names = pointers(&place, start, array).unwrap_or_default();
    names.push(array.to_owned());
    let named = |from: usize, to: usize| {
        let part = &place.masked[from..to];
        names.iter().any(|name| word(part, name).is_some())
    };
    let head = place.masked[start..end].trim_start_matches(|c: char| c == '}' || c.is_whitespace());
    let keyword = &head[..head.find(|c| !is_word(c)).unwrap_or(head.len())];
    if named(start, end) || !HEADS.contains(&keyword) {
        return None;
    }
    let last = statement_end(&place, end - head.len())?;
    let (first, last) = (number + 1, place.line_of(last));
    let has_access = |number: &u32| {
        let from = place.start_of_line(*number);
        from.is_some_and(|from| named(from, place.line_end(from)))
    };
    Some((file.to_owned(), (first..=last).filter(has_access).collect()))
}

/// Where the statement at `at` ends, with all in it and the `else` behind it.
fn statement_end(place: &Text, at: usize) -> Option<usize> {
    let mut at = at;
    loop {
        let rest = place.masked[at..].trim_start();
        at = place.masked.len() - rest.len();
        let name = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
        at = match name {
            "else" => at + name.len(),
            "if" | "for" | "while" | "switch" => place.closing(at + rest.find('(')?)? + 1,
            _ => {
                let end = if rest.starts_with('{') {
                    place.closing(at)? + 1
                } else {
                    place.statement_end(at)
                };
                let after = place.masked[end..].trim_start().strip_prefix("else");
                if after.is_none_or(|rest| rest.starts_with(is_word)) {
                    return Some(end - 1);
                }
                end
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::lines_of;
    use super::*;

    fn own(source: &str, number: u32) -> Option<Vec<u32>> {
        let line = LineChange {
            source: Some(format!("k.cu:{number}")),
            accesses: vec![super::super::change::AccessChange::default()],
            ..LineChange::default()
        };
        own_lines(&line, "tile", &mut lines_of(source)).map(|(_, lines)| lines)
    }

    #[test]
    fn a_moved_access_is_in_the_statement() {
        let source = "void k() {\n__shared__ float tile[64];\nfloat *p = tile;\n\
                      if (n > 4) {\nx = p[1];\n} else if (n)\ny = tile[t];\nelse\n{ z = 1; }\n\
                      x = p[2];\nfor (;;)\nx += tile[1];\nif (tile[t])\nx = tile[2];\n}";
        assert_eq!(own(source, 4), Some(vec![5, 7]));
        assert_eq!(own(source, 6), Some(vec![7]));
        assert_eq!(own(source, 11), Some(vec![12]));
        assert_eq!(own(source, 10), None);
        assert_eq!(own(source, 13), None);
    }
}
