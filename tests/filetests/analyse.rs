//! `test analyse`: the shared variable and the address of each access to
//! shared memory; `test bits`: the bits that are known of what each instruction
//! writes.

use crate::Failure;
use crate::expect::Found;
use crate::file::{Case, TestFile};
use spadkit::ptx::analysis::{
    Affines, BitFacts, Context, KnownBits, Loops, SharedAccess, Summaries, Touches, Values,
    shared_accesses, writes,
};
use spadkit::ptx::{Cfg, Function, Module};

/// What is known at the lines of the file.
pub fn found(file: &TestFile, case: &Case) -> Result<Found, Failure> {
    let module = Module::parse(&file.module(&[]), "the file");
    let module = module.map_err(|e| Failure::new(1, e.to_string()))?;
    let Some(index) = module.function("k") else {
        return Err(Failure::new(1, "there is no entry k"));
    };
    let function = &module.functions[index as usize];
    let context = Context {
        block: case.size("block")?,
        grid: case.size("grid")?,
        ..Context::default()
    };
    let cfg = Cfg::new(function);
    let values = Values::new(function, &cfg);
    let facts = BitFacts::new(&module, function, &cfg, &values, &context);
    let all = match file.command.as_str() {
        "bits" => bits(function, &values, &facts),
        _ => {
            let loops = Loops::new(&cfg, values.dominators());
            let affines = Affines::new(&module, function, &cfg, &values, &loops, &facts, &context);
            let summaries = Summaries::new(&module);
            let list = shared_accesses(&module, function, &cfg, &values, &affines, &summaries);
            let text = |a: &SharedAccess| (a.at, access(&module, function, &affines, a));
            list.iter().map(text).collect()
        }
    };
    let mut found = Found::new();
    // What the runner puts before the file has no line of its own.
    for (at, text) in all {
        let line = line(function, at);
        if line > file.head {
            found.entry(line).or_default().push(text);
        }
    }
    Ok(found)
}

fn line(function: &Function, at: u32) -> usize {
    function.instructions[at as usize].span.line as usize
}

fn access(module: &Module, function: &Function, affines: &Affines, a: &SharedAccess) -> String {
    let touched = match &a.touches {
        Touches::Variables(set) => {
            let names = set.iter().map(|v| v.of(module).name.as_str());
            names.collect::<Vec<_>>().join(" or ")
        }
        Touches::All { reason, .. } => format!("anything ({reason})"),
    };
    let address = match &a.address {
        Ok(affine) => match affines.notation(affine) {
            (text, true) => format!("{text} words"),
            (text, false) => format!("{text} bytes"),
        },
        Err(not) => format!(
            "not affine: {}, line {}",
            not.reason,
            line(function, not.at)
        ),
    };
    format!("{touched}: {address}")
}

/// Results of which a bit is known, by the instruction.
fn bits(function: &Function, values: &Values, facts: &BitFacts) -> Vec<(u32, String)> {
    let mut list = Vec::new();
    for (at, i) in (0..).zip(&function.instructions) {
        for register in writes(i) {
            let value = values.written(at, register);
            let known = value.and_then(|v| pattern(facts.of(v), facts.width(v)));
            let name = &function.registers[register.0 as usize].name;
            list.extend(known.map(|known| (at, format!("{name} is {known}"))));
        }
    }
    list
}

/// Known bits from the highest, `x` for those that are not known; none where no
/// bit is known. Zeros in front are left out.
fn pattern(known: KnownBits, width: u32) -> Option<String> {
    let mask = u64::MAX >> (64 - width);
    if known.known() & mask == 0 {
        return None;
    }
    let bit = |n: u32| match (known.zeros >> n & 1, known.ones >> n & 1) {
        (1, _) => '0',
        (_, 1) => '1',
        _ => 'x',
    };
    let bits: String = (0..width).rev().map(bit).collect();
    let short = bits.trim_start_matches('0');
    let short = if short.is_empty() { "0" } else { short };
    Some(format!("0b{short}"))
}
