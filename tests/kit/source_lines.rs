//! `conflicts --source`: access sites summed by line of the source.

use crate::common::{self, json, refused, text};
use serde_json::Value;
use std::path::Path;

fn conflicts(args: &[&str]) -> Value {
    json(&[&["conflicts"], args].concat())
}

fn sum(list: &Value, key: &str) -> u64 {
    let list = list.as_array().expect("a list");
    list.iter()
        .map(|l| l[key].as_u64().expect("a number"))
        .sum()
}

/// What the lines cost adds up to what the sites cost, and a line that the
/// compiler unrolled is one row.
#[test]
fn lines_add_up_to_the_sites() {
    let input = "kernels/transpose/transpose.toml";
    let sites = &conflicts(&[input, "--per-pc"])["results"][0];
    let result = &conflicts(&[input, "--source"])["results"][0];
    for key in ["conflicts", "wavefronts", "ideal_wavefronts"] {
        assert_eq!(
            sum(&result["lines"], key),
            sum(&sites["per_pc"], key),
            "{key}"
        );
    }
    let lines = result["lines"].as_array().unwrap();
    assert!(lines.len() <= sites["per_pc"].as_array().unwrap().len());
    let share: f64 = lines.iter().map(|l| l["share_pct"].as_f64().unwrap()).sum();
    assert!((share - 100.0).abs() < 1e-9, "{share}");
}

/// The dearest line comes first, with its text and the call that brought it
/// into the kernel.
#[test]
fn the_dearest_line_comes_first_with_its_text_and_its_call() {
    let result = &conflicts(&["kernels/transpose/transpose.toml", "--source"])["results"][0];
    let lines = result["lines"].as_array().unwrap();
    let excess: Vec<u64> = lines
        .iter()
        .map(|l| l["excess_wavefronts"].as_u64().unwrap())
        .collect();
    assert!(
        excess[0] > 0 && excess.is_sorted_by(|a, b| a >= b),
        "{excess:?}"
    );
    let first = &lines[0];
    assert!(first["text"].as_str().unwrap().contains("tile["), "{first}");
    let call = first["inlined_at"][0].as_str().unwrap();
    assert!(call.contains("transpose.cu:"), "{call}");
}

/// A function that is inlined at lines 14 and 15: without conflicts, and with.
const INLINED_TWICE: &str = ".version 8.0\n.target sm_80\n.address_size 64\n
.visible .entry two()
{
.reg .b32 %t, %s, %a, %r<3>;
.shared .align 4 .b8 tile[4096];
.loc 1 11 3
mov.u32 %t, %tid.x;
mov.u32 %s, tile;
.loc 1 14 5
.loc 1 7 5, function_name $S, inlined_at 1 14 5
.loc 1 3 5, function_name $G, inlined_at 1 7 5
mad.lo.u32 %a, %t, 4, %s;
ld.shared.u32 %r1, [%a];
.loc 1 15 5
.loc 1 7 5, function_name $S, inlined_at 1 15 5
.loc 1 3 5, function_name $G, inlined_at 1 7 5
mad.lo.u32 %a, %t, 128, %s;
ld.shared.u32 %r2, [%a];
st.shared.u32 [%s], %r2;
ret;
}
.file 1 \"two.cu\"
.section .debug_str
{
$S: .b8 115,0
$G: .b8 103,0
}
";

/// `--per-pc` names the calls of `--source`, in the text, too, and sums loads and
/// stores apart.
#[test]
fn sites_and_lines_have_the_same_calls() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("two.ptx"), INLINED_TWICE).unwrap();
    let path = folder.path().join("two.toml");
    let launch = "ptx = \"two.ptx\"\nentry = \"two\"\ngrid = [1]\nblock = [32]\n";
    std::fs::write(&path, launch).unwrap();
    let path = path.to_str().unwrap();
    let result = &conflicts(&[path, "--per-pc"])["results"][0];
    let lines = &conflicts(&[path, "--source"])["results"][0]["lines"];
    let of_lines = |row: &Value| (row["inlined_at"].clone(), row["source"].clone());
    let sites = result["per_pc"].as_array().unwrap();
    let (mut sites, mut lines): (Vec<_>, Vec<_>) = (
        sites.iter().map(of_lines).collect(),
        lines.as_array().unwrap().iter().map(of_lines).collect(),
    );
    // The second load and the store are of one line.
    sites.dedup();
    for list in [&mut sites, &mut lines] {
        list.sort_by_key(|(calls, _)| calls.to_string());
    }
    assert_eq!(sites, lines);
    assert!(sites.iter().all(|(_, source)| source == "two.cu:3"));
    let ops = result["per_op"].as_array().unwrap().iter();
    let ops: Vec<_> = ops
        .map(|o| (o["op"].clone(), o["conflicts"].clone()))
        .collect();
    assert_eq!(
        ops,
        [("load".into(), 31.into()), ("store".into(), 0.into())]
    );
    // The line is in the kernel twice; one of them conflicts.
    let answer = text(&["conflicts", path, "-q"]);
    assert!(
        answer.contains("two.cu:3 (called in two.cu:15),"),
        "{answer}"
    );
    for format in [&["--wide"][..], &["--format", "csv"]] {
        let shown = text(&[&["conflicts", path, "--per-pc"], format].concat());
        for (ptx, line) in [(16, 14), (21, 15), (22, 15)] {
            let place = format!("PTX {ptx}, two.cu:3  in two.cu:7  in two.cu:{line}");
            assert!(shown.contains(&place), "{place}: {shown}");
        }
        assert!(
            shown.contains("loads") && shown.contains("stores"),
            "{shown}"
        );
    }
}

/// A trace without lines has a row per site.
#[test]
fn a_trace_without_lines_goes_by_site() {
    let result = &conflicts(&["kernel:transpose", "--source"])["results"][0];
    let lines = result["lines"].as_array().unwrap();
    assert!(!lines.is_empty() && lines.iter().all(|l| l["source"].is_null()));
}

/// With a simulation of the launch each line has its share of the cycles, as
/// `sim --source` has it under the same mapping.
#[test]
fn lines_have_their_share_of_the_cycles() {
    let input = "kernels/transpose/transpose.toml";
    let args = [
        input,
        "--source",
        "--cycles",
        "--hash",
        "mod",
        "xor",
        "pad:every=32,by=1",
    ];
    let results = conflicts(&args);
    let shares = |at: usize| -> Vec<(String, Value)> {
        let lines = results["results"][at]["lines"].as_array().unwrap();
        let of = |l: &Value| {
            (
                l["source"].as_str().unwrap().to_owned(),
                l["cycles_pct"].clone(),
            )
        };
        lines.iter().map(of).collect()
    };
    for (at, hash) in ["mod", "xor"].into_iter().enumerate() {
        let simulated = json(&["sim", input, "--source", "--hash", hash]);
        let simulated = simulated["lines"].as_array().unwrap();
        for (source, share) in shares(at) {
            let own = simulated.iter().find(|l| l["source"] == source.as_str());
            assert_eq!(share, own.unwrap()["share_pct"], "{hash}: {source}");
        }
    }
    assert_ne!(shares(0), shares(1), "the mapping counts");
    // No machine has a padding.
    assert!(shares(2).iter().all(|(_, share)| share.is_null()));
}

#[test]
fn cycles_are_of_a_launch() {
    let message = refused(&["conflicts", "kernel:fwt", "--source", "--cycles"]);
    assert!(message.contains("expected a launch file"), "{message}");
    refused(&["conflicts", "kernel:fwt", "--cycles"]);
}

/// `half.cu`, whose loads are in a header of the toolkit, with another PTX.
fn half(change: impl Fn(&str) -> String) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in ["half.cu", "half.ptx", "half.toml"] {
        let text = std::fs::read_to_string(Path::new("tests/fixtures/cuda").join(file)).unwrap();
        let is_ptx = file.ends_with(".ptx");
        let text = if is_ptx { change(&text) } else { text };
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    folder
}

fn without(text: &str, word: &str) -> String {
    let lines = text.lines().filter(|line| !line.contains(word));
    lines.map(|line| format!("{line}\n")).collect()
}

/// A race in a header of the toolkit has the user's line, too, and its message the names of
/// the source.
#[test]
fn a_finding_in_a_header_has_the_users_line() {
    let folder = half(|ptx| without(ptx, "bar.sync"));
    let path = folder.path().join("half.toml");
    let run = ["run", path.to_str().unwrap(), "--races", "--format", "json"];
    let output = common::spadkit(&run).assert().code(1).get_output().clone();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("byte 128 of t "), "{errors}");
    let found = common::json_of(&output.stdout);
    let sides = found["findings"].as_array().unwrap();
    let of = |source: &str| sides.iter().find(|f| f["source"] == source).unwrap();
    let read = of("cuda_fp16.h:5122");
    assert_eq!(read["user_source"], "half.cu:10");
    assert!(read["message"].as_str().unwrap().contains("byte 128 of t "));
    assert_eq!(read["variable"], "_ZZ6halvesE1t");
    assert!(of("half.cu:7").get("user_source").is_none());
}

/// A race of two calls into the toolkit, in a function that the kernel inlines: what orders
/// them, and where to look, are lines of that function.
#[test]
fn a_race_of_calls_of_the_toolkit_is_told_by_the_calls() {
    let inlined = |ptx: &str| {
        let call = ", function_name $L__info_string0, inlined_at 1 20 3\n";
        let header = "\t.loc\t2 99 1, function_name $L__info_string0, inlined_at 1 7 9\n";
        let store = format!("\t.loc\t1 7 9{call}{header}");
        without(ptx, "bar.sync")
            .replace("\t.loc\t1 7 9\n", &store)
            .replace("\t.loc\t1 10 9\n", &format!("\t.loc\t1 10 9{call}"))
    };
    let folder = half(inlined);
    let path = folder.path().join("half.toml");
    let run = ["run", path.to_str().unwrap(), "--races", "-q"];
    let output = common::spadkit(&run).assert().code(1).get_output().clone();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let remedy = "one __syncthreads() after half.cu:7, before half.cu:10 would order them";
    assert!(said.contains(remedy), "{said}");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    let errors = errors.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(errors.contains("of the PTX, half.cu:7"), "{errors}");
}

const UNWAITED: &str = ".version 8.0
.target sm_80
.address_size 64
.file 1 \"k.cu\"
.visible .entry k(.param .u64 p)
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    .shared .align 4 .b8 s[256];
    .loc 1 5 3
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, s;
    mad.lo.u32 %r3, %r1, 4, %r2;
    cp.async.ca.shared.global [%r3], [%rd3], 4;
    .loc 1 6 3
    xor.b32 %r4, %r1, 63;
    mad.lo.u32 %r5, %r4, 4, %r2;
    ld.shared.u32 %r6, [%r5];
    st.global.u32 [%rd3], %r6;
    ret;
}
";

/// The two findings at the lines of a copy are one row, which says what the copy lacks.
#[test]
fn a_copy_without_its_wait_is_one_row() {
    let folder = tempfile::tempdir().unwrap();
    let argument = "[[arg]]\nname = \"p\"\ntype = \"u32\"\ncount = 64\ninit = \"iota\"\n";
    let launch = format!("ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [64]\n{argument}");
    std::fs::write(folder.path().join("k.ptx"), UNWAITED).unwrap();
    let path = folder.path().join("k.toml");
    std::fs::write(&path, launch).unwrap();
    let run = ["run", path.to_str().unwrap(), "--races", "-q"];
    let output = common::spadkit(&run).assert().code(1).get_output().clone();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(" 2 race k.cu:5, k.ptx:17 "), "{said}");
    let first = "writes byte 124 of s; no thread has waited for the copy";
    let remedy = "; a wait for the copy (cp.async.wait_all, cg::wait) and then one __syncthreads() \
                  after k.cu:5, before k.cu:6 would order them";
    assert!(said.contains(first) && said.contains(remedy), "{said}");
}

const TWO_LOADS: &str = ".version 8.0
.target sm_80
.address_size 64
.file 1 \"k.cu\"
.file 2 \"sum.cuh\"
.visible .entry k(.param .u64 p)
{
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    .shared .align 4 .b8 s[256];
    .loc 1 4 3
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, s;
    mad.lo.u32 %r3, %r1, 4, %r2;
    st.shared.u32 [%r3+256], %r1;
    .loc 1 5 3
    st.shared.u32 [%r3], %r1;
    .loc 2 9 3, function_name $L__info_string0, inlined_at 1 6 3
    xor.b32 %r4, %r1, 63;
    mad.lo.u32 %r5, %r4, 4, %r2;
    ld.shared.u32 %r6, [%r5];
    .loc 2 10 3, function_name $L__info_string0, inlined_at 1 6 3
    xor.b32 %r4, %r1, 32;
    mad.lo.u32 %r5, %r4, 4, %r2;
    ld.shared.u32 %r7, [%r5];
    add.u32 %r6, %r6, %r7;
    st.global.u32 [%rd3], %r6;
    ret;
}
.section .debug_str
{
$L__info_string0:
.b8 115
.b8 0
}
";

/// One missing barrier between two calls is one row, before the faults that a race may cause.
#[test]
fn a_missing_barrier_is_one_row_before_other_faults() {
    let folder = tempfile::tempdir().unwrap();
    let argument = "[[arg]]\nname = \"p\"\ntype = \"u32\"\ncount = 64\ninit = \"iota\"\n";
    let launch = format!("ptx = \"k.ptx\"\nentry = \"k\"\ngrid = [1]\nblock = [64]\n{argument}");
    std::fs::write(folder.path().join("k.ptx"), TWO_LOADS).unwrap();
    let path = folder.path().join("k.toml");
    std::fs::write(&path, launch).unwrap();
    let run = ["run", path.to_str().unwrap(), "--races", "-q"];
    let output = common::spadkit(&run).assert().code(1).get_output().clone();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let race = said.find(" 2 race k.cu:5").expect(&said);
    assert!(
        race < said.find(" out-of-bounds k.cu:4").expect(&said),
        "{said}"
    );
    let remedy = "one __syncthreads() after k.cu:5, before k.cu:6 would order them, and one \
                  more pair of lines";
    assert!(said.contains(remedy), "{said}");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("race: "), "{errors}");
}

/// SARIF points to the source, not to the header that has the load.
#[test]
fn sarif_has_the_users_line_of_a_fault() {
    let folder = half(|ptx| without(ptx, "st.shared").replace("E1t[4096]", "E1t[64]"));
    let path = folder.path().join("half.toml");
    let sarif = folder.path().join("of.sarif");
    let limit = ["gate", path.to_str().unwrap(), "--fail-on", "findings > 0"];
    let gate = [&limit[..], &["--sarif", sarif.to_str().unwrap()]].concat();
    common::spadkit(&gate).assert().code(1);
    let text = std::fs::read_to_string(&sarif).unwrap();
    let sarif: Value = serde_json::from_str(&text).unwrap();
    let fault = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    let uri = fault["artifactLocation"]["uri"].as_str().unwrap();
    assert!(uri.ends_with("half.cu"), "{text}");
    assert_eq!(fault["region"]["startLine"], 10);
}
