//! `spadkit classify`: access-pattern classes and strides of a trace.

use super::Global;
use super::printer::{Printer, table};
use crate::config::Config;
use crate::error::Result;
use crate::trace::pattern::{self, Instruction, Pattern};
use crate::trace::{AccessTrace, ConflictProfile, Place};
use clap::Args;
use serde_json::{Value, json};

/// Access-pattern classes and strides of each instruction of a trace.
///
/// Classes are linear, stride, block and random (hash paper, section 3); a
/// stride S is S0·2^k with S0 odd. Strides are in words. Wavefronts are those
/// with bank = address mod 2^m, beside those without bank conflicts.
#[derive(Args)]
pub struct ClassifyArgs {
    /// Access trace (.json), launch file (.toml, or .toml:N for its N-th [[then]]), or
    /// kernel:NAME for a generated one.
    input: String,
}

pub(super) fn run(args: &ClassifyArgs, global: &Global, printer: &Printer) -> Result<()> {
    let machine = global.machine()?;
    let trace = super::load_for(&args.input, &machine, printer)?;
    let rule = machine.conflict_rule();
    let instructions = classified(&trace, &machine);
    let strides = pattern::strides(&trace);
    let has_places = !trace.places().is_empty();
    let json = json!({
        "rule": rule.name(),
        "rule_text": rule.describe(),
        "instructions": instructions.iter().map(Classified::json).collect::<Vec<_>>(),
        "strides": strides.iter().copied().map(stride_json).collect::<Vec<_>>(),
    });
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
        let rows = instructions.iter().flat_map(Classified::rows);
        format!(
            "{}: {} instructions; S = S0·2^k: {}\n{}{}",
            trace.name,
            instructions.len(),
            show_strides(&strides),
            table(&header, &["pc", "accesses", "wavefronts", "ideal"], rows),
            super::rule_line(&machine)
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
    fn json(&self) -> Value {
        let mut value = instruction_json(&self.instruction);
        value["conflicts"] = json!(self.conflicts);
        value["wavefronts"] = json!(self.wavefronts);
        value["ideal_wavefronts"] = json!(self.ideal);
        super::merge(&mut value, self.place.fields().into());
        value
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = rows(&self.instruction);
        rows[0].push(self.wavefronts.to_string());
        rows[0].push(self.ideal.to_string());
        rows[0].extend(Some(self.place.text()).filter(|text| !text.is_empty()));
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

fn stride_json(stride: u64) -> Value {
    let (s0, k) = pattern::odd_part(stride);
    json!({"stride": stride, "s0": s0, "k": k})
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

fn show_strides(strides: &[u64]) -> String {
    let show = |&stride: &u64| {
        let (s0, k) = pattern::odd_part(stride);
        format!("{stride} = {s0}·2^{k}")
    };
    match strides {
        [] => "none".to_owned(),
        _ => strides.iter().map(show).collect::<Vec<_>>().join(", "),
    }
}
