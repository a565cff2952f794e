//! The text of a source file with blanks where its literals and comments are.

use super::words::last_name;

/// As many blanks as `text` has bytes; line ends are kept.
pub(super) fn blanks(text: &str) -> String {
    let blank = |b: u8| if b == b'\n' { '\n' } else { ' ' };
    text.bytes().map(blank).collect()
}

/// Blanks instead of string literals, character literals and comments; line ends are kept.
pub(super) fn masked(text: &str) -> String {
    blanked(text, |_| true)
}

/// Blanks instead of comments that end with their line: if the lines were joined, the
/// next line would become part of the comment.
pub(in crate::suggest) fn without_line_comments(text: &str) -> String {
    blanked(text, |hidden| hidden.starts_with("//"))
}

/// Blanks instead of the literals and comments that `hides` selects.
fn blanked(text: &str, hides: impl Fn(&str) -> bool) -> String {
    let mut new = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let Some(length) = hidden_length(text, at, c) else {
            new.push(c);
            at += c.len_utf8();
            continue;
        };
        let hidden = &text[at..at + length];
        if hides(hidden) {
            new += &blanks(hidden);
        } else {
            new += hidden;
        }
        at += length;
    }
    new
}

/// Bytes of the literal or comment that begins at `at` with `c`.
fn hidden_length(text: &str, at: usize, c: char) -> Option<usize> {
    let rest = &text[at..];
    if rest.starts_with("//") {
        let mut ends = rest.match_indices('\n').map(|(end, _)| end);
        // A backslash joins the next line to it.
        let end = ends.find(|end| !rest[..*end].ends_with('\\'));
        Some(end.unwrap_or(rest.len()))
    } else if let Some(comment) = rest.strip_prefix("/*") {
        Some(comment.find("*/").map_or(rest.len(), |end| end + 4))
    } else if c == '"' || c == '\'' {
        let before = last_name(&text[..at]);
        let raw = ["R", "u8R", "uR", "UR", "LR"].contains(&before);
        // 1'000 is a number.
        let is_number = c == '\'' && before.starts_with(|c: char| c.is_ascii_digit());
        let raw = (raw && c == '"').then(|| raw_length(rest)).flatten();
        Some(match raw {
            _ if is_number => 1,
            Some(length) => length,
            None => literal_length(rest, c),
        })
    } else {
        None
    }
}

/// Bytes of `"mark(...)mark"`, a string in which nothing is escaped.
fn raw_length(text: &str) -> Option<usize> {
    let open = text.find('(')?;
    let end = format!("){}\"", &text[1..open]);
    Some(open + text[open..].find(&end)? + end.len())
}

fn literal_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            // It is not a literal, or the text ends.
            '\n' => return 1,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_lines_go_and_what_looks_like_one_stays() {
        let text = "f(\"//\", /* a // b */ 1, // c\n  2);";
        let expected = "f(\"//\", /* a // b */ 1,     \n  2);";
        assert_eq!(without_line_comments(text), expected);
    }
}
