//! The chart of the hash paper's Fig. 4: power and area of every unit over
//! the target clocks, with the latency reached printed on the bars.

use super::published::Published;
use super::result::{SynthReport, UnitResult};
use crate::report::chart::{Bar, BarChart, BarGroup, Panel};

impl SynthReport {
    /// Power and area of `units` over the target periods. Without any power,
    /// only area.
    pub fn chart(&self, units: &[&str], periods_ps: &[u32]) -> BarChart {
        let mut periods = periods_ps.to_vec();
        periods.sort_unstable_by(|a, b| b.cmp(a)); // slow clocks first
        periods.dedup();
        let chosen = Chosen {
            report: self,
            units,
            periods: &periods,
        };
        let area = |r: &UnitResult| Some(r.area_um2);
        let published_area = |p: &Published| format!("{:.0} µm²", p.area_um2());
        let published_power = |p: &Published| format!("{:.1} mW", p.power_mw());
        let mut panels = vec![chosen.panel("area", "µm²", area, published_area)];
        if self.results.iter().any(|r| r.power_mw.is_some()) {
            let power = |r: &UnitResult| r.power_mw;
            panels.insert(0, chosen.panel("power", "mW", power, published_power));
        }
        for (panel, letter) in panels.iter_mut().zip(["a", "b"]) {
            panel.title = format!("({letter}) {}", panel.title);
        }
        let geometry = self.results.first().map(|r| format!(", {}", r.geometry));
        BarChart {
            title: "Power and area of the hash units over target clocks".to_owned(),
            subtitle: format!(
                "One unit{}, library {}; on the bars: the latency reached. Published: hash paper, Table 4, 40 nm",
                geometry.unwrap_or_default(),
                self.tech
            ),
            series: periods.iter().map(|p| series_name(*p)).collect(),
            panels,
        }
    }
}

/// What is to be shown.
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
