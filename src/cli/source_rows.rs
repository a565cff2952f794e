//! Lines of the source in a table, each with the calls that were inlined
//! around them.

use crate::suggest::SourceFiles;
use crate::trace::{Line, calls_text, ptx_text, without_folder};
use serde::Serialize;

/// A line of the source, or where that is not known of the PTX.
#[derive(Serialize)]
pub(super) struct SourceRow {
    /// `file:line`.
    source: Option<String>,
    inlined_at: Vec<String>,
    ptx_line: Option<u32>,
    text: Option<String>,
    /// Where several PTX files are linked.
    #[serde(skip_serializing_if = "Option::is_none")]
    ptx_file: Option<String>,
    /// For people.
    #[serde(skip)]
    place: String,
    /// The line of the innermost call that is not inside of an `asm` statement,
    /// where `text` is.
    #[serde(skip)]
    call_text: Option<String>,
}

impl SourceRow {
    /// `site` says what a program counter without a line is of.
    pub fn of(line: &Line, site: &str, text: &mut SourceFiles) -> Self {
        let (source, calls) = match line {
            Line::Source(source, calls) => (Some(source), &calls[..]),
            _ => (None, &[][..]),
        };
        let (file, ptx) = match line {
            Line::Ptx(file, line) => (file.as_ref(), Some(*line)),
            _ => (None, None),
        };
        let own = source.and_then(|s| text.line(s));
        let mut of_calls = calls.iter().filter_map(|call| text.line(call));
        SourceRow {
            call_text: of_calls.find(|line| own.as_deref().is_some_and(is_asm) && !is_asm(line)),
            source: source.cloned(),
            inlined_at: calls.to_vec(),
            ptx_line: ptx,
            text: own,
            ptx_file: file.cloned(),
            place: place_of(line, site),
        }
    }

    /// `file:line` of the source, where it is known.
    pub fn location(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// The place, its file without the folder.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The place in a sentence: of an `asm` statement, with the call of its function.
    pub fn phrase(&self) -> String {
        match self.inlined_at.first().filter(|_| self.call_text.is_some()) {
            Some(call) => format!("{} (called in {})", self.place, without_folder(call)),
            None => self.place.clone(),
        }
    }

    /// The place, then the calls through which it came into the kernel, and
    /// below them what stands there.
    pub fn cell(&self) -> String {
        let mut cell = self.place.clone() + &calls_text(&self.inlined_at);
        let text = self.call_text.as_ref().or(self.text.as_ref());
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            cell += &format!("\n{}", shortened(text));
        }
        cell
    }
}

/// Whether a line begins an `asm` statement or goes on with one: what it accesses is
/// said where its function is called.
fn is_asm(line: &str) -> bool {
    let begins = ["asm", "__asm", ":", "\""];
    begins.iter().any(|b| line.starts_with(b))
}

/// A line, its file without the folder.
fn place_of(line: &Line, site: &str) -> String {
    match line {
        Line::Source(source, _) => without_folder(source).to_owned(),
        Line::Ptx(file, line) => without_folder(&ptx_text(file.as_deref(), *line)).to_owned(),
        Line::Site(pc) => format!("{site} {pc}"),
    }
}

/// Source text for a table.
fn shortened(line: &str) -> String {
    const MOST: usize = 110;
    match line.char_indices().nth(MOST) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}...", &line[..end]),
    }
}
