//! The tutorials of docs/tutorials, and the output in README.md and docs/guides:
//! every command runs, one after the other, in an empty folder next to the kit's own, and
//! prints the output in the page.

use crate::common::tools::missing;
use std::path::Path;
use std::process::Command;

/// A command of a page, and the lines that it is to print; `...` stands for
/// any number of lines.
struct Step {
    line: usize,
    command: String,
    shown: Vec<String>,
}

/// The steps in the `console` blocks of a page.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for (number, line) in page.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
            continue;
        }
        if !inside {
            continue;
        }
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step {
                line: number + 1,
                command: command.to_owned(),
                shown: Vec::new(),
            });
            continue;
        }
        let step = steps.last_mut().expect("output before any command");
        match line.strip_prefix("> ") {
            Some(more) => step.command += &format!("\n{more}"),
            None => step.shown.push(line.to_owned()),
        }
    }
    steps
}

fn is_number(word: &str) -> bool {
    let word = word.trim_end_matches(',');
    word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || ".e".contains(c))
}

/// A line without what differs from run to run: times and rates, the width of
/// columns, and the figures of a version of Yosys or OpenSTA.
fn comparable(line: &str, command: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let varies = |i: usize| {
        let word = words[i];
        let next = words.get(i + 1).copied().unwrap_or("");
        let seconds = ["s", "s,"].contains(&next);
        let time_of_a_proof = words.contains(&"proved") && i + 1 == words.len();
        is_number(word)
            && (seconds || time_of_a_proof || word.contains('e') || command.contains("synth"))
    };
    let kept = words.iter().enumerate().map(|(i, word)| match word {
        _ if varies(i) => "N",
        _ => word,
    });
    kept.collect::<Vec<_>>().join(" ")
}

/// Whether `printed` is what `shown` says.
fn agrees(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((any, rest)) if any == "..." => {
            (0..=printed.len()).any(|skipped| agrees(rest, &printed[skipped..]))
        }
        Some((line, rest)) => printed
            .split_first()
            .is_some_and(|(first, others)| first == line && agrees(rest, others)),
    }
}

/// Runs a page's commands and compares; what is wrong, with its line.
fn faults(name: &str, page: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let kit = Path::new(env!("CARGO_MANIFEST_DIR"));
    for part in ["kernels", "examples", "reproduce"] {
        std::os::unix::fs::symlink(kit.join(part), folder.path().join(part)).unwrap();
    }
    let program = assert_cmd::cargo::cargo_bin("spadkit");
    let path = std::env::join_paths(
        std::iter::once(program.parent().unwrap().to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )
    .unwrap();
    let mut faults = Vec::new();
    for step in steps(page) {
        let output = Command::new("bash")
            .args(["-c", &format!("exec 2>&1\n{}", step.command)])
            .current_dir(folder.path())
            .env("PATH", &path)
            .env("COLUMNS", "80")
            // The pages show what is printed without it.
            .env("SPADKIT_PTXAS", "not-installed")
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines = |text: &mut dyn Iterator<Item = &str>| -> Vec<String> {
            text.map(|line| comparable(line, &step.command)).collect()
        };
        let shown = lines(&mut step.shown.iter().map(String::as_str));
        if !output.status.success() || !agrees(&shown, &lines(&mut printed.trim_end().lines())) {
            faults.push(format!("{name}:{}: {}\n{printed}", step.line, step.command));
        }
    }
    faults
}

fn check(name: &str, tools: &[&str]) {
    if missing(tools) {
        return;
    }
    let file = Path::new("docs/tutorials").join(name);
    let page = std::fs::read_to_string(file).unwrap();
    assert!(steps(&page).len() > 5, "{name} has no commands");
    check_page(name, &page);
}

fn check_page(name: &str, page: &str) {
    let faults = faults(name, page);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_readme_shows_real_output() {
    let page = std::fs::read_to_string("README.md").unwrap();
    assert_eq!(
        steps(&page).len(),
        2,
        "README.md has two commands with output"
    );
    check_page("README.md", &page);
}

/// What a guide shows without `ptxas` is in `console` blocks.
#[test]
fn the_guides_show_real_output() {
    let mut pages: Vec<_> = std::fs::read_dir("docs/guides")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    pages.sort();
    let (mut commands, mut found) = (0, Vec::new());
    for path in pages {
        let page = std::fs::read_to_string(&path).unwrap();
        commands += steps(&page).len();
        found.extend(faults(&path.display().to_string(), &page));
    }
    assert!(commands >= 4, "only {commands} commands");
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn a_cuda_engineer_gets_through() {
    check("cuda.md", &[]);
}

#[test]
fn an_rtl_engineer_gets_through() {
    check(
        "rtl.md",
        &["verilator", "c++", "iverilog", "yosys", "sta", "z3"],
    );
}

#[test]
fn an_architect_gets_through() {
    check("architect.md", &[]);
}

/// Another output, a command that fails, and a line too many are noticed.
#[test]
fn a_page_that_lies_is_noticed() {
    let page = |shown: &str| format!("```console\n$ printf 'a\\nb 1.5 s\\nc\\n'\n{shown}\n```\n");
    for right in ["a\nb 9.75 s\nc", "...\nc", "a\n...", "a\n...\nc\n..."] {
        assert!(faults("x", &page(right)).is_empty(), "{right}");
    }
    for wrong in [
        "a\nc",
        "a\n...\nb",
        "a\nb 9 m\nc",
        "a\nb 1.5 s\nc\nd",
        "...\nd",
    ] {
        assert_eq!(faults("x", &page(wrong)).len(), 1, "{wrong}");
    }
    assert_eq!(faults("x", "```console\n$ false\n```\n").len(), 1);
}
