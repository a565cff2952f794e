//! The numbers of `reproduce/hash/f4.toml` are those that `synth` prints.

use crate::common::recorded;
use crate::common::tools::missing;
use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

const LIBRARY: &str = "nangate45_typ.lib";

/// `bit-vector permutation` or `fixed XOR`, as the unit is called.
fn unit(workload: &str) -> String {
    let words = workload.to_lowercase().replace("bit-vector", "bitvec");
    let words = words.replace("permutation", "perm").replace("fixed ", "");
    let words = words.replace(' ', "_");
    format!("spad_hash_{words}")
}

fn table(value: &toml::Value) -> &toml::Table {
    value.as_table().unwrap()
}

/// The command in the page is the one that was run.
#[test]
fn hash_f4_has_what_its_command_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("reproduce/hash/f4.toml")).unwrap();
    let file: toml::Table = toml::from_str(&text).unwrap();
    let kept = table(&file["workload"]);
    let base = table(&file["configuration"]["synthesised"]["numbers"]);
    let least = table(&kept["bit-vector permutation"]["numbers"]);
    assert!(!base.is_empty());
    for (name, value) in base {
        assert_eq!(least[name], *value, "over the least: {name}");
    }

    let Some(library) = recorded::library() else {
        return;
    };
    if missing(&["yosys", "sta"]) {
        return;
    }
    let command = |line: &str| line.trim().strip_prefix("spadkit ").map(str::to_owned);
    let notes = file["notes"].as_str().unwrap();
    let command = notes.lines().find_map(command).expect("a command");
    assert!(command.contains(LIBRARY), "{command}");
    let library = library.display().to_string();
    let cache = tempfile::tempdir().unwrap();
    let output = Command::cargo_bin("spadkit")
        .unwrap()
        .args(command.split(' ').map(|a| a.replace(LIBRARY, &library)))
        .env("SPADKIT_CACHE", cache.path())
        .output()
        .unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let results = json["results"].as_array().unwrap();
    let mut compared = 0;
    for (workload, entry) in kept {
        let unit = unit(workload);
        for (name, kept) in table(&entry["numbers"]) {
            // Area and power without a period are those of the first.
            let (key, period) = match name.split_once(" at ") {
                Some((key, period)) => (key, period.parse().unwrap()),
                None => (name.as_str(), 667),
            };
            let of = |r: &&Value| r["unit"] == unit.as_str() && r["period_ps"] == period;
            let result = results.iter().find(of);
            let result = result.unwrap_or_else(|| panic!("{unit} at {period} ps"));
            let (printed, kept) = (result[key].as_f64().unwrap(), kept.as_float().unwrap());
            let near = (printed - kept).abs() <= 1e-3 * kept;
            assert!(near, "{workload}: {name} is {kept}, {printed} printed");
            compared += 1;
        }
    }
    assert_eq!(compared, 5 * 12);
}
