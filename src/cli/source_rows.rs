//! Source lines as rows of tables and objects of JSON, with the calls that were
//! inlined around them.

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
    /// The text at `place`, then at each of `inlined_at`.
    #[serde(skip)]
    texts: Vec<Option<String>>,
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
        let place = match line {
            Line::Source(source, _) => source.clone(),
            Line::Ptx(file, line) => ptx_text(file.as_deref(), *line),
            Line::Site(pc) => format!("{site} {pc}"),
        };
        SourceRow {
            source: source.cloned(),
            inlined_at: calls.to_vec(),
            ptx_line: ptx,
            text: source.and_then(|s| text.line(s)),
            ptx_file: file.cloned(),
            texts: [&place]
                .into_iter()
                .chain(calls)
                .map(|p| text.line(p))
                .collect(),
            place,
        }
    }

    /// A row with the line, `cells` and its text, and a row for each call.
    pub fn rows(&self, mut cells: Vec<String>) -> Vec<Vec<String>> {
        let calls = self.inlined_at.iter();
        let calls = calls.map(|call| format!("  inlined at {}", without_folder(call)));
        let places = [without_folder(&self.place).to_owned()]
            .into_iter()
            .chain(calls);
        let row = |(place, text): (String, &Option<String>)| {
            let text = shortened(text.clone().unwrap_or_default());
            let row = [vec![place], cells.clone(), vec![text]].concat();
            cells.fill(String::new());
            row
        };
        places.zip(&self.texts).map(row).collect()
    }
}

/// Source text for a table.
fn shortened(line: String) -> String {
    const MOST: usize = 60;
    match line.char_indices().nth(MOST) {
        None => line,
        Some((end, _)) => format!("{}...", &line[..end]),
    }
}
