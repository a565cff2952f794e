//! Every field of a launch file: of a wrong type, out of range, missing,
//! there twice, unknown.

use super::{GOOD, parse};

/// What a key takes.
#[derive(Clone, Copy, PartialEq)]
enum Takes {
    Text,
    Integer,
    Number,
    Flag,
    Integers,
    Texts,
    /// One text or several.
    Files,
    /// Numbers, and texts of numbers.
    Value,
}
use Takes::{Files, Flag, Integer, Integers, Number, Text, Texts, Value};

fn takes(key: &str) -> Takes {
    match key {
        "ptx" => Files,
        "entry" | "name" | "type" | "init" | "expect" | "same_as" => Text,
        "grid" | "block" => Integers,
        "args" => Texts,
        "tolerance" => Number,
        "null" => Flag,
        "value" | "min" | "max" => Value,
        _ => Integer,
    }
}

/// A value of each type of TOML, and whether a key that takes `takes` may take it.
fn values(takes: Takes) -> Vec<(&'static str, bool)> {
    vec![
        ("true", takes == Flag),
        ("7", matches!(takes, Integer | Number | Value)),
        ("0.5", matches!(takes, Number | Value)),
        ("\"text\"", matches!(takes, Text | Files | Value)),
        ("[1, 1]", takes == Integers),
        ("[\"n\"]", matches!(takes, Texts | Files)),
        ("[[1]]", false),
        ("{ a = 1 }", false),
        ("1979-05-27", false),
    ]
}

/// Offset and text of each `key = value` of the good file.
fn fields() -> Vec<(usize, &'static str, &'static str)> {
    let lines = GOOD.lines().enumerate();
    let fields = lines.filter_map(|(at, line)| {
        let (key, value) = line.split_once(" = ")?;
        Some((at, key, value))
    });
    fields.collect()
}

/// The good file with another line `at`.
fn with_line(at: usize, new: &str) -> String {
    let line = |(i, line)| if i == at { new } else { line };
    GOOD.lines()
        .enumerate()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Refused with exit status 2, at that line (or at the table for `anywhere`),
/// and with what was expected.
fn assert_refused(text: &str, at: usize, anywhere: bool) {
    let Err(error) = parse(text) else {
        panic!("taken, line {}:\n{text}", at + 1);
    };
    assert_eq!(error.exit_status(), 2, "{error}");
    let spadkit_base::error::Error::Input(error) = &error else {
        panic!("{error}");
    };
    assert!(
        anywhere || error.line == at + 1,
        "line {}: {error:?}",
        at + 1
    );
    assert!(error.line >= 1 && error.column >= 1, "{error:?}");
    assert!(
        error.help.as_ref().is_some_and(|h| !h.is_empty()),
        "{error:?}"
    );
}

#[test]
fn of_a_wrong_type() {
    let mut count = 0;
    for (at, key, _) in fields() {
        for (value, good) in values(takes(key)) {
            if !good {
                assert_refused(&with_line(at, &format!("{key} = {value}")), at, false);
                count += 1;
            }
        }
    }
    assert!(count > 200, "{count}");
}

#[test]
fn out_of_range() {
    for (at, key, _) in fields() {
        let values: &[&str] = match takes(key) {
            Integer => &["-1", "99999999999999999999", "9223372036854775807"],
            Integers => &["[0]", "[-1]", "[2147483648]", "[1, 1, 1, 1]", "[]"],
            Number => &["-1.0", "nan", "inf"],
            Files => &["\"\"", "[]", "[\"\"]", "[\"k.ptx\", \"k.ptx\"]"],
            Text if key != "expect" => &["\"\""],
            Flag => &["false"],
            _ => &[],
        };
        for value in values {
            // All of 64 bits are seeds, trace blocks and limits.
            let all = ["seed", "trace_block", "limit"].contains(&key);
            if *value == "9223372036854775807" && all {
                continue;
            }
            assert_refused(&with_line(at, &format!("{key} = {value}")), at, false);
        }
    }
}

#[test]
fn missing_unknown_or_there_twice() {
    // What may be left out changes what the rest means, or nothing.
    let optional = [
        "entry",
        "dynamic_shared",
        "registers",
        "trace_block",
        "limit",
        "expect",
        "tolerance",
        "offset",
        "init",
        "seed",
        "min",
        "max",
    ];
    for (at, key, value) in fields() {
        let then = at > GOOD.lines().position(|l| l == "[[then]]").unwrap();
        if then || !optional.contains(&key) {
            assert_refused(&with_line(at, ""), at, true);
        }
        assert_refused(&with_line(at, &format!("{key}s = {value}")), at, true);
        let twice = format!("{key} = {value}\n{key} = {value}");
        assert_refused(&with_line(at, &twice), at + 1, true);
    }
}
