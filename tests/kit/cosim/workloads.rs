//! Kernels, as stimulus of the units and through the whole path to their end.

use super::{TOOLS, assert_clean, spadkit};
use crate::common::recorded;
use crate::common::tools::missing;
use serde_json::Value;

#[test]
fn kernel_traces_drive_the_units() {
    if missing(&TOOLS) {
        return;
    }
    let mut traces = vec!["kernel:fwt".to_owned(), "kernel:transpose".to_owned()];
    if let Some(recorded) = recorded::traces() {
        let names = ["NW-1", "lavaMD", "MRI-grid-splitSort"];
        traces.extend(names.map(|n| recorded.join(format!("{n}.json")).display().to_string()));
    }
    for trace in traces {
        let unit = "spad_hash_bitvec_xor";
        let (status, json, stderr) = spadkit(&["cosim", unit, "--trace", &trace]);
        assert_eq!(status, 0, "{trace}: {stderr}");
        assert_clean(&json, 20_000);
    }
}

/// Barriers, locks, atomics, wide accesses, global memory, sharing.
const PROGRAM: &str = ".block 64
.grid 6
.shared 1024
ld.global r1, [0x1000 + 256*b + 4*t]
st.shared [4*t], r1
bar
repeat 4
  ld.shared.64 r2, [8*((t + 8*i) % 64)]
  alu r4, r2
end
atom.shared.add r5, [4*(t % 8)], r4
@0x1 ldlk r6, [512]
@0x1 stul [512], r6
bar
ld.shared r7, [900 + 4*(t % 16)]
relssp
st.global [0x2000 + 128*t], r7
";

/// Blocks of 340 words, of which three and a partner fit into 1024 if the pair
/// begins and ends with a word, and not if it takes whole rows of 8 banks.
const ODD_BASES: &str = ".block 64
.grid 12
.shared 1360
st.shared [4*(t % 3)], r1
repeat 6
  st.shared [4*((t*7 + 13*i + b) % 340)], r2
  ld.shared.64 r3, [8*((t*3 + 5*i) % 170)]
  ld.shared.128 r4, [16*((t + 11*i) % 85)]
  atom.shared.add r5, [4*((t*5 + b) % 340)], r4
end
bar
ld.shared r6, [4*(339 - t)]
relssp
";

/// The waits of the hardware, which `sim` has where a file asks for them.
const WAITS: &str = "base = 'small'\n[retry]\nread = 0\nupdate = 1\nwrite = 0\nbranch = 1\n";

/// Room for two blocks; sharing adds a third.
const SHARING: &str = "[geometry]\ncapacity_words = 640\n[sharing]\non = true\nthreshold = 0.5\n\
                       [scheduler]\npolicy = 'owf'\n[path]\nlock_hash = 'xor'\n";

/// Runs `input` through the RTL to its end; the model alone, and what `sim` says of it.
fn run_to_the_end(machine: &str, input: &str) -> Value {
    let (status, json, stderr) = spadkit(&["cosim", "spad_sm_path", machine, "--trace", input]);
    assert_eq!(status, 0, "{machine} {input}: {stderr}");
    let result = &json["results"][0];
    assert_eq!(result["mismatches"], 0, "{input}: {result}");
    assert_eq!(result["ended"], true, "{input}: {result}");
    // The model alone takes as long, but for the two cycles of reset and
    // those at the ends that `sim` does not count.
    let (_, sim, _) = spadkit(&["sim", machine, input]);
    let cycles = result["cycles"].as_u64().unwrap();
    let counted = sim["cycles"].as_u64().unwrap();
    assert!(
        (counted + 3..counted + 10).contains(&cycles),
        "{input}: {cycles} {counted}"
    );
    sim
}

/// Kernels as `sim` takes them, through the RTL to their end.
#[test]
fn workloads_run_on_the_rtl() {
    if missing(&TOOLS) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(file("program.warp"), PROGRAM).unwrap();
    std::fs::write(file("small.toml"), WAITS).unwrap();
    std::fs::write(file("sharing.toml"), format!("{WAITS}{SHARING}")).unwrap();
    let full = file("full.spt");
    let record = ["trace", "kernel:reduction", "-o", &full];
    assert_eq!(spadkit(&record).0, 0);
    run_to_the_end("--preset=small", "kernel:transpose");
    run_to_the_end("--preset=small", &full);
    for machine in ["small.toml", "sharing.toml"] {
        let machine = format!("--config={}", file(machine));
        run_to_the_end(&machine, &file("program.warp"));
    }
    if let Some(recorded) = recorded::traces() {
        let recorded = recorded.join("backprop.json").display().to_string();
        run_to_the_end("--preset=small", &recorded);
    }
    // A bound cuts a kernel off, and says so.
    let args = [
        "cosim",
        "spad_sm_path",
        "--preset",
        "small",
        "--trace",
        "kernel:transpose",
    ];
    let (status, json, stderr) = spadkit(&[&args[..], &["--cycles", "100"]].concat());
    assert_eq!(
        (status, &json["results"][0]["ended"]),
        (0, &false.into()),
        "{stderr}"
    );
    assert!(
        stderr.contains("had not ended after 100 cycles"),
        "{stderr}"
    );
}

/// Pairs whose blocks begin and end with any word.
#[test]
#[ignore = "part of make campaign"]
fn pairs_of_an_odd_size_run_on_the_rtl() {
    if missing(&TOOLS) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(file("odd.warp"), ODD_BASES).unwrap();
    let odd = format!("{WAITS}{SHARING}").replace("0.5", "0.01");
    let odd = odd
        .replace("640", "1024")
        .replace("'owf'", "'owf'\naware = true");
    std::fs::write(file("odd.toml"), odd).unwrap();
    let machine = format!("--config={}", file("odd.toml"));
    let sim = run_to_the_end(&machine, &file("odd.warp"));
    assert_eq!(sim["resident_blocks"], 4);
    assert_eq!(sim["pairs"], 1);
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let file = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    let (program, gto) = (file("p.warp"), file("gto.toml"));
    std::fs::write(&program, ".block 32\nalu r1\n").unwrap();
    std::fs::write(&gto, "base = 'small'\n[scheduler]\npolicy = 'gto'\n").unwrap();
    for (args, message) in [
        (
            ["spad_lock_unit", "--trace", &program],
            "spad_lock_unit cannot execute",
        ),
        (
            ["spad_sm_path", "--trace", "kernel:reduction:threads=512"],
            "machine 8 warp slots",
        ),
    ] {
        let (status, _, stderr) = spadkit(&[&["cosim", "--preset", "small"], &args[..]].concat());
        assert_eq!(status, 2, "{stderr}");
        assert!(stderr.contains(message), "{stderr}");
    }
    let args = [
        "cosim",
        "spad_sm_path",
        "--config",
        &gto,
        "--trace",
        &program,
    ];
    let (status, _, stderr) = spadkit(&args);
    assert_eq!(status, 2, "{stderr}");
    assert!(
        stderr.contains("in the model only, not in the RTL"),
        "{stderr}"
    );
}
