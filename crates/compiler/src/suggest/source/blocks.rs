//! The blocks of a file that hide nothing: namespaces, and those with a linkage.

use super::masked::blanks;
use super::words::{closing_brace, is_word, word};
use std::ops::Range;

/// A block `namespace a::b { }`, or `extern "C" { }`, which has no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::suggest) struct Namespace {
    /// Its text, without the braces.
    pub body: Range<usize>,
    pub names: Vec<String>,
}

/// The namespaces of a text without literals and comments, which loses their heads and
/// braces: all that blocks hide is hidden by others.
pub(super) fn dissolved(masked: &mut String) -> Vec<Namespace> {
    let mut found = Vec::new();
    for keyword in ["namespace", "extern"] {
        let mut from = 0;
        while let Some(at) = word(&masked[from..], keyword).map(|at| from + at) {
            from = at + keyword.len();
            let Some((names, open)) = head(masked, from, keyword == "extern") else {
                continue;
            };
            let close = closing_brace(masked, open + 1);
            let end = close.unwrap_or(masked.len());
            blank(masked, at..open + 1);
            if let Some(close) = close {
                blank(masked, close..close + 1);
            }
            found.push(Namespace {
                body: open + 1..end,
                names,
            });
        }
    }
    found.sort_by_key(|n| n.body.start);
    found
}

/// The names of a namespace whose keyword ends at `from`, and its opening brace.
fn head(masked: &str, from: usize, nameless: bool) -> Option<(Vec<String>, usize)> {
    let open = from + masked[from..].find('{')?;
    let between = masked[from..open].trim();
    if nameless {
        return between.is_empty().then(|| (Vec::new(), open));
    }
    let is_head = |c: char| is_word(c) || c == ':' || c.is_whitespace();
    between.chars().all(is_head).then(|| {
        let names = between.split("::").map(|name| {
            let name = name.trim();
            name.strip_prefix("inline ").unwrap_or(name).trim()
        });
        let names = names.filter(|name| !name.is_empty());
        (names.map(str::to_owned).collect(), open)
    })
}

fn blank(masked: &mut String, range: Range<usize>) {
    let blanks = blanks(&masked[range.clone()]);
    masked.replace_range(range, &blanks);
}
