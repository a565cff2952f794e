//! `spadkit prove`: formal proofs of the units.

use super::campaign::{self, PointArgs};
use super::printer::{CommandResult, Printer};
use super::{Example, Execute, Global};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::geometry::Geometry;
use crate::interrupt;
use crate::output::write_file;
use crate::points::Points;
use crate::prove::{
    Counterexample, Machines, Method, Outcome, Proof, RtlSource, Verdict, about, check, plan,
    usual_geometries,
};
use crate::quote::{shell, shown_path};
use crate::rtl::Origin;
use crate::terminal::{Columns, Details, Hint, Tone};
use crate::tool::{Tool, ToolKind, Toolbox, Version};
use clap::Args;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Prove units correct with Yosys.
///
/// For hash units, it proves for every address and every legal configuration
/// that the unit, driven by its registers, computes its definition, that (bank,
/// row) is a bijection, and that writes and reset work. For units of the path,
/// it proves by induction from reset, in small machines, that queues lose
/// nothing, locks have one owner, and so on (docs/explanation/proofs.md). The
/// exit status is 1 if a property is disproved or not decided in time.
#[derive(Args)]
pub struct ProveArgs {
    /// Units; all if none is named.
    units: Vec<String>,
    /// Take the Verilog of the machine's geometry from files MODULE.v in DIR
    /// instead of emitting it.
    #[arg(long, value_name = "DIR", conflicts_with = "all_geometries")]
    rtl: Option<PathBuf>,
    /// Take that Verilog without checking it; otherwise imports of C, system
    /// tasks that reach out of the design and `include are refused.
    #[arg(long, requires = "rtl")]
    trust: bool,
    /// Prove only these properties, named as in the results.
    #[arg(long = "property", value_name = "NAME")]
    properties: Vec<String>,
    /// Seconds for one proof.
    #[arg(long, value_name = "SECONDS", default_value_t = 300,
          value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    timeout: u64,
    /// All geometries of the table, instead of the usual few and the
    /// machine's own; units of the path for the preset small, too.
    #[arg(long)]
    all_geometries: bool,
    /// Write the run of each counterexample to DIR, as UNIT.PROPERTY.vcd.
    #[arg(long, value_name = "DIR")]
    wave: Option<PathBuf>,
    #[command(flatten)]
    kept: PointArgs,
}

impl Execute for ProveArgs {
    fn examples() -> &'static [Example] {
        &[
            ("one unit", "prove spad_hash_matrix"),
            ("edited Verilog", "prove spad_row_map --rtl rtl"),
        ]
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        interrupt::listen();
        let machine = global.machine()?.for_hardware();
        let rtl = match &self.rtl {
            Some(dir) if self.trust => RtlSource::Trusted(dir.clone()),
            Some(dir) => RtlSource::Directory(dir.clone()),
            None => RtlSource::Emitted,
        };
        let geometries = geometries(self, machine.geometry);
        let proofs = plan(&self.units, &machine, &geometries, self.machines(), &rtl)?;
        let points = self.kept.points()?;
        let key = campaign::point("prove campaign").add("timeout", self.timeout.to_string());
        let all = about(proofs, &self.properties)?;
        let names: Vec<String> = all.iter().map(Proof::title).collect();
        let proofs = self.kept.part(all, &points, key, names)?;
        if let Some(dir) = &self.wave {
            std::fs::create_dir_all(dir).map_err(|e| Error::io("create", dir, e))?;
        }
        let yosys = Toolbox::new().get(ToolKind::Yosys)?;
        let campaign = Campaign {
            points,
            machine: &machine,
            rtl: &rtl,
            yosys: &yosys,
            timeout: Duration::from_secs(self.timeout),
        };
        announce(&proofs, &machine.name, self.timeout, printer);
        let progress = printer.progress(proofs.len() as u64, "proofs");
        let done = AtomicU64::new(0);
        let verdicts = proofs.par_iter().map(|proof| {
            if interrupt::requested() {
                return Ok(None);
            }
            let verdict = campaign.verdicts(proof);
            progress.set(done.fetch_add(1, Ordering::Relaxed) + 1, proof.title());
            interrupt::or_none(verdict)
        });
        let verdicts = verdicts.collect::<Result<Vec<_>>>();
        drop(progress);
        let verdicts = verdicts?;
        campaign.points.finish()?;
        let missing = verdicts.iter().filter(|v| v.is_none()).count();
        if missing > 0 {
            printer.warn(format!("{missing} of {} proofs were not run", proofs.len()));
        }
        let verdicts: Vec<Verdict> = verdicts.into_iter().flatten().flatten().collect();
        if let Some(dir) = &self.wave {
            write_waves(&verdicts, dir, printer)?;
        }
        printer.show(&Proofs {
            tools: Tools {
                yosys: &yosys.version,
            },
            results: verdicts.iter().map(ProofResult::of).collect(),
            next: self.next(&verdicts, global),
        })?;
        check(&verdicts)
    }
}

impl ProveArgs {
    fn machines(&self) -> Machines {
        match (&self.rtl, self.all_geometries) {
            (Some(_), _) => Machines::Own,
            (None, true) => Machines::All,
            (None, false) => Machines::Least,
        }
    }

    /// The run of a counterexample; more time for what was not decided; or, if all
    /// is proved, whether the co-simulation would notice a fault, too.
    fn next(&self, verdicts: &[Verdict], global: &Global) -> Option<Hint> {
        let rtl = self.rtl.as_deref();
        let again = |of: fn(&Outcome) -> bool| {
            let verdict = verdicts.iter().find(|v| of(&v.outcome))?;
            let unit = std::slice::from_ref(&verdict.unit);
            let command = global.about_units("prove", unit, rtl);
            Some(format!("{command} --property {}", shell(&verdict.property)))
        };
        if let Some(command) = again(|o| matches!(o, Outcome::Disproved(_))) {
            let command = format!("{command} --wave waves");
            return (self.wave.is_none()).then(|| Hint::new("a run that shows it", command));
        }
        if let Some(command) = again(|o| matches!(o, Outcome::Unknown(_))) {
            let command = format!("{command} --timeout {}", self.timeout.saturating_mul(10));
            return Some(Hint::new("one of them with more time", command));
        }
        let command = global.about_units("mutate", &self.units, None);
        (rtl.is_none() && !self.units.is_empty())
            .then(|| Hint::new("whether the co-simulation notices faults, too", command))
    }
}

/// The settings of the proofs, and the stored results.
struct Campaign<'a> {
    points: Points,
    machine: &'a Config,
    rtl: &'a RtlSource,
    yosys: &'a Tool,
    timeout: Duration,
}

/// A property that is proved, as a point keeps it.
#[derive(Serialize, Deserialize)]
struct Proved {
    unit: String,
    geometry: Geometry,
    property: String,
    method: Method,
    covered: String,
    seconds: f64,
}

impl Proved {
    fn of(verdict: &Verdict) -> Option<Self> {
        (verdict.outcome == Outcome::Proved).then(|| Proved {
            unit: verdict.unit.clone(),
            geometry: verdict.geometry,
            property: verdict.property.clone(),
            method: verdict.method,
            covered: verdict.covered.clone(),
            seconds: milliseconds(verdict.seconds),
        })
    }

    fn verdict(self) -> Verdict {
        Verdict {
            unit: self.unit,
            geometry: self.geometry,
            property: self.property,
            method: self.method,
            outcome: Outcome::Proved,
            covered: self.covered,
            seconds: self.seconds,
            stated_at: None,
            driven_by: Vec::new(),
        }
    }
}

impl Campaign<'_> {
    /// The verdicts of a proof. They are stored if all of it is proved: a
    /// counterexample is quickly found again, and another time limit may decide
    /// what was undecided.
    fn verdicts(&self, proof: &Proof) -> Result<Vec<Verdict>> {
        let run = || proof.run(self.machine, self.rtl, self.yosys, self.timeout);
        if self.points.file().is_none() {
            return run();
        }
        let point = campaign::point("prove")
            .add("yosys", &self.yosys.build)
            .add("proof", proof.text(self.machine, self.rtl)?);
        let digest = campaign::digest(point);
        if let Some(known) = self.points.get::<Vec<Proved>>(&digest) {
            return Ok(known.into_iter().map(Proved::verdict).collect());
        }
        let verdicts = run()?;
        let proved: Option<Vec<Proved>> = verdicts.iter().map(Proved::of).collect();
        if let Some(proved) = proved {
            self.points.add(&digest, &proof.title(), &proved)?;
        }
        Ok(verdicts)
    }
}

/// To the millisecond.
fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

/// Announces the expected time, and the machine that is proved instead of the user's.
fn announce(proofs: &[Proof], machine: &str, timeout: u64, printer: &Printer) {
    let threads = rayon::current_num_threads() as u64;
    let seconds: u64 = proofs.iter().map(Proof::rough_seconds).sum();
    let longest = proofs.iter().map(Proof::rough_seconds).max().unwrap_or(0);
    let about = match (seconds / threads).max(longest) {
        seconds @ 0..90 => format!("{seconds} seconds"),
        seconds => format!("{} minutes", seconds.div_ceil(60)),
    };
    printer.log(format!(
        "{} proofs, {threads} at a time: about {about}; each times out after {timeout} s",
        proofs.len()
    ));
    let mut small: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (unit, machine) in proofs.iter().filter_map(Proof::instead) {
        small.entry(machine).or_default().insert(unit);
    }
    for (small, units) in small {
        let units: Vec<&str> = units.into_iter().collect();
        printer.warn(format!(
            "the machine {machine} is too large for the proofs of {}: its Verilog is what the kit \
             emits, and what the kit emits for the machine {small} is proved",
            units.join(", ")
        ));
    }
}

/// A waveform for each counterexample that is a run.
fn write_waves(verdicts: &[Verdict], dir: &Path, printer: &Printer) -> Result<()> {
    let mut names = BTreeSet::new();
    for verdict in verdicts {
        let Outcome::Disproved(example) = &verdict.outcome else {
            continue;
        };
        let Some(vcd) = example.vcd(&verdict.unit) else {
            continue;
        };
        let base = format!("{}.{}", verdict.unit, verdict.property);
        let numbered = (2..).map(|i| format!("{base}.{i}"));
        let mut candidates = std::iter::once(base.clone()).chain(numbered);
        let name = candidates.find(|n| names.insert(n.clone()));
        let path = dir.join(format!("{}.vcd", name.unwrap_or(base)));
        write_file(&path, vcd.as_bytes())?;
        printer.log(format!("waveform: {}", shown_path(&path)));
    }
    Ok(())
}

fn geometries(args: &ProveArgs, own: Geometry) -> Vec<Geometry> {
    if args.rtl.is_some() {
        return vec![own];
    }
    if args.all_geometries {
        return Geometry::all().collect();
    }
    let mut usual = usual_geometries();
    if !usual.contains(&own) {
        usual.push(own);
    }
    usual
}

/// The verdicts, and the tool that they are from.
#[derive(Serialize)]
struct Proofs<'a> {
    tools: Tools<'a>,
    results: Vec<ProofResult<'a>>,
    /// Commands to run next.
    #[serde(skip)]
    next: Option<Hint>,
}

#[derive(Serialize)]
struct Tools<'a> {
    yosys: &'a Version,
}

/// A verdict in JSON.
#[derive(Serialize)]
struct ProofResult<'a> {
    unit: &'a str,
    geometry: Geometry,
    property: &'a str,
    method: Method,
    result: &'static str,
    /// Why the property is neither proved nor disproved.
    reason: Option<&'a str>,
    covered: &'a str,
    /// Wall-clock time, to the millisecond.
    seconds: f64,
    counterexample: Option<&'a Counterexample>,
    /// The line of the circuit that states what is not proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    stated_at: Option<Origin>,
    /// The lines of the hardware's description that drive what is not as defined.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    driven_by: &'a [Origin],
    /// The lines of `driven_by` as text.
    #[serde(skip)]
    lines: String,
}

impl<'a> ProofResult<'a> {
    fn of(verdict: &'a Verdict) -> Self {
        let (result, counterexample, reason) = match &verdict.outcome {
            Outcome::Proved => ("proved", None, None),
            Outcome::Disproved(example) => ("disproved", Some(example), None),
            Outcome::Unknown(reason) => ("unknown", None, Some(reason.as_str())),
        };
        ProofResult {
            unit: &verdict.unit,
            geometry: verdict.geometry,
            property: &verdict.property,
            method: verdict.method,
            result,
            reason,
            covered: &verdict.covered,
            seconds: milliseconds(verdict.seconds),
            counterexample,
            stated_at: verdict.stated_at,
            driven_by: &verdict.driven_by,
            lines: verdict.lines(),
        }
    }
}

impl CommandResult for Proofs<'_> {
    fn verdict(&self) -> String {
        let count = |result| self.results.iter().filter(|p| p.result == result).count();
        let (proved, disproved, unknown) = (count("proved"), count("disproved"), count("unknown"));
        match (disproved, unknown) {
            (0, 0) if proved == 1 => "The property is proved.".to_owned(),
            (0, 0) => format!("All {proved} properties are proved."),
            _ => format!(
                "{proved} properties are proved, {disproved} disproved, {unknown} not decided."
            ),
        }
    }

    fn tone(&self) -> Tone {
        match self.results.iter().any(|p| p.result == "disproved") {
            true => Tone::Bad,
            false if self.results.iter().any(|p| p.result == "unknown") => Tone::Doubt,
            false => Tone::Good,
        }
    }

    fn details(&self) -> Details {
        let proofs = Columns::of(&self.results)
            .left("unit", |p| p.unit)
            .left("geometry", |p| p.geometry)
            .left("property", |p| p.property)
            .left("result", |p| match p.result {
                "disproved" => "DISPROVED",
                result => result,
            })
            .toned(|p| match p.result {
                "proved" => Tone::Good,
                "disproved" => Tone::Bad,
                _ => Tone::Doubt,
            })
            .left("method", |p| p.method)
            .left("covered", |p| p.covered)
            .right("s", |p| format!("{:.1}", p.seconds))
            .minor(&["method", "covered"]);
        let mut details = Details::of(proofs.table());
        for proof in &self.results {
            let example = proof.counterexample.map(ToString::to_string);
            if let Some(remark) = example.or(proof.reason.map(str::to_owned)) {
                let (unit, geometry, property) = (proof.unit, proof.geometry, proof.property);
                let lines = &proof.lines;
                details.say(format!("{unit} {geometry} {property}{lines}: {remark}"));
            }
        }
        details
    }

    fn hints(&self) -> Vec<Hint> {
        self.next.iter().cloned().collect()
    }
}
