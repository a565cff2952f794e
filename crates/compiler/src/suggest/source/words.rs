//! Names, brackets and braces in text without literals and comments.

/// Whether a character belongs to a name.
pub(in crate::suggest) fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The name that `text` begins with; empty if it begins otherwise.
pub(in crate::suggest) fn first_name(text: &str) -> &str {
    &text[..text.find(|c| !is_word(c)).unwrap_or(text.len())]
}

/// The names of a text, each with what follows.
pub(in crate::suggest) fn names(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let begin = rest.find(is_word)?;
        let after = &rest[begin..];
        let name = first_name(after);
        rest = &after[name.len()..];
        Some((name, rest))
    })
}

/// The name that `text` ends with; empty if it ends otherwise.
pub(in crate::suggest) fn last_name(text: &str) -> &str {
    text.rsplit(|c| !is_word(c)).next().unwrap_or_default()
}

/// The position of `name` as a whole word that is no member.
pub(in crate::suggest) fn word(text: &str, name: &str) -> Option<usize> {
    let alone = |at: &usize| {
        let (before, after) = (&text[..*at], &text[at + name.len()..]);
        let member = before.ends_with('.') || before.ends_with("->");
        !before.ends_with(is_word) && !after.starts_with(is_word) && !member
    };
    let mut found = text.match_indices(name).map(|(at, _)| at);
    found.find(alone)
}

/// The brace that closes the block around `at`.
pub(super) fn closing_brace(masked: &str, at: usize) -> Option<usize> {
    let mut depth = 0;
    let mut after = masked[at..].char_indices();
    let end = after.find(|(_, c)| {
        depth += i32::from(*c == '{') - i32::from(*c == '}');
        depth < 0
    });
    end.map(|(end, _)| at + end)
}

/// The contents of the pairs of brackets that `text` begins with, and where
/// they end.
pub(in crate::suggest) fn brackets(text: &str) -> (Vec<&str>, usize) {
    let (mut contents, mut end) = (Vec::new(), 0);
    loop {
        let rest = &text[end..];
        let open = rest.len() - rest.trim_start().len();
        if !rest[open..].starts_with('[') {
            return (contents, end);
        }
        let mut depth = 0;
        let close = rest.char_indices().find(|&(_, c)| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            c == ']' && depth == 0
        });
        let Some((close, _)) = close else {
            return (contents, end);
        };
        contents.push(&rest[open + 1..close]);
        end += close + 1;
    }
}
