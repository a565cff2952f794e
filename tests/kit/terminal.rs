//! What a person sees: every command's text fits its terminal, and begins with
//! the answer.

use crate::common;

use crate::common::{json, spadkit, tools::missing};

/// A command, and whether its machine is named in its second line.
struct Case {
    args: Vec<String>,
    machine: bool,
    /// What it needs.
    tools: &'static [&'static str],
}

fn case(line: &str, machine: bool) -> Case {
    Case {
        args: line.split_whitespace().map(str::to_owned).collect(),
        machine,
        tools: &[],
    }
}

/// Every command that prints a table, on inputs of the kit. `OUT` is a folder.
fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("classify kernels/fwt/fwt.toml", true),
        case("classify kernel:transpose", true),
        case(
            "classify kernels/transpose/transpose.ptx --entry transpose --block 16,16",
            true,
        ),
        case("conflicts kernels/fwt/fwt.toml --hash mod xor add", true),
        case(
            "conflicts kernels/fwt/fwt.toml --per-pc --hash mod bitwise-xor:0,0^4,0^5,1^6,2^7",
            true,
        ),
        case(
            "conflicts kernels/fwt/fwt.toml --source --preset sm80",
            true,
        ),
        case(
            "conflicts kernels/fwt/fwt.toml --source --simulate --hash mod xor",
            true,
        ),
        case(
            "congestion --mapping rap --access stride --width 8 --samples 10",
            false,
        ),
        case("congestion --table 2 --samples 2", false),
        case("congestion --table 3 --samples 2", false),
        case("congestion --table 4 --samples 2", false),
        case("compose kernel:transpose", true),
        case("doctor", false),
        case(
            "emit spad_row_map spad_hash_xor --preset small -o OUT/rtl",
            true,
        ),
        case("encode bitwise-xor:0,0^4,0^5,1^6,2^7", true),
        case("encode xor --as cuda", true),
        case("encode swizzle:3,1,4 --as triton --preset sm80", true),
        case(
            "flow kernel:transpose --preset small --budget 1 --fast -o OUT/flow",
            true,
        ),
        case(
            "flow kernels/transpose/transpose.toml --preset sm80 --fast --budget 1 -o OUT/soft",
            true,
        ),
        case(
            "gate kernel:nw kernel:transpose --budget 0 --write-baseline OUT/gate.json",
            true,
        ),
        case(
            "init kernels/transpose/transpose.ptx --entry transpose -o OUT/transpose.toml",
            false,
        ),
        case(
            "rewrite kernels/transpose/transpose.toml --hash swizzle:3,1,4 -o OUT/fast.ptx",
            true,
        ),
        case("run kernels/tma/tma_transpose.toml --digests", false),
        case("run kernels/faults/uninitialised.toml --races", false),
        case(
            "share kernels/srad/srad.toml --no-sim --preset sharing-48k",
            true,
        ),
        case("sim kernels/fwt/fwt.toml --source", true),
        case("sim kernel:transpose", true),
        case("sim kernel:transpose --sweep --preset fermi,gt200", true),
        case("trace kernel:transpose -o OUT/t.json", false),
        case("trace --list", false),
        case("tune kernel:transpose --preset small --budget 1", true),
        case(
            "tune kernels/fwt/fwt.toml --software --budget 1 --all",
            true,
        ),
        case(
            "tune kernels/transpose/transpose.toml --software --budget 1 --preset sm80",
            true,
        ),
    ];
    cases.push(Case {
        tools: &["yosys"],
        ..case("prove spad_hash_xor --preset small", true)
    });
    cases.push(Case {
        tools: &["yosys"],
        ..case(
            "synth spad_hash_xor spad_hash_matrix --preset small --period 2000",
            true,
        )
    });
    cases
}

/// What is wrong with a text for `columns`.
fn faults(text: &str, case: &Case, columns: usize) -> Vec<String> {
    let mut faults = Vec::new();
    for line in text.lines() {
        if line.chars().count() > columns {
            faults.push(format!("wider than {columns}: {line}"));
        }
        if line.ends_with(' ') {
            faults.push(format!("ends with a space: {line}"));
        }
    }
    // Before code the answer is a comment of it.
    let plain = |line: &str| {
        let line = line.strip_prefix("// ").or(line.strip_prefix("# "));
        line.map(str::to_owned)
    };
    let lines: Vec<String> = text
        .lines()
        .map(|line| plain(line).unwrap_or(line.to_owned()))
        .collect();
    let rest = lines
        .iter()
        .position(|l| l.starts_with("machine: ") || l.is_empty());
    let answer = lines[..rest.unwrap_or(lines.len())].join(" ");
    if !answer.ends_with('.') || answer.split(' ').count() < 3 {
        faults.push(format!("the first lines are no sentence: {answer}"));
    }
    let machine = rest.is_some_and(|at| lines[at].starts_with("machine: "));
    if machine != case.machine {
        faults.push(format!("the machine is named: {machine}"));
    }
    faults
}

#[test]
fn every_text_fits_and_begins_with_the_answer() {
    let dir = tempfile::tempdir().unwrap();
    let (mut all, mut done) = (String::new(), String::new());
    for case in cases() {
        if !case.tools.is_empty() && missing(case.tools) {
            continue;
        }
        // Where there is more room, more columns are shown.
        let sizes: &[usize] = if case.args[0] != done {
            &[80, 120]
        } else {
            &[80]
        };
        done.clone_from(&case.args[0]);
        for &columns in sizes {
            let out = dir.path().join(columns.to_string());
            std::fs::create_dir_all(&out).unwrap();
            let args = case
                .args
                .iter()
                .map(|a| a.replace("OUT", out.to_str().unwrap()));
            let args: Vec<String> = args.collect();
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let output = spadkit(&args)
                .env("COLUMNS", columns.to_string())
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let status = output.status.code();
            let errors = String::from_utf8_lossy(&output.stderr);
            if status != Some(0) {
                all += &format!("{}: {status:?} {errors}\n", case.args.join(" "));
                continue;
            }
            // The width of a temporary folder's name is not tested.
            let text = text.replace(out.to_str().unwrap(), "OUT");
            for fault in faults(&text, &case, columns) {
                all += &format!("{}: {fault}\n", case.args.join(" "));
            }
        }
    }
    assert!(all.is_empty(), "\n{all}");
}

#[test]
fn faults_of_a_text_are_found() {
    let bad = "no sentence\n\n   a table \n";
    assert_eq!(faults(bad, &case("x", true), 8).len(), 5);
}

#[test]
fn wide_tables_have_all_columns_and_csv_too() {
    let args = [
        "tune",
        "kernel:transpose",
        "--preset",
        "small",
        "--budget",
        "1",
    ];
    let printed = |more: &[&str]| {
        let output = spadkit(&args)
            .args(more)
            .env("COLUMNS", "80")
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let narrow = printed(&[]);
    assert!(narrow.contains("more columns with --wide:"), "{narrow}");
    let wide = printed(&["--wide"]);
    assert!(!wide.contains("--wide"), "{wide}");
    assert!(wide.contains("evaluated"), "{wide}");
    let csv = printed(&["--format", "csv"]);
    let first = csv.lines().next().unwrap();
    assert!(
        first.starts_with("hash,conflicts,") && first.contains("evaluated"),
        "{csv}"
    );
}

#[test]
fn colours_only_where_they_are_wanted() {
    let run = |set: &[(&str, &str)]| {
        let mut command = spadkit(&["conflicts", "kernel:transpose"]);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        for (name, value) in set {
            command.env(name, value);
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    assert!(!run(&[]).contains('\x1b'), "a pipe has no colours");
    assert!(run(&[("CLICOLOR_FORCE", "1")]).contains("\x1b[31m"));
    assert!(!run(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\x1b'));
}

#[test]
fn the_machine_is_a_field_of_the_json() {
    for (args, preset, from) in [
        (&["conflicts", "kernel:transpose"][..], "fermi", "default"),
        (&["encode", "xor", "--preset", "small"], "small", "--preset"),
        (
            &["tune", "kernel:nw", "--preset", "small", "--budget", "1"],
            "small",
            "--preset",
        ),
        (&["sim", "kernel:nw"], "fermi", "default"),
        (&["classify", "kernel:nw"], "fermi", "default"),
        (
            &["compose", "kernel:transpose"],
            "compose-16k",
            "reproduce/compose/machine.toml",
        ),
    ] {
        let machine = &json(args)["machine"];
        assert_eq!(machine["preset"], preset, "{args:?}");
        assert_eq!(machine["from"], from, "{args:?}");
    }
}

/// Hints are commands that can be pasted.
#[test]
fn hints_are_commands_that_work() {
    let output = spadkit(&[
        "conflicts",
        "kernels/transpose/transpose.toml",
        "--preset",
        "sm80",
    ])
    .env("COLUMNS", "60")
    .output()
    .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.replace("\\\n", "");
    let hints = text
        .lines()
        .filter_map(|l| l.trim().strip_prefix("spadkit "));
    let hints: Vec<&str> = hints.collect();
    assert_eq!(hints.len(), 2, "{text}");
    for hint in hints {
        let args: Vec<&str> = hint.split_whitespace().collect();
        spadkit(&args).assert().success();
    }
}

/// Findings of one line are one row; guesses of `init` are named.
#[test]
fn a_run_tells_what_is_wrong_first() {
    let dir = tempfile::tempdir().unwrap();
    let launch = dir.path().join("t.toml");
    let launch = launch.to_str().unwrap();
    let ptx = "kernels/transpose/transpose.ptx";
    spadkit(&["init", ptx, "--entry", "transpose", "-o", launch])
        .assert()
        .success();
    let output = spadkit(&["run", launch]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("guesses of init that are still in the launch file:"),
        "{text}"
    );
    assert!(text.contains("grid = ["), "{text}");
    let good = spadkit(&["run", "kernels/tma/tma_transpose.toml"])
        .output()
        .unwrap();
    let text = String::from_utf8(good.stdout).unwrap();
    assert!(
        text.starts_with("No fault found, outputs as expected.\n"),
        "{text}"
    );
    assert!(!text.contains("SHA-256"), "{text}");
}

#[test]
fn names_that_are_nearly_right_are_recognised() {
    for (args, meant) in [
        (&["emit", "hash_xor", "-o", "x"][..], "spad_hash_xor"),
        (&["emit", "spad_hash_xro", "-o", "x"], "spad_hash_xor"),
        (&["conflicts", "kernel:tranpose"], "transpose"),
        (
            &["conflicts", "kernel:nw", "--hash", "bitwise-xr:0"],
            "bitwise-xor",
        ),
        (&["encode", "swizle:3,1,4"], "swizzle"),
        (&["tune", "kernel:nw", "--hash", "matrx"], "matrix"),
    ] {
        let message = common::refused(args);
        assert!(
            message.contains(&format!("did you mean '{meant}'")),
            "{message}"
        );
        assert!(!message.contains("units are"), "{message}");
    }
    // That all units begin with `spad_` does not make one similar.
    let message = common::refused(&["emit", "nope", "-o", "x"]);
    assert!(!message.contains("did you mean"), "{message}");
}

/// A list behind a number adds up to it; one thing is no plural.
#[test]
fn numbers_agree_with_their_words() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().to_str().unwrap();
    for (args, answer) in [
        (
            &["classify", "kernels/fwt/fwt.toml", "--preset", "fermi"][..],
            "10 of 18 instructions of fwt have bank conflicts: 8 block, 2 stride.",
        ),
        (
            &["emit", "spad_hash_xor", "--preset", "small", "-o", out],
            "Wrote 1 module, with test benches, for small",
        ),
    ] {
        let output = spadkit(args).env("COLUMNS", "80").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with(answer), "{text}");
    }
}

#[test]
fn every_help_fits() {
    for command in ["rewrite", "flow", "sim", "gate", "merge", "tune"] {
        let output = spadkit(&[command, "--help"]).env("COLUMNS", "80").output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{command}: {line}");
        }
    }
}

/// A gate that fails names all kernels that do.
#[test]
fn a_gate_names_every_kernel_that_fails() {
    let args = ["gate", "kernel:nw", "kernel:transpose", "--budget", "0"];
    for (format, names) in [
        (
            "text",
            "2 kernels exceed a limit: kernel:nw, kernel:transpose",
        ),
        ("json", "kernel:transpose fails, too"),
    ] {
        let output = spadkit(&args).args(["--format", format]).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let errors = String::from_utf8(output.stderr).unwrap();
        let errors = common::in_one_line(&errors);
        assert!(errors.contains(names), "{errors}");
    }
}

/// What was found is followed by what to type next.
#[test]
fn texts_end_with_a_command() {
    for args in [
        &["classify", "kernels/fwt/fwt.toml"][..],
        &["compose", "kernel:transpose"],
        &[
            "congestion",
            "--mapping",
            "rap",
            "--access",
            "stride",
            "--samples",
            "9",
        ],
        &["trace", "--list"],
        &[
            "share",
            "kernels/lavamd/lavamd.toml",
            "--no-sim",
            "--preset",
            "sharing-48k",
        ],
        &[
            "rewrite",
            "kernels/transpose/transpose.toml",
            "--hash",
            "swizzle:3,1,4",
            "-o",
            "OUT",
        ],
    ] {
        let out = tempfile::NamedTempFile::new().unwrap();
        let out = out.path().to_str().unwrap();
        let args: Vec<&str> = args
            .iter()
            .map(|a| if *a == "OUT" { out } else { *a })
            .collect();
        let output = spadkit(&args).env("COLUMNS", "200").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let last = text.lines().last().unwrap();
        assert!(last.starts_with("  spadkit "), "{args:?}: {last}");
    }
}

/// So do proofs and measurements of units.
#[test]
fn results_of_units_end_with_a_command() {
    let cases = [
        ("prove", "spadkit mutate spad_row_map --preset small"),
        ("synth", "spadkit emit spad_row_map --preset small -o rtl"),
    ];
    for (command, next) in cases {
        if missing(&["yosys"]) {
            continue;
        }
        let output = spadkit(&[command, "spad_row_map", "--preset", "small"]).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        assert_eq!(text.lines().last().unwrap().trim(), next);
    }
}
