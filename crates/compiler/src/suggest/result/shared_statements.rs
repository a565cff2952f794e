//! Statements that several arrays change: each suggestion has its own change, and all
//! of them together.

use crate::suggest::mapped::Mapped;
use crate::suggest::source::edits::applied;
use crate::suggest::{LineChange, Suggestion};

/// Fills in the changes of all, where a statement has those of several.
pub(in crate::suggest) fn join(suggestions: &mut [Suggestion]) {
    separate(suggestions);
    let mut found = Vec::new();
    for (n, own) in suggestions.iter().enumerate() {
        for (at, line) in own.lines.iter().enumerate() {
            let key = line.place().zip(line.statement());
            let Some((source, (text, _))) = key else {
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

/// Takes back the changes of statements in which one pointer goes to several arrays: no
/// function of one of them maps the others.
fn separate(suggestions: &mut [Suggestion]) {
    let mut shared = Vec::new();
    for (n, own) in suggestions.iter().enumerate() {
        for (at, line) in own.lines.iter().enumerate() {
            let others = suggestions.iter().enumerate().filter(|(m, _)| *m != n);
            let with = others.filter(|(_, other)| other.lines.iter().any(|l| is_shared(line, l)));
            let arrays: Vec<String> = with.map(|(_, other)| other.array.clone()).collect();
            if !arrays.is_empty() {
                shared.push((n, at, arrays));
            }
        }
    }
    for (n, at, arrays) in shared {
        let line = &mut suggestions[n].lines[at];
        (line.call, line.changed_text) = (None, None);
        line.shared_with = arrays;
    }
}

/// Whether two changes of one statement map the same address: also that of a parameter, which
/// one call gives one array, and another call the other.
fn is_shared(line: &LineChange, other: &LineChange) -> bool {
    if line.is_by_hand() && other.is_by_hand() {
        let is_same = line.source.is_some() && line.source == other.source;
        let is_parameter = line.out_of_scope && other.out_of_scope;
        return is_same && is_parameter && line.inlined_at != other.inlined_at;
    }
    let (Some(own), Some(others)) = (&line.call, &other.call) else {
        return false;
    };
    let maps = |new: &str| new.contains("_at(");
    own.source == others.source
        && own.text == others.text
        && (own.edits.iter()).any(|e| {
            let same = |o: &&crate::suggest::source::edits::Edit| o.from == e.from && maps(&o.new);
            maps(&e.new) && others.edits.iter().any(|o| same(&o))
        })
}

/// The statement with the changes of all suggestions; `None` if only one changes it,
/// or if the spans of one of the changes are not known.
fn changed(suggestions: &[Suggestion], source: &str, text: &str) -> Option<String> {
    let (mut edits, mut changes) = (Vec::new(), 0);
    let (mut elements, mut arrays) = (Vec::new(), Vec::new());
    for s in suggestions {
        let before = changes;
        let same = |l: &&LineChange| {
            l.place() == Some(source) && l.statement().is_some_and(|(old, _)| old == text)
        };
        // A line that came into the kernel through several calls changes once.
        if let Some(line) = s.lines.iter().find(same) {
            match (&line.call, &line.declared) {
                (Some(call), _) if !call.edits.is_empty() => edits.extend(call.edits.clone()),
                (None, Some(declared)) => {
                    elements.push((declared, Mapped::words(&s.array, &s.function_name)));
                }
                _ => return None,
            }
            changes += 1;
        }
        let own = s.declarations.iter();
        for d in own.filter(|d| d.source == source && d.text == text) {
            edits.push(d.edit.clone());
            changes += 1;
        }
        // Two instances of one template share the array, which has only one mapping.
        if changes > before && arrays.contains(&&s.array) {
            return None;
        }
        if changes > before {
            arrays.push(&s.array);
        }
    }
    if changes < 2 {
        return None;
    }
    let mut all = applied(text, &edits)?;
    for (declared, mapped) in elements {
        all = declared.changed(&all, mapped)?;
    }
    Some(all)
}
