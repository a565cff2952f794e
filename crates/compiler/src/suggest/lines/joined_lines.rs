//! Lines that are one for a reader, because one text changes.

use super::change::LineChange;
use crate::suggest::source::edits::Maps;
use std::cmp::Reverse;

/// Lines that change at one call are one: a function may come into the kernel
/// through several calls of another.
pub(super) fn by_call(lines: Vec<LineChange>) -> Vec<LineChange> {
    joined(lines, |line| line.maps() != Some(Maps::Indices))
}

/// Joins lines that change at one call, lines that use one macro, which may access in
/// different ways, and the copies of one line that comes into the kernel through
/// several calls.
pub(in crate::suggest) fn by_call_or_macro(lines: Vec<LineChange>) -> Vec<LineChange> {
    let mut all: Vec<LineChange> = Vec::new();
    for line in joined(lines, |_| true) {
        match all.iter_mut().find(|known| known.is_copy_of(&line)) {
            Some(known) => known.take_copy(line),
            None => all.push(line),
        }
    }
    all.sort_by_key(|l| Reverse(l.conflicts));
    all
}

/// The lines, as one where they have the same call and `can_join` says so.
fn joined(lines: Vec<LineChange>, can_join: fn(&LineChange) -> bool) -> Vec<LineChange> {
    let mut all: Vec<LineChange> = Vec::new();
    for line in lines {
        let is_one = line.call.is_some() && can_join(&line);
        let same = |other: &&mut LineChange| is_one && other.call == line.call;
        match all.iter_mut().find(same) {
            Some(known) => known.take_accesses(line),
            None => all.push(line),
        }
    }
    all.sort_by_key(|l| Reverse(l.conflicts));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::lines::change::AccessChange;

    #[test]
    fn copies_of_a_line_are_one_with_the_calls_in_common() {
        let copy = |calls: &[&str], conflicts: u64| LineChange {
            source: Some("k.cu:1".to_owned()),
            text: Some("return p[i];".to_owned()),
            inlined_at: calls.iter().map(|c| (*c).to_owned()).collect(),
            conflicts,
            accesses: vec![AccessChange::default()],
            ..LineChange::default()
        };
        let other = LineChange {
            called_by: Some("other".to_owned()),
            ..copy(&[], 9)
        };
        let copies = vec![
            copy(&["k.cu:7", "k.cu:8"], 2),
            copy(&["k.cu:7", "k.cu:9"], 3),
            other,
        ];
        let lines = by_call_or_macro(copies);
        let found: Vec<_> = (lines.iter())
            .map(|l| (l.conflicts, l.accesses.len(), l.inlined_at.len()))
            .collect();
        assert_eq!(found, [(9, 1, 0), (5, 2, 1)]);
    }
}
