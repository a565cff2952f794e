//! `--machine-code`, with a `ptxas` and an `nvdisasm` of the machine, where there
//! are: `SPADKIT_PTXAS` and `SPADKIT_NVDISASM`, or on the path.

use crate::common;

use crate::common::tools::{MACHINE_CODE, missing_ptxas};
use crate::common::{json, text};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A kernel of 64 threads whose threads load two words side by side, count
/// themselves with an atomic, and load a word again that they have.
const PTX: &str = ".version 8.0
.target sm_80
.address_size 64
.visible .entry pairs(.param .u64 out)
{
.reg .b32 %t, %a, %c, %r<8>;
.reg .b64 %rd<3>;
.shared .align 16 .b8 s[1024];
ld.param.u64 %rd1, [out];
mov.u32 %t, %tid.x;
mov.u32 %a, s;
shl.b32 %c, %t, 3;
add.u32 %a, %a, %c;
st.shared.u32 [%a], %t;
st.shared.u32 [%a+4], %t;
bar.sync 0;
xor.b32 %c, %c, 8;
mov.u32 %r6, s;
add.u32 %c, %c, %r6;
ld.shared.u32 %r1, [%c];
ld.shared.u32 %r2, [%c+4];
ld.shared.u32 %r3, [%c];
bar.sync 0;
atom.shared.add.u32 %r4, [s+512], 1;
add.u32 %r1, %r1, %r2;
add.u32 %r1, %r1, %r3;
add.u32 %r1, %r1, %r4;
mul.wide.u32 %rd2, %t, 4;
add.u64 %rd2, %rd1, %rd2;
st.global.u32 [%rd2], %r1;
ret;
}
";

const LAUNCH: &str = "ptx = \"k.ptx\"\nentry = \"pairs\"\ngrid = [1]\nblock = [64]\n
[[arg]]\nname = \"out\"\ntype = \"u32\"\ncount = 64\ninit = \"zeros\"\n";

fn launch(folder: &Path) -> PathBuf {
    std::fs::write(folder.join("k.ptx"), PTX).unwrap();
    let path = folder.join("k.toml");
    std::fs::write(&path, LAUNCH).unwrap();
    path
}

/// What became of the accesses of a site: those fates that are not 0.
fn fates(site: &Value) -> Vec<(String, u64)> {
    let fates = site["fates"].as_object().unwrap().iter();
    let count = |(name, count): (&String, &Value)| (name.clone(), count.as_u64().unwrap());
    fates.map(count).filter(|(_, count)| *count > 0).collect()
}

#[test]
fn what_became_of_each_access_is_said() {
    if missing_ptxas(MACHINE_CODE) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = launch(folder.path());
    let path = path.to_str().unwrap();
    let found = json(&["conflicts", path, "--preset", "sm80", "--machine-code"]);
    let code = &found["machine_code"];
    assert_eq!(code["assembler"]["arch"], "sm_80");
    let sites = code["sites"].as_array().unwrap();
    let of_line = |line: u64| {
        let site = sites.iter().find(|s| s["ptx_line"] == line);
        fates(site.unwrap_or_else(|| panic!("no line {line}")))
    };
    // Lines of the text: two stores, three loads, the atomic.
    let both = |fate: &str| vec![(fate.to_owned(), 2)];
    for line in [14, 15, 20, 21] {
        assert_eq!(of_line(line), both("merged"), "line {line}");
    }
    let again = of_line(22);
    assert!(
        again == both("merged") || again == both("removed"),
        "{again:?}"
    );
    assert_eq!(of_line(24), both("aggregated"));
    assert_eq!(code["accesses"]["not_accounted"], 0);
    // Words two apart cost a conflict each in the PTX, 8 bytes none.
    assert_eq!(found["results"][0]["conflicts"], 10);
    assert_eq!(code["results"][0]["conflicts"], 0);
    let shown = text(&["conflicts", path, "--preset", "sm80", "--machine-code"]);
    assert!(shown.contains("one lane does it for all"), "{shown}");
}

/// `sim` and `share` take the registers that `rewrite` shows.
#[test]
fn all_commands_count_the_same_registers() {
    if missing_ptxas(MACHINE_CODE) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = launch(folder.path());
    let path = path.to_str().unwrap();
    let output = folder.path().join("out.ptx");
    let rewritten = json(&[
        "rewrite",
        path,
        "--hash",
        "xor",
        "-o",
        output.to_str().unwrap(),
        "--preset",
        "sm80",
        "--machine-code",
    ]);
    let registers = &rewritten["resources"]["before"]["assembled"]["registers"];
    let blocks = &rewritten["resources"]["before"]["occupancy"]["blocks"];
    assert_eq!(rewritten["machine_code"]["conflicts_before"], 0);
    let shared = json(&["share", path, "--preset", "sm80", "--no-sim"]);
    assert_eq!(&shared["registers"], registers);
    let simulated = json(&["sim", path, "--preset", "sm80"]);
    assert_eq!(&simulated["resident_blocks"], blocks);
    // `tune` judges by the machine code, too: nothing is left to remove.
    let tuned = json(&[
        "tune",
        path,
        "--preset",
        "sm80",
        "--software",
        "--machine-code",
    ]);
    assert_eq!(tuned["results"][0]["baseline_conflicts"], 0);
}

#[test]
fn a_missing_disassembler_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = launch(folder.path());
    let output = common::spadkit(&["conflicts", path.to_str().unwrap(), "--machine-code"])
        .env("SPADKIT_PTXAS", "/nowhere/ptxas")
        .env("SPADKIT_NVDISASM", "/nowhere/nvdisasm")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("ptxas") && told.contains("pip install"),
        "{told}"
    );
}

/// What `gate` finds of a launch file, with more options.
pub(crate) fn gated(path: &str, more: &[&str]) -> Value {
    let all = [&["gate", path, "--format", "json", "-q"], more].concat();
    let output = common::spadkit(&all).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// `ptxas` merges four loads of `merging.cu` into one: `gate`, `flow` and `tune` count it, or
/// judge the change of the source by it.
#[test]
fn flow_and_gate_judge_by_the_machine_code() {
    if missing_ptxas(MACHINE_CODE) {
        return;
    }
    let path = "tests/fixtures/cuda/merging.toml";
    let of_ptx = &gated(path, &[])["kernels"][0];
    assert_eq!(of_ptx["conflicts"], 28);
    assert_eq!(of_ptx["fixes"][0]["conflicts_before"], 28);
    assert_eq!(of_ptx["fix_note"], Value::Null);
    let of_code = &gated(path, &["--machine-code"])["kernels"][0];
    assert_eq!(of_code["conflicts"], 4);
    let fixes = of_code["fixes"].as_array().unwrap();
    assert_eq!(fixes[0]["conflicts_before"], 4);
    let note = of_code["fix_note"].as_str().unwrap();
    assert!(
        note.contains("the compiler no longer merges accesses there"),
        "{note}"
    );

    let flow = |more: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let own = ["flow", path, "--fast", "-q", "-o", out.to_str().unwrap()];
        text(&[&own, more].concat()).replace('\n', " ")
    };
    let of_ptx = flow(&[]);
    let answer = "all 28 conflicts of quads, but in simulation the kernel takes as many cycles \
                  without it.";
    assert!(of_ptx.contains(answer), "{of_ptx}");
    let judged = "in the machine code 4 conflicts as it is, 0 with it";
    assert!(of_ptx.contains(judged), "{of_ptx}");
    let merged = "its machine code has 4 conflicts instead of 28, so a GPU gains less";
    assert!(of_ptx.contains(merged), "{of_ptx}");
    let of_code = flow(&["--machine-code"]);
    for expected in [
        "4 of 16 wavefronts of quads in the machine code are bank conflicts",
        "swizzle:3,0,5 removes all 4 conflicts of quads in the machine code, but in simulation",
        "As a change of the source, swizzle:3,0,5 leaves 0 of 4",
        "in the machine code of ptxas",
        "--software --machine-code --preset sm80",
    ] {
        assert!(of_code.contains(expected), "{expected}: {of_code}");
    }
    // The commands of the report repeat the run as it was judged.
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
    let commands = json(&own)["commands"].as_array().unwrap().clone();
    let judged = commands
        .iter()
        .filter(|c| c.as_str().unwrap().contains(" --machine-code"));
    let judged: Vec<_> = judged
        .map(|c| c.as_str().unwrap().split(' ').nth(1).unwrap())
        .collect();
    assert_eq!(judged, ["flow", "tune", "conflicts"]);
    // The page has what the text has: both counts, and registers before and after.
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let own = ["flow", path, "--fast", "-o", out.to_str().unwrap()];
    let found = json(&own);
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    let choices = found["choices"].as_array().unwrap();
    let registers = |kind: &str| {
        let choice = choices.iter().find(|c| c["kind"] == kind).unwrap();
        choice["resources"]["assembled"]["registers"]
            .as_u64()
            .unwrap()
    };
    let (before, after) = (registers("nothing"), registers("software"));
    for expected in [
        "No mapping makes it faster: leave it as it is.",
        "Of the changed source, in the machine code 4 conflicts as it is, 0 with it; 16 and 12",
        "// In the machine code 4 conflicts as it is, 0 with it; 16 and 12 wavefronts.",
        "In the machine code of the rewritten PTX: conflicts 4 -&gt; ",
        &format!("{before} registers, "),
        &format!("{after} registers, "),
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let tuned = json(&["tune", path, "--software"]);
    let judged = &tuned["suggestions"][0]["machine_code"];
    let count = |name: &str| judged[name].as_u64().unwrap();
    assert_eq!([count("conflicts_before"), count("conflicts")], [4, 0]);
    assert_eq!([count("wavefronts_before"), count("wavefronts")], [16, 12]);
    assert!(
        judged["torn"][0]["source"]
            .as_str()
            .unwrap()
            .ends_with("merging.cu:9")
    );
}
