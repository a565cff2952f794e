//! `spadkit conflicts`: bank conflicts of a trace under given mappings.

use super::Global;
use super::printer::{Printer, table};
use crate::config::Config;
use crate::error::Result;
use crate::hash::{HashSpec, Mapping};
use crate::trace::{ConflictCount, ConflictProfile};
use clap::Args;
use serde_json::{Value, json};

/// Bank conflicts of a trace under given mappings.
#[derive(Args)]
pub struct ConflictsArgs {
    /// Access trace (.json), or kernel:NAME for a generated one.
    input: String,
    /// Mapping; repeat for several.
    #[arg(long = "hash", value_name = "SPEC", num_args = 1.., required = true,
          value_parser = super::parsed::<HashSpec>)]
    hashes: Vec<HashSpec>,
    /// One line more per instruction.
    #[arg(long)]
    per_pc: bool,
}

pub(super) fn run(args: &ConflictsArgs, global: &Global, printer: &Printer) -> Result<()> {
    let machine = global.machine()?;
    let trace = super::load_for(&args.input, &machine, printer)?;
    let profile = ConflictProfile::new(&trace, machine.lanes);
    let per_pc = match args.per_pc {
        true => ConflictProfile::per_pc(&trace, machine.lanes),
        false => Vec::new(),
    };
    let results = args
        .hashes
        .iter()
        .map(|spec| measure(spec, &profile, &per_pc, &machine, printer))
        .collect::<Result<Vec<_>>>()?;
    let json = json!({
        "accesses": profile.accesses,
        "results": results.iter().map(Measured::json).collect::<Vec<_>>(),
    });
    printer.result(json, || {
        let header = ["hash", "pc", "conflicts", "max degree", "removed", "fits"];
        let rows = results.iter().flat_map(Measured::rows);
        format!(
            "{}: {} warp accesses\n{}",
            trace.name,
            profile.accesses,
            table(&header, &["conflicts", "max degree", "removed"], rows)
        )
    })
}

/// One mapping's counts, whole and per instruction.
struct Measured {
    hash: String,
    total: ConflictCount,
    removed_pct: f64,
    fits: bool,
    per_pc: Vec<(u32, ConflictCount)>,
}

fn measure(
    spec: &HashSpec,
    profile: &ConflictProfile,
    per_pc: &[(u32, ConflictProfile)],
    machine: &Config,
    printer: &Printer,
) -> Result<Measured> {
    let mapping = Mapping::new(spec, machine.geometry)?;
    let beyond = mapping.pivots_beyond(machine.pivot_limit());
    if !beyond.is_empty() {
        printer.warn(format!(
            "{spec}: rows beyond the capacity of {} words would be addressed (pivot bits {beyond:?})",
            machine.capacity_words
        ));
    }
    let bank_mask = machine.geometry.bank_mask();
    let baseline = profile.count(|a| a & bank_mask);
    let count = |p: &ConflictProfile| p.count(|a| mapping.bank(a));
    let total = count(profile);
    Ok(Measured {
        hash: spec.to_string(),
        total,
        removed_pct: removed_pct(baseline.conflicts, total.conflicts),
        fits: beyond.is_empty(),
        per_pc: per_pc.iter().map(|(pc, p)| (*pc, count(p))).collect(),
    })
}

/// Share of the baseline's conflicts that is gone, in percent.
pub(super) fn removed_pct(baseline: u64, now: u64) -> f64 {
    match baseline {
        0 => 0.0,
        _ => 100.0 * (baseline as f64 - now as f64) / baseline as f64,
    }
}

impl Measured {
    fn json(&self) -> Value {
        let mut value = json!({
            "hash": self.hash,
            "conflicts": self.total.conflicts,
            "max_degree": self.total.max_degree,
            "removed_pct": self.removed_pct,
            "fits": self.fits,
        });
        if !self.per_pc.is_empty() {
            let line = |(pc, c): &(u32, ConflictCount)| json!({"pc": pc, "conflicts": c.conflicts, "max_degree": c.max_degree});
            value["per_pc"] = self.per_pc.iter().map(line).collect();
        }
        value
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = vec![vec![
            self.hash.clone(),
            "all".to_owned(),
            self.total.conflicts.to_string(),
            self.total.max_degree.to_string(),
            format!("{:.1} %", self.removed_pct),
            if self.fits { "yes" } else { "no" }.to_owned(),
        ]];
        rows.extend(self.per_pc.iter().map(|(pc, c)| {
            vec![
                String::new(),
                pc.to_string(),
                c.conflicts.to_string(),
                c.max_degree.to_string(),
            ]
        }));
        rows
    }
}
