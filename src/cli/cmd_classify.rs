//! `spadkit classify`: access-pattern classes and strides of a trace.

use super::Global;
use super::classify_static::{HEADER, StaticView};
use super::printer::{Printer, table};
use super::strides_text::{show_strides, stride_json};
use crate::capture::{is_launch, statics};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::launch::read_module;
use crate::trace::pattern::{self, Instruction, Pattern};
use crate::trace::{AccessTrace, ConflictProfile, Place};
use clap::Args;
use serde_json::{Value, json};
use std::path::Path;

/// Access-pattern classes and strides of each instruction of a trace.
///
/// Classes are linear, stride, block and random (hash paper, section 3); a
/// stride S is S0·2^k with S0 odd, in words. Wavefronts are counted with bank =
/// address mod 2^m, and without bank conflicts.
///
/// For a launch file, the addresses are also derived from the PTX, as affine
/// expressions of thread index tx, block index bx and loop counters
/// (docs/reference/ptx.md), and every address of the run is compared with its
/// expression; exit status 1 if they disagree. For PTX without a launch, only
/// the expressions are shown.
#[derive(Args)]
pub struct ClassifyArgs {
    /// Access trace (.json), launch file (.toml, or .toml:N for its N-th [[then]]), PTX (.ptx), or
    /// kernel:NAME for a generated one.
    pub(super) input: String,
    /// Entry of the PTX; needed only if there are several.
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Threads of a block, for PTX without a launch.
    #[arg(long, value_name = "X[,Y,Z]", value_parser = super::parse_block)]
    block: Option<[u32; 3]>,
}

pub(super) fn run(args: &ClassifyArgs, global: &Global, printer: &Printer) -> Result<()> {
    let machine = global.machine()?;
    let path = Path::new(&args.input);
    if path.extension().is_some_and(|e| e == "ptx") {
        return run_ptx(args, path, &machine, printer);
    }
    if args.entry.is_some() || args.block.is_some() {
        return Err(Error::usage(
            format!("--entry and --block for {}, which is not PTX", args.input),
            "a launch file or trace says them",
        ));
    }
    let trace = super::load_for(&args.input, &machine, printer)?;
    let view = if is_launch(path) {
        Some(StaticView::new(
            statics::launch_statics(path, None)?,
            &machine,
        ))
    } else {
        None
    };
    show(&trace, view.as_ref(), &machine, printer)?;
    view.map_or(Ok(()), |view| view.verdict())
}

/// A PTX text without a launch: what it says alone.
fn run_ptx(args: &ClassifyArgs, path: &Path, machine: &Config, printer: &Printer) -> Result<()> {
    let Some(block) = args.block else {
        return Err(Error::usage(
            format!("{} does not say how many threads a block has", args.input),
            "give --block X,Y,Z, or a launch file (.toml)",
        ));
    };
    let module = read_module(path)?;
    let entry = statics::entry_of(&module, args.entry.as_deref())?;
    let view = StaticView::new(statics::ptx_statics(&module, entry, block)?, machine);
    let rule = machine.conflict_rule();
    let json = json!({
        "rule": rule.name(),
        "rule_text": rule.describe(),
        "instructions": [],
        "strides": [],
        "static": view.summary(&[]),
    });
    printer.result(json, || {
        let rows = view.others(&[]).map(|site| {
            let mut row = vec![site.pc.to_string(), format!("{:?}", site.op).to_lowercase()];
            row.extend(view.cells(Some(site)).into_iter().take(3));
            row.push(site.place.text());
            row
        });
        let header = ["pc", "op", HEADER[0], HEADER[1], HEADER[2], "line"];
        format!(
            "{entry}: S = S0·2^k: {}\n{}{}{}",
            view.strides(),
            table(&header, &["pc", HEADER[2]], rows),
            view.line(),
            super::rule_line(machine)
        )
    })
}

fn show(
    trace: &AccessTrace,
    view: Option<&StaticView>,
    machine: &Config,
    printer: &Printer,
) -> Result<()> {
    let rule = machine.conflict_rule();
    let instructions = classified(trace, machine);
    let strides = pattern::strides(trace);
    let has_places = !trace.places().is_empty();
    let mut json = json!({
        "rule": rule.name(),
        "rule_text": rule.describe(),
        "instructions": instructions.iter().map(|c| c.json(view)).collect::<Vec<_>>(),
        "strides": strides.iter().copied().map(stride_json).collect::<Vec<_>>(),
    });
    let traced: Vec<u32> = instructions.iter().map(|c| c.instruction.pc).collect();
    if let Some(view) = view {
        json["static"] = view.summary(&traced);
    }
    printer.result(json, || {
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
        if view.is_some() {
            header.extend(HEADER);
        }
        let rows = instructions.iter().flat_map(|c| c.rows(has_places, view));
        format!(
            "{}: {} instructions; S = S0·2^k: {}\n{}{}{}",
            crate::quote::shown(&trace.name),
            instructions.len(),
            show_strides(&strides),
            table(&header, &["pc", "accesses", "wavefronts", "ideal"], rows),
            view.map(StaticView::line).unwrap_or_default(),
            super::rule_line(machine)
        )
    })
}

/// An instruction and what it costs without a hash.
struct Classified {
    instruction: Instruction,
    place: Place,
    conflicts: u64,
    wavefronts: u64,
    ideal: u64,
}

fn classified(trace: &AccessTrace, machine: &Config) -> Vec<Classified> {
    let per_pc = ConflictProfile::per_pc(trace, machine.conflict_rule());
    let mask = machine.geometry.bank_mask();
    let places = trace.places();
    let of_instruction = |instruction: Instruction| {
        let at = per_pc.binary_search_by_key(&instruction.pc, |(pc, _)| *pc);
        let profile = &per_pc[at.expect("every instruction is an access site")].1;
        let count = profile.count(|addr| addr & mask);
        Classified {
            place: places.of(instruction.pc),
            instruction,
            conflicts: count.conflicts,
            wavefronts: count.wavefronts(),
            ideal: profile.ideal_wavefronts(machine.geometry.banks()),
        }
    };
    pattern::classify(trace)
        .into_iter()
        .map(of_instruction)
        .collect()
}

impl Classified {
    fn json(&self, view: Option<&StaticView>) -> Value {
        let mut value = instruction_json(&self.instruction);
        value["conflicts"] = json!(self.conflicts);
        value["wavefronts"] = json!(self.wavefronts);
        value["ideal_wavefronts"] = json!(self.ideal);
        super::merge(&mut value, self.place.fields().into());
        let site = view.and_then(|v| Some((v, v.site(self.instruction.pc)?)));
        if let Some((view, site)) = site {
            value["static"] = view.json(site);
        }
        value
    }

    fn rows(&self, has_places: bool, view: Option<&StaticView>) -> Vec<Vec<String>> {
        let mut rows = rows(&self.instruction);
        rows[0].push(self.wavefronts.to_string());
        rows[0].push(self.ideal.to_string());
        rows[0].extend(has_places.then(|| self.place.text()));
        if let Some(view) = view {
            rows[0].extend(view.cells(view.site(self.instruction.pc)));
        }
        rows
    }
}

fn instruction_json(instruction: &Instruction) -> Value {
    let pattern_json = |&(pattern, accesses): &(Pattern, u64)| {
        let mut value = json!({"class": pattern.class(), "accesses": accesses});
        match pattern {
            Pattern::Linear => value["stride_x"] = json!(1),
            Pattern::Stride { stride } => value["stride_x"] = json!(stride),
            Pattern::Block { width, x, y } => {
                value["stride_x"] = json!(x);
                value["stride_y"] = json!(y);
                value["width"] = json!(width);
            }
            Pattern::Single | Pattern::Random => {}
        }
        value
    };
    json!({
        "pc": instruction.pc,
        "op": instruction.op,
        "accesses": instruction.accesses,
        "class": instruction.class,
        "patterns": instruction.patterns.iter().map(pattern_json).collect::<Vec<_>>(),
        "strides": instruction.strides().into_iter().map(stride_json).collect::<Vec<_>>(),
    })
}

/// A line for the instruction with its most frequent pattern, one more per
/// further pattern.
fn rows(instruction: &Instruction) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = instruction
        .patterns
        .iter()
        .map(|(pattern, count)| {
            let (class, shape) = (pattern.class().to_string(), pattern.to_string());
            vec![
                String::new(),
                String::new(),
                count.to_string(),
                class,
                shape,
            ]
        })
        .collect();
    let op = format!("{:?}", instruction.op).to_lowercase();
    if rows.len() > 1 {
        let total = instruction.accesses.to_string();
        let class = instruction.class.to_string();
        rows.insert(
            0,
            vec![String::new(), String::new(), total, class, String::new()],
        );
    }
    rows[0][0] = instruction.pc.to_string();
    rows[0][1] = op;
    rows[0].push(show_strides(&instruction.strides()));
    rows
}
