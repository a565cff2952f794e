//! The page of what is refused says what is refused.

use crate::Module;
use crate::exec::Program;
use crate::opcodes::{Class, Opcode};
use std::path::{Path, PathBuf};

const PAGE: &str = "docs/reference/refused.md";

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The rows of the tables: their two cells.
fn rows() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join(PAGE)).unwrap();
    let rows = text.lines().filter_map(|line| {
        let line = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let (left, right) = line.split_once(" | ")?;
        Some((left.replace("\\|", "|"), right.to_owned()))
    });
    rows.filter(|(left, _)| !left.starts_with("---")).collect()
}

/// Instructions, and what is said of them.
fn examples() -> Vec<(String, String)> {
    let code = |(left, right): (String, String)| {
        let code = left.strip_prefix('`')?.strip_suffix("`")?;
        code.ends_with(';').then(|| (code.to_owned(), right))
    };
    rows().into_iter().filter_map(code).collect()
}

/// What is wrong with an entry `k`.
fn refusal(text: &str) -> Option<String> {
    let module = Module::parse(text, "t.ptx").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let error = Program::new(&module).unwrap().check("k").err()?;
    error.advice()
}

#[test]
fn every_example_is_refused_with_these_words() {
    assert!(examples().len() > 20);
    let mut wrong = String::new();
    for (code, reason) in examples() {
        let text = format!(
            ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k() {{
             .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .b16 %h<9>;
             .reg .pred %p<9>; .reg .b128 %q<9>;\n{code}\nret;\n}}\n"
        );
        let said = refusal(&text).unwrap_or_else(|| panic!("{code} is not refused"));
        if !said.contains(&reason) {
            wrong += &format!("{code}: {said}instead of {reason}\n");
        }
    }
    assert_eq!(wrong, "");
}

#[test]
fn the_page_has_every_refusal_of_the_sources() {
    let said: Vec<String> = rows().into_iter().map(|row| row.1).collect();
    let examples = examples();
    for opcode in Opcode::ALL {
        let Class::Refused(reason) = opcode.class() else {
            continue;
        };
        assert!(said.iter().any(|s| s == reason), "{}", opcode.text());
        let is_of = |code: &str| code.split(['.', ' ', ';']).next() == Some(opcode.text());
        if *opcode != Opcode::Other {
            assert!(examples.iter().any(|e| is_of(&e.0)), "{}", opcode.text());
        }
    }
    // `ptxas` refuses what these are said of.
    let of_ptxas = [
        "a call that is not supported",
        "an address that is not supported",
        "an operator that is not supported",
    ];
    let mut found = 0;
    for file in sources() {
        let text = std::fs::read_to_string(&file).unwrap();
        for literal in text.split('"').filter(|l| {
            (l.contains("not supported") || l.contains("not modelled")) && !l.contains('\n')
        }) {
            // What stands between the values that are filled in.
            let fixed = literal
                .split(['{', '}'])
                .max_by_key(|part| part.len())
                .unwrap();
            let fixed = fixed.split(": expected").next().unwrap();
            found += 1;
            let there = said
                .iter()
                .any(|s| s.contains(fixed) || fixed.contains(s.as_str()));
            assert!(
                there || of_ptxas.contains(&fixed),
                "{}: {fixed:?} is not in {PAGE}",
                file.display()
            );
        }
    }
    assert!(found > 20, "{found} refusals in the sources");
}

/// The sources of decoding.
fn sources() -> Vec<PathBuf> {
    let mut files = vec![root().join("crates/ptx/src/opcodes.rs")];
    for folder in ["crates/ptx/src/exec/decode", "crates/ptx/src/tensor"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        files.extend(entries.map(|e| e.unwrap().path()));
    }
    files.retain(|f| f.extension().is_some_and(|e| e == "rs"));
    files
}

#[test]
fn what_is_refused_of_the_text_is_said() {
    let said: Vec<String> = rows().into_iter().map(|row| row.1).collect();
    let head = ".version 8.8\n.target sm_90\n.address_size 64\n";
    for text in [
        ".version 8.8\n.target sm_90\n.address_size 32\n.visible .entry k() { ret; }".to_owned(),
        format!("{head}.visible .entry k() .reqnctapercluster 32, 1, 1 {{ ret; }}"),
        format!(
            "{head}.func f(); .func g() {{ call f; ret; }} .func f() {{ call g; ret; }}
             .visible .entry k() {{ call f; ret; }}"
        ),
        format!("{head}.extern .func f(); .visible .entry k() {{ call f; ret; }}"),
        format!("{head}.visible .entry k() {{ .local .b8 a[600000]; ret; }}"),
    ] {
        let refused = refusal(&text).unwrap_or_else(|| panic!("not refused: {text}"));
        assert!(said.iter().any(|s| refused.contains(s)), "{refused}");
    }
}
