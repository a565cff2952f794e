//! Lockstep co-simulation of every unit, and a check that it can fail.

use crate::common::tools::missing;
use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

/// What co-simulation runs.
const TOOLS: [&str; 2] = ["verilator", "c++"];

fn spadkit(args: &[&str]) -> (i32, Value, String) {
    let output = Command::cargo_bin("spadkit")
        .unwrap()
        .args(args)
        .args(["--format", "json"])
        .output()
        .unwrap();
    let json = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), json, stderr)
}

fn assert_clean(json: &Value, cycles: u64) {
    let results = json["results"].as_array().unwrap();
    assert!(!results.is_empty());
    for result in results {
        assert_eq!(result["mismatches"], 0, "{result}");
        assert_eq!(result["cycles"], cycles, "{result}");
        assert!(result["checks"].as_u64().unwrap() >= cycles, "{result}");
    }
}

/// With and without accesses that overlap, with addresses beyond the capacity, a
/// mapping that changes, words of 64 bits, and tags of any width.
#[test]
fn streams_of_other_widths_agree_with_their_model() {
    if missing(&TOOLS) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (window, word_bits, tag_bits) in [(2, 64, 45), (0, 32, 1)] {
        let text = format!(
            "base = 'small'\n[geometry]\ncapacity_words = 768\nword_bits = {word_bits}\n\
             [hash]\npath = 'configurable'\n[stream]\nwindow = {window}\ntag_bits = {tag_bits}\n"
        );
        let file = dir.path().join("machine.toml");
        std::fs::write(&file, text).unwrap();
        let config = file.to_str().unwrap();
        let args = ["cosim", "spad_stream", "--cycles", "20000", "--config"];
        let (status, json, stderr) = spadkit(&[&args[..], &[config]].concat());
        assert_eq!(status, 0, "{stderr}");
        assert_clean(&json, 20_000);
    }
}

/// Atomic operations of accesses that overlap.
#[test]
fn streams_with_atomic_operations_agree_with_their_model() {
    if missing(&TOOLS) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (window, word_bits) in [(2, 64), (4, 32)] {
        let text = format!(
            "base = 'small'\n[geometry]\ncapacity_words = 768\nword_bits = {word_bits}\n\
             [hash]\npath = 'configurable'\n[stream]\nwindow = {window}\natomics = true\n"
        );
        let file = dir.path().join("machine.toml");
        std::fs::write(&file, text).unwrap();
        let args = ["cosim", "spad_stream", "--cycles", "20000", "--config"];
        let (status, json, stderr) = spadkit(&[&args[..], &[file.to_str().unwrap()]].concat());
        assert_eq!(status, 0, "{stderr}");
        assert_clean(&json, 20_000);
    }
}

/// Atomic operations on the bus, with and without registers, broadcast and merging.
#[test]
fn banks_with_atomic_operations_agree_with_their_model() {
    if missing(&TOOLS) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let registers = "request_register = true\nresponse_register = true\nid_bits = 3\n";
    for (word_bits, path, options) in [
        (32, "broadcast = false\n", ""),
        (64, "merge_bytes = false\n", registers),
    ] {
        let text = format!(
            "base = 'small'\n[geometry]\ncapacity_words = 768\nword_bits = {word_bits}\n\
             [hash]\npath = 'configurable'\n[path]\n{path}[tcdm]\natomics = true\n{options}"
        );
        let file = dir.path().join("machine.toml");
        std::fs::write(&file, text).unwrap();
        let units = ["cosim", "spad_tcdm", "spad_atomic_bank"];
        let args = ["--cycles", "20000", "--config", file.to_str().unwrap()];
        let (status, json, stderr) = spadkit(&[&units[..], &args].concat());
        assert_eq!(status, 0, "{stderr}");
        assert_clean(&json, 20_000);
    }
}

/// The whole kit on the small machine, the SM path included.
#[test]
fn every_unit_agrees_with_its_model() {
    if missing(&TOOLS) {
        return;
    }
    let (status, json, stderr) = spadkit(&["cosim", "--preset", "small", "--cycles", "10000"]);
    assert_eq!(status, 0, "{stderr}");
    assert_clean(&json, 10_000);
    let units = json["results"].as_array().unwrap();
    assert!(units.iter().any(|u| u["unit"] == "spad_sm_path"));
}

/// With the waiting times of the atomics paper; without them above.
#[test]
fn retry_loops_that_wait_agree() {
    if missing(&TOOLS) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("m.toml");
    let retry = "[retry]\nread = 5\nupdate = 3\nwrite = 4\nbranch = 2\n";
    std::fs::write(&file, format!("base = 'small'\n{retry}")).unwrap();
    let units = ["spad_retry_sequencer", "spad_memory_entry", "spad_sm_path"];
    let options = ["--cycles", "10000", "--config", file.to_str().unwrap()];
    let (status, json, stderr) = spadkit(&[&["cosim"], &units[..], &options].concat());
    assert_eq!(status, 0, "{stderr}");
    assert_clean(&json, 10_000);
}

/// 32 lanes and 32 banks.
#[test]
fn units_agree_on_fermi() {
    if missing(&TOOLS) {
        return;
    }
    let units = [
        "spad_conflict_arbiter",
        "spad_hash_matrix",
        "spad_hash_config",
    ];
    let mut args = vec!["cosim", "--cycles", "20000"];
    args.extend(units);
    let (status, json, stderr) = spadkit(&args);
    assert_eq!(status, 0, "{stderr}");
    assert_clean(&json, 20_000);
}

/// Odd n, and an address too short for two whole windows of m bits.
#[test]
fn the_hash_units_agree_in_an_awkward_geometry() {
    if missing(&TOOLS) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let config = scratch.path().join("odd.toml");
    std::fs::write(&config, "[geometry]\naddr_bits = 9\nbank_bits = 6\n").unwrap();
    let units = [
        "spad_hash_bitvec_perm",
        "spad_hash_bitvec_xor",
        "spad_hash_bitwise_xor",
        "spad_hash_xor",
        "spad_hash_add",
        "spad_rap",
        "spad_row_map",
    ];
    let mut args = vec!["cosim", "--cycles", "10000", "--config"];
    args.push(config.to_str().unwrap());
    args.extend(units);
    let (status, json, stderr) = spadkit(&args);
    assert_eq!(status, 0, "{stderr}");
    assert_clean(&json, 10_000);
}

#[test]
fn kernel_traces_drive_the_units() {
    if missing(&TOOLS) {
        return;
    }
    let mut traces = vec!["kernel:fwt".to_owned(), "kernel:transpose".to_owned()];
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/traces");
    if recorded.is_dir() {
        let names = ["NW-1", "lavaMD", "MRI-grid-splitSort"];
        traces.extend(names.map(|n| recorded.join(format!("{n}.json")).display().to_string()));
    } else {
        println!(
            "skipped the recorded traces: {} is absent",
            recorded.display()
        );
    }
    for trace in traces {
        let unit = "spad_hash_bitvec_xor";
        let (status, json, stderr) = spadkit(&["cosim", unit, "--trace", &trace]);
        assert_eq!(status, 0, "{trace}: {stderr}");
        assert_clean(&json, 20_000);
    }
}

/// The SM path with everything that can be left out or chosen when it is
/// emitted, in machines so small that each builds in seconds. Pipeline, barrel,
/// scheduler, lock hash and mapping change within a run.
#[test]
fn kinds_of_path_agree() {
    paths_agree(|file| USUAL_PATHS.iter().any(|usual| file.ends_with(usual)));
}

#[test]
#[ignore = "takes a minute; part of make campaign"]
fn the_other_kinds_of_path_agree() {
    paths_agree(|file| !USUAL_PATHS.iter().any(|usual| file.ends_with(usual)));
}

/// Between them they have every stage, every width, and machines without locks.
const USUAL_PATHS: [&str; 4] = [
    "bitwise-perm.toml",
    "bitwise-xor.toml",
    "hash-add.toml",
    "rap.toml",
];

fn paths_agree(chosen: impl Fn(&Path) -> bool) {
    if missing(&TOOLS) {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cosim/paths");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|f| f.unwrap().path());
    let files: Vec<_> = files.collect();
    assert_eq!(files.len(), 9);
    for file in files.iter().filter(|file| chosen(file)) {
        let config = file.to_str().unwrap();
        let args = ["cosim", "spad_sm_path", "--cycles", "20000", "--config"];
        let (status, json, stderr) = spadkit(&[&args[..], &[config]].concat());
        assert_eq!(status, 0, "{config}: {stderr}");
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

/// Kernels as `sim` takes them, through the RTL to their end.
#[test]
fn workloads_run_on_the_rtl() {
    if missing(&TOOLS) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = |name: &str| scratch.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(file("program.warp"), PROGRAM).unwrap();
    // The waits of the hardware, which `sim` has where a file asks for them.
    let waits = "[retry]\nread = 0\nupdate = 1\nwrite = 0\nbranch = 1\n";
    std::fs::write(file("small.toml"), format!("base = 'small'\n{waits}")).unwrap();
    // Room for two blocks; sharing adds a third.
    let sharing = "base = 'small'\n[geometry]\ncapacity_words = 640\n\
                   [sharing]\non = true\nthreshold = 0.5\n[scheduler]\npolicy = 'owf'\n[path]\nlock_hash = 'xor'\n";
    let sharing = format!("{sharing}{waits}");
    std::fs::write(file("sharing.toml"), &sharing).unwrap();
    std::fs::write(file("odd.warp"), ODD_BASES).unwrap();
    let odd = sharing.replace("0.5", "0.01").replace("640", "1024");
    let odd = odd.replace("'owf'", "'owf'\naware = true");
    std::fs::write(file("odd.toml"), odd).unwrap();
    let full = file("full.spt");
    let record = ["trace", "kernel:reduction", "-o", &full];
    assert_eq!(spadkit(&record).0, 0);
    let mut inputs = vec![
        ("--preset=small".to_owned(), "kernel:transpose".to_owned()),
        ("--preset=small".to_owned(), full),
        (
            format!("--config={}", file("small.toml")),
            file("program.warp"),
        ),
        (
            format!("--config={}", file("sharing.toml")),
            file("program.warp"),
        ),
        (format!("--config={}", file("odd.toml")), file("odd.warp")),
    ];
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/traces/backprop.json");
    if recorded.exists() {
        inputs.push(("--preset=small".to_owned(), recorded.display().to_string()))
    } else {
        println!("skipped {}: it is absent", recorded.display())
    }
    for (machine, input) in inputs {
        let (status, json, stderr) =
            spadkit(&["cosim", "spad_sm_path", &machine, "--trace", &input]);
        assert_eq!(status, 0, "{machine} {input}: {stderr}");
        let result = &json["results"][0];
        assert_eq!(result["mismatches"], 0, "{input}: {result}");
        assert_eq!(result["ended"], true, "{input}: {result}");
        // The model alone takes as long, but for the two cycles of reset and
        // those at the ends that `sim` does not count.
        let (_, sim, _) = spadkit(&["sim", &machine, &input]);
        let cycles = result["cycles"].as_u64().unwrap();
        let counted = sim["cycles"].as_u64().unwrap();
        assert!(
            (counted + 3..counted + 10).contains(&cycles),
            "{input}: {cycles} {counted}"
        );
        if input.ends_with("odd.warp") {
            assert_eq!(
                (&sim["resident_blocks"], &sim["pairs"]),
                (&4.into(), &1.into())
            );
        }
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

/// A hand-edited block with one wrong wire: found, named, and shown.
#[test]
fn a_wrong_wire_is_found() {
    if missing(&TOOLS) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    let dir_arg = dir.to_str().unwrap();
    let unit = "spad_hash_matrix";
    assert_eq!(spadkit(&["emit", unit, "-o", dir_arg]).0, 0);
    let file = dir.join("spad_hash_matrix.v");
    let text = std::fs::read_to_string(&file).unwrap();
    let edited = text.replacen("cfg_rows[3] & addr[3]", "cfg_rows[3] & addr[4]", 1);
    assert_ne!(edited, text);
    std::fs::write(&file, edited).unwrap();
    let wave = scratch.path().join("wave.vcd");
    let wave_arg = wave.to_str().unwrap();
    let (status, json, stderr) = spadkit(&["cosim", unit, "--rtl", dir_arg, "--wave", wave_arg]);
    assert_eq!(status, 1);
    let first = &json["results"][0]["first_mismatch"];
    assert_eq!(first["signal"], "bank");
    let cycle = first["cycle"].as_u64().unwrap();
    assert!(
        stderr.contains(&format!("bank in cycle {cycle}")),
        "{stderr}"
    );
    // A unit without state shows it in one cycle; the waveform is of that one
    // and holds both sides.
    assert_eq!(json["results"][0]["shrunk"]["cycles"], 1);
    let vcd = std::fs::read_to_string(&wave).unwrap();
    for scope in ["inputs", "rtl", "model", "mismatch"] {
        assert!(vcd.contains(&format!("$scope module {scope} ")), "{scope}");
    }
    assert!(vcd.contains("\n#0\n") && !vcd.contains("\n#10\n"));
}

/// A lock unit that keeps a lock which it should give back: the stimulus
/// shrinks to the reset, the lock taken, given back, and asked for again.
#[test]
fn a_failing_stimulus_is_shrunk() {
    if missing(&TOOLS) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    let dir_arg = dir.to_str().unwrap();
    let unit = "spad_lock_unit";
    let emit = ["emit", unit, "--preset", "small", "-o", dir_arg];
    assert_eq!(spadkit(&emit).0, 0);
    let file = dir.join("spad_lock_unit.v");
    let text = std::fs::read_to_string(&file).unwrap();
    let edited = text.replacen("(lock_q & ~asked)", "lock_q", 1);
    assert_ne!(edited, text);
    std::fs::write(&file, edited).unwrap();
    let wave = scratch.path().join("wave.vcd");
    let wave_arg = wave.to_str().unwrap();
    let args = ["cosim", unit, "--preset", "small", "--rtl", dir_arg];
    let (status, json, stderr) = spadkit(&[&args[..], &["--wave", wave_arg]].concat());
    assert_eq!(status, 1, "{stderr}");
    let result = &json["results"][0];
    let (first, shrunk) = (&result["first_mismatch"], &result["shrunk"]);
    assert_eq!(first["signal"], shrunk["signal"]);
    let cycles = shrunk["cycles"].as_u64().unwrap();
    assert!(cycles <= 5, "{result}");
    assert!(cycles < first["cycle"].as_u64().unwrap(), "{result}");
    assert!(
        stderr.contains(&format!("{cycles} cycles are enough")),
        "{stderr}"
    );
    let vcd = std::fs::read_to_string(&wave).unwrap();
    assert!(vcd.contains(&format!("\n#{}\n", (cycles - 1) * 10)));
    assert!(!vcd.contains(&format!("\n#{}\n", cycles * 10)));
}

/// An atomic that is over while the scratchpad takes nothing, and the next one
/// that waits for it: the whole path's own stimulus reaches it, in fewer cycles
/// than a command without `--cycles` runs.
#[test]
#[ignore = "takes half a minute; part of make campaign"]
fn a_fault_that_needs_a_coincidence_is_found() {
    if missing(&TOOLS) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    let dir_arg = dir.to_str().unwrap();
    let unit = "spad_sm_path";
    let emit = ["emit", unit, "--preset", "small", "-o", dir_arg];
    assert_eq!(spadkit(&emit).0, 0);
    let file = dir.join("spad_memory_entry.v");
    let text = std::fs::read_to_string(&file).unwrap();
    let edited = text.replacen("seq_ends & req_ready", "seq_ends", 1);
    assert_ne!(edited, text);
    std::fs::write(&file, edited).unwrap();
    let args = ["cosim", unit, "--preset", "small", "--rtl", dir_arg];
    let (status, json, stderr) = spadkit(&args);
    assert_eq!(status, 1, "{stderr}");
    let cycle = json["results"][0]["first_mismatch"]["cycle"].as_u64();
    assert!(cycle.unwrap() < 100_000, "{json}");
}

/// A shared part that is held from the reset on shows while a block is live that
/// nobody has launched: the stimulus has such resets.
#[test]
fn a_register_with_another_reset_is_found() {
    if missing(&TOOLS) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    let dir_arg = dir.to_str().unwrap();
    let unit = "spad_access_unit";
    let emit = ["emit", unit, "--preset", "small", "-o", dir_arg];
    assert_eq!(spadkit(&emit).0, 0);
    let file = dir.join("spad_access_unit.v");
    let text = std::fs::read_to_string(&file).unwrap();
    let edited = text.replacen("lk_q[q] <= 1'b0", "lk_q[q] <= 1'b1", 1);
    assert_ne!(edited, text);
    std::fs::write(&file, edited).unwrap();
    let (status, json, stderr) = spadkit(&["cosim", unit, "--preset", "small", "--rtl", dir_arg]);
    assert_eq!(status, 1, "{stderr}");
    let first = &json["results"][0]["first_mismatch"];
    assert_eq!(first["signal"], "locked", "{json}");
}

#[test]
fn missing_verilog_and_unknown_units_are_bad_input() {
    let scratch = tempfile::tempdir().unwrap();
    let empty = scratch.path().to_str().unwrap();
    let (status, _, stderr) = spadkit(&["cosim", "spad_hash_xor", "--rtl", empty]);
    assert_eq!(status, 2, "{stderr}");
    assert!(stderr.contains("spad_hash_xor.v"), "{stderr}");
    let (status, _, stderr) = spadkit(&["cosim", "spad_hash_nothing"]);
    assert_eq!(status, 2);
    assert!(stderr.contains("units are"), "{stderr}");
}
