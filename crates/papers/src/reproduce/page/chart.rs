//! A figure's chart, drawn as the paper draws it: a panel per kind of number,
//! with marks of the published values on the measured ones.

use super::super::figure::Figure;
use super::super::results::Comparison;
use super::columns::{Column, columns};
use super::grid::{in_order, product};
use spadkit_report::draw::{MarkedChart, MarkedGroup, MarkedPanel, Pair};

/// Panels of a chart at most.
const PANELS: usize = 6;
/// The number of steps of a parameter from which values are drawn as lines.
const STEPS: usize = 4;

/// The chart; none where no workload has a number.
pub(super) fn svg(figure: &Figure, results: &[Comparison]) -> Option<String> {
    let columns = columns(figure, results);
    let workloads: Vec<&str> = figure.workload.keys().map(String::as_str).collect();
    let mut panels: Vec<MarkedPanel> = Vec::new();
    for group in grouped(&columns) {
        panels.extend(panel(&group, &workloads));
    }
    panels.truncate(PANELS);
    (!panels.is_empty()).then(|| {
        let chart = MarkedChart {
            title: format!("{}: {}", figure.id, figure.title),
            subtitle: figure.source.clone(),
            panels,
        };
        chart.svg()
    })
}

/// Columns `STEM, A` and `STEM, B` of one unit are series of one panel.
fn grouped<'c, 'a>(columns: &'c [Column<'a>]) -> Vec<Vec<&'c Column<'a>>> {
    let mut groups: Vec<Vec<&Column>> = Vec::new();
    let with_numbers = columns
        .iter()
        .filter(|c| c.values.iter().any(|v| v.measured.is_some()));
    for column in with_numbers {
        let alike = |g: &&mut Vec<&Column>| {
            g[0].stem() == column.stem() && g[0].unit == column.unit && g.len() < 8
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(column),
            None => groups.push(vec![column]),
        }
    }
    groups
}

fn panel(columns: &[&Column], all: &[&str]) -> Option<MarkedPanel> {
    let has = |w: &&str| columns.iter().any(|c| c.of(w).is_some());
    let workloads: Vec<&str> = all.iter().copied().filter(|w| has(w)).collect();
    let (firsts, seconds) = match product(&workloads) {
        Some((firsts, seconds)) if firsts.len() * columns.len() <= 8 => {
            (firsts.into_iter().map(Some).collect(), seconds)
        }
        _ => (vec![None], in_order(workloads)),
    };
    let mut series = Vec::new();
    let mut of: Vec<(Option<&str>, &Column)> = Vec::new();
    for first in firsts {
        for column in columns {
            let parts = [first, column.series().filter(|_| columns.len() > 1)];
            series.push(parts.into_iter().flatten().collect::<Vec<_>>().join(", "));
            of.push((first, column));
        }
    }
    let group = |name: &&str| MarkedGroup {
        name: (*name).to_owned(),
        bars: of.iter().map(|(first, c)| pair(c, *first, name)).collect(),
    };
    let mut groups: Vec<MarkedGroup> = seconds.iter().map(group).collect();
    let lines = groups.len() >= STEPS && seconds.iter().all(|n| is_step(n));
    if of.iter().all(|o| o.0.is_none()) && !lines {
        groups.extend(mean(columns));
    }
    let first = columns.first()?;
    let title = match columns.len() {
        1 => first.name,
        _ => first.stem(),
    };
    Some(MarkedPanel {
        title: title.to_owned(),
        axis: first.unit.to_owned(),
        series,
        groups,
        lines,
    })
}

fn pair(column: &Column, first: Option<&str>, name: &str) -> Pair {
    let whole = first.map(|first| format!("{first}, {name}"));
    column
        .of(whole.as_deref().unwrap_or(name))
        .map_or_else(Pair::default, of_row)
}

fn of_row(row: &Comparison) -> Pair {
    Pair {
        measured: row.measured,
        published: row.published.as_ref().and_then(|p| p.number()),
    }
}

fn mean(columns: &[&Column]) -> Option<MarkedGroup> {
    let means: Vec<Pair> = columns
        .iter()
        .map(|c| c.mean.map_or_else(Pair::default, of_row))
        .collect();
    let any = means.iter().any(|m| m.measured.is_some());
    any.then(|| MarkedGroup {
        name: "mean".to_owned(),
        bars: means,
    })
}

/// A number with at most a word: `12`, `w=16`, `6 copies`.
fn is_step(name: &str) -> bool {
    let digits = name.chars().filter(char::is_ascii_digit).count();
    digits > 0 && name.split_whitespace().count() <= 2 && name.len() <= digits + 8 && {
        let rest: String = name.chars().filter(|c| !c.is_ascii_digit()).collect();
        rest.is_empty() || rest.ends_with('=') || rest.starts_with(' ')
    }
}
