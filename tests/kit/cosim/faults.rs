//! Faults in edited Verilog: found, named, and shown in few cycles.

use super::{TOOLS, spadkit};
use crate::common::edited::Edited;
use crate::common::in_one_line;
use crate::common::tools::missing;

/// A hand-edited block with one wrong wire: found, named, and shown.
#[test]
fn a_wrong_wire_is_found() {
    if missing(&TOOLS) {
        return;
    }
    let wire = ["cfg_rows[3] & addr[3]", "cfg_rows[3] & addr[4]"];
    let unit = "spad_hash_matrix";
    let rtl = Edited::new("fermi", &[unit], "spad_hash_matrix.v", wire);
    let scratch = tempfile::tempdir().unwrap();
    let wave = scratch.path().join("wave.vcd");
    let wave_arg = wave.to_str().unwrap();
    let args = ["cosim", unit, "--rtl", rtl.path(), "--wave", wave_arg];
    let (status, json, stderr) = spadkit(&args);
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
    let unit = "spad_lock_unit";
    let edit = ["(lock_q & ~asked)", "lock_q"];
    let rtl = Edited::new("small", &[unit], "spad_lock_unit.v", edit);
    let scratch = tempfile::tempdir().unwrap();
    let wave = scratch.path().join("wave.vcd");
    let wave_arg = wave.to_str().unwrap();
    let args = ["cosim", unit, "--preset", "small", "--rtl", rtl.path()];
    let (status, json, stderr) = spadkit(&[&args[..], &["--wave", wave_arg]].concat());
    assert_eq!(status, 1, "{stderr}");
    let result = &json["results"][0];
    let (first, shrunk) = (&result["first_mismatch"], &result["shrunk"]);
    assert_eq!(first["signal"], shrunk["signal"]);
    let cycles = shrunk["cycles"].as_u64().unwrap();
    assert!(cycles <= 5, "{result}");
    assert!(cycles < first["cycle"].as_u64().unwrap(), "{result}");
    assert!(
        in_one_line(&stderr).contains(&format!("{cycles} cycles are enough")),
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
    let unit = "spad_sm_path";
    let edit = ["seq_ends & req_ready", "seq_ends"];
    let rtl = Edited::new("small", &[unit], "spad_memory_entry.v", edit);
    let args = ["cosim", unit, "--preset", "small", "--rtl", rtl.path()];
    let (status, json, stderr) = spadkit(&args);
    assert_eq!(status, 1, "{stderr}");
    let cycle = json["results"][0]["first_mismatch"]["cycle"].as_u64();
    assert!(cycle.unwrap() < 100_000, "{json}");
}

/// Bursts whose last beat lacks WLAST are drawn as such, so that they come in every run.
#[test]
fn a_missing_last_beat_that_nobody_notices_is_found() {
    if missing(&TOOLS) {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("m.toml");
    std::fs::write(&file, "base = 'small'\n[axi]\naddr_bits = 14\nlanes = 2\n").unwrap();
    let machine = ["--config", file.to_str().unwrap()];
    let edit = ["data_last ^ write_last", "data_last & ~write_last"];
    let rtl = Edited::of(machine, &["spad_axi"], "spad_axi.v", edit);
    let args = [&["cosim", "spad_axi"], &machine[..], &["--rtl", rtl.path()]].concat();
    let (status, json, stderr) = spadkit(&args);
    assert_eq!(status, 1, "{stderr}");
    let first = &json["results"][0]["first_mismatch"];
    assert_eq!(first["signal"], "axi_bresp", "{json}");
}

/// A shared part that is held from the reset on shows while a block is live that
/// nobody has launched: the stimulus has such resets.
#[test]
fn a_register_with_another_reset_is_found() {
    if missing(&TOOLS) {
        return;
    }
    let unit = "spad_access_unit";
    let edit = ["lk_q[q] <= 1'b0", "lk_q[q] <= 1'b1"];
    let rtl = Edited::new("small", &[unit], "spad_access_unit.v", edit);
    let (status, json, stderr) =
        spadkit(&["cosim", unit, "--preset", "small", "--rtl", rtl.path()]);
    assert_eq!(status, 1, "{stderr}");
    let first = &json["results"][0]["first_mismatch"];
    assert_eq!(first["signal"], "locked", "{json}");
}
