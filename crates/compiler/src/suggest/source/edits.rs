//! A change of a statement as a list of edits, so that the changes of several arrays can be merged.

use super::masked::without_line_comments;
use super::scan::Text;
use serde::Serialize;

/// A statement in which an address of the array is passed on to an access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallChange {
    /// `file:line`
    pub source: String,
    /// The statement, on one line.
    pub text: String,
    /// The statement with the address mapped.
    pub changed_text: String,
    /// The edits of the text; empty if their spans are not known.
    #[serde(skip)]
    pub(in crate::suggest) edits: Vec<Edit>,
    /// Kind of what is mapped in the text.
    #[serde(skip)]
    pub(in crate::suggest) maps: Maps,
    /// The macro or the function that it defines, and that other files may use.
    #[serde(skip)]
    pub(in crate::suggest) defines: Option<String>,
}

/// The kind of what a changed statement maps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::suggest) enum Maps {
    /// An address that it passes on.
    #[default]
    Address,
    /// The address of the element that it reads or writes.
    Element,
    /// The addresses of all elements that it names through pointers.
    Pointers,
    /// Indices.
    Indices,
    /// Indices of the array, and the addresses of elements that it names through pointers.
    Both,
}

impl CallChange {
    /// Replaces `old` by `new` in the inserted text.
    pub(in crate::suggest) fn rename(&mut self, old: &str, new: &str) {
        self.changed_text = self.changed_text.replace(old, new);
        for edit in &mut self.edits {
            edit.new = edit.new.replace(old, new);
        }
    }
}

/// The replacement of a span of a text; an empty span is an insertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::suggest) struct Edit {
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

/// The text with all edits; `None` if they overlap. Insertions at the same
/// position keep their order.
pub(in crate::suggest) fn applied(text: &str, edits: &[Edit]) -> Option<String> {
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

/// The statement in this span of `place`, which begins at line `source`, with edits.
pub(in crate::suggest) fn change(
    source: String,
    place: &Text,
    (from, to): (usize, usize),
    edits: &[Edit],
) -> Option<CallChange> {
    let code = place.masked[from..to].trim();
    let is_directive = |line: &str| line.trim_start().starts_with('#');
    // A directive needs a line of its own.
    if code.contains('\n') && code.lines().any(is_directive) {
        return None;
    }
    let raw = &place.text[from..to];
    let in_raw = |edit: &Edit| {
        Some(Edit {
            from: edit.from.checked_sub(from)?,
            to: edit.to.checked_sub(from)?,
            new: edit.new.clone(),
        })
    };
    let in_raw: Vec<Edit> = edits.iter().map(in_raw).collect::<Option<_>>()?;
    let (text, changed_text) = (joined(raw), joined(&applied(raw, &in_raw)?));
    let own = in_joined(raw, &in_raw);
    // If joining the lines changes the text in another way, the spans are not known.
    let is_same = applied(&text, &own).as_deref() == Some(&changed_text);
    Some(CallChange {
        source,
        text,
        changed_text,
        edits: if is_same { own } else { Vec::new() },
        maps: Maps::Address,
        defines: None,
    })
}

/// Edits of a statement in the text that has its lines as one.
fn in_joined(raw: &str, edits: &[Edit]) -> Vec<Edit> {
    let all = joined_with_front(raw);
    let front = all.len() - all.trim_start().len();
    let place = |at: usize| joined_with_front(&raw[..at]).len().saturating_sub(front);
    let edit = |edit: &Edit| Edit {
        from: place(edit.from),
        to: place(edit.to),
        new: if edit.new.contains('\n') {
            joined(&edit.new)
        } else {
            edit.new.clone()
        },
    };
    edits.iter().map(edit).collect()
}

/// The lines of a part of a statement as one, where the part ends within a line.
fn joined_with_front(text: &str) -> String {
    let text = without_line_comments(text);
    let mut lines: Vec<&str> = text.split('\n').collect();
    let last = lines.pop().unwrap_or_default();
    let mut all: String = lines.iter().flat_map(|l| [l.trim(), " "]).collect();
    all += if lines.is_empty() {
        last
    } else {
        last.trim_start()
    };
    all
}

/// The lines of a statement as one, without comments that end with a line; a line alone
/// keeps its own.
fn joined(text: &str) -> String {
    let text = text.trim();
    if !text.contains('\n') {
        return text.to_owned();
    }
    let text = without_line_comments(text);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.join(" ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_of_several_lines_has_its_edits_in_the_joined_text() {
        let place = Text::new("{\n  f(a[i +\n     1]\n    [j],\n    b[2]);\n}".to_owned());
        let at = |part: &str| place.text.find(part).unwrap();
        let edits = [
            Edit::insert(at("a["), "x("),
            Edit {
                from: at("i +"),
                to: at("]\n"),
                new: "i +\n     2".to_owned(),
            },
            Edit::insert(at(",\n"), ")"),
            Edit::insert(at("b["), "y, "),
        ];
        let all = change("k.cu:2".to_owned(), &place, (1, at("\n}")), &edits).unwrap();
        assert_eq!(all.text, "f(a[i + 1] [j], b[2]);");
        assert_eq!(all.changed_text, "f(x(a[i + 2] [j]), y, b[2]);");
        assert_eq!(applied(&all.text, &all.edits).unwrap(), all.changed_text);
        assert_eq!(all.edits.len(), 4);
    }

    #[test]
    fn the_comment_of_a_line_does_not_swallow_the_next() {
        let source = "a[i // row: \"a[0]\n  + 0] /* b // c\n */ = \"//\"; // end\n";
        let place = Text::new(source.to_owned());
        let end = place.statement_end(0);
        let edits = [
            Edit::insert(0, "x("),
            Edit::insert(source.find(" /*").unwrap(), ")"),
        ];
        let all = change("k.cu:1".to_owned(), &place, (0, end), &edits).unwrap();
        assert_eq!(all.text, "a[i + 0] /* b // c */ = \"//\";");
        assert_eq!(all.changed_text, "x(a[i + 0]) /* b // c */ = \"//\";");
        assert_eq!(applied(&all.text, &all.edits).unwrap(), all.changed_text);
        // The region of the statement in the file.
        let lines: Vec<String> = source.lines().map(str::to_owned).collect();
        let region = crate::suggest::source::region::Region::of(&lines, 2, &all.text).unwrap();
        assert_eq!((region.start, region.end), ((1, 1), (3, 12)));
    }

    #[test]
    fn a_directive_is_not_put_on_one_line_with_code() {
        let source = "f(a,\n#if B\nb\n#endif\n);";
        let place = Text::new(source.to_owned());
        let edits = [Edit::insert(2, "x")];
        let changed = change("k.cu:1".to_owned(), &place, (0, source.len()), &edits);
        assert_eq!(changed, None);
        let place = Text::new("f(a\n#endif".to_owned());
        assert_eq!(change("k.cu:1".to_owned(), &place, (0, 10), &edits), None);
    }

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
