//! `conflicts --source`: the conflicts of each source line, most expensive
//! first.

use super::printer::table;
use super::source_text::SourceText;
use crate::trace::{ConflictCount, Line};
use serde_json::{Value, json};

/// A line's cost under one mapping.
pub(super) struct LineCost {
    pub line: Line,
    pub count: ConflictCount,
    /// Wavefronts that its accesses need at least.
    pub ideal: u64,
}

impl LineCost {
    /// Wavefronts more than ideal.
    fn excess(&self) -> u64 {
        self.count.wavefronts().saturating_sub(self.ideal)
    }

    /// `file:line` and the calls around it.
    fn places(&self) -> (String, &[String]) {
        match &self.line {
            Line::Source(source, calls) => (source.clone(), calls),
            Line::Ptx(None, line) => (format!("PTX {line}"), &[]),
            Line::Ptx(Some(file), line) => (format!("{file}:{line}"), &[]),
            Line::Site(pc) => (format!("access site {pc}"), &[]),
        }
    }
}

/// The lines of a kernel under one mapping, those with most to gain first.
pub(super) struct LineCosts(Vec<LineCost>);

impl LineCosts {
    pub fn new(mut lines: Vec<LineCost>) -> Self {
        lines.sort_by_key(|l| std::cmp::Reverse((l.excess(), l.count.wavefronts())));
        LineCosts(lines)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Percent of all wavefronts.
    fn share(&self, line: &LineCost) -> f64 {
        let all: u64 = self.0.iter().map(|l| l.count.wavefronts()).sum();
        100.0 * line.count.wavefronts() as f64 / all.max(1) as f64
    }

    pub fn json(&self, text: &mut SourceText) -> Value {
        let line = |l: &LineCost| {
            let (source, calls) = match &l.line {
                Line::Source(source, calls) => (Some(source), &calls[..]),
                _ => (None, &[][..]),
            };
            let (file, ptx) = match &l.line {
                Line::Ptx(file, line) => (file.as_ref(), Some(line)),
                _ => (None, None),
            };
            let mut json = json!({
                "source": source,
                "inlined_at": calls,
                "ptx_line": ptx,
                "text": source.and_then(|s| text.line(s)),
                "conflicts": l.count.conflicts,
                "max_degree": l.count.max_degree,
                "wavefronts": l.count.wavefronts(),
                "ideal_wavefronts": l.ideal,
                "excess_wavefronts": l.excess(),
                "share_pct": self.share(l),
            });
            if let Some(file) = file {
                json["ptx_file"] = json!(file);
            }
            json
        };
        self.0.iter().map(line).collect()
    }

    pub fn text(&self, text: &mut SourceText) -> String {
        let header = [
            "line",
            "excess",
            "wavefronts",
            "ideal",
            "share",
            "max degree",
            "source",
        ];
        let rows = self.0.iter().flat_map(|l| {
            let (place, calls) = l.places();
            let first = vec![
                without_folder(&place),
                l.excess().to_string(),
                l.count.wavefronts().to_string(),
                l.ideal.to_string(),
                format!("{:.1} %", self.share(l)),
                l.count.max_degree.to_string(),
                shortened(text.line(&place).unwrap_or_default()),
            ];
            let inlined = calls.iter().map(|call| {
                let mut row = vec![String::new(); header.len()];
                row[0] = format!("  inlined at {}", without_folder(call));
                row[header.len() - 1] = shortened(text.line(call).unwrap_or_default());
                row
            });
            let inlined: Vec<_> = inlined.collect();
            std::iter::once(first).chain(inlined)
        });
        table(&header, &header[1..6], rows.collect::<Vec<_>>())
    }
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
