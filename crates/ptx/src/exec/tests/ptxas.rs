//! What is refused is what `ptxas` refuses, by its judgement of some
//! thousand instructions (`ptxas.txt`).

use super::super::decode::decode;
use crate::Module;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

const TYPES: [&str; 21] = [
    "pred", "b8", "b16", "b32", "b64", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16",
    "f16x2", "bf16", "bf16x2", "f32", "f64", "u16x2", "s16x2",
];

/// Types that registers are declared with.
fn declared(ty: &str) -> bool {
    !matches!(ty, "bf16" | "bf16x2" | "u16x2" | "s16x2")
}

fn bits(ty: &str) -> &'static str {
    match ty {
        "pred" => "pred",
        _ if ty.ends_with("x2") => "b32",
        _ if ty.ends_with('8') => "b8",
        _ if ty.ends_with("16") => "b16",
        _ if ty.ends_with("64") => "b64",
        _ => "b32",
    }
}

/// An instruction, and whether ptxas takes it.
type Judged = (String, bool);

fn forms(line: &str) -> Vec<Judged> {
    let (text, types) = line.split_once(" |").unwrap();
    let taken: Vec<&str> = types.split_whitespace().collect();
    let one = |ty: &&str| {
        let text = text.replace("$T", ty).replace("$B", bits(ty));
        (text, taken.contains(ty))
    };
    TYPES.iter().map(one).collect()
}

fn registers(line: &str) -> Vec<Judged> {
    let mut parts = line.split(" | ");
    let text = parts.next().unwrap();
    let taken: Vec<Vec<&str>> = parts.map(|p| p.split_whitespace().collect()).collect();
    let filled = |other: Option<(usize, &str)>| {
        let mut text = text.to_owned();
        for (n, taken) in taken.iter().enumerate() {
            let ty = other.filter(|o| o.0 == n).map_or(taken[0], |o| o.1);
            text = text.replace(&format!("${n}"), &format!("%{ty}_{n}"));
        }
        text
    };
    let mut all = vec![(filled(None), true)];
    for (n, taken) in taken.iter().enumerate() {
        let types = TYPES.iter().filter(|ty| declared(ty));
        all.extend(types.map(|ty| (filled(Some((n, ty))), taken.contains(ty))));
    }
    all
}

/// Why each instruction is refused, by its place in the list.
fn refused(all: &[Judged]) -> BTreeMap<usize, String> {
    let mut text = ".version 8.5\n.target sm_90\n.address_size 64\n.entry k()\n{\n".to_owned();
    for ty in TYPES.iter().filter(|ty| declared(ty)) {
        write!(text, ".reg .{ty} %{ty}_<6>; ").unwrap();
    }
    let head = text.lines().count();
    for (instruction, _) in all {
        write!(text, "\n{instruction}").unwrap();
    }
    text += "\nret;\n}\n";
    let module = Module::parse(&text, "t.ptx").unwrap_or_else(|e| panic!("{e:?}"));
    let problems = decode(&module, 0, &HashMap::new(), true)
        .err()
        .unwrap_or_default();
    let place = |line: u32| line as usize - head - 1;
    let named = problems
        .into_iter()
        .map(|p| (place(p.place.line), p.reason));
    named.collect()
}

/// What the executor does not have, though it is PTX.
pub(super) fn is_unsupported(reason: &str) -> bool {
    reason.contains("not supported") || reason.contains("does not have")
}

/// What ptxas takes although the PTX ISA has no such thing: registers of
/// .f16x2 and small ones in odd places.
fn is_odd(instruction: &str) -> bool {
    let address = instruction.starts_with("ld.") && !instruction.contains("[%u64_5]");
    let whole = instruction.starts_with("mov.b64") && instruction.contains("%pred");
    instruction.contains("%f16x2") || address || whole
}

/// What is taken here although ptxas refuses it: registers of integers for bf16 and tf32, and
/// of 32 bits for two integers of 16.
fn is_lenient(instruction: &str) -> bool {
    let has = |texts: &[&str]| texts.iter().any(|text| instruction.contains(text));
    let packed = has(&["bf16", "tf32", "u16x2", "s16x2"]) && has(&["%u", "%s", "%f"]);
    packed || is_odd(instruction) || instruction.starts_with("dp4a")
}

#[test]
fn what_ptxas_refuses_is_refused_and_nothing_else() {
    let text = include_str!("ptxas.txt");
    let (of_forms, of_registers) = text.split_once("[registers]\n").unwrap();
    let lines = of_forms.lines().filter(|l| l.contains(" |"));
    let mut all: Vec<Judged> = lines
        .filter(|l| !l.starts_with('#'))
        .flat_map(forms)
        .collect();
    all.extend(of_registers.lines().flat_map(registers));
    let refused = refused(&all);
    assert!(all.len() > 5000 && refused.len() > 2000, "{}", all.len());
    let mut wrong = Vec::new();
    for (at, (instruction, taken)) in all.iter().enumerate() {
        match (taken, refused.get(&at)) {
            (true, Some(reason)) if !is_unsupported(reason) && !is_odd(instruction) => {
                wrong.push(format!("refused: {instruction} {reason}"));
            }
            (false, None) if !is_lenient(instruction) => {
                wrong.push(format!("taken: {instruction}"))
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
