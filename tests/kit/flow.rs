//! The main job: its report has everything needed to configure the hardware.

mod configured;

use crate::common::json;
use crate::common::tools::{OSU018, missing};
use assert_cmd::Command;
use serde_json::Value;
use spadkit::config::Config;
use spadkit::flow::{Options, Silent};
use spadkit::workload::load_input;
use std::path::Path;
use std::process;

fn flow(args: &[&str], out: &Path) -> Command {
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command.env("COLUMNS", "1000");
    command.args(["flow"]).args(args).arg("-o").arg(out);
    command
}

/// Without any tool: the table is on standard output all the same.
#[test]
fn the_conflict_table_comes_before_what_needs_tools() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = flow(
        &["kernel:transpose", "--preset", "small", "--budget", "1"],
        &dir.path().join("out"),
    );
    for tool in ["VERILATOR", "YOSYS", "STA"] {
        command.env(format!("SPADKIT_{tool}"), "/nowhere/tool");
    }
    let output = command
        .env("SPADKIT_CACHE", dir.path().join("cache"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let stages = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stages}");
    for expected in [
        "* bitvec-xor:k1=0,k2=4,mask=7",
        "cfg_row_sel",
        "hash stage: none",
        "left out",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    for stage in [
        "1/6 analysing",
        "2/6 tuning",
        "4/6 co-simulating",
        "6/6 writing the report",
    ] {
        assert!(stages.contains(stage), "{stages}");
    }
}

#[test]
fn fast_ends_with_the_table_and_needs_no_tool() {
    let dir = tempfile::tempdir().unwrap();
    let awkward = dir.path().join("a trace; really.json");
    let trace = load_input("kernel:backprop").unwrap();
    std::fs::write(&awkward, trace.to_json()).unwrap();
    let out = dir.path().join("out");
    let mut command = flow(
        &[awkward.to_str().unwrap(), "--fast", "--budget", "1", "-q"],
        &out,
    );
    command
        .env("SPADKIT_VERILATOR", "/nowhere/tool")
        .env("SPADKIT_YOSYS", "/nowhere/tool");
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("* mod") && text.contains("--fast"), "{text}");
    // Conflicts that a mapping adds to none are no share of anything.
    assert!(text.contains("32 added"), "{text}");
    assert!(!out.join("rtl").exists());
    let summary: Value =
        serde_json::from_slice(&std::fs::read(out.join("summary.json")).unwrap()).unwrap();
    let worse = summary["mappings"].as_array().unwrap();
    let worse = worse.iter().find(|m| m["conflicts"] != 0).unwrap();
    assert!(worse["removed_pct"].is_null(), "{worse}");
    // The commands can be pasted into a shell.
    let command = summary["commands"][0].as_str().unwrap();
    let split = process::Command::new("sh")
        .args(["-c", &format!("set -- {command}; printf '%s\\n' \"$3\"")])
        .output()
        .unwrap();
    let input = String::from_utf8_lossy(&split.stdout).trim().to_owned();
    assert_eq!(input, awkward.to_str().unwrap());
}

/// Advice is for the machine at hand, and says what it is worth.
#[test]
fn advice_follows_the_machine_and_has_its_cycles() {
    let dir = tempfile::tempdir().unwrap();
    let kernel = |name: &str| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        root.join("kernels").join(name).to_str().unwrap().to_owned()
    };
    let fwt = kernel("fwt/fwt.toml");
    for (preset, unit) in [("sm80", false), ("fermi", true)] {
        let out = dir.path().join(preset);
        let args = [&fwt, "--preset", preset, "--fast", "--budget", "2", "-q"];
        let output = flow(&args, &out).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let summary = std::fs::read(out.join("summary.json")).unwrap();
        let summary: Value = serde_json::from_slice(&summary).unwrap();
        let html = std::fs::read_to_string(out.join("report.html")).unwrap();
        assert_eq!(summary["hash_unit"], unit);
        // Software is left out where there is hardware.
        let left_out = text
            .replace('\n', " ")
            .contains("left out: mappings in software, Verilog");
        assert_eq!(left_out, unit, "{text}");
        let worth = &summary["worth"];
        let cycles = |of: &str| worth[of]["cycles"].as_f64().unwrap();
        let speed_up = worth["speed_up"].as_f64().unwrap();
        assert_eq!(speed_up, cycles("before") / cycles("after"));
        assert_eq!(worth["rewritten"], !unit);
        assert!((1.01..1.5).contains(&speed_up), "{preset}: {worth}");
        assert!(
            text.contains(&format!("worth: {speed_up:.3} times as fast")),
            "{text}"
        );
        assert!(html.contains(&format!("<b>{speed_up:.3}</b>")));
        let advice = summary["advice"].as_array().unwrap();
        assert_eq!(advice.len(), if unit { 0 } else { 2 });
        for (advice, command) in advice.iter().zip(["tune", "rewrite"]) {
            let line = advice["command"].as_str().unwrap();
            assert!(line.starts_with(&format!("spadkit {command} ")), "{line}");
            // Commands to go on with are last.
            assert!(
                text.find(line).unwrap() > text.find("max degree").unwrap(),
                "{text}"
            );
            assert!(html.find("What to do next").unwrap() < html.find("Reproduce</h2>").unwrap());
        }
        assert_eq!(text.contains("sm80 has no hash unit"), !unit, "{text}");
    }
}

/// A generated trace has no lines: what to do is said once, not for every access.
/// The answer names the worst line, then the mapping that was put into the kernel and
/// run, and says where it does not pay.
#[test]
fn the_answer_says_where_a_mapping_takes_cycles() {
    let dir = tempfile::tempdir().unwrap();
    for (kernel, line, answer) in [
        (
            "kernels/questions/rows_of_32_bytes.toml",
            "all at questions.cu:38 (called in questions.cu:61), up to 2 ways.",
            "swizzle:1,2,3 removes all 16 conflicts of rows_of_32_bytes, but in simulation the \
             kernel is slower with it: 0.9",
        ),
        (
            "kernels/fwt/fwt.toml",
            "832 of 1664 wavefronts of fwt are bank conflicts, 46 % of them at fwt.cu:18, up to 4 \
             ways.",
            "bitwise-xor:0^1,1^3,1^5,2^4,2^6 removes all 832 conflicts of fwt.\n",
        ),
    ] {
        let output = flow(&[kernel, "--fast", "--force"], &dir.path().join("out"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        // The first two sentences, which are folded.
        let (first, _) = text.split_once("\nmachine: ").unwrap();
        let first = format!("{}\n", first.replace('\n', " "));
        let (problem, remedy) = first.split_once(". ").unwrap();
        assert!(format!("{problem}.").contains(line), "{text}");
        assert!(remedy.starts_with(answer), "{text}");
    }
}

/// Its cycles are known, and so it is not recommended.
#[test]
fn the_page_recommends_no_mapping_that_takes_cycles() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let kernel = "kernels/questions/rows_of_32_bytes.toml";
    let summary = json(&["flow", kernel, "--fast", "-o", out.to_str().unwrap()]);
    let choices = summary["choices"].as_array().unwrap();
    let choice = |kind: &str| choices.iter().find(|c| c["kind"] == kind).unwrap();
    let total = |kind: &str| choice(kind)["cycles"]["total"].as_u64();
    assert!(total("software") > total("nothing"), "{choices:#?}");
    assert_eq!(choice("software")["chosen"], false);
    assert_eq!(summary["software"]["best"], serde_json::Value::Null);
    assert!(!out.join("rewritten.ptx").exists());
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(
        page.contains("No mapping makes it faster: leave it as it is."),
        "{page}"
    );
}

#[test]
fn accesses_without_lines_get_one_advice() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["kernel:fwt", "--preset", "sm80", "--fast", "--budget", "1"];
    let output = flow(&args, &dir.path().join("out")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.matches("wrap the index").count(), 1, "{text}");
    assert!(
        text.contains("14 accesses without line information"),
        "{text}"
    );
}

/// On a GPU of today the mappings are put into the kernel, which runs before
/// and after; other commands say the same of the PTX that is written.
#[test]
fn without_a_hash_unit_the_kernel_is_rewritten_and_run() {
    let dir = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let launch = root.join("kernels/fwt/fwt.toml");
    let out = dir.path().join("out");
    let args = [
        launch.to_str().unwrap(),
        "--fast",
        "--preset",
        "sm80",
        "--budget",
        "2",
    ];
    let output = flow(&args, &out).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let stages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stages}");
    assert!(
        stages.contains("3/4 tuning in software, rewriting, simulating"),
        "{stages}"
    );
    let summary = std::fs::read(out.join("summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    let software = &summary["software"];
    let best = software["best"].as_str().unwrap();
    let front = software["front"].as_array().unwrap();
    let line = front.iter().find(|line| line["hash"] == best).unwrap();
    let rewritten = &line["rewritten"];
    let number = |value: &Value| value.as_u64().unwrap();
    assert_eq!(number(&rewritten["conflicts_before"]), 768);
    assert_eq!(rewritten["conflicts_after"], line["conflicts"]);
    assert!(number(&rewritten["cycles"]) < number(&software["cycles"]));
    let others = front
        .iter()
        .filter_map(|line| line["rewritten"]["cycles"].as_u64());
    assert_eq!(others.min(), rewritten["cycles"].as_u64());
    assert_eq!(summary["worth"]["after"]["cycles"], rewritten["cycles"]);
    assert!(line["resources"]["occupancy"]["blocks"].as_u64() >= Some(1));
    let html = std::fs::read_to_string(out.join("report.html")).unwrap();
    let verdict = "are bank conflicts, half of them at fwt.cu:18.";
    let verdict = html.find(verdict).unwrap_or_else(|| panic!("{html}"));
    assert!(verdict < html.find("removes all of them: 1.1").unwrap());
    // What to type has the names of the source, and is all there is.
    for line in [
        "data[spad_place(i2)] = d2 + d3;",
        "data[spad_place(2 * i)] = d0 + d1;",
    ] {
        assert!(html.matches(line).count() >= 2, "{line}");
    }
    assert!(!html.contains("what PTX line"));
    for part in [
        format!("* {best}"),
        "source changes for".to_owned(),
        "rewritten.ptx".to_owned(),
    ] {
        assert!(text.contains(&part), "{part}\n{text}");
    }
    // The same of the PTX by itself.
    let changed = dir.path().join("changed.toml");
    let ptx = out.join(software["ptx"].as_str().unwrap());
    let file = std::fs::read_to_string(&launch).unwrap();
    let file = file.replace("\"fwt.ptx\"", &format!("{:?}", ptx.to_str().unwrap()));
    std::fs::write(&changed, file).unwrap();
    let asked = |command: &str| -> Value {
        let mut asked = Command::cargo_bin("spadkit").unwrap();
        let args = [
            command,
            changed.to_str().unwrap(),
            "--preset",
            "sm80",
            "--format",
            "json",
            "-q",
        ];
        let output = asked.args(args).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert_eq!(
        asked("conflicts")["results"][0]["conflicts"],
        line["conflicts"]
    );
    assert_eq!(asked("sim")["cycles"], rewritten["cycles"]);
    // Twice into one folder: the report and the PTX are its own.
    assert!(flow(&args, &out).output().unwrap().status.success());
}

/// Where the fixed XOR is as good as any configurable unit, it is measured, too.
#[test]
fn the_recommended_unit_is_in_the_area_table() {
    let dir = tempfile::tempdir().unwrap();
    let machine = Config::preset("small").unwrap();
    let mut options = Options::new("kernel:x", dir.path());
    options.fast = true;
    let synthesized = |kernel: &str| {
        let trace = load_input(kernel).unwrap();
        let done = spadkit::flow::run(&trace, &machine, &options, &Silent).unwrap();
        let best = done.report.recommended().unwrap();
        let command = done.report.commands.last().unwrap();
        let units = command.split(' ').filter(|word| word.starts_with("spad_"));
        let units: Vec<String> = units.map(str::to_owned).collect();
        (best.unit.clone(), units)
    };
    let (unit, units) = synthesized("kernel:stride:stride=8");
    assert_eq!(unit, "spad_hash_xor");
    assert!(units.contains(&unit), "{units:?}");
    assert!(!units.contains(&"spad_row_map".to_owned()));
    // The recommended shift by five bits displaces rows.
    let (_, units) = synthesized("kernel:stride:stride=32");
    assert!(units.contains(&"spad_row_map".to_owned()), "{units:?}");
    if missing(&["yosys", OSU018]) {
        return;
    }
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command.args(["synth", "spad_hash_xor", "--period", "667"]);
    command.args(["--preset", "small", "--format", "json"]);
    let output = command.assert().success();
    let json: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    let total = &json["per_sm"][0];
    assert_eq!(total["unit"], "spad_hash_xor");
    assert!(total["config"].is_null() && total["area_um2"].as_f64() > Some(0.0));
}
