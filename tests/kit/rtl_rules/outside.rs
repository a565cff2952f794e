//! An outside test bench, written from `manifest.json` and `encode` alone.

use super::{simulate, spadkit_json};
use crate::common::tools::missing;
use serde_json::Value;
use spadkit::geometry::Geometry;
use spadkit::hash::{HashSpec, Mapping};

fn unit<'a>(manifest: &'a Value, name: &str) -> &'a Value {
    let units = manifest["units"].as_array().unwrap();
    units.iter().find(|u| u["name"] == name).unwrap()
}

fn width(unit: &Value, port: &str) -> u64 {
    let ports = unit["ports"].as_array().unwrap();
    ports.iter().find(|p| p["name"] == port).unwrap()["width"]
        .as_u64()
        .unwrap()
}

/// Port connections of a unit with the values that `encode` gives, as Verilog.
fn constants(unit: &Value, ports: &Value) -> String {
    let constant = |(name, value): (&String, &Value)| {
        let hex = value.as_str().unwrap().trim_start_matches("0x");
        format!(".{name}({}'h{hex}), ", width(unit, name))
    };
    ports.as_object().unwrap().iter().map(constant).collect()
}

/// Bank and row of every address, as an outside test bench sees them.
#[test]
fn an_outside_bench_finds_every_word_where_it_belongs() {
    if missing(&["iverilog", "vvp"]) {
        return;
    }
    let geometry = Geometry::new(14, 5).unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path().join("rtl");
    let manifest = spadkit_json(&["emit", "-o", dir.to_str().unwrap()]);
    for spec in [
        "mod",
        "xor",
        "add",
        "bitvec-perm:k=9",
        "bitvec-perm:k=4",
        "bitvec-xor:k1=2,k2=8,mask=7",
        "bitvec-xor:k1=0,k2=13,mask=1",
        "bitwise-perm:8,0,13,5,2",
        "bitwise-xor:0,0^4,3^7,1^2,6^13",
        "matrix:0x21,0x42,0x84,0x108,0x3fff",
        "rap:seed=3",
        "ras:seed=3",
    ] {
        let encoding = spadkit_json(&["encode", spec]);
        let hash = unit(&manifest, encoding["unit"].as_str().unwrap());
        let row = unit(&manifest, "spad_row_map");
        let bench = format!(
            "module bench; reg [13:0] addr; wire [4:0] bank; wire [8:0] row; integer i;\n\
             {} hash({} .addr(addr), .bank(bank));\n\
             spad_row_map map({} .addr(addr), .row(row));\n\
             initial for (i = 0; i < 16384; i = i + 1) begin addr = i; #1 \
             $display(\"%0d %0d\", bank, row); end\nendmodule\n",
            hash["top"].as_str().unwrap(),
            constants(hash, &encoding["ports"]),
            constants(row, &encoding["row_map"]["ports"]),
        );
        let mut files = hash["files"].as_array().unwrap().clone();
        files.extend(row["files"].as_array().unwrap().iter().cloned());
        let printed = simulate(&dir, &files, &bench);
        let mapping = Mapping::new(&spec.parse::<HashSpec>().unwrap(), geometry).unwrap();
        let mut addr = 0;
        for line in printed.lines() {
            let expected = format!("{} {}", mapping.bank(addr), mapping.row(addr));
            assert_eq!(line, expected, "{spec} at {addr}");
            addr += 1;
        }
        assert_eq!(addr, 16384, "{spec}");
    }
}
