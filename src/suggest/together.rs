//! Statements that several arrays change: each suggestion has its own change, and all
//! of them together.

use super::source::Declaration;
use super::{LineChange, Suggestion};

/// What one suggestion changes in a statement.
enum Edit<'a> {
    /// Every element of an array that is declared like that.
    Elements(&'a Declaration, &'a str, &'a str),
    /// What is between two places of the text.
    Span(usize, usize, &'a str),
}

/// Fills in the changes of all, where a statement has those of several.
pub(super) fn join(suggestions: &mut [Suggestion]) {
    let mut found = Vec::new();
    for (n, own) in suggestions.iter().enumerate() {
        for (at, line) in own.lines.iter().enumerate() {
            let key = (line.source.as_deref(), line.text.as_deref());
            let (Some(source), Some(text)) = key else {
                continue;
            };
            if let Some(all) = changed(suggestions, source, text) {
                found.push((n, true, at, all));
            }
        }
        for (at, declaration) in own.declarations.iter().enumerate() {
            let (source, text) = (&declaration.source, &declaration.text);
            if let Some(all) = changed(suggestions, source, text) {
                found.push((n, false, at, all));
            }
        }
    }
    for (n, is_line, at, all) in found {
        if is_line {
            suggestions[n].lines[at].with_others = Some(all);
        } else {
            suggestions[n].declarations[at].with_others = Some(all);
        }
    }
}

/// The statement with the changes of all suggestions; `None` if one alone changes it,
/// or if one of them is a change of another kind.
fn changed(suggestions: &[Suggestion], source: &str, text: &str) -> Option<String> {
    let mut edits = Vec::new();
    for s in suggestions {
        let same = |l: &&LineChange| {
            l.source.as_deref() == Some(source) && l.text.as_deref() == Some(text)
        };
        // A line that came into the kernel through several calls changes once.
        if let Some(line) = s.lines.iter().find(same) {
            let declared = line.declared.as_ref()?;
            edits.push(Edit::Elements(declared, &s.array, &s.function_name));
        }
        let own = s.declarations.iter();
        let own = own.filter(|d| d.source == source && d.text == text);
        edits.extend(own.map(|d| Edit::Span(d.edit.0, d.edit.1, &d.edit.2)));
    }
    if edits.len() < 2 {
        return None;
    }
    // The last first: what is before it stays where it is.
    edits.sort_by_key(|edit| match edit {
        Edit::Elements(..) => None,
        Edit::Span(from, ..) => Some(std::cmp::Reverse(*from)),
    });
    let mut all = text.to_owned();
    for edit in edits {
        all = match edit {
            Edit::Span(from, to, new) => format!("{}{new}{}", &all[..from], &all[to..]),
            Edit::Elements(declared, array, function) => declared.changed(&all, array, function)?,
        };
    }
    Some(all)
}
