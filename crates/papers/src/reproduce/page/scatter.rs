//! The picture of the overview: measured over published values.

use super::super::evidence::Evidence;
use super::super::results::{Check, Comparison};
use super::super::rules::{Measure, value_measure};
use super::Section;
use spadkit_report::draw::theme::SERIES;
use spadkit_report::draw::{ScatterPanel, ScatterPoint, ScatterSeries, scatter};

/// Percent that the linear plot shows.
const LINEAR: std::ops::RangeInclusive<f64> = -30.0..=110.0;

const COLORS: [(Evidence, &str); 5] = [
    (Evidence::Formula, SERIES[6]),
    (Evidence::Counted, SERIES[0]),
    (Evidence::Timed, SERIES[1]),
    (Evidence::Inferred, SERIES[3]),
    (Evidence::Identity, SERIES[5]),
];

/// A value in its plot.
struct Value<'a> {
    of: &'a Comparison,
    published: f64,
    measured: f64,
    linear: bool,
}

fn value(result: &Comparison) -> Option<Value<'_>> {
    let (measured, published) = (result.measured?, result.published.as_ref()?.number()?);
    if !matches!(result.check, Check::Exact | Check::Mean) {
        return None;
    }
    let (published, measured, percent) = match value_measure(result.neutral, &result.unit) {
        Measure::Percent => (published, measured, true),
        Measure::Ratio if result.neutral.is_some() => {
            (100.0 * (published - 1.0), 100.0 * (measured - 1.0), true)
        }
        _ => (published, measured, false),
    };
    let linear = percent && LINEAR.contains(&published) && LINEAR.contains(&measured);
    let positive = published > 0.0 && measured > 0.0;
    (linear || positive).then_some(Value {
        of: result,
        published,
        measured,
        linear,
    })
}

/// Values that neither plot can show.
pub(super) fn left_out(sections: &[Section]) -> usize {
    let results = sections.iter().flat_map(|s| &s.results);
    let numbers = results.filter(|r| {
        let number = r.published.as_ref().and_then(|p| p.number());
        matches!(r.check, Check::Exact | Check::Mean) && r.measured.is_some() && number.is_some()
    });
    numbers.filter(|r| value(r).is_none()).count()
}

/// The picture.
pub(super) fn svg(sections: &[Section]) -> String {
    let results = sections.iter().flat_map(|s| &s.results);
    let values: Vec<Value> = results.filter_map(value).collect();
    let series = |linear: bool| {
        let one = |&(evidence, color): &(Evidence, &'static str)| ScatterSeries {
            name: evidence.word().to_owned(),
            color,
            hollow: !evidence.is_own(),
            points: values
                .iter()
                .filter(|v| v.linear == linear && v.of.evidence == evidence)
                .map(point)
                .collect(),
        };
        COLORS.iter().map(one).collect()
    };
    let panels = [
        ScatterPanel {
            title: "gains, speed-ups and shares, percent".to_owned(),
            logarithmic: false,
            series: series(true),
        },
        ScatterPanel {
            title: "everything else: cycles, IPC, counts".to_owned(),
            logarithmic: true,
            series: series(false),
        },
    ];
    scatter("Measured over published values", &panels)
}

fn point(value: &Value) -> ScatterPoint {
    let workload = value.of.workload.as_deref();
    let workload = workload.map_or(String::new(), |w| format!(", {w}"));
    ScatterPoint {
        published: value.published,
        measured: value.measured,
        name: format!("{} {}{workload}", value.of.id, value.of.quantity),
    }
}
