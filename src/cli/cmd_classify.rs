//! `spadkit classify`: access-pattern classes and strides of a trace.

use super::printer::{Printer, table};
use crate::error::Result;
use crate::trace::load_input;
use crate::trace::pattern::{self, Instruction, Pattern};
use clap::Args;
use serde_json::{Value, json};

/// Access-pattern classes and strides of each instruction of a trace.
///
/// Classes are linear, stride, block and random (hash paper, section 3); a
/// stride S is S0·2^k with S0 odd. Strides are in words.
#[derive(Args)]
pub struct ClassifyArgs {
    /// Access trace (.json), or kernel:NAME for a generated one.
    input: String,
}

pub(super) fn run(args: &ClassifyArgs, printer: &Printer) -> Result<()> {
    let trace = load_input(&args.input)?;
    let instructions = pattern::classify(&trace);
    let strides = pattern::strides(&trace);
    let json = json!({
        "instructions": instructions.iter().map(instruction_json).collect::<Vec<_>>(),
        "strides": strides.iter().copied().map(stride_json).collect::<Vec<_>>(),
    });
    printer.result(json, || {
        let header = ["pc", "op", "accesses", "class", "address - o", "strides"];
        let rows = instructions.iter().flat_map(rows);
        format!(
            "{}: {} instructions; S = S0·2^k: {}\n{}",
            trace.name,
            instructions.len(),
            show_strides(&strides),
            table(&header, &["pc", "accesses"], rows)
        )
    })
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
