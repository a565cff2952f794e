//! `spadkit flow`: the main job, from a kernel to verified, measured hardware.

mod mappings;

use super::cells::Cells;
use super::cmd_cosim::fail_on_mismatch;
use super::conflicts_lines::Counted;
use super::conflicts_text::Culprits;
use super::machine::without_hash_unit;
use super::machine_code::{Judge, Judgement, MachineCode};
use super::printer::{CommandResult, Printer, Progress};
use super::values::input_help;
use super::{Example, Execute, Global, synthesis_text};
use crate::error::Result;
use crate::flow::{self, Done, Options, Stage, Watch};
use crate::hash::HashSpec;
use crate::interrupt;
use crate::output::PARTIAL;
use crate::quote::shell;
use crate::readable::readable_words;
use crate::report::{FlowReport, Software};
use crate::software::LayoutSpec;
use crate::suggest::{SourceFiles, torn_verdict};
use crate::terminal::{Details, Hint, Tone};
use crate::workload::{Input, RunOptions};
use clap::Args;
use mappings::{answer, details_of_mappings};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

/// Run the end-to-end flow: analyse a kernel, tune every hash unit for it, emit the
/// Verilog, verify it, measure it, and write a report.
#[derive(Args)]
#[command(long_about = long_about())]
pub struct FlowArgs {
    #[arg(help = input_help(&[]))]
    input: Input,
    /// Directory for the report and the Verilog.
    #[arg(
        short,
        long = "output",
        alias = "out",
        value_name = "DIR",
        default_value = "spadkit-out"
    )]
    out: PathBuf,
    #[command(flatten)]
    cells: Cells,
    /// Seconds for each optimal search.
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    budget: u64,
    /// Clock cycles of co-simulation per unit.
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    cycles: u64,
    /// Stop when the conflict table is known: no Verilog, no co-simulation, no
    /// synthesis.
    #[arg(long)]
    fast: bool,
    /// Replace or remove files of the directory that are in the way.
    #[arg(long)]
    force: bool,
    /// The summary.json of an earlier run: the report says what changed.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    #[command(flatten)]
    judge: Judge,
}

fn long_about() -> String {
    format!(
        "Run the end-to-end flow: analyse a kernel, tune every hash unit for it, emit the Verilog, \
         verify it, measure it, and write a report.\n\nOn a machine without a hash unit ({}), the \
         flow finds the best mappings in software. It puts them into the kernel of a launch \
         file, runs it before and after, and writes the fastest.\n\nThe conflict table is \
         printed as soon as it is known.",
        without_hash_unit()
    )
}

impl Execute for FlowArgs {
    fn examples() -> &'static [Example] {
        &[
            (
                "from a kernel to hardware",
                "flow k.toml --preset fermi -o out",
            ),
            ("the mappings only", "flow kernel:transpose --fast"),
        ]
    }

    fn kernel(&self) -> Option<&Input> {
        Some(&self.input)
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        interrupt::listen();
        let machine = global.machine()?;
        let mut trace =
            super::load::load_for(&self.input, RunOptions::default(), &machine, printer)?;
        let (mut machine_code, mut of_ptx) = (None, None);
        let judgement = self.judge.of_changes(&self.input, &trace, &machine);
        if self.judge.is_by_machine_code() {
            let code = MachineCode::of(&self.input, &trace, &machine)?;
            machine_code = Some(code.assembler());
            of_ptx = Some(std::mem::replace(&mut trace, code.into_trace()));
        }
        let options = Options {
            input: self.input.clone(),
            machine_option: Some(global.machine_option()),
            machine_from: printer.target().map(str::to_owned),
            out: self.out.clone(),
            library: self.cells.library(),
            budget: Duration::from_secs(self.budget),
            cycles: self.cycles,
            fast: self.fast,
            force: self.force,
            baseline: self.baseline.clone(),
            machine_code,
            of_ptx,
            judged_by: judgement.trace().cloned(),
        };
        let mut files = SourceFiles::beside(self.input.name());
        let plain = LayoutSpec::Hash(HashSpec::Mod);
        let culprits = Culprits::of(&trace, Some(&plain), &machine, &mut files)?;
        let console = Console {
            printer,
            culprits,
            judgement,
            by_machine_code: self.judge.is_by_machine_code(),
            bar: Mutex::new(None),
        };
        let done = flow::run(&trace, &machine, &options, &console)?;
        console.end_stage();
        printer.show(&FlowResult {
            found: &done.report,
            report: done.html.to_string_lossy().into(),
            done: &done,
        })?;
        let options = format!("--trace {}", shell(self.input.name()));
        fail_on_mismatch(&done.cosim, &options)?;
        match done.problems.into_iter().next() {
            None => Ok(()),
            Some((_, error)) => Err(error),
        }
    }
}

/// The results of a run, and the path of the HTML.
#[derive(Serialize)]
struct FlowResult<'a> {
    #[serde(flatten)]
    found: &'a FlowReport,
    report: String,
    #[serde(skip)]
    done: &'a Done,
}

/// Shows the stages on standard error, the conflict table on standard output.
struct Console<'a> {
    printer: &'a Printer,
    culprits: Culprits,
    /// The counts by which changes of the source are judged.
    judgement: Judgement,
    by_machine_code: bool,
    bar: Mutex<Option<Progress>>,
}

impl Console<'_> {
    fn end_stage(&self) {
        self.set_bar(None);
    }

    fn set_bar(&self, bar: Option<Progress>) {
        if let Ok(mut place) = self.bar.lock() {
            // The old bar goes before the new one is drawn.
            drop(place.take());
            *place = bar;
        }
    }
}

impl Watch for Console<'_> {
    fn stage(&self, stage: Stage, stages: &[Stage]) {
        self.end_stage();
        let number = stages.iter().position(|s| *s == stage).unwrap_or(0) + 1;
        let title = format!("{number}/{} {}", stages.len(), stage.name());
        self.printer.log(&title);
        self.set_bar(Some(self.printer.progress(1, &title)));
    }

    fn progress(&self, done: u64, total: u64, what: &str) {
        if let Ok(bar) = self.bar.lock()
            && let Some(bar) = bar.as_ref()
        {
            bar.set_total(total);
            bar.set(done, what);
        }
    }

    fn warn(&self, message: &str) {
        self.printer.warn(message);
    }

    fn tuned(&self, report: &FlowReport) -> Result<()> {
        self.end_stage();
        let of = if self.by_machine_code {
            " in the machine code"
        } else {
            ""
        };
        let mut text = answer(report, of);
        let software = report.software.as_ref();
        // Longer rows tear no access.
        let by_index = software.filter(|s| s.fastest_is_declared().is_none());
        let of_source = by_index.and_then(|s| torn_verdict(&s.suggestions, &s.left_alone));
        if let Some(of_source) = of_source {
            text = format!("{text} {of_source}");
        }
        if let Some(nothing) = by_index.and_then(Software::nothing_to_rewrite) {
            text = format!("{text} {nothing}");
        }
        let doubt = software.and_then(|s| self.judgement.doubt(&s.suggestions));
        // The lines with conflicts, then what removes them.
        if let Some(plain) = report.mappings.first().filter(|m| m.conflicts > 0) {
            let name = format!("{}{of}", readable_words(&report.kernel.name));
            let problem = self.culprits.problem(&Counted::of_line(plain), &name);
            text = format!("{problem}. {text}");
        }
        self.printer.early(text, report.kernel.counted, || {
            details_of_mappings(report, doubt)
        })
    }
}

impl CommandResult for FlowResult<'_> {
    /// The results of the checks; the answer about mappings was shown before.
    fn verdict(&self) -> String {
        let cosim = &self.found.cosim;
        let cycles: u64 = cosim.iter().map(|c| c.cycles).sum();
        let mismatches: u64 = cosim.iter().map(|c| c.mismatches).sum();
        let units = cosim.len();
        match mismatches {
            _ if units == 0 => format!("Wrote {}.", self.report),
            0 => format!(
                "Co-simulation: {units} units agree with their models, {cycles} cycles, 0 mismatches."
            ),
            n => format!("Co-simulation: {units} units, {cycles} cycles, {n} mismatches."),
        }
    }

    fn tone(&self) -> Tone {
        if self.found.cosim.iter().any(|c| c.mismatches > 0) {
            Tone::Bad
        } else {
            Tone::Good
        }
    }

    fn goes_on(&self) -> bool {
        true
    }

    /// The details after the table of mappings, which is shown as soon as it is known.
    fn details(&self) -> Details {
        let (report, done) = (self.found, self.done);
        let mut details = Details::new();
        if let Some(synthesis) = &done.synthesis {
            details.add(synthesis_text::totals_of(synthesis));
            details.gap();
        }
        for skipped in &report.skipped {
            details.toned(Tone::Doubt, format!("left out: {skipped}"));
        }
        if let (Some(_), Some(name)) = (
            &done.ptx,
            report.software.as_ref().and_then(|s| s.ptx.as_ref()),
        ) {
            let mut file = done.html.with_file_name(name).into_os_string();
            if done.is_partial {
                file.push(PARTIAL);
            }
            let file = PathBuf::from(file);
            details.say(format!("rewritten kernel: {}", file.display()));
        }
        details.say(format!("report: {}", self.report));
        details
    }

    fn hints(&self) -> Vec<Hint> {
        let advice = self.found.advice.iter();
        let advice = advice.map(|a| Hint::new(&*a.what, &*a.command));
        let command = format!("xdg-open {}", shell(&self.report));
        let report = Hint::new("the report, with pictures", command);
        advice.chain([report]).collect()
    }
}
