//! The uncertainty of a headline number: its median and range over
//! perturbations of machine and input, and the perturbation that moves it most.

use super::change::Change;
use super::figure::Figure;
use super::number::number;
use super::quantity::{Metric, Quantity};
use super::results::Comparison;
use serde::Serialize;
use spadkit_report::draw::{Swing, tornado};
use spadkit_sm::config::Config;

/// One thing that is changed.
#[derive(Clone, Debug)]
pub struct Perturbation {
    /// Name of the perturbation in the chart.
    pub name: &'static str,
    /// The change.
    pub change: Change,
    /// Whether the change is small, and part of the range. Large ones show what
    /// moves the number.
    pub small: bool,
}

/// Latencies by the names of their keys.
fn latencies(machine: &Config) -> [(&'static str, u32); 7] {
    let sm = &machine.sm;
    [
        ("sm.alu_cycles", sm.latencies.alu),
        ("sm.sfu_cycles", sm.latencies.sfu),
        ("sm.branch_cycles", sm.latencies.branch),
        ("sm.shared_cycles", sm.latencies.shared),
        ("pipeline.frontend_stages", sm.frontend_stages),
        ("global.store_latency", sm.global.store_latency),
        ("global.latency", sm.global.latency),
    ]
}

/// Draws in which all latencies change at once.
const DRAWS: u64 = 10;

/// Bit s of latency i: up in draw s, else down. Each is up in five of ten
/// draws, no two in the same or in opposite ones.
const UP: [u64; 7] = [
    0b010_1010_1010,
    0b011_0011_0010,
    0b001_1110_0010,
    0b101_1001_0010,
    0b110_0101_0010,
    0b100_1110_1000,
    0b001_0101_1100,
];

/// The perturbations of a machine. Small ones: ten draws with each latency
/// 2.5 % up or down (a cycle at least) and other inputs, and half of the grid.
/// Large ones: the choices that no paper pins down.
pub fn perturbations(machine: &Config) -> Vec<Perturbation> {
    let mut all: Vec<Perturbation> = (1..=DRAWS).map(|seed| draw(machine, seed)).collect();
    all.push(Perturbation {
        name: "half of the grid",
        change: Change {
            half_grid: true,
            ..Change::default()
        },
        small: true,
    });
    let global = machine.sm.global;
    let half = |value: u32| [(value / 2).max(1), value * 2];
    let bandwidth = global.bytes_per_cycle;
    let bandwidths = [bandwidth / 2.0, bandwidth * 2.0];
    let choices = [
        ("global latency", "global.latency", half(global.latency)),
        (
            "ALU latency",
            "sm.alu_cycles",
            half(machine.sm.latencies.alu),
        ),
        ("schedulers, 1 and 2", "scheduler.count", [1, 2]),
        ("retry contexts, 1 and 4", "retry.contexts", [1, 4]),
        ("stages ahead, 0 and 3", "path.ahead", [0, 3]),
    ];
    let bytes = bandwidths.map(|b| large("bandwidth", format!("global.bytes_per_cycle={b:.3}")));
    all.extend(bytes);
    for (name, key, values) in choices {
        all.extend(values.map(|value| large(name, format!("{key}={value}"))));
    }
    all
}

fn large(name: &'static str, set: String) -> Perturbation {
    Perturbation {
        name,
        change: Change {
            sets: vec![set],
            ..Change::default()
        },
        small: false,
    }
}

/// All latencies a little up or down, and other inputs.
fn draw(machine: &Config, seed: u64) -> Perturbation {
    let change = |(i, (key, value)): (usize, (&str, u32))| {
        let step = (f64::from(value) * 0.025).ceil() as u32;
        let changed = match UP[i] >> seed & 1 {
            0 => value.saturating_sub(step),
            _ => value + step,
        };
        format!("{key}={changed}")
    };
    Perturbation {
        name: "latencies by 2.5 %, inputs",
        change: Change {
            sets: latencies(machine)
                .into_iter()
                .enumerate()
                .map(change)
                .collect(),
            seed,
            half_grid: false,
        },
        small: true,
    }
}

/// A headline number under all perturbations that the machine takes.
#[derive(Clone, Debug)]
pub struct Headline {
    /// The quantity.
    pub name: String,
    /// The value without perturbation.
    pub base: f64,
    /// The results under each perturbation.
    pub values: Vec<(Perturbation, f64)>,
}

/// The uncertainty of a headline number.
#[derive(Clone, Debug, Serialize)]
pub struct Sensitivity {
    /// Value without a perturbation.
    pub base: f64,
    /// Median of the small perturbations and the base.
    pub median: f64,
    /// Least of the small perturbations and the base.
    pub least: f64,
    /// The greatest.
    pub most: f64,
    /// Small perturbations.
    pub perturbations: usize,
    /// The effect of each change, the widest first.
    pub moved_by: Vec<Swing>,
}

impl Headline {
    /// Median and range over the small perturbations and the base.
    pub fn range(&self) -> (f64, f64, f64) {
        let small = self.values.iter().filter(|v| v.0.small).map(|v| v.1);
        let mut values: Vec<f64> = small.chain([self.base]).collect();
        values.sort_by(f64::total_cmp);
        (
            values[values.len() / 2],
            values[0],
            values[values.len() - 1],
        )
    }

    /// Range over all perturbations, as the chart shows it.
    pub fn whole(&self) -> (f64, f64) {
        let values = self.values.iter().map(|v| v.1).chain([self.base]);
        let least = values.clone().fold(f64::INFINITY, f64::min);
        (least, values.fold(f64::NEG_INFINITY, f64::max))
    }

    /// The effect of each change, the widest first.
    pub fn swings(&self) -> Vec<Swing> {
        let mut names: Vec<&'static str> = self.values.iter().map(|v| v.0.name).collect();
        names.dedup();
        let swing = |name: &'static str| {
            let values = self.values.iter().filter(|v| v.0.name == name).map(|v| v.1);
            let values = values.chain([self.base]);
            Swing {
                name: name.to_owned(),
                least: values.clone().fold(f64::INFINITY, f64::min),
                most: values.fold(f64::NEG_INFINITY, f64::max),
            }
        };
        let mut swings: Vec<Swing> = names.into_iter().map(swing).collect();
        swings.sort_by(|a, b| (b.most - b.least).total_cmp(&(a.most - a.least)));
        swings
    }

    /// The swings as a picture.
    pub fn chart(&self) -> String {
        tornado(&self.name, self.base, &self.swings())
    }

    /// Range and swings.
    pub fn sensitivity(&self) -> Sensitivity {
        let (median, least, most) = self.range();
        Sensitivity {
            base: self.base,
            median,
            least,
            most,
            perturbations: self.values.iter().filter(|v| v.0.small).count(),
            moved_by: self.swings(),
        }
    }

    /// Range and the widest swing, for people.
    pub fn text(&self) -> String {
        let (median, least, most) = self.range();
        let [median, least, most] = [median, least, most].map(number);
        let mut text = format!("{}: {median}, from {least} to {most}", self.name);
        if let Some(widest) = self.widest() {
            let [least, most] = [widest.least, widest.most].map(number);
            text += &format!("; most moved by {}: {least} to {most}", widest.name);
        }
        text
    }

    /// The change that moves it most.
    pub fn widest(&self) -> Option<Swing> {
        self.swings().into_iter().next()
    }
}

/// The headline results among a figure's.
pub fn headlines<'a>(figure: &Figure, results: &'a [Comparison]) -> Vec<&'a Comparison> {
    let wanted = |r: &&Comparison| {
        let headline = |q: &Quantity| {
            let is = |s: &super::quantity::Summary| q.name_of(s) == r.quantity;
            q.headline && q.metric != Metric::Value && q.summaries().iter().any(is)
        };
        r.workload.is_none() && figure.quantity.iter().any(headline)
    };
    results.iter().filter(wanted).collect()
}

/// The figure with what its headline numbers need, and no more.
pub fn about_headlines(figure: &Figure) -> Figure {
    let mut figure = figure.clone();
    figure.quantity.retain(|q| q.headline);
    figure.order.clear();
    figure
}

#[cfg(test)]
mod tests {
    use super::*;
    use spadkit_sm::config::Overlay;

    #[test]
    fn latencies_go_up_in_half_of_the_draws_and_not_together() {
        let draws = 0b111_1111_1110;
        for (i, up) in UP.iter().enumerate() {
            assert_eq!((up.count_ones(), up & !draws), (5, 0), "latency {i}");
            for other in &UP[i + 1..] {
                assert!(up != other && up ^ other != draws, "latency {i}");
            }
        }
    }

    #[test]
    fn a_draw_changes_every_latency_by_a_step() {
        let machine = Config::preset("fermi").unwrap();
        let all = perturbations(&machine);
        let small: Vec<&Perturbation> = all.iter().filter(|p| p.small).collect();
        assert_eq!(small.len(), 11);
        let mut seen = std::collections::BTreeSet::new();
        for draw in &small[..10] {
            assert_eq!(draw.change.sets.len(), 7);
            let global = draw.change.sets.last().unwrap();
            let latency = machine.sm.global.latency;
            let step = (f64::from(latency) * 0.025).ceil() as u32;
            let ends = [latency - step, latency + step].map(|l| format!("global.latency={l}"));
            assert!(ends.contains(global), "{global}");
            seen.insert(global.clone());
        }
        assert_eq!(seen.len(), 2, "up in some draws, down in others");
    }

    #[test]
    fn a_machine_takes_every_change() {
        for preset in ["fermi", "gt200", "gpgpusim-16k"] {
            let machine = Config::preset(preset).unwrap();
            for perturbation in perturbations(&machine) {
                let mut overlay = Overlay::preset(preset).unwrap();
                for set in &perturbation.change.sets {
                    let (key, value) = set.split_once('=').unwrap();
                    overlay.set(key, value).unwrap();
                }
                overlay.config().unwrap();
            }
        }
    }

    #[test]
    fn range_and_swing_are_of_the_values() {
        let perturbation = |name, small| Perturbation {
            name,
            change: Change::default(),
            small,
        };
        let headline = Headline {
            name: "n".to_owned(),
            base: 10.0,
            values: vec![
                (perturbation("a", true), 9.0),
                (perturbation("a", true), 12.0),
                (perturbation("b", false), 30.0),
            ],
        };
        assert_eq!(headline.range(), (10.0, 9.0, 12.0));
        assert_eq!(headline.whole(), (9.0, 30.0));
        let widest = headline.widest().unwrap();
        assert_eq!(
            (widest.name.as_str(), widest.least, widest.most),
            ("b", 10.0, 30.0)
        );
    }
}
