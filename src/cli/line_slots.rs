//! The issue slots of each source line, as `sim --source` and `conflicts
//! --cycles` show them.

use super::printer::table;
use super::source_rows::SourceRow;
use super::source_text::SourceText;
use crate::sm::{Profile, Slots, Stalls, Workload};
use crate::trace::Line;
use serde::Serialize;
use std::collections::BTreeMap;

/// The lines of a run with their issue slots, those with most first; slots
/// without a line are those in which no warp was resident.
pub(super) struct LineSlots(Vec<(Option<Line>, Slots)>);

/// A line with its issue slots.
#[derive(Serialize)]
pub(super) struct LineSlot {
    #[serde(flatten)]
    line: Option<SourceRow>,
    /// Of an instruction whose line is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pc: Option<u32>,
    issue_slots: u64,
    issued: u64,
    stalls: Stalls,
    share_pct: f64,
}

impl LineSlots {
    /// Sums the slots of the instructions of each line.
    pub fn new(profile: &Profile, workload: &dyn Workload) -> Self {
        let places = workload.places();
        let mut of: BTreeMap<Option<Line>, Slots> = BTreeMap::new();
        for (pc, slots) in profile.list() {
            let line = pc.map(|pc| Line::of(&places.of(pc), pc));
            of.entry(line).or_default().add(&slots);
        }
        let mut lines: Vec<(Option<Line>, Slots)> = of.into_iter().collect();
        lines.sort_by_key(|(_, slots)| std::cmp::Reverse(slots.total()));
        LineSlots(lines)
    }

    /// All issue slots.
    fn total(&self) -> u64 {
        self.0.iter().map(|(_, slots)| slots.total()).sum()
    }

    fn percent(&self, slots: u64) -> f64 {
        100.0 * slots as f64 / self.total().max(1) as f64
    }

    /// Percent of all cycles that are of a line.
    pub fn share(&self, line: &Line) -> f64 {
        let own = self.0.iter().find(|(l, _)| l.as_ref() == Some(line));
        own.map_or(0.0, |(_, slots)| self.percent(slots.total()))
    }

    /// All lines, with their text.
    pub fn lines(&self, text: &mut SourceText) -> Vec<LineSlot> {
        let line = |(line, slots): &(Option<Line>, Slots)| LineSlot {
            line: line.as_ref().map(|l| SourceRow::of(l, "pc", text)),
            pc: match line {
                Some(Line::Site(pc)) => Some(*pc),
                _ => None,
            },
            issue_slots: slots.total(),
            issued: slots.issued,
            stalls: slots.stalls,
            share_pct: self.percent(slots.total()),
        };
        self.0.iter().map(line).collect()
    }
}

/// The table of lines.
pub(super) fn text(lines: &[LineSlot]) -> String {
    let header = [
        "line",
        "share",
        "issue slots",
        "issued",
        "stalled",
        "most stalls",
        "source",
    ];
    let rows = lines.iter().flat_map(|slot| {
        let cells = vec![
            format!("{:.1} %", slot.share_pct),
            slot.issue_slots.to_string(),
            slot.issued.to_string(),
            slot.stalls.total().to_string(),
            most(&slot.stalls),
        ];
        match &slot.line {
            Some(line) => line.rows(cells),
            None => vec![[vec!["no warp".to_owned()], cells, vec![String::new()]].concat()],
        }
    });
    let rows: Vec<Vec<String>> = rows.collect();
    table(&header, &header[1..5], rows)
}

/// The reason of most stalls.
fn most(stalls: &Stalls) -> String {
    let list = stalls.list();
    let most = list.iter().map(|stall| stall.1).max().unwrap_or(0);
    let found = list.iter().find(|stall| stall.1 == most && most > 0);
    found.map_or(String::new(), |stall| stall.0.replace('_', " "))
}
