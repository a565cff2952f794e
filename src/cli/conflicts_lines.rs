//! `conflicts --source`: the conflicts of each source line, most expensive
//! first.

use super::printer::table;
use super::source_rows::SourceRow;
use super::source_text::SourceText;
use crate::trace::{ConflictCount, Line};
use serde::Serialize;

/// The counts of some accesses.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Counted {
    pub conflicts: u64,
    max_degree: u32,
    pub wavefronts: u64,
    /// Wavefronts that they need at least.
    ideal_wavefronts: u64,
}

impl Counted {
    pub fn new(count: ConflictCount, ideal_wavefronts: u64) -> Self {
        Counted {
            conflicts: count.conflicts,
            max_degree: count.max_degree,
            wavefronts: count.wavefronts(),
            ideal_wavefronts,
        }
    }

    /// Wavefronts more than ideal.
    fn excess(&self) -> u64 {
        self.wavefronts.saturating_sub(self.ideal_wavefronts)
    }

    pub fn cells(&self) -> [String; 4] {
        [
            self.conflicts.to_string(),
            self.max_degree.to_string(),
            self.wavefronts.to_string(),
            self.ideal_wavefronts.to_string(),
        ]
    }
}

/// A line's cost under one mapping.
#[derive(Serialize)]
pub(super) struct LineCost {
    #[serde(flatten)]
    line: SourceRow,
    #[serde(flatten)]
    counted: Counted,
    excess_wavefronts: u64,
    /// Of all wavefronts.
    share_pct: f64,
    /// Of the launch's cycles, where it was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles_pct: Option<f64>,
}

/// The lines of a kernel under one mapping, those with most to gain first:
/// each with its counts and its share of the cycles.
pub(super) fn costs(
    mut lines: Vec<(&Line, Counted, Option<f64>)>,
    text: &mut SourceText,
) -> Vec<LineCost> {
    lines.sort_by_key(|(_, c, _)| std::cmp::Reverse((c.excess(), c.wavefronts)));
    let all: u64 = lines.iter().map(|(_, c, _)| c.wavefronts).sum();
    let cost = |(line, counted, cycles_pct): (&Line, Counted, _)| LineCost {
        line: SourceRow::of(line, "access site", text),
        counted,
        excess_wavefronts: counted.excess(),
        share_pct: 100.0 * counted.wavefronts as f64 / all.max(1) as f64,
        cycles_pct,
    };
    lines.into_iter().map(cost).collect()
}

/// The table of lines.
pub(super) fn text(lines: &[LineCost]) -> String {
    let mut header = vec!["line", "excess", "wavefronts", "ideal", "share"];
    if lines.iter().any(|l| l.cycles_pct.is_some()) {
        header.push("cycles");
    }
    header.push("max degree");
    let numbers = header[1..].to_vec();
    header.push("source");
    let percent = |share: f64| format!("{share:.1} %");
    let rows = lines.iter().flat_map(|l| {
        let mut cells = vec![
            l.excess_wavefronts.to_string(),
            l.counted.wavefronts.to_string(),
            l.counted.ideal_wavefronts.to_string(),
            percent(l.share_pct),
        ];
        cells.extend(l.cycles_pct.map(percent));
        cells.push(l.counted.max_degree.to_string());
        l.line.rows(cells)
    });
    let rows: Vec<Vec<String>> = rows.collect();
    table(&header, &numbers, rows)
}
