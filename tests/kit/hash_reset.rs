//! `[hash] reset`: the mapping that the registers hold after a reset, in the
//! configuration and as parameters of an instance.

use crate::common::tools::{missing, silent};
use crate::common::{json, spadkit, text};
use serde_json::Value;
use spadkit::config::Config;
use spadkit::hash::Mapping;
use spadkit::model::LaneHash;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Machines whose registers hold a mapping of their own, one of each unit: what is
/// in `[hash]`, and its block.
const MACHINES: [(&str, &str); 6] = [
    (
        "unit = 'bitvec-perm'\nreset = 'bitvec-perm:k=2'",
        "spad_hash_config_bitvec_perm",
    ),
    (
        "unit = 'bitvec-xor'\nreset = 'bitvec-xor:k1=0,k2=5,mask=6'",
        "spad_hash_config_bitvec_xor",
    ),
    (
        "unit = 'bitwise-perm'\nreset = 'bitwise-perm:4,0,9'",
        "spad_hash_config_bitwise_perm",
    ),
    (
        "unit = 'bitwise-xor'\nreset = 'bitwise-xor:0^7,3,1^5'",
        "spad_hash_config_bitwise_xor",
    ),
    (
        "unit = 'matrix'\nreset = 'matrix:0x249,0x92,0x12c'",
        "spad_hash_config_matrix",
    ),
    ("path = 'rap'\nreset = 'rap:seed=5'", "spad_hash_config_rap"),
];

/// The machine in a file.
fn file_of(hash: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("machine.toml");
    fs::write(&file, format!("base = 'small'\n[hash]\n{hash}\n")).unwrap();
    (folder, file)
}

fn results(args: &[&str]) -> Vec<Value> {
    json(args)["results"].as_array().unwrap().clone()
}

/// The model after a reset, also after a write, maps as the spec says.
#[test]
fn the_model_has_the_mapping_after_a_reset() {
    for (hash, _) in MACHINES {
        let (_folder, file) = file_of(hash);
        let machine = Config::load(&file).unwrap();
        let mapping = Mapping::new(&machine.path.hash_reset, machine.geometry).unwrap();
        let mut lanes = LaneHash::new(&machine);
        for written in [false, true] {
            if written {
                let write = spadkit::model::RegisterWrite { index: 0, data: 1 };
                lanes.commit(Some(write), None);
                lanes.reset();
            }
            for addr in 0..machine.geometry.words() as u16 {
                let (mut bank, mut row) = ([0], [0]);
                lanes.places(&[addr], &mut bank, &mut row);
                let place = (u32::from(bank[0]), u32::from(row[0]));
                let expected = (mapping.bank(addr.into()), mapping.row(addr.into()));
                assert_eq!(place, expected, "{hash} {addr}");
            }
        }
    }
}

/// Registers, path and blocks behind a bus hold it, whatever was written before.
#[test]
fn the_verilog_agrees_with_the_model() {
    let whole = [
        "spad_hash_config",
        "spad_hash_config_row_map",
        "spad_hash_stage",
        "spad_stream",
        "spad_tcdm",
        "spad_sm_path",
    ];
    verilog_agrees(|is_matrix| whole.iter().copied().filter(|_| is_matrix).collect());
}

#[test]
#[ignore = "part of make campaign"]
fn blocks_of_all_units_agree_with_their_model() {
    verilog_agrees(|_| vec!["spad_hash_stage", "spad_stream"]);
}

/// The registers of each machine, and what else is asked for.
fn verilog_agrees(more: impl Fn(bool) -> Vec<&'static str>) {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for (hash, block) in MACHINES {
        let (_folder, file) = file_of(hash);
        let units = [vec![block], more(hash.contains("matrix"))].concat();
        let options = ["--cycles", "5000", "--config", file.to_str().unwrap()];
        for result in results(&[&["cosim"], &units[..], &options].concat()) {
            assert_eq!(result["mismatches"], 0, "{hash}: {result}");
        }
    }
}

/// `prove` shows the mapping, and disproves another one.
#[test]
fn the_mapping_after_a_reset_is_proved() {
    mapping_is_proved(|hash| hash.contains("matrix"));
}

#[test]
#[ignore = "part of make campaign"]
fn another_mapping_of_each_unit_is_disproved() {
    mapping_is_proved(|_| true);
}

/// Of all machines; of those that are `whole` also the rows, and another mapping.
fn mapping_is_proved(whole: impl Fn(&str) -> bool) {
    if missing(&["yosys"]) {
        return;
    }
    for (hash, block) in MACHINES {
        let (folder, file) = file_of(hash);
        let file = file.to_str().unwrap();
        let mut blocks = vec![block];
        let rows = whole(hash) && !hash.contains("rap");
        blocks.extend(rows.then_some("spad_hash_config_row_map"));
        let proved = [
            &["prove"],
            &blocks[..],
            &["--property", "reset", "--config", file],
        ];
        let proved = results(&proved.concat());
        assert!(
            proved.iter().all(|result| result["result"] == "proved"),
            "{proved:?}"
        );

        if !whole(hash) {
            continue;
        }
        let rtl = folder.path().join("rtl");
        let rtl = rtl.to_str().unwrap();
        let unit = block.replace("_config", "");
        let unit = unit.replace("spad_hash_rap", "spad_rap");
        text(&["emit", block, &unit, "-o", rtl, "--config", file]);
        let verilog = Path::new(rtl).join(format!("{block}.v"));
        let emitted = fs::read_to_string(&verilog).unwrap();
        let other = emitted.replacen("_q <= RESET", "_q <= ~RESET", 1);
        assert_ne!(other, emitted);
        fs::write(&verilog, other).unwrap();
        let args = [
            "prove",
            block,
            "--property",
            "reset",
            "--config",
            file,
            "--rtl",
            rtl,
        ];
        let output = spadkit(&args).args(["--format", "json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{hash}");
    }
}

/// The values that `encode` prints make an instance of the default machine the one
/// of the configuration.
#[test]
fn an_instance_can_set_the_mapping() {
    instances_set_it(&["spad_tcdm", "spad_hash_stage"]);
}

#[test]
#[ignore = "part of make campaign"]
fn an_instance_of_a_stream_or_a_path_can_set_the_mapping() {
    instances_set_it(&["spad_stream", "spad_sm_path"]);
}

fn instances_set_it(units: &[&str]) {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let spec = "matrix:0x249,0x92,0x12c";
    let encoded = json(&["encode", spec, "--preset", "small"]);
    let set = encoded["reset"].as_array().unwrap().iter();
    let set = set.map(|p| format!(".{}({})", name_of(p), p["value"].as_str().unwrap()));
    let set = set.collect::<Vec<_>>().join(", ");
    for &unit in units {
        let (folder, file) = file_of(&format!("reset = '{spec}'"));
        let rtl = folder.path().join("rtl");
        text(&[
            "emit",
            unit,
            "-o",
            rtl.to_str().unwrap(),
            "--preset",
            "small",
        ]);
        let cosim = || {
            let options = ["--cycles", "20000", "--rtl", rtl.to_str().unwrap()];
            let machine = ["--config", file.to_str().unwrap()];
            let args = [&["cosim", unit], &options[..], &machine[..]].concat();
            spadkit(&args).output().unwrap().status.code()
        };
        assert_eq!(cosim(), Some(1), "{unit} has plain interleaving");
        put_around(&rtl, unit, &set);
        assert_eq!(cosim(), Some(0), "{unit}");
    }
}

/// Puts the emitted unit into one of its name, which sets its parameters.
fn put_around(rtl: &Path, unit: &str, parameters: &str) {
    let manifest = fs::read_to_string(rtl.join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let ports = manifest["units"][0]["ports"].as_array().unwrap();
    let declared = ports.iter().map(|port| {
        let high = port["width"].as_u64().unwrap() - 1;
        let dir = port["dir"].as_str().unwrap();
        format!("{dir}put wire [{high}:0] {}", name_of(port))
    });
    let declared = declared.collect::<Vec<_>>().join(", ");
    let connected = ports.iter().map(|port| format!(".{0}({0})", name_of(port)));
    let connected = connected.collect::<Vec<_>>().join(", ");
    let verilog = rtl.join(format!("{unit}.v"));
    let inner = fs::read_to_string(&verilog).unwrap();
    let inner = inner.replace(&format!("module {unit} "), &format!("module {unit}_inner "));
    let outer = format!(
        "module {unit}({declared});\n{unit}_inner #({parameters}) inner({connected});\nendmodule\n"
    );
    fs::write(&verilog, inner + &outer).unwrap();
}

fn name_of(value: &Value) -> &str {
    value["name"].as_str().unwrap()
}

/// The wrappers hand the parameters on; Verilator finds nothing to remark.
#[test]
fn wrappers_have_the_parameters() {
    if missing(&["verilator"]) {
        return;
    }
    let (folder, file) = file_of("reset = 'xor'");
    let rtl = folder.path().join("rtl");
    let options = [
        "--wrapper",
        "stream",
        "--wrapper",
        "tcdm",
        "--bench-cycles",
        "0",
    ];
    let emit = [
        "emit",
        "-o",
        rtl.to_str().unwrap(),
        "--config",
        file.to_str().unwrap(),
    ];
    text(&[&emit[..], &options].concat());
    for top in [
        "spad_stream_sv",
        "spad_tcdm_sv",
        "spad_obi_sv",
        "spad_tilelink_sv",
    ] {
        let wrapper = fs::read_to_string(rtl.join(format!("{top}.sv"))).unwrap();
        for name in ["HASH_RESET", "ROW_RESET"] {
            assert!(wrapper.contains(&format!("] {name} = ")), "{top}");
            assert!(wrapper.contains(&format!(".{name}({name})")), "{top}");
        }
        let mut verilator = Command::new("verilator");
        verilator.args(["--lint-only", "-Wall", "--top-module", top, "-F"]);
        silent(verilator.arg(rtl.join("filelist_sv.f")));
    }
}

/// `sim` runs with it unless it is given another one.
#[test]
fn a_simulation_begins_with_the_mapping() {
    let (_folder, file) = file_of("stage = 0\nreset = 'xor'");
    let (_other, plain) = file_of("stage = 0");
    let conflicts = |file: &Path, more: &[&str]| {
        let args = [
            "sim",
            "kernel:transpose",
            "--config",
            file.to_str().unwrap(),
        ];
        json(&[&args[..], more].concat())["bank_conflicts"].clone()
    };
    let own = conflicts(&file, &[]);
    assert_eq!(own, conflicts(&plain, &["--hash", "xor"]));
    assert_ne!(own, conflicts(&plain, &[]));
    assert_eq!(
        conflicts(&file, &["--hash", "mod"]),
        conflicts(&plain, &["--hash", "mod"])
    );
}
