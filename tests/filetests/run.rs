//! `test run`: what a launch of the entry `k` computes, and what is wrong with
//! it. Each runs twice, by the vector instructions of the machine and by the
//! scalar definitions on several threads, and both must do the same.

use crate::Failure;
use crate::expect;
use crate::file::{Case, TestFile};
use spadkit::ptx::Module;
use spadkit::ptx::exec::{Finding, FindingKind, Launch, Memory, Options, Outcome, Program};
use std::collections::BTreeSet;

/// What a run left.
struct Run {
    outcome: Outcome,
    words: Vec<u32>,
}

/// A block of 32 threads, one block, a word for each thread of a block.
struct Setting {
    block: [u32; 3],
    grid: [u32; 3],
    words: Vec<u32>,
    /// Whether the words have no values before a thread writes them.
    blank: bool,
}

impl Setting {
    fn of(case: &Case) -> Result<Self, Failure> {
        let block = case.size("block")?.unwrap_or([32, 1, 1]);
        let count = block.iter().product::<u32>().into();
        let count = case.number("words")?.unwrap_or(count);
        let mut words = vec![0; count as usize];
        for directive in case
            .directives
            .iter()
            .filter(|d| d.key.starts_with("start["))
        {
            for (at, value) in expect::words(directive, "start")? {
                let word = words.get_mut(at);
                *word.ok_or_else(|| directive.wrong("an index of a word"))? = value;
            }
        }
        let grid = case.size("grid")?.unwrap_or([1; 3]);
        Ok(Setting {
            block,
            grid,
            words,
            blank: case.last("blank").is_some_and(|d| d.value == "yes"),
        })
    }
}

fn options(case: &Case) -> Result<Options<'static>, Failure> {
    let mut options = Options {
        threads: 1,
        limit: case.number("limit")?.unwrap_or(50_000_000),
        cluster: case.size("cluster")?,
        cooperative: case.last("cooperative").is_some(),
        ..Options::default()
    };
    if let Some(races) = case.last("races") {
        match races.value.as_str() {
            "shared" => options.races = true,
            "global" => options.global_races = true,
            _ => return Err(races.wrong("shared or global")),
        }
    }
    Ok(options)
}

fn launch(text: &str, setting: &Setting, options: &Options) -> Result<Run, Failure> {
    let program = Module::parse(text, "the file").and_then(|m| Program::new(&m));
    let failed = |e| Failure::new(1, format!("{:?}", miette::Report::new(e)));
    let program = program.map_err(failed)?;
    let mut memory = Memory::new();
    let bytes = setting.words.iter().flat_map(|w| w.to_le_bytes());
    let buffer = memory.alloc("out", bytes.collect());
    if setting.blank {
        memory.without_contents(buffer);
    }
    let mut launch = Launch {
        entry: "k".to_owned(),
        grid: setting.grid,
        block: setting.block,
        dynamic_shared: 0,
        params: memory.address(buffer).to_le_bytes().to_vec(),
    };
    if program.params("k").map_err(failed)?.is_empty() {
        launch.params.clear();
    }
    let outcome = program.run(&mut memory, &launch, options).map_err(failed)?;
    let word = |c: &[u8]| u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
    let words = memory.bytes(buffer).chunks(4).map(word).collect();
    Ok(Run { outcome, words })
}

/// Runs one variant in both ways.
fn run(file: &TestFile, case: &Case, replaced: &[(String, String)]) -> Result<Run, Failure> {
    let setting = Setting::of(case)?;
    let text = file.module(replaced);
    let vector = options(case)?;
    let scalar = Options {
        threads: 3,
        vector: false,
        ..vector.clone()
    };
    let run = launch(&text, &setting, &vector)?;
    let other = launch(&text, &setting, &scalar)?;
    let seen = |r: &Run| (r.words.clone(), findings(r), counts(r));
    if seen(&run) != seen(&other) {
        let what = "scalar definitions on three threads do something else";
        return Err(Failure::new(file.command_line, what));
    }
    if vector.races || vector.global_races || case.last("orders").is_some_and(|d| d.value == "yes")
    {
        other_orders(file, (&text, &setting), &vector, &run)?;
    }
    Ok(run)
}

/// Kinds and lines of the findings do not depend on the order of the warps.
fn other_orders(
    file: &TestFile,
    (text, setting): (&str, &Setting),
    options: &Options<'static>,
    run: &Run,
) -> Result<(), Failure> {
    for seed in 1..=3 {
        let drawn = Options {
            warp_order: Some(seed),
            ..options.clone()
        };
        let other = launch(text, setting, &drawn)?;
        let (one, two) = (verdict(run), verdict(&other));
        // What is done with a wrong barrier depends on who comes first.
        let lost =
            |f: &Finding| f.kind == FindingKind::InvalidBarrier || f.message.contains("mbarrier");
        let both = run.outcome.has_faults() && other.outcome.has_faults();
        let mut all = run.outcome.findings.iter().chain(&other.outcome.findings);
        if one != two && !(both && all.any(lost)) {
            let what = format!("warps in the order {seed} find {two:?}, not {one:?}");
            return Err(Failure::new(file.command_line, what));
        }
    }
    Ok(())
}

/// What was found, without the example: of races the lines. Whether a read in a race comes
/// before the first store depends on who comes first.
fn verdict(run: &Run) -> BTreeSet<(&'static str, bool, u32)> {
    let findings = &run.outcome.findings;
    let races = findings
        .iter()
        .any(|f| f.kind == FindingKind::Race && !f.warning);
    let counts = |f: &&Finding| !(races && f.kind == FindingKind::Uninitialised);
    let line = |f: &Finding| match f.kind {
        FindingKind::Race => f.ptx_line,
        _ => 0,
    };
    let of = |f: &Finding| (f.kind.text(), f.warning, line(f));
    findings.iter().filter(counts).map(of).collect()
}

/// A finding in a line.
fn shown(finding: &Finding) -> String {
    let numbers = |at: [u32; 3]| at.map(|n| n.to_string()).join(",");
    let warning = if finding.warning { " (warning)" } else { "" };
    let place = match (&finding.variable, finding.address) {
        (Some(name), Some(address)) => format!(" {name}+{address}"),
        (None, Some(address)) => format!(" {address}"),
        _ => String::new(),
    };
    let kind = if finding.other {
        "and"
    } else {
        finding.kind.text()
    };
    format!(
        "{kind}{warning} at line {}, thread {}{place}: {}",
        finding.ptx_line,
        numbers(finding.thread),
        finding.message
    )
}

fn findings(run: &Run) -> Vec<String> {
    run.outcome.findings.iter().map(shown).collect()
}

fn counts(run: &Run) -> String {
    let o = &run.outcome;
    format!(
        "{} warp, {} thread instructions, {} shared accesses",
        o.warp_instructions, o.thread_instructions, o.shared_accesses
    )
}

/// Whether every variant of a case does what is expected.
pub fn check(file: &TestFile, case: &Case) -> Result<(), Failure> {
    for replaced in case.variants()? {
        let run = run(file, case, &replaced)?;
        compare(case, &run).map_err(|mut failure| {
            for (name, text) in &replaced {
                failure.what += &format!("\n  with {name} = {text}");
            }
            failure
        })?;
    }
    Ok(())
}

fn compare(case: &Case, run: &Run) -> Result<(), Failure> {
    let found = findings(run);
    let mut left = found.iter();
    for directive in case.all("finds") {
        let next = left.next().map_or("nothing more", String::as_str);
        if next != directive.value {
            let what = format!("expected {}\n  found {next}", directive.value);
            return Err(Failure::new(directive.line, what));
        }
    }
    if let Some(more) = left.next() {
        return Err(Failure::new(case.lines.end, format!("unexpected: {more}")));
    }
    if let Some(directive) = case.last("executes")
        && directive.value != counts(run)
    {
        let what = format!("expected {}\n  found {}", directive.value, counts(run));
        return Err(Failure::new(directive.line, what));
    }
    compare_words(case, &run.words)
}

/// Later lines override earlier ones.
fn compare_words(case: &Case, words: &[u32]) -> Result<(), Failure> {
    let mut expected = vec![None; words.len()];
    for directive in case.directives.iter().filter(|d| d.key.starts_with("out[")) {
        for (at, value) in expect::words(directive, "out")? {
            let word = expected.get_mut(at);
            *word.ok_or_else(|| directive.wrong("an index of a word"))? =
                Some((value, directive.line));
        }
    }
    for (at, (expected, &found)) in expected.iter().zip(words).enumerate() {
        match expected {
            Some((value, line)) if *value != found => {
                let what = format!("out[{at}] is {found} = {found:#x}, expected {value}");
                return Err(Failure::new(*line, what));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The file with updated findings and counts: those of the last variant of each case.
pub fn updated(file: &TestFile) -> Result<Vec<String>, Failure> {
    let mut lines = file.lines.clone();
    for case in file.cases.iter().rev() {
        let Some(replaced) = case.variants()?.pop() else {
            continue;
        };
        let run = run(file, case, &replaced)?;
        let own = lines[case.lines.clone()].iter();
        let mut own: Vec<String> = own
            .filter(|l| !l.starts_with("// finds "))
            .map(|l| {
                if l.starts_with("// executes") {
                    format!("// executes {}", counts(&run))
                } else {
                    l.clone()
                }
            })
            .collect();
        own.extend(findings(&run).iter().map(|f| format!("// finds {f}")));
        lines.splice(case.lines.clone(), own);
    }
    Ok(lines)
}
