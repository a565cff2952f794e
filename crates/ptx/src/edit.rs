//! Changes to a PTX text that leave every other byte as it is.
//!
//! A pass collects insertions and replacements by the byte offsets that the
//! [spans](super::ast::Span) of the parsed module give, and applies them at
//! once. Comments, white space, directives and `.loc` stay where they are.

use super::ast::Span;

/// Changes to one text.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    changes: Vec<Change>,
}

#[derive(Clone, Debug)]
struct Change {
    start: usize,
    end: usize,
    text: String,
}

impl Edits {
    /// No changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is no change.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Puts `text` before the byte `at`. Of several insertions at one place
    /// the first call comes first; they come before what replaces the text
    /// that starts there.
    pub fn insert(&mut self, at: u32, text: impl Into<String>) {
        self.push(at, at, text.into());
    }

    /// Puts `text` in the place of the bytes of `span`. Spans of two
    /// replacements must not overlap, and no insertion may lie inside one.
    pub fn replace(&mut self, span: Span, text: impl Into<String>) {
        self.push(span.start, span.end, text.into());
    }

    /// Puts `text` on lines of its own before the statement at byte `at` of
    /// `original`, indented as that statement is. Where the statement does
    /// not begin its line, the text goes before it on the same line.
    pub fn insert_lines(&mut self, original: &str, at: u32, lines: &[String]) {
        let before = &original[..at as usize];
        let line_start = before.rfind('\n').map_or(0, |n| n + 1);
        let indent = &before[line_start..];
        let own_line = indent.chars().all(char::is_whitespace);
        let text: String = if own_line {
            lines.iter().map(|l| format!("{l}\n{indent}")).collect()
        } else {
            lines.iter().map(|l| format!("{l} ")).collect()
        };
        self.insert(at, text);
    }

    fn push(&mut self, start: u32, end: u32, text: String) {
        self.changes.push(Change {
            start: start as usize,
            end: end as usize,
            text,
        });
    }

    /// The changed text.
    ///
    /// # Panics
    ///
    /// Where replacements overlap: the pass that made them is wrong.
    pub fn apply(mut self, original: &str) -> String {
        self.changes.sort_by_key(|c| (c.start, c.end));
        let added: usize = self.changes.iter().map(|c| c.text.len()).sum();
        let mut text = String::with_capacity(original.len() + added);
        let mut at = 0;
        for change in &self.changes {
            assert!(change.start >= at, "two changes of the same PTX overlap");
            text.push_str(&original[at..change.start]);
            text.push_str(&change.text);
            at = change.end;
        }
        text.push_str(&original[at..]);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_keep_their_places_and_order() {
        let original = "a;\n  b; c;\n";
        let mut edits = Edits::new();
        edits.insert(8, "last ");
        edits.replace(
            Span {
                start: 5,
                end: 7,
                line: 2,
            },
            "B;",
        );
        edits.insert_lines(original, 5, &["x;".into(), "y;".into()]);
        edits.insert_lines(original, 8, &["z;".into()]);
        assert_eq!(edits.apply(original), "a;\n  x;\n  y;\n  B; last z; c;\n");
        assert_eq!(Edits::new().apply(original), original);
    }
}
