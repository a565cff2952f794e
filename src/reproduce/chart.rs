//! A figure's chart: measured beside published, a panel per quantity.

use super::figure::Figure;
use super::number::number;
use super::results::Result;
use crate::report::chart::{Bar, BarChart, BarGroup, Panel};

/// The chart; none where fewer than two workloads have numbers.
pub(super) fn svg(figure: &Figure, results: &[Result]) -> Option<String> {
    let panels: Vec<Panel> = figure
        .quantity
        .iter()
        .filter_map(|q| panel(&q.name, &q.unit, results))
        .collect();
    let panels: Vec<Panel> = panels.into_iter().take(8).collect();
    (!panels.is_empty()).then(|| {
        let chart = BarChart {
            title: format!("{}: {}", figure.id, figure.title),
            subtitle: figure.source.clone(),
            series: vec!["measured".to_owned(), "published".to_owned()],
            panels,
        };
        chart.svg()
    })
}

fn panel(name: &str, unit: &str, results: &[Result]) -> Option<Panel> {
    let of = |r: &&Result| {
        r.measured.is_some() && (r.quantity == name || r.quantity == format!("mean {name}"))
    };
    let rows: Vec<&Result> = results.iter().filter(of).collect();
    let group = |r: &&Result| BarGroup {
        name: r.workload.clone().unwrap_or_else(|| "mean".to_owned()),
        note: String::new(),
        bars: [r.measured, r.published.as_ref().and_then(|p| p.number())]
            .map(bar)
            .into(),
    };
    (rows.len() > 1).then(|| Panel {
        title: name.to_owned(),
        axis: unit.to_owned(),
        groups: rows.iter().map(group).collect(),
    })
}

fn bar(value: Option<f64>) -> Option<Bar> {
    let value = value?;
    Some(Bar {
        value: value.max(0.0),
        label: number(value),
    })
}
