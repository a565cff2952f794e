//! How sure a headline number is: its median and range over perturbations of
//! the machine, and what moves it most.

use super::figure::{Figure, Metric};
use super::number::number;
use super::results::Result;
use crate::config::Config;
use crate::report::{Swing, tornado};

/// One thing that is changed.
#[derive(Clone, Debug)]
pub struct Perturbation {
    /// What it is, for the chart.
    pub name: &'static str,
    /// Keys of the machine.
    pub sets: Vec<String>,
    /// It is small: part of the range. Others show what moves the number.
    pub small: bool,
}

/// The perturbations of a machine: each latency 2.5 % up and down (a cycle at
/// least), then the choices that no paper pins down.
pub fn perturbations(machine: &Config) -> Vec<Perturbation> {
    let sm = &machine.sm;
    let latencies = [
        ("ALU latency", "sm.alu_cycles", sm.latencies.alu),
        ("SFU latency", "sm.sfu_cycles", sm.latencies.sfu),
        ("branch latency", "sm.branch_cycles", sm.latencies.branch),
        ("shared latency", "sm.shared_cycles", sm.latencies.shared),
        ("front end", "sm.frontend_stages", sm.frontend_stages),
        ("global latency", "global.latency", sm.global.latency),
    ];
    let mut all = Vec::new();
    for (name, key, value) in latencies {
        let step = (f64::from(value) * 0.025).ceil().max(1.0) as u32;
        for changed in [value.saturating_sub(step), value + step] {
            all.push(Perturbation {
                name,
                sets: vec![format!("{key}={changed}")],
                small: true,
            });
        }
    }
    let half = |value: u32| [(value / 2).max(1), value * 2];
    let large = [
        (
            "global latency, half and twice",
            "global.latency",
            half(sm.global.latency),
        ),
        (
            "ALU latency, half and twice",
            "sm.alu_cycles",
            half(sm.latencies.alu),
        ),
        ("schedulers, 1 and 2", "sm.schedulers", [1, 2]),
        ("retry contexts, 1 and 4", "retry.contexts", [1, 4]),
        ("stages ahead, 0 and 3", "pipeline.ahead", [0, 3]),
    ];
    for (name, key, values) in large {
        for value in values {
            all.push(Perturbation {
                name,
                sets: vec![format!("{key}={value}")],
                small: false,
            });
        }
    }
    all
}

/// A headline number under all perturbations that the machine takes.
#[derive(Clone, Debug)]
pub struct Headline {
    /// The quantity.
    pub name: String,
    /// As it is without any.
    pub base: f64,
    /// What each came to.
    pub values: Vec<(Perturbation, f64)>,
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

    /// How far each change moves it, the widest first.
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

    /// Lines of the page.
    pub fn markdown(&self) -> String {
        let (median, least, most) = self.range();
        let mut text = format!(
            "Sensitivity of {}: median {}, from {} to {} over {} small changes. What moves it most:\n\n\
             | changed | from | to |\n|---|---|---|\n",
            self.name,
            number(median),
            number(least),
            number(most),
            self.values.iter().filter(|v| v.0.small).count(),
        );
        for swing in self.swings().into_iter().take(6) {
            let Swing { name, least, most } = swing;
            text += &format!("| {name} | {} | {} |\n", number(least), number(most));
        }
        text
    }
}

/// The headline results among a figure's.
pub fn headlines<'a>(figure: &Figure, results: &'a [Result]) -> Vec<&'a Result> {
    let wanted = |r: &&Result| {
        let headline = |q: &super::figure::Quantity| {
            q.headline
                && q.mean.is_some()
                && r.quantity.ends_with(&q.name)
                && q.metric != Metric::Value
        };
        r.workload.is_none() && figure.quantity.iter().any(headline)
    };
    results.iter().filter(wanted).collect()
}
