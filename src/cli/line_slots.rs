//! The issue slots of each source line, as `sim --source` and `conflicts
//! --simulate` show them.

use super::source_rows::SourceRow;
use crate::sm::{Profile, Slots, Stalls, Workload};
use crate::suggest::SourceFiles;
use crate::terminal::{Columns, Table};
use crate::trace::Line;
use serde::Serialize;
use std::collections::BTreeMap;

/// The issue slots of a run by line.
pub(super) struct LineSlots {
    /// Lines with most slots first; slots without a line are those in which no warp was resident.
    lines: Vec<(Option<Line>, Slots)>,
    /// Issue slots of all lines.
    total: u64,
}

/// A line with its issue slots.
#[derive(Serialize)]
pub(super) struct LineSlot {
    #[serde(flatten)]
    line: Option<SourceRow>,
    /// The site of an instruction without a known line.
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
        let total = lines.iter().map(|(_, slots)| slots.total()).sum();
        LineSlots { lines, total }
    }

    fn percent(&self, slots: u64) -> f64 {
        100.0 * slots as f64 / self.total.max(1) as f64
    }

    /// Percent of all cycles that are of a line.
    pub fn share(&self, line: &Line) -> f64 {
        let own = self.lines.iter().find(|(l, _)| l.as_ref() == Some(line));
        own.map_or(0.0, |(_, slots)| self.percent(slots.total()))
    }

    /// All lines, with their text.
    pub fn lines(&self, text: &mut SourceFiles) -> Vec<LineSlot> {
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
        self.lines.iter().map(line).collect()
    }
}

/// The table of lines.
pub(super) fn table(lines: &[LineSlot]) -> Table {
    let most = |slot: &&LineSlot| {
        let most = slot.stalls.most();
        most.map_or(String::new(), |(reason, _)| reason.replace('_', " "))
    };
    Columns::of(lines)
        .right("share", |slot| format!("{:.1} %", slot.share_pct))
        .right("issue slots", |slot| slot.issue_slots)
        .right("issued", |slot| slot.issued)
        .right("stalled", |slot| slot.stalls.total())
        .left("most stalls", most)
        .left("where", |slot| match &slot.line {
            Some(line) => line.cell(),
            None => "no warp".to_owned(),
        })
        .minor(&["stalled", "issued"])
        .table()
        .readable("where", 34)
}
