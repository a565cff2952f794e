//! The command: its JSON, what it writes, what it refuses.

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

fn share(args: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("spadkit").unwrap();
    command
        .arg("share")
        .args(args)
        .current_dir(kernels())
        .assert()
}

fn json(args: &[&str]) -> Value {
    let all = [args, &["--format", "json", "-q"]].concat();
    let output = share(&all).success().get_output().stdout.clone();
    serde_json::from_slice(&output).unwrap()
}

/// The error, of a run that must leave `out` unwritten.
fn refused(args: &[&str], out: &Path) -> String {
    let out = out.to_str().unwrap();
    let all = [args, &["-o", out]].concat();
    let stderr = share(&all).code(2).stdout("").get_output().stderr.clone();
    assert!(!Path::new(out).exists(), "{args:?}");
    let text = String::from_utf8(stderr).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn ptx_with_options_gives_what_a_launch_file_gives() {
    let machine = ["--preset", "gpgpusim-16k"];
    let file = json(&[&["backprop/layer_forward48.toml", "--no-sim"][..], &machine].concat());
    let options = [
        "backprop/backprop.ptx",
        "--entry",
        "layer_forward48",
        "--block",
        "16,16",
    ];
    assert_eq!(file, json(&[&options[..], &machine].concat()));
    assert_eq!(file["blocks"]["unshared"], 1);
    assert_eq!(file["blocks"]["shared"], 2);
    assert_eq!(file["storage_bits"], 209);
    // floor(0.1 * 9408) rounded down to a word
    assert_eq!(
        (&file["scratchpad_bytes"], &file["boundary_bytes"]),
        (&9408.into(), &940.into())
    );
    assert_eq!(file["registers"], Value::Null);
    assert_eq!(file["variables"][1]["shared"], true);
    assert_eq!(file["variables"][0]["shared"], false);
    assert_eq!(file["unattributed"].as_array().unwrap().len(), 0);
    assert!(!file["relssp"].as_array().unwrap().is_empty());
    let without = json(&[&options[..], &machine, &["--placement", "none"]].concat());
    assert!(without["relssp"].as_array().unwrap().is_empty());
    let private = json(&[&options[..], &machine, &["--sharing", "1"]].concat());
    assert_eq!(
        (&private["access_range"], &private["blocks"]["pairs"]),
        (&0.into(), &0.into())
    );
    assert!(private["relssp"].as_array().unwrap().is_empty());
    let all = json(
        &[
            &options[..],
            &machine,
            &["--sharing", "0", "--registers", "20"],
        ]
        .concat(),
    );
    assert_eq!(
        (&all["boundary_bytes"], &all["registers"]),
        (&0.into(), &20.into())
    );
}

#[test]
fn a_launch_file_is_run_in_all_variants() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (ptx, dot, html) = (path("k.ptx"), path("k.dot"), path("k.html"));
    let result = json(&[
        "backprop/layer_forward48.toml",
        "--preset",
        "gpgpusim-16k",
        "-o",
        &ptx,
        "--dot",
        &dot,
        "--report",
        &html,
    ]);
    let variants = result["variants"].as_array().unwrap();
    let names: Vec<&str> = variants
        .iter()
        .map(|v| v["variant"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["Unshared", "NoOpt", "OWF", "Reorder", "PostDom", "OPT"]
    );
    for variant in variants {
        let pct = &variant["progress_pct"];
        let sum: f64 = ["before", "holding", "after"]
            .iter()
            .map(|k| pct[k].as_f64().unwrap())
            .sum();
        let shares = variant["variant"] != "Unshared";
        assert!(
            (sum - if shares { 100.0 } else { 0.0 }).abs() < 1e-6,
            "{variant}"
        );
        assert!(variant["cycles"].as_u64().unwrap() > 0);
    }
    let after = |i: usize| variants[i]["progress_pct"]["after"].as_f64().unwrap();
    assert_eq!(after(1), 0.0, "without relssp a block holds it to its end");
    assert!(after(5) >= after(4) && after(5) > 0.0);
    let text = std::fs::read_to_string(&ptx).unwrap();
    for release in result["relssp"].as_array().unwrap() {
        let line = text
            .lines()
            .nth(release["line"].as_u64().unwrap() as usize - 1)
            .unwrap();
        assert_eq!(line.trim(), ".pragma \"spadkit.relssp\";");
    }
    let dot = std::fs::read_to_string(&dot).unwrap();
    assert!(dot.starts_with("digraph") && dot.contains("relssp") && dot.contains("tile*"));
    let html = std::fs::read_to_string(&html).unwrap();
    assert!(html.contains("<svg") && html.contains("relssp") && html.contains("OPT"));
    // Annotated once is enough.
    let again = folder.path().join("again.ptx");
    let error = refused(
        &[&ptx, "--entry", "layer_forward48", "--block", "256"],
        &again,
    );
    assert!(error.contains("annotated already"), "{error}");
}

#[test]
fn what_is_wrong_is_said_once_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.ptx");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let head = ".version 8.0\n.target sm_80\n.address_size 64\n";
    let bare = write(
        "bare.ptx",
        &format!("{head}.visible .entry k() {{ ret; }}\n"),
    );
    let dynamic = write(
        "dynamic.ptx",
        &format!(
            "{head}.extern .shared .align 4 .b8 s[];\n.visible .entry k() {{ .reg .b32 %r;\n\
             ld.shared.u32 %r, [s]; ret; }}\n"
        ),
    );
    let broken = write(
        "broken.ptx",
        &format!("{head}.visible .entry k() {{ ld.shared [; }}\n"),
    );
    let release = write(
        "release.ptx",
        &format!(
            "{head}.visible .entry k() {{ .shared .b32 s; .reg .b32 %r;\n\
             ld.shared.u32 %r, [s];\n.pragma \"spadkit.relssp\";\nret; }}\n"
        ),
    );
    let backprop = "backprop/backprop.ptx";
    for (args, part) in [
        (&[&bare[..], "--block", "32"][..], "k has no shared memory"),
        (&[&dynamic[..], "--block", "32"][..], "--dynamic-shared"),
        (&[&broken[..], "--block", "32"][..], "broken.ptx:4:"),
        (&[&release[..], "--block", "32"][..], "annotated already"),
        (&[backprop, "--block", "32"][..], "4 entries"),
        (
            &[backprop, "--block", "32", "--entry", "none"][..],
            "no entry 'none'",
        ),
        (&[backprop, "--entry", "layer_forward"][..], "give --block"),
        (
            &["backprop/layer_forward.toml", "--block", "32"][..],
            "the launch file already specifies it",
        ),
        (&["backprop/layer_forward.toml:7"][..], "has no launch '7'"),
        (
            &["backprop/layer_forward.toml", "--sharing", "1.5"][..],
            "threshold 1.5",
        ),
        (
            &["backprop/layer_forward.toml", "--sharing", "NaN"][..],
            "threshold NaN",
        ),
        (
            &["atomics/atomics.toml", "--preset", "gpgpusim-16k"][..],
            "needs 8192 words",
        ),
        (
            &["nothing.ptx", "--block", "32"][..],
            "cannot read nothing.ptx",
        ),
    ] {
        let error = refused(args, &out);
        assert!(error.contains(part), "{args:?}: {error}");
    }
    for block in ["0", "2048", "32,64", "1,1,65", "a", "1,2,3,4", "-3"] {
        share(&[backprop, "--entry", "layer_forward", "--block", block]).code(2);
    }
}

/// Blocks that wait for each other, or read what a neighbour has, take no turns.
#[test]
fn blocks_that_depend_on_each_other_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("o.ptx");
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let kernel = |directive: &str, body: &str| {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {directive} {{\n\
             .shared .align 8 .b8 a[64];\n.reg .b32 %r<4>;\nst.shared.u32 [a], 1;\n{body}\nret;\n}}\n"
        );
        write("k.ptx", &text)
    };
    let alone = |ptx: &str| refused(&[ptx, "--block", "32"], &out);
    let clusters = alone(&kernel(".reqnctapercluster 2, 1, 1", ""));
    assert!(
        clusters.contains("the blocks of k cannot share"),
        "{clusters}"
    );
    assert!(clusters.contains("they run in clusters of 2"), "{clusters}");
    let barrier = "barrier.cluster.arrive; barrier.cluster.wait;";
    let waits = alone(&kernel("", barrier));
    assert!(
        waits.contains("wait for each other in clusters (line 8"),
        "{waits}"
    );
    let reads = "mov.u32 %r1, a; mapa.shared::cluster.u32 %r2, %r1, 1;";
    let reads = alone(&kernel("", reads));
    assert!(
        reads.contains("access each other's shared memory (line 8"),
        "{reads}"
    );
    // A launch file says how large the clusters are.
    let ptx = kernel("", barrier);
    let launch = |more: &str| {
        let text = format!("ptx = \"{ptx}\"\ngrid = [4]\nblock = [32]\n{more}\n");
        write("k.toml", &text)
    };
    share(&[&launch("")]).success();
    let two = refused(&[&launch("cluster = [2]")], &out);
    assert!(two.contains("clusters of 2"), "{two}");
    let all = refused(&[&launch("cooperative = true")], &out);
    assert!(all.contains("the launch is cooperative"), "{all}");
}

/// A layout that its kernel does not have.
#[test]
fn a_layout_marker_is_checked() {
    let folder = tempfile::tempdir().unwrap();
    let run = |offsets: &str| {
        let ptx = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{{\n\
             .pragma \"spadkit.layout {offsets}\";\n.shared .align 8 .b8 a[8]; .shared .align 4 .b8 b[8];\n\
             .reg .b32 %r<4>; .reg .b64 %rd;\nmov.u32 %r1, a; mov.u32 %r2, b;\n\
             ld.param.u64 %rd, [p]; st.global.u32 [%rd], %r1; st.global.u32 [%rd+4], %r2;\nret;\n}}\n"
        );
        std::fs::write(folder.path().join("k.ptx"), ptx).unwrap();
        let launch = "ptx = \"k.ptx\"\ngrid = [1]\nblock = [1]\n\
                      [[arg]]\nname = \"p\"\ntype = \"u32\"\ncount = 2\n";
        std::fs::write(folder.path().join("k.toml"), launch).unwrap();
        let mut command = Command::cargo_bin("spadkit").unwrap();
        let args = ["run", "k.toml", "--dump", "p=p.npy"];
        command.args(args).current_dir(folder.path()).assert()
    };
    let places = || -> Vec<u8> {
        let file = std::fs::read(folder.path().join("p.npy")).unwrap();
        file[file.len() - 8..].iter().step_by(4).copied().collect()
    };
    run("boundary=0").success();
    assert_eq!(places(), [0, 8]);
    run("boundary=0 b=0 a=8").success();
    assert_eq!(places(), [8, 0]);
    for (offsets, reason) in [
        ("boundary=0 b=0", "a and b overlap"),
        (
            "boundary=0 c=0",
            "does not have exactly one shared variable c",
        ),
        ("boundary=0 b=4 a=12", "aligned to 8"),
        ("boundary=0 b=12", "ends beyond 16 bytes"),
        ("a=0", "boundary=BYTES is missing"),
        ("boundary=0 a=x", "'x' of a is not a number"),
        ("boundary=0 a", "'a' is not NAME=OFFSET"),
        ("boundary=0 a=0 a=0", "a is listed twice"),
    ] {
        let error = run(offsets).code(2).get_output().stderr.clone();
        let error = String::from_utf8(error).unwrap();
        let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            error.contains(reason) && error.contains("line 6"),
            "{offsets}: {error}"
        );
    }
}

/// Options for quick runs of a kernel with two resident blocks.
const SRAD1: [&str; 3] = ["srad/srad1.toml", "--preset", "gpgpusim-16k"];

#[test]
fn the_baseline_takes_schedulers_and_keys_as_sim_does() {
    let schedulers = |options: &[&str]| -> Vec<String> {
        let result = json(&[&SRAD1[..], options].concat());
        let variants = result["variants"].as_array().unwrap();
        let name = |v: &serde_json::Value| v["scheduler"].as_str().unwrap().to_owned();
        variants.iter().map(name).collect()
    };
    for baseline in ["lrr", "gto", "two-level"] {
        let expected = [baseline, baseline, "owf", "owf", "owf", "owf"];
        assert_eq!(schedulers(&["--scheduler", baseline]), expected);
    }
    let of_key = schedulers(&["--set", "scheduler.policy=gto"]);
    assert_eq!(of_key[..3], ["gto", "gto", "owf"]);
    let plan = |options: &[&str]| json(&[&SRAD1[..], &["--no-sim"], options].concat());
    let twice = [
        "--set",
        "geometry.capacity_words=8192",
        "--set",
        "geometry.addr_bits=13",
    ];
    assert_eq!(plan(&[])["blocks"]["unshared"], 1);
    assert_eq!(plan(&twice)["blocks"]["unshared"], 2);
}

#[test]
fn each_thread_executes_relssp_once_and_at_most_one_more_branch() {
    let result = json(&SRAD1);
    let variants = result["variants"].as_array().unwrap();
    let threads = |i: usize| variants[i]["thread_instructions"].as_u64().unwrap();
    // Sharing paper, Table VI: sharing alone alters nothing.
    assert_eq!(threads(0), threads(2));
    let launched = threads_of_the_launch();
    let more = threads(5) - threads(2);
    assert!((launched..=2 * launched).contains(&more), "{more}");
    for v in variants {
        let number = |key: &str| v[key].as_f64().unwrap();
        let sum = number("thread_ipc") * number("cycles");
        assert!((sum - number("thread_instructions")).abs() < 1e-3, "{v}");
    }
}

/// Threads of srad1's grid.
fn threads_of_the_launch() -> u64 {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels/srad/srad1.toml");
    let launch: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
    let product = |key: &str| -> u64 {
        let list = launch[key].as_array().unwrap().iter();
        list.map(|n| n.as_integer().unwrap() as u64).product()
    };
    product("grid") * product("block")
}

/// Where no pair shares, another scheduler is not a gain of sharing.
#[test]
fn a_gain_of_the_scheduler_is_none_of_sharing() {
    let args = ["transpose/transpose.toml", "--preset", "sm80"];
    let found = json(&args);
    assert_eq!(found["blocks"]["pairs"], 0, "{found}");
    let output = share(&[&args[..], &["-q"]].concat()).success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    let text = text.replace('\n', " ");
    assert!(text.contains(": no pair of blocks shares."), "{text}");
    assert!(!text.contains("with it the kernel runs"), "{text}");
    let last = found["variants"].as_array().unwrap().last().unwrap();
    let speed_up = last["speed_up"].as_f64().unwrap();
    let how = match 100.0 * (1.0 / speed_up - 1.0) {
        slower if slower > 0.0 => format!("{slower:.1} % slower"),
        _ => format!("{speed_up:.3} times as fast"),
    };
    let said = format!("The scheduler owf alone makes the kernel {how}.");
    let is_equal = format!("{speed_up:.3}") == "1.000";
    assert!(is_equal || text.contains(&said), "{text}");
}
