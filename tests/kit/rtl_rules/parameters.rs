//! A module with parameters is lint-clean with all values that it says they may have.

use super::{missing, silent};
use spadkit::config::Config;
use spadkit::output::OwnedFolder;
use spadkit::rtl::{Design, write_design};
use std::path::Path;
use std::process::Command;

/// A parameter as its line states it.
struct Parameter<'a> {
    name: &'a str,
    default: usize,
    least: usize,
    most: usize,
}

/// `    parameter NAME = DEFAULT, // LEAST to MOST`
fn parameter(line: &str) -> Option<Parameter<'_>> {
    let (declared, values) = line.trim().strip_prefix("parameter ")?.split_once(" // ")?;
    let (name, default) = declared.trim_end_matches(',').split_once(" = ")?;
    let (least, most) = values.split_once(" to ")?;
    let [default, least, most] = [default, least, most].map(|number| number.parse().unwrap());
    Some(Parameter {
        name,
        default,
        least,
        most,
    })
}

/// Lints `module` with these values of its parameters.
fn lint(dir: &Path, files: &[&str], module: &str, values: &[(&str, usize)]) {
    let what = format!("{module} with {values:?}");
    let set = |text: &dyn Fn(&str, usize) -> String| -> Vec<String> {
        let values = values.iter();
        values.map(|&(name, value)| text(name, value)).collect()
    };
    let mut verilator = Command::new("verilator");
    verilator.args(["--lint-only", "-Wall", "--top-module", module]);
    verilator.args(set(&|name, value| format!("-G{name}={value}")));
    silent(&what, verilator.args(files).current_dir(dir));
    let mut iverilog = Command::new("iverilog");
    iverilog.args(["-g2005", "-Wall", "-t", "null", "-s", module]);
    iverilog.args(set(&|name, value| format!("-P{module}.{name}={value}")));
    silent(&what, iverilog.args(files).current_dir(dir));
    let set = set(&|name, value| format!(" -chparam {name} {value}")).concat();
    let script = format!(
        "read_verilog {}; hierarchy -check -top {module}{set}; proc; check -assert",
        files.join(" ")
    );
    let mut yosys = Command::new("yosys");
    silent(&what, yosys.args(["-q", "-p", &script]).current_dir(dir));
}

#[test]
fn parameters_may_be_what_their_lines_say() {
    if missing(&["verilator", "iverilog", "yosys"]) {
        return;
    }
    let design = Design::emit(&[], &Config::preset("small").unwrap()).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    write_design(&design, &OwnedFolder::new(&dir, false)).unwrap();
    let files: Vec<_> = design.files.iter().map(|file| &*file.name).collect();
    let mut found = Vec::new();
    for file in &design.files {
        let parameters: Vec<_> = file.text.lines().filter_map(parameter).collect();
        if parameters.is_empty() {
            continue;
        }
        let module = file.name.trim_end_matches(".v");
        let least = parameters.iter().map(|p| (p.name, p.least));
        // The largest payloads are too wide for Verilator.
        let more = |p: &Parameter| p.most.min(2 * p.default + 1);
        let more = parameters.iter().map(|p| (p.name, more(p)));
        lint(&dir, &files, module, &least.collect::<Vec<_>>());
        lint(&dir, &files, module, &more.collect::<Vec<_>>());
        found.push(module);
    }
    assert!(found.len() >= 10, "{found:?}");
}
