//! No input has a combinational path to an output: looked for in the gates.

use super::missing;
use super::rtl::machine;
use serde_json::Value;
use spadkit::output::OwnedFolder;
use spadkit::rtl::{Design, write_design};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// The unit's netlist in Yosys' gates, its memories left out.
fn gates(unit: &str) -> Value {
    let design = Design::emit(&[unit.to_owned()], &machine(2, 0)).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    write_design(&design, &OwnedFolder::new(&dir, false)).unwrap();
    let script = format!(
        "read_verilog {}; blackbox spad_bank_ram; hierarchy -check -top {unit}; \
         proc; flatten; opt -full; techmap; opt; write_json gates.json",
        design.units[0].files.join(" ")
    );
    let mut yosys = Command::new("yosys");
    let output = yosys.args(["-q", "-p", &script]).current_dir(&dir).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    let json = std::fs::read(dir.join("gates.json")).unwrap();
    let netlist: Value = serde_json::from_slice(&json).unwrap();
    netlist["modules"][unit].clone()
}

fn bits(value: &Value) -> impl Iterator<Item = u64> {
    value.as_array().unwrap().iter().filter_map(Value::as_u64)
}

/// Inputs of the module that an output depends on in the same cycle, with the
/// output.
fn paths(module: &Value) -> BTreeSet<(String, String)> {
    // Bits that a gate's output is made of. Flip-flops and memories end a path.
    let mut made_of: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for cell in module["cells"].as_object().unwrap().values() {
        let kind = cell["type"].as_str().unwrap();
        if kind.contains("DFF") || kind == "spad_bank_ram" {
            continue;
        }
        let ends = |dir: &str| -> Vec<u64> {
            let pins = cell["port_directions"].as_object().unwrap().iter();
            let pins = pins.filter(|(_, d)| d.as_str() == Some(dir));
            pins.flat_map(|(pin, _)| bits(&cell["connections"][pin]))
                .collect()
        };
        for out in ends("output") {
            made_of.insert(out, ends("input"));
        }
    }
    let ports = |dir: &str| -> Vec<(String, Vec<u64>)> {
        let ports = module["ports"].as_object().unwrap().iter();
        let ports = ports.filter(|(_, p)| p["direction"].as_str() == Some(dir));
        ports
            .map(|(name, p)| (name.clone(), bits(&p["bits"]).collect()))
            .collect()
    };
    let of_input: BTreeMap<u64, String> = ports("input")
        .into_iter()
        .flat_map(|(name, bits)| bits.into_iter().map(move |bit| (bit, name.clone())))
        .collect();
    let mut found = BTreeSet::new();
    for (output, mut open) in ports("output") {
        let mut seen: BTreeSet<u64> = open.iter().copied().collect();
        while let Some(bit) = open.pop() {
            if let Some(input) = of_input.get(&bit) {
                found.insert((input.clone(), output.clone()));
            }
            let next = made_of.get(&bit).into_iter().flatten();
            open.extend(next.copied().filter(|b| seen.insert(*b)));
        }
    }
    found
}

#[test]
fn no_input_reaches_an_output_of_a_bus_unit_in_its_cycle() {
    if missing(&["yosys"]) {
        return;
    }
    for unit in ["spad_stream", "spad_tcdm"] {
        assert_eq!(paths(&gates(unit)), BTreeSet::new(), "{unit}");
    }
    // The search finds what is there: the lock unit answers in the same cycle.
    let found = paths(&gates("spad_lock_unit"));
    let expected = ("lk_op".to_owned(), "lk_success".to_owned());
    assert!(found.contains(&expected), "{found:?}");
}
