//! What to type, for people.

use super::{AccessChange, CopyChange, LineChange, Suggestion};
use crate::trace::{line_of_file, ptx_text, without_folder};
use std::fmt::Write;

/// Lines of an array that are shown.
const MOST_LINES: usize = 12;
/// Instructions of a line that are shown: unrolled ones differ by a constant.
const MOST_ACCESSES: usize = 2;

/// All of them in lines of text; nothing where there is nothing to change.
pub fn text(suggestions: &[Suggestion]) -> String {
    suggestions.iter().map(one).collect()
}

fn one(s: &Suggestion) -> String {
    let mut text = format!(
        "source changes for {}: {} leaves {} of {} conflicts\n",
        s.array, s.hash, s.conflicts, s.conflicts_before
    );
    let span = s.span_bytes();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "  every access changes, indices count elements of {} bytes from the start of {}{}:",
        s.element_bytes,
        s.array,
        match s.variable {
            Some(_) => format!(", which begins at a multiple of {span} bytes"),
            None => String::new(),
        }
    );
    for change in s.copy_texts() {
        let _ = writeln!(text, "  {change}");
    }
    for line in s.lines.iter().take(MOST_LINES) {
        text += &line_text(line, &s.array, s.function_name());
    }
    let more = s.lines.len().saturating_sub(MOST_LINES);
    if more > 0 {
        let _ = writeln!(text, "  {more} more lines in --format json");
    }
    let _ = writeln!(text, "  the function, and {} elements:", s.elements);
    for line in s.function.lines() {
        let _ = writeln!(text, "    {line}");
    }
    text + &alternatives(s)
}

/// Padding in the place of a function, and templates of CuTe and Triton.
fn alternatives(s: &Suggestion) -> String {
    let mut text = String::new();
    if let Some(p) = &s.padding {
        let _ = writeln!(
            text,
            "  or padding, {} leaves {}, {} bytes more:\n    {}\n    {}",
            p.hash, p.conflicts, p.wasted_bytes, p.declaration, p.index
        );
    }
    for (language, template) in [("CuTe", &s.cute), ("Triton", &s.triton)] {
        if let Some(t) = template {
            let _ = writeln!(
                text,
                "  in {language}, {} leaves {}:\n    {}",
                t.hash, t.conflicts, t.code
            );
        }
    }
    text
}

fn line_text(line: &LineChange, array: &str, function: &str) -> String {
    let place = match (
        &line.source,
        line.accesses.first().and_then(AccessChange::ptx_place),
    ) {
        (Some(source), _) => without_folder(source).to_owned(),
        (None, Some(ptx)) => ptx,
        (None, None) => "an unknown source line".to_owned(),
    };
    let mut text = format!("  {place}, {} conflicts", line.conflicts);
    if let Some(old) = &line.text {
        let _ = write!(text, ": {old}");
    }
    text += "\n";
    if let Some(new) = &line.changed_text {
        return text + &format!("    {new}\n");
    }
    let Some(changes) = line.in_names_of_the_source() else {
        return text + &format!("    wrap the index: {array}[{function}(INDEX)]\n");
    };
    for (old, new) in changes.iter().take(MOST_ACCESSES) {
        let _ = writeln!(text, "    {old} -> {new}");
    }
    let more = changes.len().saturating_sub(MOST_ACCESSES);
    if more > 0 {
        let _ = writeln!(
            text,
            "    {more} more accesses of the line, in --format json"
        );
    }
    text
}

impl AccessChange {
    /// Where it is in the PTX; of several files, in which.
    pub fn ptx_place(&self) -> Option<String> {
        Some(ptx_text(self.ptx_file.as_deref(), self.ptx_line?))
    }
}

impl Suggestion {
    /// Bytes that the address of the array is a multiple of.
    pub fn span_bytes(&self) -> u32 {
        let spans = self.tensor_copies.iter().map(CopyChange::span_bytes);
        spans.max().unwrap_or(128)
    }

    /// What changes in the maps of its tensor copies, a sentence for each.
    pub fn copy_texts(&self) -> Vec<String> {
        let text = |copy: &CopyChange| {
            format!(
                "the map of the tensor copy at PTX {} gets {}",
                line_of_file(copy.ptx_file.as_deref(), copy.ptx_line),
                copy.enumerator()
            )
        };
        self.tensor_copies.iter().map(text).collect()
    }
}
