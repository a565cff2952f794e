//! The source maps of `emit --source-map`, decoded here: lines of Verilog lead to
//! the lines of Rust that wrote them.

use serde_json::Value;
use std::fs;
use std::path::Path;

/// Emits for the preset `small`.
fn emit(dir: &Path, args: &[&str]) {
    let mut command = assert_cmd::Command::cargo_bin("spadkit").unwrap();
    command.args([
        "emit",
        "-q",
        "--preset",
        "small",
        "--bench-cycles",
        "0",
        "-o",
    ]);
    command.arg(dir).args(args).assert().success();
}

/// The numbers of a segment.
fn decoded(segment: &str) -> Vec<i64> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut numbers, mut value, mut shift) = (Vec::new(), 0, 0);
    for c in segment.chars() {
        let digit = DIGITS.find(c).unwrap() as i64;
        value |= (digit & 31) << shift;
        shift += 5;
        if digit & 32 == 0 {
            let sign = if value & 1 == 1 { -1 } else { 1 };
            numbers.push(sign * (value >> 1));
            (value, shift) = (0, 0);
        }
    }
    numbers
}

/// Each line of a file of Verilog, with the line of Rust that its map names.
fn mapped(dir: &Path, name: &str) -> Vec<(String, Option<String>)> {
    let map = fs::read(dir.join(format!("{name}.map"))).unwrap();
    let map: Value = serde_json::from_slice(&map).unwrap();
    assert_eq!((&map["version"], &map["file"]), (&3.into(), &name.into()));
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = |path: &Value| {
        let path = path.as_str().unwrap();
        assert!(path.starts_with("hdl/src/"), "{path}");
        fs::read_to_string(repository.join(path)).unwrap()
    };
    let sources: Vec<String> = map["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(source)
        .collect();
    let (mut from, mut line) = (0, 0);
    let mut origin = |segment: &str| {
        let [column, source, row, _] = decoded(segment)[..] else {
            assert_eq!(segment, "");
            return None;
        };
        assert_eq!(column, 0);
        (from, line) = (from + source, line + row);
        let text = sources[from as usize].lines().nth(line as usize).unwrap();
        Some(text.trim().to_owned())
    };
    let text = fs::read_to_string(dir.join(name)).unwrap();
    let mappings = map["mappings"].as_str().unwrap().split(';');
    let origins: Vec<_> = mappings.map(&mut origin).collect();
    assert_eq!(origins.len(), text.lines().count(), "{name}");
    text.lines().map(str::to_owned).zip(origins).collect()
}

/// The line of Rust that wrote the one line that contains `code`.
fn origin(lines: &[(String, Option<String>)], code: &str) -> String {
    let found: Vec<_> = lines
        .iter()
        .filter(|(line, _)| line.contains(code))
        .collect();
    let [(_, Some(rust))] = found[..] else {
        panic!("{code}: {found:?}")
    };
    rust.clone()
}

/// In every style that changes a line, moves all, or renames modules.
#[test]
fn lines_lead_to_the_statement_that_wrote_them() {
    let scratch = tempfile::tempdir().unwrap();
    let styled = [
        "--prefix",
        "p_",
        "--timescale",
        "1ns/1ps",
        "--reset",
        "async-low",
    ];
    for (style, prefix) in [(&[][..], ""), (&styled[..], "p_")] {
        let dir = scratch.path().join(format!("rtl{prefix}"));
        let unit = ["spad_stream", "--source-map", "--assertions"];
        emit(&dir, &[&unit[..], style].concat());
        for file in ["spad_skid.v", "spad_skid.sv"] {
            let lines = mapped(&dir, &format!("{prefix}{file}"));
            for (verilog, rust) in [
                ("input wire in_valid", "u.input(\"in_valid\""),
                ("reg second_valid_q;", "u.register(\"second_valid\""),
                ("wire waits =", "u.name(\"waits\""),
                ("assign in_ready =", "u.assign(in_ready, "),
                ("second_q <= in_data;", ".next(second, in_data)"),
            ] {
                let found = origin(&lines, verilog);
                assert!(found.contains(rust), "{verilog} is from {found}");
            }
        }
        let lines = mapped(&dir, &format!("{prefix}spad_skid.sv"));
        let found = origin(&lines, "first_comes_first: assert property");
        assert!(
            found.starts_with("u.property(\"first_comes_first\""),
            "{found}"
        );
    }
}

/// Between the ports and the end of a module each statement has an origin.
#[test]
fn every_statement_has_an_origin() {
    let scratch = tempfile::tempdir().unwrap();
    emit(
        scratch.path(),
        &["spad_tcdm", "spad_scratchpad", "--source-map"],
    );
    let mut statements = 0;
    for file in fs::read_dir(scratch.path()).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if !name.ends_with(".v") {
            continue;
        }
        let lines = mapped(scratch.path(), &name);
        let body = lines.iter().skip_while(|(line, _)| line != ");").skip(1);
        for (line, rust) in body.take_while(|(line, _)| line != "endmodule") {
            let is_number = line.trim_start().starts_with("localparam ") || line.contains(" : ");
            let may_have_none = line.is_empty() || is_number;
            assert!(rust.is_some() || may_have_none, "{name}: {line}");
            statements += usize::from(rust.is_some());
        }
    }
    assert!(statements > 300, "{statements}");
}

/// Ports that are declared as a list have a line each.
#[test]
fn every_port_of_a_list_has_its_own_line() {
    let scratch = tempfile::tempdir().unwrap();
    emit(scratch.path(), &["spad_pass_issue", "--source-map"]);
    let lines = mapped(scratch.path(), "spad_pass_issue.v");
    let code = |line: &str| line.trim_end_matches([',', ';']).to_owned();
    let ports = lines.iter().filter_map(|(line, rust)| {
        let declared = line.trim_start().starts_with("input wire ")
            || line.trim_start().starts_with("output wire ");
        let name = code(line).rsplit(' ').next()?.to_owned();
        declared.then_some((name, rust.as_deref().unwrap_or_default()))
    });
    let own = ports.filter(|(name, _)| !["clk", "rst"].contains(&name.as_str()));
    let own: Vec<_> = own.collect();
    assert!(own.len() > 20, "{own:?}");
    for (name, rust) in own {
        assert!(rust.starts_with(&format!("{name}: ")), "{name}: {rust}");
    }
    // A register that a port shows is from the port's line.
    for verilog in ["reg [TG-1:0] ex_tag_q;", "assign ex_tag = ex_tag_q;"] {
        let found = origin(&lines, verilog);
        assert!(found.starts_with("ex_tag: output_register("), "{found}");
    }
}

#[test]
fn there_are_none_unless_asked_for() {
    let scratch = tempfile::tempdir().unwrap();
    emit(scratch.path(), &["spad_rap"]);
    assert!(scratch.path().join("spad_rap.v").exists());
    assert!(!scratch.path().join("spad_rap.v.map").exists());
}
