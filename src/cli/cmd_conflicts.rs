//! `spadkit conflicts`: bank conflicts of a trace under given mappings.

use super::conflicts_lines::{self, Counted};
use super::conflicts_text::{Culprits, Measured, OfOp, Shown, Site};
use super::line_slots::LineSlots;
use super::machine_code::MachineCode;
use super::printer::Printer;
use super::values::input_help;
use super::{Example, Execute, Global};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::sm::Setup;
use crate::software::{Layout, LayoutSpec};
use crate::suggest::SourceFiles;
use crate::trace::{AccessTrace, ConflictProfile, Line, Op, Places, removed_pct, removed_text};
use crate::workload::{Input, LaunchWorkload};
use clap::Args;
use std::collections::BTreeMap;

/// Count the bank conflicts of a kernel under given mappings.
#[derive(Args)]
pub struct ConflictsArgs {
    #[arg(help = input_help(&[]))]
    input: Option<Input>,
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
    /// With --source: simulate the launch under each mapping in hardware, and show
    /// the percentage of its cycles that each line takes.
    #[arg(long = "simulate", alias = "cycles", requires = "source")]
    cycles: bool,
    /// Assemble the kernel, and also count the accesses of the machine code, next to
    /// those of the PTX: accesses that ptxas merges, removes, splits, or has one lane
    /// do for all. Needs ptxas and nvdisasm.
    #[arg(long)]
    machine_code: bool,
    #[command(flatten)]
    allow: super::Allow,
}

/// A value of `--hash`; the last may be the INPUT, `--hash mod xor FILE`.
#[derive(Clone)]
enum SpecOrInput {
    Spec(LayoutSpec),
    Input(Input),
}

fn spec_or_input(text: &str) -> std::result::Result<SpecOrInput, String> {
    match super::values::parsed::<LayoutSpec>(text) {
        Ok(spec) => Ok(SpecOrInput::Spec(spec)),
        Err(error) => match Input::from(text) {
            input if input.is_evident() => Ok(SpecOrInput::Input(input)),
            _ => Err(error),
        },
    }
}

impl ConflictsArgs {
    /// INPUT and the mappings, however they were given.
    fn parts(&self) -> Result<(&Input, Vec<&LayoutSpec>)> {
        let mut input = self.input.as_ref();
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
    fn examples() -> &'static [Example] {
        &[
            ("by source line", "conflicts k.toml --source --preset sm80"),
            ("two mappings", "conflicts kernel:transpose --hash mod xor"),
            ("each instruction", "conflicts k.toml --per-pc"),
        ]
    }

    fn kernel(&self) -> Option<&Input> {
        self.parts().ok().map(|(input, _)| input)
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        let machine = global.machine()?;
        let (input, specs) = self.parts()?;
        let run = self.allow.run(printer);
        let (trace, simulated) = if self.cycles {
            let launch = input.launch().ok_or_else(|| {
                Error::usage(
                    format!("--simulate for {input}, which records only accesses to shared memory"),
                    "expected a launch file (.toml): the kernel is simulated",
                )
            })?;
            let (trace, workload) =
                super::load::load_both(input, &launch.run(run)?, &machine, printer)?;
            (trace, Some(workload))
        } else {
            (super::load::load_for(input, run, &machine, printer)?, None)
        };
        let again = global.machine_option();
        let detail = Detail {
            per_pc: self.per_pc,
            source: self.source,
            simulated: simulated.as_ref(),
            machine_code: self.machine_code,
            again: Some(&again),
        };
        of_trace(&trace, &specs, detail, &machine, input, printer)
    }
}

/// The parts that are counted, apart from all accesses together.
#[derive(Clone, Copy)]
pub(super) struct Detail<'a> {
    /// Each instruction.
    pub per_pc: bool,
    /// Each line of the source.
    pub source: bool,
    /// The workload to simulate for the lines' share of the cycles.
    pub simulated: Option<&'a LaunchWorkload>,
    /// The accesses of the machine code.
    pub machine_code: bool,
    /// The option that names the machine, for commands to type.
    pub again: Option<&'a str>,
}

/// Counts the conflicts of a trace under each mapping. Source files are looked
/// for in the folder of `input`, too.
pub(super) fn of_trace(
    trace: &AccessTrace,
    specs: &[&LayoutSpec],
    detail: Detail<'_>,
    machine: &Config,
    input: &Input,
    printer: &Printer,
) -> Result<()> {
    let code = detail
        .machine_code
        .then(|| MachineCode::of(input, trace, machine));
    let code = code.transpose()?;
    let machine_code = code.as_ref().map(|code| code.shown(trace, specs, machine));
    let machine_code = machine_code.transpose()?;
    // If the machine code is known, its accesses are counted.
    let made = code.map(MachineCode::into_trace);
    let judged = made.as_ref().unwrap_or(trace);
    let rule = machine.conflict_rule();
    let profile = ConflictProfile::new(trace, rule);
    let places = trace.places();
    let job = Job::of(trace, detail, machine, &profile, &places);
    let mut text = SourceFiles::beside(input.name());
    let culprits = Culprits::of(judged, specs.first().copied(), machine, &mut text)?;
    let results = specs
        .iter()
        .map(|spec| job.measure(spec, &mut text, printer))
        .collect::<Result<Vec<_>>>()?;
    printer.show(&Shown {
        accesses: profile.accesses,
        remote_accesses: trace.remote_accesses(),
        rule: rule.name(),
        rule_text: rule.describe(),
        results,
        machine_code,
        trace,
        machine,
        input: input.name(),
        has_places: !places.is_empty(),
        culprits,
        judged: judged.accesses.len() as u64,
        again: detail.again,
    })
}

/// The inputs for measuring the mappings.
struct Job<'a> {
    profile: &'a ConflictProfile,
    per_pc: Vec<(u32, ConflictProfile)>,
    per_op: Vec<(Op, ConflictProfile)>,
    /// Operation of each site.
    ops: BTreeMap<u32, Op>,
    places: &'a Places,
    lines: Vec<(Line, ConflictProfile)>,
    simulated: Option<&'a LaunchWorkload>,
    machine: &'a Config,
    has_room: bool,
    /// Words of the block's shared memory.
    words: u32,
}

impl<'a> Job<'a> {
    fn of(
        trace: &AccessTrace,
        detail: Detail<'a>,
        machine: &'a Config,
        profile: &'a ConflictProfile,
        places: &'a Places,
    ) -> Self {
        let rule = machine.conflict_rule();
        let per_pc = detail.per_pc.then(|| ConflictProfile::per_pc(trace, rule));
        let per_op = detail.per_pc.then(|| ConflictProfile::per_op(trace, rule));
        let lines = detail
            .source
            .then(|| ConflictProfile::per_line(trace, rule));
        Job {
            profile,
            per_pc: per_pc.unwrap_or_default(),
            per_op: per_op.unwrap_or_default(),
            ops: trace.accesses.iter().map(|a| (a.pc, a.op)).collect(),
            places,
            lines: lines.unwrap_or_default(),
            simulated: detail.simulated,
            machine,
            has_room: machine.has_room_for(trace),
            words: trace.words(),
        }
    }
}

impl Job<'_> {
    fn measure(
        &self,
        spec: &LayoutSpec,
        text: &mut SourceFiles,
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
