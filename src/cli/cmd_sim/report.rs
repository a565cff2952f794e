//! A sweep as a page.

use super::Works;
use super::point::Point;
use super::sweep::Sweep;
use super::text::{baseline_text, best, conflict_rule, labels, spaced};
use crate::cli::this_command;
use crate::report::CycleParts;
use crate::report::pages::{SweepLine, SweepReport};

pub(super) fn of(sweep: &Sweep, works: &Works) -> SweepReport {
    let lanes = sweep.points.first().map(|p| p.config.lanes);
    let lanes = lanes.filter(|&l| sweep.points.iter().all(|p| p.config.lanes == l));
    let rule = sweep
        .points
        .first()
        .map(|p| conflict_rule(&p.config, lanes));
    let skipped = sweep.skipped.iter();
    SweepReport {
        kernel: works.kernel().to_owned(),
        verdict: best(sweep),
        machine: sweep.preset().map(str::to_owned),
        points: sweep.points.iter().map(line).collect(),
        baselines: sweep.baselines.iter().map(baseline_text).collect(),
        skipped: skipped
            .map(|(d, why)| (labels(&d.labels), why.clone()))
            .collect(),
        missing: sweep.planned - sweep.points.len() - sweep.skipped.len(),
        rule: rule.unwrap_or_default(),
        commands: vec![this_command()],
    }
}

fn line(point: &Point) -> SweepLine {
    let name = match &point.draft.labels[..] {
        [] => point.hash.clone(),
        list => labels(list),
    };
    let dominant = point.dominant_stall();
    SweepLine {
        name,
        cycles: CycleParts::of(&point.statistics),
        speed_up: point.speed_up(),
        ipc: point.statistics.ipc,
        degree: point.statistics.mean_conflict_degree,
        blocks: point.residency.blocks(),
        dominant: dominant.map(|(reason, share)| (spaced(reason), share)),
    }
}
