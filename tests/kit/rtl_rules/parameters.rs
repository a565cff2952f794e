//! A module with parameters is lint-clean with all values that it says they may have.

use super::{missing, silent, written};
use spadkit::config::Config;
use spadkit::rtl::Design;
use std::path::Path;
use std::process::Command;

/// A parameter as its line states it: the least value, and one above the default.
struct Parameter<'a> {
    name: &'a str,
    least: usize,
    above: usize,
}

/// `    parameter integer NAME = DEFAULT, // LEAST to MOST`, or `a power of two from LEAST to MOST`.
fn parameter(line: &str, doubled: bool) -> Option<Parameter<'_>> {
    let (declared, values) = line
        .trim()
        .strip_prefix("parameter integer ")?
        .split_once(" // ")?;
    let (name, default) = declared.trim_end_matches(',').split_once(" = ")?;
    let powers = values.strip_prefix("a power of two from ");
    let (least, most) = powers.unwrap_or(values).split_once(" to ")?;
    let [default, least, most] = [default, least, most].map(|number| number.parse().unwrap());
    let above: usize = match powers {
        Some(_) => 2 * default,
        // Twice as many lanes and banks take the tools ten times as long.
        None if doubled => 2 * default + 1,
        None => default + 1,
    };
    Some(Parameter {
        name,
        least,
        above: above.min(most),
    })
}

/// Lints `module` with these values of its parameters. Tools read the files of the modules
/// that it has. `synthesised`: as Yosys reads it, too.
fn lint(dir: &Path, module: &str, values: &[(&str, usize)], synthesised: bool) {
    let what = format!("{module} with {values:?}");
    let set = |text: &dyn Fn(&str, usize) -> String| -> Vec<String> {
        let values = values.iter();
        values.map(|&(name, value)| text(name, value)).collect()
    };
    let mut verilator = Command::new("verilator");
    let file = format!("{module}.v");
    verilator.args(["--lint-only", "-Wall", "--top-module", module, "-y", "."]);
    verilator.args(set(&|name, value| format!("-G{name}={value}")));
    silent(&what, verilator.arg(&file).current_dir(dir));
    let mut iverilog = Command::new("iverilog");
    iverilog.args(["-g2005", "-Wall", "-t", "null", "-s", module, "-y", "."]);
    iverilog.args(set(&|name, value| format!("-P{module}.{name}={value}")));
    silent(&what, iverilog.arg(&file).current_dir(dir));
    if !synthesised {
        return;
    }
    let set = set(&|name, value| format!(" -chparam {name} {value}")).concat();
    let script = format!(
        "read_verilog {file}; hierarchy -check -libdir . -top {module}{set}; proc; check -assert"
    );
    let mut yosys = Command::new("yosys");
    silent(&what, yosys.args(["-q", "-p", &script]).current_dir(dir));
}

/// Lints the modules of `units` that have parameters; their names.
fn lint_modules(units: &[&str], preset: &str, doubled: bool) -> Vec<String> {
    let units: Vec<String> = units.iter().map(|unit| (*unit).to_owned()).collect();
    let design = Design::emit(&units, &Config::preset(preset).unwrap()).unwrap();
    let (_scratch, dir) = written(&design);
    let mut found = Vec::new();
    for file in &design.files {
        let parameters: Vec<_> = file
            .text
            .lines()
            .filter_map(|l| parameter(l, doubled))
            .collect();
        if parameters.is_empty() {
            continue;
        }
        let module = file.name.trim_end_matches(".v");
        let least: Vec<_> = parameters.iter().map(|p| (p.name, p.least)).collect();
        let above: Vec<_> = parameters.iter().map(|p| (p.name, p.above)).collect();
        lint(&dir, module, &least, true);
        lint(&dir, module, &above, doubled);
        found.push(module.to_owned());
    }
    found
}

#[test]
fn parameters_may_be_what_their_lines_say() {
    parameters_may_be(false);
}

#[test]
#[ignore = "part of make campaign"]
fn parameters_may_be_twice_as_large() {
    parameters_may_be(true);
}

fn parameters_may_be(doubled: bool) {
    if missing(&["verilator", "iverilog", "yosys"]) {
        return;
    }
    let found = lint_modules(&[], "small", doubled);
    assert!(found.len() >= 10, "{found:?}");
    // Whose tag a neighbour chooses.
    for module in ["spad_stream", "spad_stream_scratchpad", "spad_scratchpad"] {
        assert!(found.iter().any(|own| own == module), "{module}");
    }
    assert_eq!(
        lint_modules(&["spad_phases"], "sm80", doubled),
        ["spad_queue"]
    );
    let window = lint_modules(&["spad_stream"], "bus", doubled);
    assert!(window.iter().any(|own| own == "spad_window"), "{window:?}");
}
