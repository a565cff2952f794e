//! The blocks of a file that hide nothing: namespaces, and those with a linkage.

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
        while let Some(at) = find(masked, from, keyword) {
            from = at + keyword.len();
            let Some((names, open)) = head(masked, from, keyword == "extern") else {
                continue;
            };
            let close = closing(masked, open);
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

fn closing(masked: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    let mut all = masked[open..].char_indices();
    let end = all.find(|(_, c)| {
        depth += i32::from(*c == '{') - i32::from(*c == '}');
        depth == 0
    });
    end.map(|(at, _)| open + at)
}

fn blank(masked: &mut String, range: Range<usize>) {
    let blanks: String = masked[range.clone()]
        .bytes()
        .map(|b| if b == b'\n' { '\n' } else { ' ' })
        .collect();
    masked.replace_range(range, &blanks);
}

/// The next place of a keyword from `from` on.
fn find(masked: &str, from: usize, keyword: &str) -> Option<usize> {
    let alone = |(at, _): &(usize, &str)| {
        let (before, after) = (&masked[..from + at], &masked[from + at + keyword.len()..]);
        !before.ends_with(is_word) && !after.starts_with(is_word)
    };
    let mut found = masked[from..].match_indices(keyword);
    found.find(alone).map(|(at, _)| from + at)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
