//! Source lines as rows of tables and objects of JSON, with the calls that were
//! inlined around them.

use super::source_text::SourceText;
use crate::trace::Line;
use serde_json::{Value, json};

/// `file:line` and the calls around it; `site` says what a program counter
/// without a line is of.
fn places<'a>(line: &'a Line, site: &str) -> (String, &'a [String]) {
    match line {
        Line::Source(source, calls) => (source.clone(), calls),
        Line::Ptx(None, line) => (format!("PTX {line}"), &[]),
        Line::Ptx(Some(file), line) => (format!("{file}:{line}"), &[]),
        Line::Site(pc) => (format!("{site} {pc}"), &[]),
    }
}

/// A row with the line, `cells` and its text, and a row for each call.
pub(super) fn rows(
    line: &Line,
    site: &str,
    cells: Vec<String>,
    text: &mut SourceText,
) -> Vec<Vec<String>> {
    let (place, calls) = places(line, site);
    let between = cells.len();
    let mut first = vec![without_folder(&place)];
    first.extend(cells);
    first.push(shortened(text.line(&place).unwrap_or_default()));
    let mut rows = vec![first];
    rows.extend(calls.iter().map(|call| {
        let mut row = vec![format!("  inlined at {}", without_folder(call))];
        row.resize(1 + between, String::new());
        row.push(shortened(text.line(call).unwrap_or_default()));
        row
    }));
    rows
}

/// `source`, `inlined_at`, `ptx_line`, `text`, and of several PTX files
/// `ptx_file`.
pub(super) fn json(line: &Line, text: &mut SourceText) -> Value {
    let (source, calls) = match line {
        Line::Source(source, calls) => (Some(source), &calls[..]),
        _ => (None, &[][..]),
    };
    let (file, ptx) = match line {
        Line::Ptx(file, line) => (file.as_ref(), Some(line)),
        _ => (None, None),
    };
    let mut json = json!({
        "source": source,
        "inlined_at": calls,
        "ptx_line": ptx,
        "text": source.and_then(|s| text.line(s)),
    });
    if let Some(file) = file {
        json["ptx_file"] = json!(file);
    }
    json
}

/// As Nsight Compute does, a place goes by the file's name alone.
fn without_folder(place: &str) -> String {
    place.rsplit(['/', '\\']).next().unwrap_or(place).to_owned()
}

/// Source text for a table.
fn shortened(line: String) -> String {
    const MOST: usize = 60;
    match line.char_indices().nth(MOST) {
        None => line,
        Some((end, _)) => format!("{}...", &line[..end]),
    }
}
