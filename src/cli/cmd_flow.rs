//! `spadkit flow`: the main job, from a kernel to verified, measured hardware.

use super::Global;
use super::cmd_cosim::fail_on_mismatch;
use super::printer::{Printer, table};
use super::synthesis::{Measured, Synthesis};
use crate::config::Config;
use crate::cosim::{CosimOptions, CosimResult, cosim_all};
use crate::error::{Error, Result};
use crate::hash::{HashKind, HashSpec, Mapping, encode};
use crate::interrupt;
use crate::output::{check_writable, write_file};
use crate::report::{self, CosimLine, FlowReport, InstructionLine, Kernel, MappingLine};
use crate::rtl::{Design, write_design};
use crate::search::bitvec::all_pairs;
use crate::search::reference::Selection;
use crate::search::tune::{Method, Tuner};
use crate::search::{Control, Outcome, Problem};
use crate::synth::{DEFAULT_TECHNOLOGY, Technology};
use crate::tool::{Cache, Kind, Toolbox};
use crate::trace::{AccessTrace, ConflictProfile, pattern};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// The main job: analyse a kernel, tune every hash unit for it, emit the
/// Verilog, verify it, measure it, and write a report.
#[derive(Args)]
pub struct FlowArgs {
    /// Access trace (.json), or kernel:NAME for a generated one.
    input: String,
    /// Directory for the report and the Verilog.
    #[arg(short, long, value_name = "DIR", default_value = "spadkit-out")]
    out: PathBuf,
    /// Cell library: a Liberty file, .lib or .lib.gz.
    #[arg(long, value_name = "FILE", conflicts_with = "tech")]
    liberty: Option<PathBuf>,
    /// Technology by name.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_TECHNOLOGY)]
    tech: String,
    /// Seconds for each optimal search.
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    budget: u64,
    /// Clock cycles of co-simulation per unit.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    cycles: u64,
}

pub(super) fn run(args: &FlowArgs, global: &Global, printer: &Printer) -> Result<()> {
    interrupt::listen();
    let machine = global.machine()?;
    let trace = super::load_for(&args.input, &machine, printer)?;
    // Before the long search, not after it.
    check_writable(&args.out.join("report.html"))?;
    let flow = Flow {
        args,
        machine: &machine,
        profile: ConflictProfile::new(&trace, machine.lanes),
        trace: &trace,
        tools: Toolbox::new(),
        printer,
    };
    let mappings = flow.mappings()?;
    printer.log("emitting Verilog");
    let design = Design::emit(&[], &machine)?;
    write_design(&design, &args.out.join("rtl"))?;

    let mut problems = Vec::new();
    let cosim = part("co-simulation", flow.cosim(design), &mut problems, printer);
    let synthesis = part("synthesis", flow.synthesis(), &mut problems, printer);
    let skipped = problems.iter().map(|(what, e)| format!("{what}: {e}"));

    let report = FlowReport {
        format_version: 1,
        kernel: flow.kernel(),
        machine: machine.name.clone(),
        machine_text: machine_text(&machine),
        instructions: flow.instructions(&mappings)?,
        mappings,
        cosim: cosim.iter().flatten().map(cosim_line).collect(),
        synthesis: synthesis.as_ref().map_or(Value::Null, Synthesis::json),
        synthesis_chart: synthesis.as_ref().map(Synthesis::chart),
        tools: flow.versions()?,
        commands: flow.commands(global),
        skipped: skipped.collect(),
    };
    let html = report::render(&report)?;
    let summary = serde_json::to_string_pretty(&report).expect("a report has string keys only");
    write_file(&args.out.join("summary.json"), summary.as_bytes())?;
    write_file(&args.out.join("report.html"), html.as_bytes())?;

    let mut result = json!(report);
    result["report"] = json!(args.out.join("report.html"));
    printer.result(result, || text(&report, synthesis.as_ref(), args))?;
    fail_on_mismatch(
        &cosim.unwrap_or_default(),
        &format!("--trace {}", args.input),
    )?;
    match problems.into_iter().next() {
        None => Ok(()),
        Some((_, error)) => Err(error),
    }
}

/// What can be done without a missing tool is still done: the error is kept
/// for the end.
fn part<T>(
    what: &'static str,
    result: Result<T>,
    problems: &mut Vec<(&'static str, Error)>,
    printer: &Printer,
) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            printer.warn(format!("{what} is left out: {error}"));
            problems.push((what, error));
            None
        }
    }
}

struct Flow<'a> {
    args: &'a FlowArgs,
    machine: &'a Config,
    profile: ConflictProfile,
    trace: &'a AccessTrace,
    tools: Toolbox,
    printer: &'a Printer,
}

impl Flow<'_> {
    fn kernel(&self) -> Kernel {
        let mask = self.machine.geometry.bank_mask();
        let count = self.profile.count(|addr| addr & mask);
        let passes = self.profile.active_passes().max(1);
        Kernel {
            name: self.trace.name.clone(),
            source: self.trace.source.clone(),
            block_dim: self.trace.block_dim,
            shared_bytes: self.trace.shared_bytes,
            accesses: self.profile.accesses,
            mean_conflict_degree: count.degree_sum as f64 / passes as f64,
        }
    }

    /// The conventional mapping, the fixed hashes, and the best configuration
    /// of each configurable unit that fits the capacity.
    fn mappings(&self) -> Result<Vec<MappingLine>> {
        let mut lines = Vec::new();
        for spec in [HashSpec::Mod, HashSpec::Xor, HashSpec::Add] {
            lines.push(self.mapping(&spec, "fixed", None)?);
        }
        let problem = Problem::new(&self.profile, self.machine.geometry)
            .with_pivot_limit(self.machine.pivot_limit())?;
        let tuner = Tuner {
            problem: &problem,
            sets: &[],
            pairs: &all_pairs(self.machine.geometry),
            selection: Selection::Allowed,
        };
        for kind in HashKind::ALL {
            self.printer.log(format!("tuning {kind}"));
            let method = Method::default_for(kind);
            let control = Control::none()
                .stop_when(&interrupt::requested)
                .budget(Duration::from_secs(self.args.budget));
            let outcome = tuner.run(kind, method, &control)?;
            lines.push(self.mapping(&outcome.spec, method.name(), Some(&outcome))?);
        }
        // Smaller units come first: the first that is best is recommended.
        let fewest = lines.iter().map(|l| l.conflicts).min();
        if let Some(line) = lines.iter_mut().find(|l| Some(l.conflicts) == fewest) {
            line.recommended = true;
        }
        Ok(lines)
    }

    fn mapping(
        &self,
        spec: &HashSpec,
        method: &str,
        outcome: Option<&Outcome>,
    ) -> Result<MappingLine> {
        let mapping = Mapping::new(spec, self.machine.geometry)?;
        let count = self.profile.count(|addr| mapping.bank(addr));
        let mask = self.machine.geometry.bank_mask();
        let baseline = self.profile.count(|addr| addr & mask).conflicts;
        let encoding = encode(spec, self.machine.geometry)?;
        let is_plain = matches!(spec, HashSpec::Mod);
        let ports = encoding.ports.iter().filter(|_| !is_plain);
        Ok(MappingLine {
            hash: spec.to_string(),
            unit: if is_plain { "none" } else { encoding.unit }.to_owned(),
            method: method.to_owned(),
            conflicts: count.conflicts,
            max_degree: count.max_degree,
            removed_pct: super::cmd_conflicts::removed_pct(baseline, count.conflicts),
            optimal: outcome.map(Outcome::optimal),
            evaluated: outcome.map(|o| o.evaluated),
            ports: ports
                .map(|(n, v)| ((*n).to_owned(), v.to_string()))
                .collect(),
            recommended: false,
        })
    }

    fn instructions(&self, mappings: &[MappingLine]) -> Result<Vec<InstructionLine>> {
        let mask = self.machine.geometry.bank_mask();
        let best = mappings.iter().find(|m| m.recommended);
        let best: HashSpec = best.map_or("mod", |m| &m.hash).parse()?;
        let best = Mapping::new(&best, self.machine.geometry)?;
        let per_pc = ConflictProfile::per_pc(self.trace, self.machine.lanes);
        let count = |pc: u32, bank: &dyn Fn(u32) -> u32| {
            let of_pc = per_pc.iter().find(|(p, _)| *p == pc);
            of_pc.map_or(0, |(_, profile)| profile.count(bank).conflicts)
        };
        let line = |i: &pattern::Instruction| InstructionLine {
            pc: i.pc,
            op: format!("{:?}", i.op).to_lowercase(),
            accesses: i.accesses,
            class: i.class.to_string(),
            pattern: i
                .patterns
                .first()
                .map_or(String::new(), |(p, _)| p.to_string()),
            conflicts: count(i.pc, &|addr| addr & mask),
            conflicts_after: count(i.pc, &|addr| best.bank(addr)),
        };
        Ok(pattern::classify(self.trace).iter().map(line).collect())
    }

    /// The combinational units on the kernel's own addresses, and the
    /// configuration registers.
    fn cosim(&self, mut design: Design) -> Result<Vec<CosimResult>> {
        let family = ["spad_hash", "spad_row_map", "spad_rap"];
        design
            .units
            .retain(|unit| family.iter().any(|p| unit.name.starts_with(p)));
        let options = CosimOptions {
            config: self.machine,
            cycles: self.args.cycles,
            seed: 1,
            trace: Some(self.trace),
            replay: None,
            rtl_dir: Some(self.args.out.join("rtl")),
            wave: None,
        };
        let bar = self.printer.progress(design.units.len() as u64, "cosim");
        self.printer.log("co-simulating");
        cosim_all(
            &design,
            &options,
            &self.tools,
            &Cache::user()?,
            &|done, unit| {
                bar.set(done, unit);
            },
        )
    }

    fn synthesis(&self) -> Result<Synthesis> {
        self.printer.log("synthesizing");
        let technology = match &self.args.liberty {
            Some(path) => Technology::load(path)?,
            None => Technology::named(&self.args.tech)?,
        };
        let units = HashKind::ALL.map(|kind| kind.unit().to_owned());
        let (machine, tools) = (self.machine, &self.tools);
        let measured = Measured::default();
        Synthesis::run(
            &units,
            &[],
            machine,
            &technology,
            tools,
            measured,
            self.printer,
        )
    }

    fn versions(&self) -> Result<Vec<(String, String)>> {
        let mut versions = Vec::new();
        for kind in [Kind::Verilator, Kind::Cxx, Kind::Yosys, Kind::Sta] {
            if let Some(tool) = self.tools.get_optional(kind)? {
                versions.push((kind.name().to_owned(), tool.version.to_string()));
            }
        }
        Ok(versions)
    }

    fn commands(&self, global: &Global) -> Vec<String> {
        let input = &self.args.input;
        let machine = global.machine_option();
        let library = match &self.args.liberty {
            Some(path) => format!("--liberty {}", path.display()),
            None => format!("--tech {}", self.args.tech),
        };
        let units = HashKind::ALL.map(HashKind::unit).join(" ");
        vec![
            format!("spadkit classify {input}"),
            format!("spadkit tune {input} --fits {machine}"),
            format!("spadkit emit -o rtl {machine}"),
            format!(
                "spadkit cosim --trace {input} --cycles {} {machine}",
                self.args.cycles
            ),
            format!("spadkit synth {units} {library} {machine}"),
        ]
    }
}

fn machine_text(machine: &Config) -> String {
    format!(
        "{}: {} lanes, {} banks, {} words of {} bits, warps of {}",
        machine.name,
        machine.lanes,
        machine.geometry.banks(),
        machine.capacity_words,
        machine.word_bits,
        machine.warp_size
    )
}

fn cosim_line(result: &CosimResult) -> CosimLine {
    CosimLine {
        unit: result.unit.clone(),
        cycles: result.outcome.cycles,
        checks: result.outcome.checks,
        mismatches: result.outcome.mismatches,
    }
}

fn text(report: &FlowReport, synthesis: Option<&Synthesis>, args: &FlowArgs) -> String {
    let header = [
        "mapping",
        "search",
        "conflicts",
        "max degree",
        "removed",
        "optimal",
    ];
    let rows = report.mappings.iter().map(|m| {
        let optimal = match m.optimal {
            None => "",
            Some(true) => "proved",
            Some(false) => "not proved",
        };
        vec![
            format!("{}{}", if m.recommended { "* " } else { "" }, m.hash),
            m.method.clone(),
            m.conflicts.to_string(),
            m.max_degree.to_string(),
            format!("{:.1} %", m.removed_pct),
            optimal.to_owned(),
        ]
    });
    let mut out = format!(
        "{} on {}\n{}",
        report.kernel.name,
        report.machine_text,
        table(&header, &["conflicts", "max degree", "removed"], rows)
    );
    out += "* the smallest unit with the fewest conflicts\n";
    if !report.cosim.is_empty() {
        let cycles: u64 = report.cosim.iter().map(|c| c.cycles).sum();
        let mismatches: u64 = report.cosim.iter().map(|c| c.mismatches).sum();
        out += &format!(
            "co-simulation: {} units, {cycles} cycles, {mismatches} mismatches\n",
            report.cosim.len()
        );
    }
    if let Some(synthesis) = synthesis {
        out += &synthesis.totals_text();
    }
    out + &format!("report: {}\n", args.out.join("report.html").display())
}
