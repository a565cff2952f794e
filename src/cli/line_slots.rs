//! The issue slots of each source line, as `sim --source` and `conflicts
//! --cycles` show them.

use super::printer::table;
use super::source_rows;
use super::source_text::SourceText;
use crate::sm::{Profile, Slots, Workload};
use crate::trace::Line;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The lines of a run with their issue slots, those with most first; slots
/// without a line are those in which no warp was resident.
pub(super) struct LineSlots(Vec<(Option<Line>, Slots)>);

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

    pub fn json(&self, text: &mut SourceText) -> Value {
        let line = |(line, slots): &(Option<Line>, Slots)| {
            let mut json = match line {
                Some(line) => source_rows::json(line, text),
                None => json!({}),
            };
            if let Some(Line::Site(pc)) = line {
                json["pc"] = json!(pc);
            }
            json["issue_slots"] = json!(slots.total());
            json["issued"] = json!(slots.issued);
            json["stalls"] = json!(slots.stalls);
            json["share_pct"] = json!(self.percent(slots.total()));
            json
        };
        self.0.iter().map(line).collect()
    }

    pub fn text(&self, text: &mut SourceText) -> String {
        let header = [
            "line",
            "share",
            "issue slots",
            "issued",
            "stalled",
            "most stalls",
            "source",
        ];
        let rows = self.0.iter().flat_map(|(line, slots)| {
            let cells = vec![
                format!("{:.1} %", self.percent(slots.total())),
                slots.total().to_string(),
                slots.issued.to_string(),
                slots.stalls.total().to_string(),
                most(slots),
            ];
            match line {
                Some(line) => source_rows::rows(line, "pc", cells, text),
                None => {
                    let mut row = vec!["no warp".to_owned()];
                    row.extend(cells);
                    row.push(String::new());
                    vec![row]
                }
            }
        });
        let rows: Vec<Vec<String>> = rows.collect();
        table(&header, &header[1..5], rows)
    }
}

/// The reason of most stalls.
fn most(slots: &Slots) -> String {
    let list = slots.stalls.list();
    let most = list.iter().map(|stall| stall.1).max().unwrap_or(0);
    let found = list.iter().find(|stall| stall.1 == most && most > 0);
    found.map_or(String::new(), |stall| stall.0.replace('_', " "))
}
