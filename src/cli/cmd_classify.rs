//! `spadkit classify`: access-pattern classes and strides of a trace.

use super::classify_static::{HEADER, KnownSite, StaticSummary, StaticView};
use super::printer::{CommandResult, Printer};
use super::strides_text::{Stride, show_strides};
use super::values::input_help;
use super::{Example, Execute, Global};
use crate::capture::statics;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::launch::PtxFile;
use crate::quote::shell;
use crate::readable::{readable, readable_words, without_accesses};
use crate::terminal::{Details, Hint, Table};
use crate::trace::pattern::{self, Class, Instruction, Pattern};
use crate::trace::{AccessTrace, ConflictProfile, Op, Place, TracedBlock};
use crate::workload::{Input, RunOptions};
use clap::Args;
use serde::Serialize;

/// Classify the access pattern of each instruction of a kernel, and list its strides.
///
/// Classes are linear, stride, block and random (hash paper, section 3); a
/// stride S is S0·2^k with S0 odd, in words. Wavefronts are counted with bank =
/// address mod 2^m, and without bank conflicts.
///
/// For a launch file, the addresses are also derived from the PTX, as affine
/// expressions of thread index tx, block index bx and loop counters
/// (docs/reference/ptx-traces.md). Every address of the run is compared with its
/// expression. If they disagree, the exit status is 1. For PTX without a launch,
/// only the expressions are shown.
#[derive(Args)]
pub struct ClassifyArgs {
    #[arg(help = input_help(&["PTX (.ptx)"]))]
    input: Input,
    /// Entry of the PTX; needed only if there are several.
    #[arg(long, alias = "kernel", value_name = "NAME")]
    entry: Option<String>,
    /// Threads of a block, for PTX without a launch.
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = super::values::parse_block)]
    block: Option<[u32; 3]>,
}

impl Execute for ClassifyArgs {
    fn examples() -> &'static [Example] {
        &[
            (
                "strides of a recorded kernel",
                "classify kernels/fwt/fwt.toml",
            ),
            (
                "of PTX that does not run",
                "classify k.ptx --entry k --block 16,16",
            ),
        ]
    }

    fn kernel(&self) -> Option<&Input> {
        Some(&self.input)
    }

    fn execute(&self, global: &Global, printer: &Printer) -> Result<()> {
        let machine = global.machine()?;
        if let Input::Ptx(ptx) = &self.input {
            return run_ptx(self, ptx, &machine, printer);
        }
        if self.entry.is_some() || self.block.is_some() {
            return Err(Error::usage(
                format!("--entry and --block for {}, which is not PTX", self.input),
                "a launch file or trace already specifies them",
            ));
        }
        let trace = super::load::load_for(&self.input, RunOptions::default(), &machine, printer)?;
        let statics = self
            .input
            .launch()
            .map(statics::launch_statics)
            .transpose()?;
        let view = statics.map(|statics| StaticView::new(statics, &machine));
        let next = format!(
            "spadkit conflicts {} --source {}",
            shell(self.input.name()),
            global.machine_option()
        );
        show(&trace, view.as_ref(), (&machine, next), printer)?;
        view.map_or(Ok(()), |view| view.verdict())
    }
}

/// Classifies a PTX text without a launch, by static analysis.
fn run_ptx(args: &ClassifyArgs, ptx: &PtxFile, machine: &Config, printer: &Printer) -> Result<()> {
    let Some(block) = args.block else {
        return Err(Error::usage(
            format!("{} does not specify the block size", args.input),
            "give --block X,Y,Z, or a launch file (.toml)",
        ));
    };
    let module = ptx.module()?;
    let entry = statics::entry_of(&module, args.entry.as_deref())?;
    let view = StaticView::new(statics::ptx_statics(&module, entry, block)?, machine);
    let rule = machine.conflict_rule();
    printer.show(&OfPtx {
        rule: rule.name(),
        rule_text: rule.describe(),
        instructions: [],
        strides: [],
        summary: view.summary(&[]),
        entry,
        view: &view,
        machine,
    })
}

/// The facts from the PTX alone: nothing was executed.
#[derive(Serialize)]
struct OfPtx<'a> {
    rule: &'static str,
    rule_text: String,
    instructions: [(); 0],
    strides: [(); 0],
    #[serde(rename = "static")]
    summary: StaticSummary<'a>,
    #[serde(skip)]
    entry: &'a str,
    #[serde(skip)]
    view: &'a StaticView,
    #[serde(skip)]
    machine: &'a Config,
}

impl CommandResult for OfPtx<'_> {
    fn verdict(&self) -> String {
        format!("{}: {}.", readable(self.entry), self.view.line())
    }

    fn details(&self) -> Details {
        let view = self.view;
        let rows = view.others(&[]).map(|site| {
            let mut row = vec![site.pc.to_string(), format!("{:?}", site.op).to_lowercase()];
            row.extend(view.cells(Some(site)).into_iter().take(3));
            row.push(site.place.text());
            row
        });
        let header = ["pc", "op", HEADER[0], HEADER[1], HEADER[2], "line"];
        let mut details = Details::new();
        details.say(format!("strides S = S0·2^k: {}", view.strides()));
        details.gap();
        details.table(
            Table::new(&header, rows)
                .right(&["pc", HEADER[2]])
                .minor(&["op"]),
        );
        details.gap();
        details.note(super::machine::rule_line(self.machine));
        details
    }
}

fn show(
    trace: &AccessTrace,
    view: Option<&StaticView>,
    (machine, next): (&Config, String),
    printer: &Printer,
) -> Result<()> {
    let rule = machine.conflict_rule();
    let instructions = classified(trace, machine, view);
    let traced: Vec<u32> = instructions.iter().map(|c| c.pc).collect();
    printer.show(&OfTrace {
        rule: rule.name(),
        rule_text: rule.describe(),
        strides: Stride::all(&pattern::strides(trace)),
        summary: view.map(|view| view.summary(&traced)),
        instructions,
        trace,
        view,
        machine,
        next,
    })
}

/// The instructions of a trace.
#[derive(Serialize)]
struct OfTrace<'a> {
    rule: &'static str,
    rule_text: String,
    instructions: Vec<Classified<'a>>,
    strides: Vec<Stride>,
    #[serde(rename = "static", skip_serializing_if = "Option::is_none")]
    summary: Option<StaticSummary<'a>>,
    #[serde(skip)]
    trace: &'a AccessTrace,
    #[serde(skip)]
    view: Option<&'a StaticView>,
    #[serde(skip)]
    machine: &'a Config,
    /// The command that shows its lines.
    #[serde(skip)]
    next: String,
}

impl CommandResult for OfTrace<'_> {
    fn counted(&self) -> Option<TracedBlock> {
        self.trace.traced_block()
    }

    fn verdict(&self) -> String {
        let all = self.instructions.len();
        let costly = self.instructions.iter().filter(|i| i.conflicts > 0).count();
        let mut classes: Vec<(Class, usize)> = Vec::new();
        // The list is of those that are counted before it.
        let counted = self.instructions.iter();
        for instruction in counted.filter(|i| i.conflicts > 0 || costly == 0) {
            match classes
                .iter_mut()
                .find(|(class, _)| *class == instruction.class)
            {
                Some((_, count)) => *count += 1,
                None => classes.push((instruction.class, 1)),
            }
        }
        let classes = classes.iter().map(|(class, n)| format!("{n} {class}"));
        let classes: Vec<String> = classes.collect();
        let (name, classes) = (readable_words(&self.trace.name), classes.join(", "));
        match costly {
            _ if all == 0 => without_accesses(&name),
            0 => format!("No instruction of {name} has bank conflicts: {classes}."),
            1 => format!("1 of {all} instructions of {name} has bank conflicts: {classes}."),
            n => format!("{n} of {all} instructions of {name} have bank conflicts: {classes}."),
        }
    }

    fn details(&self) -> Details {
        let has_places = !self.trace.places().is_empty();
        let mut header = vec![
            "pc",
            "op",
            "accesses",
            "class",
            "address - o",
            "strides",
            "wavefronts",
            "ideal",
        ];
        if has_places {
            header.push("line");
        }
        if self.view.is_some() {
            header.extend(HEADER);
        }
        let instructions = self.instructions.iter();
        let rows = instructions.flat_map(|c| c.rows(has_places, self.view));
        let mut details = Details::new();
        details.say(format!(
            "strides S = S0·2^k: {}",
            show_strides(&self.strides)
        ));
        details.gap();
        details.table(
            Table::new(&header, rows)
                .right(&["pc", "accesses", "wavefronts", "ideal", HEADER[2]])
                .minor(&[
                    HEADER[1], HEADER[2], "op", "strides", "ideal", HEADER[3], "accesses",
                ]),
        );
        details.gap();
        if let Some(view) = self.view {
            details.say(format!("from the PTX: {}", view.line()));
        }
        details.note(super::machine::rule_line(self.machine));
        details
    }

    fn hints(&self) -> Vec<Hint> {
        let has_conflicts = self.instructions.iter().any(|i| i.conflicts > 0);
        let has_lines = !self.trace.places().is_empty();
        let next = (has_conflicts && has_lines).then(|| self.next.clone());
        next.map(|command| Hint::new("which lines cost most", command))
            .into_iter()
            .collect()
    }
}

/// An instruction and its conflicts without a hash.
#[derive(Serialize)]
struct Classified<'a> {
    pc: u32,
    op: Op,
    accesses: u64,
    class: Class,
    patterns: Vec<Counted>,
    strides: Vec<Stride>,
    conflicts: u64,
    wavefronts: u64,
    ideal_wavefronts: u64,
    #[serde(flatten)]
    place: Place,
    /// The facts from the PTX.
    #[serde(rename = "static", skip_serializing_if = "Option::is_none")]
    known: Option<KnownSite<'a>>,
}

/// A pattern of an instruction, and how often it occurs.
#[derive(Serialize)]
struct Counted {
    class: Class,
    accesses: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    stride_x: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stride_y: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    #[serde(skip)]
    pattern: Pattern,
}

impl Counted {
    fn of(&(pattern, accesses): &(Pattern, u64)) -> Self {
        let (stride_x, stride_y, width) = match pattern {
            Pattern::Linear => (Some(1), None, None),
            Pattern::Stride { stride } => (Some(stride), None, None),
            Pattern::Block { width, x, y } => (Some(x), Some(y), Some(width)),
            Pattern::Single | Pattern::Random => (None, None, None),
        };
        Counted {
            class: pattern.class(),
            accesses,
            stride_x,
            stride_y,
            width,
            pattern,
        }
    }
}

fn classified<'a>(
    trace: &AccessTrace,
    machine: &Config,
    view: Option<&'a StaticView>,
) -> Vec<Classified<'a>> {
    let per_pc = ConflictProfile::per_pc(trace, machine.conflict_rule());
    let mask = machine.geometry.bank_mask();
    let places = trace.places();
    let of_instruction = |instruction: Instruction| {
        let at = per_pc.binary_search_by_key(&instruction.pc, |(pc, _)| *pc);
        let profile = &per_pc[at.expect("every instruction is an access site")].1;
        let count = profile.count(|addr| addr & mask);
        Classified {
            pc: instruction.pc,
            op: instruction.op,
            accesses: instruction.accesses,
            class: instruction.class,
            patterns: instruction.patterns.iter().map(Counted::of).collect(),
            strides: Stride::all(&instruction.strides()),
            conflicts: count.conflicts,
            wavefronts: count.wavefronts(),
            ideal_wavefronts: profile.ideal_wavefronts(machine.geometry.banks()),
            place: places.of(instruction.pc),
            known: view.and_then(|v| Some(v.known(v.site(instruction.pc)?))),
        }
    };
    pattern::classify(trace)
        .into_iter()
        .map(of_instruction)
        .collect()
}

impl Classified<'_> {
    /// A line for the instruction with its most frequent pattern, one more per
    /// further pattern.
    fn rows(&self, has_places: bool, view: Option<&StaticView>) -> Vec<Vec<String>> {
        let mut rows: Vec<Vec<String>> = self
            .patterns
            .iter()
            .map(|p| {
                let (class, shape) = (p.class.to_string(), p.pattern.to_string());
                let nothing = String::new;
                vec![nothing(), nothing(), p.accesses.to_string(), class, shape]
            })
            .collect();
        if rows.len() > 1 {
            let nothing = String::new;
            let (total, class) = (self.accesses.to_string(), self.class.to_string());
            rows.insert(0, vec![nothing(), nothing(), total, class, nothing()]);
        }
        let first = &mut rows[0];
        first[0] = self.pc.to_string();
        first[1] = format!("{:?}", self.op).to_lowercase();
        first.push(show_strides(&self.strides));
        first.push(self.wavefronts.to_string());
        first.push(self.ideal_wavefronts.to_string());
        first.extend(has_places.then(|| self.place.text()));
        if let Some(view) = view {
            first.extend(view.cells(view.site(self.pc)));
        }
        rows
    }
}
