//! A change of a statement as what is put in the place of its parts, so that the
//! changes of several arrays can be made together.

use super::scan::Text;
use serde::Serialize;

/// A statement in which an address of the array is passed on to an access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallChange {
    /// `file:line`
    pub source: String,
    /// The statement, on one line.
    pub text: String,
    /// The same with the address mapped.
    pub changed_text: String,
    /// What changes in the text; empty where its places are not known.
    #[serde(skip)]
    pub(super) edits: Vec<Edit>,
    /// What of the text is mapped.
    #[serde(skip)]
    pub(super) maps: Maps,
}

/// What a changed statement puts under a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Maps {
    /// An address that it passes on.
    #[default]
    Address,
    /// The address of the element that it reads or writes.
    Element,
    /// Those of all elements that it names through pointers.
    Pointers,
    /// Indices.
    Indices,
}

impl CallChange {
    /// Puts `new` in the place of `old` in what is added.
    pub(super) fn rename(&mut self, old: &str, new: &str) {
        self.changed_text = self.changed_text.replace(old, new);
        for edit in &mut self.edits {
            edit.new = edit.new.replace(old, new);
        }
    }
}

/// What stands in the place of a part of a text; a part without characters is where
/// something is put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub from: usize,
    pub to: usize,
    pub new: String,
}

impl Edit {
    /// `new` before what is at `at`.
    pub fn insert(at: usize, new: impl Into<String>) -> Self {
        let new = new.into();
        Edit {
            from: at,
            to: at,
            new,
        }
    }
}

/// The text with all edits; `None` if they overlap. Insertions at the same place
/// keep their order.
pub(super) fn applied(text: &str, edits: &[Edit]) -> Option<String> {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.from, edit.to));
    let (mut new, mut at) = (String::new(), 0);
    for edit in sorted {
        new += text.get(at..edit.from)?;
        new += &edit.new;
        at = edit.to;
    }
    Some(new + text.get(at..)?)
}

/// The statement between two places of `place`, which begins at `source`, with edits.
pub(super) fn change(
    source: String,
    place: &Text,
    (from, to): (usize, usize),
    edits: &[Edit],
) -> Option<CallChange> {
    let raw = &place.text[from..to];
    let front = from + raw.len() - raw.trim_start().len();
    let moved = |edit: &Edit, by: usize| {
        Some(Edit {
            from: edit.from.checked_sub(by)?,
            to: edit.to.checked_sub(by)?,
            new: edit.new.clone(),
        })
    };
    let moved = |by| {
        edits
            .iter()
            .map(|e| moved(e, by))
            .collect::<Option<Vec<_>>>()
    };
    let changed = applied(raw, &moved(from)?)?;
    // Where lines are joined, places are others.
    let is_a_line = !raw.trim().contains('\n');
    let own = if is_a_line { moved(front)? } else { Vec::new() };
    Some(CallChange {
        source,
        text: joined(raw),
        changed_text: joined(&changed),
        edits: own,
        maps: Maps::Address,
    })
}

/// The lines of a statement as one.
fn joined(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.join(" ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_keep_their_order_and_do_not_overlap() {
        let insert = |at, new: &str| Edit::insert(at, new);
        let both = [insert(3, ", a"), insert(0, "x"), insert(3, ", b")];
        assert_eq!(applied("f(t)", &both).unwrap(), "xf(t, a, b)");
        let over = |from, to| Edit {
            from,
            to,
            new: "y".to_owned(),
        };
        assert_eq!(applied("f(t)", &[over(0, 3), over(2, 4)]), None);
        assert_eq!(applied("f(t)", &[over(0, 1), over(2, 3)]).unwrap(), "y(y)");
    }
}
