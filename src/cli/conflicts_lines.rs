//! `conflicts --source`: the conflicts of each source line, most expensive
//! first.

use super::source_rows::SourceRow;
use crate::report::MappingLine;
use crate::suggest::SourceFiles;
use crate::terminal::{Columns, Table, Tone};
use crate::trace::{ConflictCount, Line};
use serde::Serialize;

/// The counts of some accesses.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Counted {
    pub conflicts: u64,
    pub max_degree: u32,
    pub wavefronts: u64,
    /// Wavefronts that they need at least.
    pub ideal_wavefronts: u64,
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

    /// The counts of a mapping that `flow` counted.
    pub fn of_line(line: &MappingLine) -> Self {
        Counted {
            conflicts: line.conflicts,
            max_degree: line.max_degree,
            wavefronts: line.wavefronts,
            ideal_wavefronts: line.ideal_wavefronts,
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
    /// Share of all wavefronts.
    share_pct: f64,
    /// Share of the launch's cycles, where it was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    cycles_pct: Option<f64>,
}

/// The lines of a kernel under one mapping, those with most to gain first:
/// each with its counts and its share of the cycles.
pub(super) fn costs(
    mut lines: Vec<(&Line, Counted, Option<f64>)>,
    text: &mut SourceFiles,
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

/// Columns of the longest bar.
const BAR: u64 = 16;

/// The table of lines: their wavefronts as bars, what conflicts add, and where.
pub(super) fn table(lines: &[LineCost]) -> Table {
    let most = lines
        .iter()
        .map(|l| l.counted.wavefronts)
        .max()
        .unwrap_or(0);
    let percent = |share: f64| format!("{share:.1} %");
    let mut columns = Columns::of(lines)
        .left("wavefronts", |l| bar(l.counted.wavefronts, most))
        .toned(|l| cost_tone(l.counted.conflicts))
        .right("number", |l| l.counted.wavefronts)
        .right("ideal", |l| l.counted.ideal_wavefronts)
        .right("share", |l| percent(l.share_pct));
    if lines.iter().any(|l| l.cycles_pct.is_some()) {
        columns = columns.right("cycles", |l| l.cycles_pct.map_or(String::new(), percent));
    }
    columns
        .right("conflicts", |l| added(l.counted.conflicts))
        .toned(|l| cost_tone(l.counted.conflicts))
        .right("worst", |l| format!("{}x", l.counted.max_degree))
        .left("where", |l| l.line.cell())
        .minor(&["share", "ideal", "number"])
        .table()
        .readable("where", 40)
}

/// A bar for `count` where the longest is for `most`; something is never nothing.
fn bar(count: u64, most: u64) -> String {
    let length = (BAR * count).div_ceil(most.max(1));
    "█".repeat(length as usize)
}

fn added(conflicts: u64) -> String {
    match conflicts {
        0 => "0".to_owned(),
        more => format!("+{more}"),
    }
}

/// Conflicts are a cost; none are as it should be.
pub(super) fn cost_tone(conflicts: u64) -> Tone {
    match conflicts {
        0 => Tone::Good,
        _ => Tone::Bad,
    }
}
