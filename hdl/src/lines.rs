//! Text in lines of a width.

/// Columns of code before an expression is broken into lines.
pub(crate) const CODE_WIDTH: usize = 96;

/// Columns of text in a comment.
pub(crate) const COMMENT_WIDTH: usize = 76;

/// Lines of at most `width` columns, where that can be.
pub(crate) struct Lines {
    width: usize,
    lines: Vec<String>,
}

impl Lines {
    /// One line so far.
    pub(crate) fn new(width: usize, first: String) -> Self {
        Lines {
            width,
            lines: vec![first],
        }
    }

    /// A new line with `text`, `indent` columns in.
    pub(crate) fn begin(&mut self, indent: usize, text: &str) {
        self.lines.push(format!("{:indent$}{text}", ""));
    }

    /// Appends `text` to the line, or starts a new line if it does not fit.
    pub(crate) fn append(&mut self, indent: usize, text: &str) {
        match self.lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(text),
            Some(line) if line.len() + 1 + text.len() <= self.width => {
                line.push(' ');
                line.push_str(text);
            }
            _ => self.begin(indent, text),
        }
    }

    pub(crate) fn join(&self) -> String {
        self.lines.join("\n")
    }
}

/// `text` in lines of at most `width` columns.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Lines::new(width, String::new());
    let words = text.split_whitespace();
    words.for_each(|word| lines.append(0, word));
    lines.lines
}

/// A list with commas in lines of at most `width` columns; an entry that fits
/// into a line is not broken.
pub(crate) fn wrap_list(text: &str, width: usize) -> Vec<String> {
    let mut lines = Lines::new(width, String::new());
    for entry in text.split_inclusive(", ").map(str::trim_end) {
        let parts = wrap(entry, width);
        parts.iter().for_each(|part| lines.append(0, part));
    }
    lines.lines
}
