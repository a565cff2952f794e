//! `conflicts --source`: the conflicts of each source line, most expensive
//! first.

use super::printer::table;
use super::source_rows;
use super::source_text::SourceText;
use crate::trace::{ConflictCount, Line};
use serde_json::{Value, json};

/// A line's cost under one mapping.
pub(super) struct LineCost {
    pub line: Line,
    pub count: ConflictCount,
    /// Wavefronts that its accesses need at least.
    pub ideal: u64,
    /// Percent of the launch's cycles, where it was simulated.
    pub cycles: Option<f64>,
}

impl LineCost {
    /// Wavefronts more than ideal.
    fn excess(&self) -> u64 {
        self.count.wavefronts().saturating_sub(self.ideal)
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
            let mut json = source_rows::json(&l.line, text);
            let counts = json!({
                "conflicts": l.count.conflicts,
                "max_degree": l.count.max_degree,
                "wavefronts": l.count.wavefronts(),
                "ideal_wavefronts": l.ideal,
                "excess_wavefronts": l.excess(),
                "share_pct": self.share(l),
            });
            super::merge(&mut json, counts);
            if let Some(share) = l.cycles {
                json["cycles_pct"] = json!(share);
            }
            json
        };
        self.0.iter().map(line).collect()
    }

    pub fn text(&self, text: &mut SourceText) -> String {
        let mut header = vec!["line", "excess", "wavefronts", "ideal", "share"];
        if self.0.iter().any(|l| l.cycles.is_some()) {
            header.push("cycles");
        }
        header.push("max degree");
        let numbers = header[1..].to_vec();
        header.push("source");
        let percent = |share: f64| format!("{share:.1} %");
        let rows = self.0.iter().flat_map(|l| {
            let mut cells = vec![
                l.excess().to_string(),
                l.count.wavefronts().to_string(),
                l.ideal.to_string(),
                percent(self.share(l)),
            ];
            cells.extend(l.cycles.map(percent));
            cells.push(l.count.max_degree.to_string());
            source_rows::rows(&l.line, "access site", cells, text)
        });
        let rows: Vec<Vec<String>> = rows.collect();
        table(&header, &numbers, rows)
    }
}
