//! The report of `sim --sweep`: which point is the fastest, by how much, and what
//! the cycles of each go to.

use super::bars::{bars, key};
use super::frame;
use crate::choice::CycleParts;
use crate::verdict::grouped;
use serde::Serialize;
use serde_json::{Value, json};
use spadkit_base::error::Result;
use spadkit_launch::readable::readable_words;
use spadkit_rtl::template::defect;
use tera::Context;

const NAME: &str = "sweep.html.tera";
const TEMPLATE: &str = include_str!("sweep.html.tera");
/// Bars that are shown at once; the others are folded.
const SHOWN: usize = 24;

/// A point of a sweep.
#[derive(Clone, Debug, Serialize)]
pub struct SweepLine {
    /// Values of the point's options.
    pub name: String,
    /// Cycles of the point, by cause.
    pub cycles: CycleParts,
    /// Speed-up over its baseline.
    pub speed_up: Option<f64>,
    /// Warp instructions a cycle.
    pub ipc: f64,
    /// Mean conflict degree of the accesses.
    pub degree: f64,
    /// Resident blocks.
    pub blocks: u32,
    /// The reason of most stalls, and its share of the issue slots.
    pub dominant: Option<(String, f64)>,
}

/// The content of the report.
#[derive(Clone, Debug)]
pub struct SweepReport {
    /// The kernel.
    pub kernel: String,
    /// The answer, a sentence.
    pub verdict: String,
    /// The machine, where all points have one.
    pub machine: Option<String>,
    /// All points that ran, in the order of the options' values.
    pub points: Vec<SweepLine>,
    /// The baselines of the speed-ups.
    pub baselines: Vec<String>,
    /// Points that cannot be, and why.
    pub skipped: Vec<(String, String)>,
    /// Points of the sweep that did not run: it was interrupted.
    pub missing: usize,
    /// The rule by which conflicts were counted.
    pub rule: String,
    /// The commands that make this page.
    pub commands: Vec<String>,
}

impl SweepReport {
    /// The page as an HTML file that refers to no other.
    pub fn render(&self) -> Result<String> {
        let mut points: Vec<&SweepLine> = self.points.iter().collect();
        points.sort_by_key(|p| p.cycles.total);
        let run = |(i, p): (usize, &&SweepLine)| (p.name.clone(), i == 0, p.cycles, p.speed_up);
        let runs: Vec<_> = points.iter().enumerate().map(run).collect();
        let (first, rest) = runs.split_at(SHOWN.min(runs.len()));
        let all = json!({
            "title": format!("sweep: {}", readable_words(&self.kernel)),
            "sections": [["gain", "Cycles"], ["points", "Points"], ["again", "Reproduce"]],
            "kernel": readable_words(&self.kernel),
            "verdict": self.verdict,
            "machine": self.machine,
            "kpis": kpis(&points, self.missing),
            "cycles": bars(first.iter().cloned()),
            "folded": bars(rest.iter().cloned()),
            "bars_of": "Point",
            "parts": key(),
            "points": points.iter().map(|p| row(p)).collect::<Vec<_>>(),
            "baselines": self.baselines,
            "skipped": self.skipped,
            "missing": self.missing,
            "rule": self.rule,
            "commands": self.commands,
        });
        let context = Context::from_serialize(&all).map_err(|e| defect(NAME, e))?;
        frame::render(NAME, TEMPLATE, context)
    }
}

/// The four headline numbers: `k` the caption, `v` the value, `n` the note.
fn kpis(points: &[&SweepLine], missing: usize) -> Value {
    let (Some(best), Some(worst)) = (points.first(), points.last()) else {
        return json!([]);
    };
    let speed_up = best
        .speed_up
        .map_or("-".to_owned(), |s| format!("{s:.2} x"));
    let spread = worst.cycles.total as f64 / best.cycles.total.max(1) as f64;
    let (reason, share) = best.dominant.clone().unwrap_or(("none".to_owned(), 0.0));
    let ran = match missing {
        0 => "all of them ran".to_owned(),
        missing => format!("{missing} did not run"),
    };
    json!([
        {"k": "cycles of the fastest", "v": grouped(best.cycles.total), "n": format!("{:.3} warp instructions a cycle", best.ipc)},
        {"k": "times as fast as its baseline", "v": speed_up, "n": "mod, no hash stage"},
        {"k": "cycles of the slowest", "v": grouped(worst.cycles.total), "n": format!("{spread:.2} times those of the fastest; {} points, {ran}", points.len() + missing)},
        {"k": "what it waits for most", "v": reason, "n": format!("{:.0} % of the issue slots", 100.0 * share)},
    ])
}

fn row(point: &SweepLine) -> Value {
    json!({
        "name": point.name,
        "cycles": grouped(point.cycles.total),
        "speed_up": point.speed_up.map(|s| format!("{s:.3}")),
        "ipc": format!("{:.3}", point.ipc),
        "degree": format!("{:.3}", point.degree),
        "blocks": point.blocks,
        "dominant": point.dominant.as_ref().map(|(r, s)| format!("{r} {:.0} %", 100.0 * s)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(name: &str, total: u64) -> SweepLine {
        let cycles = CycleParts {
            total,
            issued: total as f64,
            ..CycleParts::default()
        };
        SweepLine {
            name: name.to_owned(),
            cycles,
            speed_up: Some(100.0 / total as f64),
            ipc: 1.0,
            degree: 1.5,
            blocks: 2,
            dominant: Some(("bank conflict".to_owned(), 0.25)),
        }
    }

    #[test]
    fn the_fastest_comes_first_and_many_points_are_folded() {
        let mut points: Vec<SweepLine> = (0..30)
            .map(|i| point(&format!("slow{i}"), 200 + i))
            .collect();
        points.push(point("<fast>", 50));
        let report = SweepReport {
            kernel: "k".to_owned(),
            verdict: "The fastest is <fast>.".to_owned(),
            machine: None,
            points,
            baselines: vec!["mod: 100 cycles".to_owned()],
            skipped: vec![("hash x".to_owned(), "does not fit".to_owned())],
            missing: 1,
            rule: "by lanes".to_owned(),
            commands: vec!["spadkit sim k --sweep".to_owned()],
        };
        let page = report.render().unwrap();
        assert!(
            page.contains("&lt;fast&gt;") && !page.contains("<fast>"),
            "names are text"
        );
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}"));
        assert!(place("&lt;fast&gt;</th>") < place("slow0</th>"));
        assert!(
            place("slow22</th>") < place("7 slower points")
                && place("7 slower points") < place("slow23</th>")
        );
        assert!(page.contains("2.00 x") && page.contains("4.58 times"));
        assert!(page.contains("does not fit") && page.contains("32 points, 1 did not run"));
    }
}
