//! Lines of the source in a table, each with the calls that were inlined
//! around them.

use super::source_text::SourceText;
use crate::trace::{Line, ptx_text, without_folder};
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
}

impl SourceRow {
    /// `site` says what a program counter without a line is of.
    pub fn of(line: &Line, site: &str, text: &mut SourceText) -> Self {
        let (source, calls) = match line {
            Line::Source(source, calls) => (Some(source), &calls[..]),
            _ => (None, &[][..]),
        };
        let (file, ptx) = match line {
            Line::Ptx(file, line) => (file.as_ref(), Some(*line)),
            _ => (None, None),
        };
        SourceRow {
            source: source.cloned(),
            inlined_at: calls.to_vec(),
            ptx_line: ptx,
            text: source.and_then(|s| text.line(s)),
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

    /// The place, then the calls through which it came into the kernel, and
    /// below them what stands there.
    pub fn cell(&self) -> String {
        let mut cell = self.place.clone();
        for call in &self.inlined_at {
            cell += &format!("  in {}", without_folder(call));
        }
        if let Some(text) = self.text.as_ref().filter(|text| !text.is_empty()) {
            cell += &format!("\n{}", shortened(text));
        }
        cell
    }
}

/// A line in a sentence, its file without the folder.
pub(super) fn place_of(line: &Line, site: &str) -> String {
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
