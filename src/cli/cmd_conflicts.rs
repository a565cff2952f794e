//! `spadkit conflicts`: bank conflicts of a trace under given mappings.

use super::conflicts_lines::{self, Counted, LineCost};
use super::line_slots::LineSlots;
use super::machine_code::{self, MachineCode};
use super::printer::{CommandResult, Printer, table};
use super::source_text::SourceText;
use super::{Execute, Global};
use crate::capture::is_launch;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::quote::{shell, shown};
use crate::sm::Setup;
use crate::software::{Layout, LayoutSpec};
use crate::trace::{
    AccessTrace, ConflictProfile, Line, Op, Place, Places, removed_pct, removed_text,
};
use crate::workload::{LaunchWorkload, is_input};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Bank conflicts of a trace under given mappings.
#[derive(Args)]
pub struct ConflictsArgs {
    /// Access trace (.json), launch file (.toml; .toml:N for launch N in execution order, from 0), or
    /// kernel:NAME for a generated one.
    input: Option<String>,
    /// Mapping; repeat for several. mod means no hash.
    #[arg(long = "hash", value_name = "SPEC", num_args = 1.., default_value = "mod",
          value_parser = spec_or_input)]
    hashes: Vec<SpecOrInput>,
    /// Add a line for each instruction, and the sums of loads, stores and atomics.
    #[arg(long)]
    per_pc: bool,
    /// Sum the access sites of each source line, most expensive first, with the
    /// calls inlined around them, and the line's text if the file is found.
    /// Without line information, sum by line of the PTX.
    #[arg(long, conflicts_with = "per_pc")]
    source: bool,
    /// With --source: simulate the launch on the machine, under each mapping of
    /// hardware, for the percentage of its cycles that each line takes.
    #[arg(long, requires = "source")]
    cycles: bool,
    /// Assemble the kernel, and count what the machine code accesses beside what the
    /// PTX does: accesses that ptxas merges, removes, splits, or has one lane do for
    /// all. Needs ptxas and nvdisasm.
    #[arg(long)]
    machine_code: bool,
    #[command(flatten)]
    allow: super::Allow,
}

/// A value of `--hash`; the last may be the INPUT, `--hash mod xor FILE`.
#[derive(Clone)]
enum SpecOrInput {
    Spec(LayoutSpec),
    Input(String),
}

fn spec_or_input(text: &str) -> std::result::Result<SpecOrInput, String> {
    match super::parsed::<LayoutSpec>(text) {
        Ok(spec) => Ok(SpecOrInput::Spec(spec)),
        Err(_) if is_input(text) => Ok(SpecOrInput::Input(text.to_owned())),
        Err(error) => Err(error),
    }
}

impl ConflictsArgs {
    /// INPUT and the mappings, however they were given.
    fn parts(&self) -> Result<(&str, Vec<&LayoutSpec>)> {
        let mut input = self.input.as_deref();
        let mut specs = Vec::new();
        for (at, hash) in self.hashes.iter().enumerate() {
            match hash {
                SpecOrInput::Spec(spec) => specs.push(spec),
                SpecOrInput::Input(name) if input.is_none() && at + 1 == self.hashes.len() => {
                    input = Some(name);
                }
                SpecOrInput::Input(name) => {
                    let what = format!("'{name}' is not a mapping");
                    return Err(Error::usage(what, "expected one INPUT, before --hash"));
                }
            }
        }
        match input {
            Some(input) if !specs.is_empty() => Ok((input, specs)),
            Some(_) => Err(Error::usage(
                "--hash needs a mapping",
                "expected spadkit conflicts INPUT --hash SPEC...",
            )),
            None => Err(Error::usage(
                "INPUT is missing",
                "expected spadkit conflicts INPUT --hash SPEC...",
            )),
        }
    }
}

impl Execute for ConflictsArgs {
    fn kernel(&self) -> Option<&str> {
        self.parts().ok().map(|(input, _)| input)
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        let machine = global.machine()?;
        let (input, specs) = self.parts()?;
        let zeros_beyond = self.allow.zeros_beyond(printer);
        if self.cycles && !is_launch(Path::new(input)) {
            return Err(Error::usage(
                format!("--cycles for {input}, which records only accesses to shared memory"),
                "expected a launch file (.toml): the kernel is simulated",
            ));
        }
        let trace = super::load_for_with(input, &machine, printer, zeros_beyond)?;
        let simulated = if self.cycles {
            Some(LaunchWorkload::open_with(Path::new(input), zeros_beyond)?)
        } else {
            None
        };
        let detail = Detail {
            per_pc: self.per_pc,
            source: self.source,
            simulated: simulated.as_ref(),
            machine_code: self.machine_code,
        };
        of_trace(&trace, &specs, detail, &machine, input, printer)
    }
}

/// What is counted besides all accesses together.
#[derive(Clone, Copy)]
pub(super) struct Detail<'a> {
    /// Each instruction.
    pub per_pc: bool,
    /// Each line of the source.
    pub source: bool,
    /// What is simulated for the lines' share of the cycles.
    pub simulated: Option<&'a LaunchWorkload>,
    /// The accesses of the machine code.
    pub machine_code: bool,
}

/// Counts the conflicts of a trace under each mapping. Source files are looked
/// for beside `input`, too.
pub(super) fn of_trace(
    trace: &AccessTrace,
    specs: &[&LayoutSpec],
    detail: Detail<'_>,
    machine: &Config,
    input: &str,
    printer: &Printer,
) -> Result<()> {
    let machine_code = if detail.machine_code {
        Some(MachineCode::of(input, trace, machine)?.shown(trace, specs, machine)?)
    } else {
        None
    };
    let rule = machine.conflict_rule();
    let profile = ConflictProfile::new(trace, rule);
    let per_pc = if detail.per_pc {
        ConflictProfile::per_pc(trace, rule)
    } else {
        Vec::new()
    };
    let per_op = if detail.per_pc {
        ConflictProfile::per_op(trace, rule)
    } else {
        Vec::new()
    };
    let ops = trace.accesses.iter().map(|a| (a.pc, a.op)).collect();
    let lines = if detail.source {
        ConflictProfile::per_line(trace, rule)
    } else {
        Vec::new()
    };
    let mut text = SourceText::beside(input);
    let places = trace.places();
    let job = Job {
        profile: &profile,
        per_pc: &per_pc,
        per_op: &per_op,
        ops: &ops,
        places: &places,
        lines: &lines,
        simulated: detail.simulated,
        machine,
        has_room: machine.has_room_for(trace),
        words: trace.words(),
    };
    let results = specs
        .iter()
        .map(|spec| job.measure(spec, &mut text, printer))
        .collect::<Result<Vec<_>>>()?;
    printer.show(&Conflicts {
        accesses: profile.accesses,
        rule: rule.name(),
        rule_text: rule.describe(),
        results,
        machine_code,
        trace,
        machine,
        input,
        has_places: !places.is_empty(),
    })
}

/// The conflicts of a trace under each mapping.
#[derive(Serialize)]
struct Conflicts<'a> {
    accesses: u64,
    rule: &'static str,
    rule_text: String,
    results: Vec<Measured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine_code: Option<machine_code::Shown>,
    #[serde(skip)]
    trace: &'a AccessTrace,
    #[serde(skip)]
    machine: &'a Config,
    #[serde(skip)]
    input: &'a str,
    /// The trace names lines.
    #[serde(skip)]
    has_places: bool,
}

impl CommandResult for Conflicts<'_> {
    fn text(&self) -> String {
        let mut header = vec![
            "hash",
            "pc",
            "conflicts",
            "max degree",
            "wavefronts",
            "ideal",
            "removed",
            "fits",
        ];
        let each = self.results.iter().any(|m| !m.per_pc.is_empty());
        if each {
            header.insert(2, "access");
            if self.has_places {
                header.push("line");
            }
        }
        let numbers = if each { 3..8 } else { 2..7 };
        let rows = self.results.iter().flat_map(|m| m.rows(self.has_places));
        let lines: String = self.results.iter().map(Measured::lines_text).collect();
        format!(
            "{}: {} warp accesses\n{}{lines}{}{}{}",
            shown(&self.trace.name),
            self.accesses,
            table(&header, &header[numbers], rows),
            self.machine_code
                .as_ref()
                .map_or_else(String::new, machine_code::Shown::text),
            super::rule_line(self.machine),
            self.what_to_type()
        )
    }
}

impl Conflicts<'_> {
    /// The command that says what to change, where a line of a kernel has
    /// conflicts and was asked for.
    fn what_to_type(&self) -> String {
        let costs = |m: &Measured| m.total.conflicts > 0 && !m.lines.is_empty();
        let known = is_launch(Path::new(self.input)) || self.has_places;
        if known && self.results.iter().any(costs) {
            let input = shell(self.input);
            format!("to remove them: spadkit tune {input} --software, on the same machine\n")
        } else {
            String::new()
        }
    }
}

/// What the mappings are measured on.
struct Job<'a> {
    profile: &'a ConflictProfile,
    per_pc: &'a [(u32, ConflictProfile)],
    per_op: &'a [(Op, ConflictProfile)],
    /// What each site does.
    ops: &'a BTreeMap<u32, Op>,
    places: &'a Places,
    lines: &'a [(Line, ConflictProfile)],
    simulated: Option<&'a LaunchWorkload>,
    machine: &'a Config,
    has_room: bool,
    /// Words of the block's shared memory.
    words: u32,
}

impl Job<'_> {
    fn measure(
        &self,
        spec: &LayoutSpec,
        text: &mut SourceText,
        printer: &Printer,
    ) -> Result<Measured> {
        let machine = self.machine;
        let layout = Layout::new(spec, machine.geometry)?;
        let fits = self.fits(spec, &layout, printer);
        let bank_mask = machine.geometry.bank_mask();
        let count = |p: &ConflictProfile| {
            let ideal = p.ideal_wavefronts(machine.geometry.banks());
            Counted::new(p.count(|a| layout.bank(a)), ideal)
        };
        let total = count(self.profile);
        let baseline = self.profile.count(|a| a & bank_mask).conflicts;
        let site = |(pc, profile): &(u32, ConflictProfile)| Site {
            counted: count(profile),
            pc: *pc,
            op: self.ops[pc],
            place: self.places.of(*pc),
        };
        let slots = self.slots(spec)?;
        let lines = self.lines.iter().map(|(line, profile)| {
            let cycles = slots.as_ref().map(|slots| slots.share(line));
            (line, count(profile), cycles)
        });
        Ok(Measured {
            hash: spec.to_string(),
            removed_pct: removed_pct(baseline, total.conflicts),
            removed: removed_text(baseline, total.conflicts),
            total,
            fits,
            per_pc: self.per_pc.iter().map(site).collect(),
            per_op: (self.per_op.iter())
                .map(|(op, profile)| OfOp {
                    op: *op,
                    counted: count(profile),
                })
                .collect(),
            lines: conflicts_lines::costs(lines.collect(), text),
        })
    }
}

impl Job<'_> {
    /// Whether the rows of the mapping stay within the capacity; a warning where
    /// they do not.
    fn fits(&self, spec: &LayoutSpec, layout: &Layout, printer: &Printer) -> bool {
        let machine = self.machine;
        let beyond = match layout.mapping() {
            Some(mapping) => mapping.pivots_beyond(machine.pivot_limit()),
            None => Vec::new(),
        };
        // Software layouts move words to where there may be none.
        let needed = match layout.mapping() {
            Some(_) => None,
            None => Some(layout.words_needed(self.words)),
        };
        let too_many = needed.filter(|&n| n > machine.capacity_words);
        if let Some(needed) = too_many {
            printer.warn(format!(
                "{spec}: the block needs {needed} words, {} has {}",
                machine.name, machine.capacity_words
            ));
        }
        if !beyond.is_empty() {
            printer.warn(format!(
                "{spec}: rows beyond the capacity of {} words would be addressed (pivot bits {beyond:?})",
                machine.capacity_words
            ));
        }
        beyond.is_empty() && too_many.is_none() && self.has_room
    }

    /// The issue slots of each line, where they are asked for and the machine
    /// can have the mapping.
    fn slots(&self, spec: &LayoutSpec) -> Result<Option<LineSlots>> {
        let (Some(workload), LayoutSpec::Hash(hash)) = (self.simulated, spec) else {
            return Ok(None);
        };
        let setup = Setup {
            hash: Some(hash.clone()),
            ..Setup::default()
        };
        let sm = setup.build(self.machine, workload)?;
        let (_, profile, _) = sm.run_profiled(&mut |_| true)?;
        Ok(Some(LineSlots::new(&profile, workload)))
    }
}

/// One mapping's counts, whole and per instruction.
#[derive(Serialize)]
struct Measured {
    #[serde(flatten)]
    total: Counted,
    hash: String,
    /// Of the conflicts with bank = address mod 2^m.
    removed_pct: Option<f64>,
    /// The same in words.
    #[serde(skip)]
    removed: String,
    fits: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    per_pc: Vec<Site>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    per_op: Vec<OfOp>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lines: Vec<LineCost>,
}

/// The counts of all loads, stores or atomics.
#[derive(Serialize)]
struct OfOp {
    op: Op,
    #[serde(flatten)]
    counted: Counted,
}

/// The counts of an access site.
#[derive(Serialize)]
struct Site {
    #[serde(flatten)]
    counted: Counted,
    pc: u32,
    op: Op,
    #[serde(flatten)]
    place: Place,
}

impl Measured {
    /// The table of its lines, under its name.
    fn lines_text(&self) -> String {
        match &self.lines[..] {
            [] => String::new(),
            lines => format!("{}:\n{}", self.hash, conflicts_lines::text(lines)),
        }
    }

    fn rows(&self, has_places: bool) -> Vec<Vec<String>> {
        let mut all = vec![self.hash.clone(), "all".to_owned()];
        all.extend(self.total.cells());
        all.push(self.removed.clone());
        all.push(if self.fits { "yes" } else { "no" }.to_owned());
        if self.per_pc.is_empty() {
            return vec![all];
        }
        // What it does stands behind the instruction.
        all.insert(2, String::new());
        let per_op = self.per_op.iter().map(|one| {
            let sum = format!("{}s", one.op.name());
            let mut row = vec![String::new(), "all".to_owned(), sum];
            row.extend(one.counted.cells());
            row
        });
        let per_pc = self.per_pc.iter().map(|site| {
            let op = site.op.name().to_owned();
            let mut row = vec![String::new(), site.pc.to_string(), op];
            row.extend(site.counted.cells());
            if has_places {
                row.extend([String::new(), String::new(), site.place.text()]);
            }
            row
        });
        std::iter::once(all).chain(per_op).chain(per_pc).collect()
    }
}
