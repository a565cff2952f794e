//! The chart of the hash paper's Fig. 4: power and area of every unit over
//! the target clocks, with the latency reached printed on the bars.

use super::chart::{Bar, BarChart, BarGroup, Panel};
use spadkit_rtl::synth::{Published, SynthReport, Synthesis, UnitResult};

/// The chart with what was synthesized, as SVG.
pub fn fig4(done: &Synthesis) -> String {
    let units: Vec<&str> = done.charted.iter().map(String::as_str).collect();
    power_and_area(&done.report, &units, &done.chart_periods).svg()
}

/// Power and area of `units` over the target periods. Without any power, only area.
fn power_and_area(report: &SynthReport, units: &[&str], periods_ps: &[u32]) -> BarChart {
    let mut periods = periods_ps.to_vec();
    periods.sort_unstable_by(|a, b| b.cmp(a)); // slow clocks first
    periods.dedup();
    let chosen = Chosen {
        report,
        units,
        periods: &periods,
    };
    let area = |r: &UnitResult| Some(r.area_um2);
    let published_area = |p: &Published| format!("{:.0} µm²", p.area_um2());
    let published_power = |p: &Published| format!("{:.1} mW", p.power_mw());
    let mut panels = vec![chosen.panel("area", "µm²", area, published_area)];
    if report.results.iter().any(|r| r.power_mw.is_some()) {
        let power = |r: &UnitResult| r.power_mw;
        panels.insert(0, chosen.panel("power", "mW", power, published_power));
    }
    for (panel, letter) in panels.iter_mut().zip(["a", "b"]) {
        panel.title = format!("({letter}) {}", panel.title);
    }
    let geometry = report.results.first().map(|r| format!(", {}", r.geometry));
    BarChart {
        title: "Power and area of the hash units over target clocks".to_owned(),
        subtitle: format!(
            "One unit{}, library {}; on the bars: the latency reached. Published: hash paper, Table 4, 40 nm",
            geometry.unwrap_or_default(),
            report.tech
        ),
        series: periods.iter().map(|p| series_name(*p)).collect(),
        panels,
    }
}

/// The part of the data that is to be shown.
struct Chosen<'a> {
    report: &'a SynthReport,
    units: &'a [&'a str],
    periods: &'a [u32],
}

impl Chosen<'_> {
    fn panel(
        &self,
        quantity: &str,
        unit: &str,
        value: impl Fn(&UnitResult) -> Option<f64>,
        published: impl Fn(&Published) -> String,
    ) -> Panel {
        let bar = |r: &UnitResult| {
            Some(Bar {
                value: value(r)?,
                label: format!("{:.0} ps", r.delay_ps),
            })
        };
        let group = |name: &str| {
            let results = self.report.of_unit(name);
            let at = |period: &u32| results.iter().find(|r| r.period_ps == *period);
            let note = Published::of(name).map(|p| format!("published: {}", published(p)));
            BarGroup {
                name: short_name(name),
                note: note.unwrap_or_default(),
                bars: self
                    .periods
                    .iter()
                    .map(|p| at(p).and_then(|r| bar(r)))
                    .collect(),
            }
        };
        Panel {
            title: format!("{quantity} and latency"),
            axis: format!("{quantity} ({unit})"),
            groups: self.units.iter().map(|name| group(name)).collect(),
        }
    }
}

/// `2.5 GHz` over `400 ps`.
fn series_name(period_ps: u32) -> String {
    let ghz = 1000.0 / f64::from(period_ps);
    format!("{ghz:.1} GHz\n{period_ps} ps")
}

/// `spad_hash_bitvec_perm` as the paper calls it.
fn short_name(unit: &str) -> String {
    let name = unit.trim_start_matches("spad_").trim_start_matches("hash_");
    name.replace("bitvec_", "bit-vector ")
        .replace("bitwise_", "bitwise ")
        .replace("perm", "permutation")
        .replace("xor", "XOR")
        .replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit at a target period, with area and power in their units.
    fn result(unit: &str, period_ps: u32, area: f64, power: Option<f64>) -> serde_json::Value {
        serde_json::json!({
            "unit": unit, "geometry": {"addr_bits": 14, "bank_bits": 5},
            "period_ps": period_ps, "cells": 10, "flops": 0, "memory_bits": 0,
            "area_um2": area, "nand2_equivalents": null, "delay_ps": 321.4, "delay_fo4": null,
            "sta_delay_ps": null, "sta_delay_no_wires_ps": null, "wire_load": null,
            "rated_ps": null, "power_mw": power, "cells_by_type": {},
        })
    }

    fn report(power: Option<f64>) -> SynthReport {
        let results = [
            ("spad_a", 400, 30.0),
            ("spad_a", 2000, 20.0),
            ("spad_b", 400, 7.0),
        ];
        let results = results.map(|(unit, period, area)| result(unit, period, area, power));
        let report = serde_json::json!({
            "tools": {}, "tech": "tiny", "effort": "area", "warnings": [], "results": results,
            "technology": {
                "name": "tiny", "library": "tiny", "driving_cell": "INV", "load_ff": 1.0,
                "nand2_um2": null, "fo4_ps": null, "wire_load": null,
                "memory": {"clock_to_output_ps": 1.0, "setup_ps": 1.0},
            },
        });
        serde_json::from_value(report).unwrap()
    }

    #[test]
    fn every_point_is_a_bar() {
        let chart = power_and_area(&report(Some(0.5)), &["spad_a", "spad_b"], &[400, 2000]);
        assert_eq!(chart.series, ["0.5 GHz\n2000 ps", "2.5 GHz\n400 ps"]);
        assert_eq!(chart.panels.len(), 2);
        let bars = |panel: usize| {
            let groups = chart.panels[panel].groups.iter();
            groups
                .flat_map(|g| g.bars.iter().flatten())
                .collect::<Vec<_>>()
        };
        assert_eq!((bars(0).len(), bars(1).len()), (3, 3));
        // The slower clock comes first.
        assert_eq!((bars(1)[0].value, &*bars(1)[0].label), (20.0, "321 ps"));
        assert_eq!(chart.svg().matches("class=\"bar\"").count(), 6 + 2);
        let without = power_and_area(&report(None), &["spad_a"], &[400]);
        assert_eq!(without.panels.len(), 1);
    }

    #[test]
    fn names_are_those_of_the_paper() {
        assert_eq!(
            short_name("spad_hash_bitvec_perm"),
            "bit-vector permutation"
        );
        assert_eq!(short_name("spad_hash_bitwise_xor"), "bitwise XOR");
        assert_eq!(short_name("spad_row_map"), "row map");
        assert_eq!(series_name(667), "1.5 GHz\n667 ps");
    }
}
