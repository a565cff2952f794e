//! Changes of the source and mappings that are offered or withheld by the machine code that
//! `ptxas` makes of them.

use crate::common;
use crate::common::tools::{MACHINE_CODE, missing_ptxas};
use crate::common::{json, text};
use crate::machine_code::gated;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Loads of neighbours, 16 bytes from lane to lane: the 12 conflicts of the PTX are none in
/// the machine code, and around each index a function keeps the loads apart.
#[test]
fn a_change_that_gains_nothing_in_the_machine_code_is_not_offered() {
    if missing_ptxas(MACHINE_CODE) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = merged_without_conflicts(folder.path());
    let path = path.to_str().unwrap();
    let why = "No change of the source pays: the compiler no longer merges accesses there, and 0 \
               conflicts of the machine code would be 0";

    let sarif = folder.path().join("of.sarif");
    let gate = |more: &[&str]| {
        let written = ["--sarif", sarif.to_str().unwrap()];
        let kernel = gated(path, &[&written, more].concat())["kernels"][0].clone();
        let found = std::fs::read_to_string(&sarif).unwrap();
        (kernel, found.contains("\"fixes\""))
    };
    let (kernel, has_fix) = gate(&[]);
    assert_eq!(kernel["conflicts"], 12);
    assert!(kernel.get("fixes").is_none(), "{kernel}");
    assert_eq!(kernel["fix_note"], why);
    assert!(!has_fix);
    let (kernel, has_fix) = gate(&["--no-machine-code"]);
    assert_eq!(kernel["fixes"].as_array().map(Vec::len), Some(1));
    assert!(has_fix);

    let tuned = json(&["tune", path, "--software"]);
    assert_eq!(tuned["suggestions"].as_array().map(Vec::len), Some(0));
    assert_eq!(
        tuned["left_alone"][0]["machine_code"]["conflicts_before"],
        0
    );
    assert!(
        text(&["tune", path, "--software"])
            .replace('\n', " ")
            .contains(why)
    );
    let out = folder.path().join("out");
    let flow = ["flow", path, "--fast", "-q", "-o", out.to_str().unwrap()];
    assert!(text(&flow).replace('\n', " ").contains(why));
}

/// `merging.cu` with loads 16 bytes from lane to lane.
fn merged_without_conflicts(folder: &Path) -> PathBuf {
    changed_fixture(
        folder,
        "merging",
        [
            ("threadIdx.x * 8", "threadIdx.x * 4"),
            ("%r27, %r1, 5", "%r27, %r1, 4"),
        ],
    )
}

/// A fixture with a part of the source and one of the PTX replaced; its launch file.
fn changed_fixture(folder: &Path, name: &str, changes: [(&str, &str); 2]) -> PathBuf {
    let files = [("cu", changes[0]), ("ptx", changes[1]), ("toml", ("", ""))];
    for (extension, (old, new)) in files {
        let file = format!("{name}.{extension}");
        let text = std::fs::read_to_string(Path::new("tests/fixtures/cuda").join(&file)).unwrap();
        assert!(text.contains(old), "{file}: {old}");
        std::fs::write(folder.join(file), text.replace(old, new)).unwrap();
    }
    folder.join(format!("{name}.toml"))
}

/// The PTX has 12 conflicts, the machine code none: `rewrite` reports its counts, and
/// neither `tune` nor `flow` proposes it.
#[test]
fn a_rewriting_that_gains_nothing_in_the_machine_code_is_not_offered() {
    if missing_ptxas(MACHINE_CODE) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = merged_without_conflicts(folder.path());
    let path = path.to_str().unwrap();
    let said = |args: &[&str]| text(args).replace('\n', " ");

    let (ptx, out) = (folder.path().join("new.ptx"), folder.path().join("out"));
    let rewrite = |more: &[&str]| {
        let own = ["rewrite", path, "--hash", "swizzle:2,0,5", "-o"];
        said(&[&own[..], &[ptx.to_str().unwrap()], more].concat())
    };
    let vain = "outputs equal, but nothing is gained: in the machine code conflicts 0 -> 0";
    assert!(rewrite(&[]).contains(vain), "{}", rewrite(&[]));
    let of_ptx = rewrite(&["--no-machine-code"]);
    assert!(
        of_ptx.contains("conflicts 12 -> 0, outputs equal"),
        "{of_ptx}"
    );

    let offer = "without touching the source";
    let tune = said(&["tune", path, "--software"]);
    assert!(!tune.contains(offer), "{tune}");
    let why = "gains nothing: in the machine code conflicts 0 -> 0, wavefronts 12 -> 12";
    assert!(tune.contains(why), "{tune}");
    let tune = said(&["tune", path, "--software", "--no-machine-code"]);
    assert!(tune.contains(offer) && !tune.contains(why), "{tune}");

    let flow = |more: &[&str]| {
        let own = [
            "flow",
            path,
            "--fast",
            "--force",
            "-o",
            out.to_str().unwrap(),
        ];
        let found = json(&[&own[..], more].concat());
        let kinds = found["choices"].as_array().unwrap().iter();
        let offers = kinds.clone().any(|choice| choice["kind"] == "software");
        (found["software"].clone(), offers)
    };
    let (software, offers) = flow(&[]);
    let code = &software["front"][0]["rewritten"]["machine_code"];
    assert_eq!(
        [&code["conflicts_before"], &code["conflicts_after"]],
        [0, 0]
    );
    let cycles = &software["front"][0]["rewritten"]["cycles"];
    assert_eq!((cycles, offers), (&Value::Null, false));
    let (software, offers) = flow(&["--no-machine-code"]);
    let cycles = &software["front"][0]["rewritten"]["cycles"];
    assert!(cycles.is_u64() && offers, "{software}");
}

/// The loads of `vectors.cu` with their values unused: the machine code does not have them, nor
/// their conflicts, and to take the stores apart gains nothing.
#[test]
fn vectors_are_not_taken_apart_for_conflicts_that_the_machine_code_does_not_have() {
    if missing_ptxas(MACHINE_CODE) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let load = "ld.shared.f32 \t%f4, [%r30];\n";
    let unused: String = (1..5)
        .map(|n| format!("mov.f32 %f{n}, 0f00000000;\n"))
        .collect();
    let unused = format!("{load}{unused}");
    let path = changed_fixture(folder.path(), "vectors", [("", ""), (load, &unused)]);
    let path = path.to_str().unwrap();
    let tuned = json(&["tune", path, "--software"]);
    assert_eq!(tuned["suggestions"].as_array().map(Vec::len), Some(0));
    let left = &tuned["left_alone"][0];
    let count = |of: &Value, name: &str| of[name].as_u64().unwrap();
    assert_eq!(
        (count(left, "conflicts_before"), count(left, "conflicts")),
        (96, 0)
    );
    let code = &left["machine_code"];
    assert_eq!(
        (count(code, "conflicts_before"), count(code, "conflicts")),
        (0, 0)
    );
    let of_ptx = json(&["tune", path, "--software", "--no-machine-code"]);
    assert_eq!(of_ptx["suggestions"].as_array().map(Vec::len), Some(1));
}

/// Without the tools, changes of the source are those of the PTX, and the answer says so.
#[test]
fn changes_that_the_machine_code_cannot_judge_are_named() {
    let path = "tests/fixtures/cuda/merging.toml";
    let tune = |more: &[&str]| {
        let all = [&["tune", path, "--software", "--format", "json"], more].concat();
        let mut command = common::spadkit(&all);
        let command = command.env("PATH", "").env_remove("SPADKIT_PTXAS");
        let output = command.env_remove("SPADKIT_NVDISASM").output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let tuned = tune(&[]);
    assert_eq!(tuned["suggestions"].as_array().map(Vec::len), Some(1));
    let doubt = tuned["doubt"].as_str().unwrap();
    assert!(doubt.contains("judged by the PTX alone"), "{doubt}");
    assert_eq!(tune(&["--no-machine-code"])["doubt"], Value::Null);
}

/// A mapping that keeps words together which the merged loads do not: their count is of
/// accesses that cannot be made.
#[test]
fn mappings_that_take_merged_accesses_apart_are_named() {
    if missing_ptxas(MACHINE_CODE) {
        return;
    }
    let path = "tests/fixtures/cuda/merging.toml";
    let hashes = ["--hash", "mod", "xor", "swizzle:1,2,3"];
    let args = [&["conflicts", path, "--machine-code"][..], &hashes].concat();
    let found = json(&args);
    let results = found["machine_code"]["results"].as_array().unwrap();
    let splits: Vec<&Value> = results.iter().map(|r| &r["splits"]).collect();
    assert_eq!(splits, [&Value::Null, &16.into(), &Value::Null]);
    let text = text(&args).replace('\n', " ");
    assert!(
        text.contains("xor takes accesses of 16 bytes apart"),
        "{text}"
    );
}

/// ptxas merges four loads of a row of `summed.cu` into one. A mapping that keeps these whole
/// leaves conflicts; in the rewritten kernel they are no longer merged, and another clears it.
#[test]
fn flow_counts_and_chooses_by_the_assembled_rewritten_kernel() {
    if missing_ptxas(MACHINE_CODE) {
        return;
    }
    let path = "tests/fixtures/cuda/summed.toml";
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let own = [
        "flow",
        path,
        "--fast",
        "--machine-code",
        "-o",
        out.to_str().unwrap(),
    ];
    let software = &json(&own)["software"];
    let front = software["front"].as_array().unwrap();
    assert_eq!(front[0]["hash"], software["best"], "{front:#?}");
    assert_eq!(front[0]["conflicts"], 0, "{front:#?}");
    let mapped = front.iter().filter(|line| line["hash"] != "mod");
    for line in mapped.clone() {
        let code = &line["rewritten"]["machine_code"];
        for (key, of_code) in [
            ("conflicts", "conflicts_after"),
            ("wavefronts", "wavefronts_after"),
            ("max_degree", "max_degree_after"),
        ] {
            assert_eq!(line[key], code[of_code], "{line:#}");
        }
        let hash = line["hash"].as_str().unwrap();
        let to = folder.path().join("k.ptx");
        let command = ["rewrite", path, "--hash", hash, "-o", to.to_str().unwrap()];
        let written = json(&command);
        assert_eq!(
            &written["machine_code"]["conflicts_after"], &line["conflicts"],
            "{hash}"
        );
    }
    // The mapping for the merged accesses, which the search alone says leaves none.
    assert!(
        mapped
            .clone()
            .any(|l| l["hash"] == "swizzle:3,2,3" && l["conflicts"] == 768)
    );
    assert_eq!(
        software["fewest_proved"], true,
        "no mapping leaves fewer than none"
    );
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    let merged = "machine code has 1\u{202f}792 conflicts instead of 7\u{202f}936";
    assert!(page.contains(merged), "{page}");
}

/// ptxas loads 16 bytes of `dots.cu` at a time, and the source four: under a function they are
/// single loads again, which is what a change is judged by. The pasted change is `dots_changed`.
#[test]
fn a_change_is_judged_by_the_accesses_that_it_leaves_to_ptxas() {
    if missing_ptxas(MACHINE_CODE) {
        return;
    }
    let path = "tests/fixtures/cuda/dots.toml";
    let pasted = "tests/fixtures/cuda/dots_changed.toml";
    let pasted = json(&["conflicts", pasted, "--machine-code"]);
    let counted = &pasted["machine_code"]["results"][0];
    assert_eq!(counted["conflicts"], 0);
    for more in [&[][..], &["--machine-code"]] {
        let found = json(&[&["tune", path, "--software"], more].concat());
        let change = &found["suggestions"][0];
        assert_eq!(change["hash"], "swizzle:3,0,5", "{more:?}");
        assert_eq!(change["conflicts"], 0, "{more:?}");
        let code = &change["machine_code"];
        if more.is_empty() {
            // Those of the other array are not among them.
            assert_eq!(
                (&code["conflicts"], &code["wavefronts"]),
                (&0.into(), &576.into())
            );
            assert_eq!(counted["wavefronts"], 576 + 576);
        }
    }
}

/// `dots` has 1,024 threads of 34 registers: one block of it fits on an SM, two of the
/// rewritten kernel. The page's cycles are those of its own commands.
#[test]
fn cycles_of_flow_are_those_of_as_many_blocks_as_registers_allow() {
    if missing_ptxas(MACHINE_CODE) {
        return;
    }
    let path = "tests/fixtures/cuda/dots.toml";
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let found = json(&["flow", path, "--fast", "-o", out.to_str().unwrap()]);
    let choices = found["choices"].as_array().unwrap().iter();
    let nothing = choices.clone().find(|c| c["kind"] == "nothing").unwrap();
    let simulated = json(&["sim", path, "--hash", "mod"]);
    assert_eq!(simulated["resident_blocks"], 1);
    assert_eq!(nothing["cycles"]["total"], simulated["cycles"]);
    let software = choices.clone().find(|c| c["kind"] == "software").unwrap();
    let rewritten = out.join("rewritten.ptx");
    let launch = std::fs::read_to_string(path).unwrap();
    let launch = launch.replace("dots.ptx", rewritten.to_str().unwrap());
    let other = folder.path().join("k.toml");
    std::fs::write(&other, launch).unwrap();
    let simulated = json(&["sim", other.to_str().unwrap(), "--hash", "mod"]);
    assert_eq!(simulated["resident_blocks"], 2);
    assert_eq!(software["cycles"]["total"], simulated["cycles"]);
}
