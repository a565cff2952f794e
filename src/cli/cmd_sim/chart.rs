//! Cycles and speed-ups of all points as bars.

use super::point::Point;
use super::sweep::Sweep;
use super::text::baseline_text;
use crate::report::draw::chart::{Bar, BarChart, BarGroup, Panel};

/// Most bars of a group that the colours tell apart.
const MOST_SERIES: usize = 8;

/// The points as SVG: the option with the most values gives the bars of a
/// group, the others give the groups.
pub(super) fn svg(sweep: &Sweep, kernel: &str) -> String {
    let series = Series::choose(sweep);
    let cycles = |p: &Point| {
        let cycles = p.statistics.cycles;
        Some((cycles as f64, cycles.to_string()))
    };
    let speed_up = |p: &Point| p.speed_up().map(|s| (s, format!("{s:.3}")));
    let mut panels = vec![panel(sweep, &series, "Cycles", "cycles", &cycles)];
    if sweep.points.iter().any(|p| p.baseline.is_some()) {
        panels.push(panel(
            sweep,
            &series,
            "Speed-up",
            "times as fast",
            &speed_up,
        ));
    }
    let baselines: Vec<String> = sweep.baselines.iter().map(baseline_text).collect();
    let subtitle = match &baselines[..] {
        [] => String::new(),
        [one] => format!("speed-up over {one}"),
        _ => "speed-up over mod without a hash stage on each machine, with its keys, and grid"
            .to_owned(),
    };
    let chart = BarChart {
        title: match &series.option {
            Some(option) => format!("{kernel}, by {option}"),
            None => kernel.to_owned(),
        },
        subtitle,
        series: series.values,
        panels,
    };
    chart.svg()
}

/// The difference between the bars of a group.
struct Series {
    option: Option<String>,
    values: Vec<String>,
}

impl Series {
    fn choose(sweep: &Sweep) -> Self {
        let options = sweep.points.first().map(|p| p.draft.labels.iter());
        let options = options.into_iter().flatten().map(|l| l.0.clone());
        let values = |option: &str| {
            let mut values: Vec<String> = Vec::new();
            for point in &sweep.points {
                let value = value_of(point, option).to_owned();
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            values
        };
        let all = options.map(|o| (values(&o), o));
        let few = all.filter(|o| o.0.len() <= MOST_SERIES);
        match few.max_by_key(|o| o.0.len()) {
            Some((values, option)) => Series {
                option: Some(option),
                values,
            },
            None => Series {
                option: None,
                values: vec!["all".to_owned()],
            },
        }
    }

    /// The index of a point among the bars of its group.
    fn index(&self, point: &Point) -> usize {
        let Some(option) = &self.option else { return 0 };
        let value = value_of(point, option);
        self.values.iter().position(|v| v == value).unwrap_or(0)
    }

    /// The values of a point's other options.
    fn others<'a>(&self, point: &'a Point) -> Vec<&'a str> {
        let labels = point.draft.labels.iter();
        let others = labels.filter(|l| self.option.as_ref() != Some(&l.0));
        others.map(|l| l.1.as_str()).collect()
    }
}

fn value_of<'a>(point: &'a Point, option: &str) -> &'a str {
    let mut labels = point.draft.labels.iter();
    labels.find(|l| l.0 == option).map_or("", |l| &l.1)
}

fn panel(
    sweep: &Sweep,
    series: &Series,
    title: &str,
    axis: &str,
    value: &dyn Fn(&Point) -> Option<(f64, String)>,
) -> Panel {
    let mut groups: Vec<(Vec<&str>, BarGroup)> = Vec::new();
    for point in &sweep.points {
        let others = series.others(point);
        let place = groups.iter().position(|g| g.0 == others);
        let place = place.unwrap_or_else(|| {
            let (name, note) = others.split_first().unwrap_or((&"", &[]));
            let group = BarGroup {
                name: (*name).to_owned(),
                note: note.join(" "),
                bars: vec![None; series.values.len()],
            };
            groups.push((others, group));
            groups.len() - 1
        });
        let bar = value(point).map(|(value, label)| Bar { value, label });
        groups[place].1.bars[series.index(point)] = bar;
    }
    Panel {
        title: title.to_owned(),
        axis: axis.to_owned(),
        groups: groups.into_iter().map(|g| g.1).collect(),
    }
}
