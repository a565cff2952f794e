//! `manifest.json`: what was emitted, for which machine
//! (docs/guides/integration.md).

use super::design::{Design, EmittedUnit};
use super::machine::Description;
use super::timescale::Timescale;
use crate::geometry::Geometry;
use serde::Serialize;
use serde_json::{Map, Value};
use spadkit_hdl::Reset;
use spadkit_hdl::codes::{FIELDS, Field, amo};
use std::collections::BTreeSet;

/// Machine, units, files, ports.
#[derive(Serialize)]
pub struct Manifest<'a> {
    format_version: u32,
    preset: &'a str,
    geometry: Geometry,
    machine: &'a Description,
    reset: Reset,
    timescale: Option<Timescale>,
    prefix: &'a str,
    /// The meaning of the codes on ports, by field: `{"kind": {"ALU": 0, ...}, ...}`.
    codes: Map<String, Value>,
    memories: Vec<Memory<'a>>,
    units: Vec<UnitEntry<'a>>,
    /// Names of the SystemVerilog files.
    system_verilog: Vec<&'a str>,
}

/// A unit and its test bench, where the design has them.
#[derive(Serialize)]
struct UnitEntry<'a> {
    #[serde(flatten)]
    unit: &'a EmittedUnit,
    /// File of the test bench.
    #[serde(skip_serializing_if = "Option::is_none")]
    test_bench: Option<String>,
}

/// A module in which an SRAM macro goes.
#[derive(Serialize)]
struct Memory<'a> {
    module: &'a str,
    rows: usize,
    bits: usize,
    ports: &'static str,
}

impl Design {
    /// The contents of `manifest.json`.
    pub fn manifest(&self) -> Manifest<'_> {
        let has_benches = !self.benches.is_empty();
        let entry = |unit| UnitEntry {
            unit,
            test_bench: has_benches.then(|| unit.bench_file()),
        };
        Manifest {
            format_version: 1,
            preset: &self.preset,
            geometry: self.geometry,
            machine: &self.machine,
            reset: self.style.reset,
            timescale: self.timescale,
            prefix: &self.style.prefix,
            codes: self.fields().iter().map(codes).collect(),
            memories: self.memories(),
            units: self.units.iter().map(entry).collect(),
            system_verilog: self.system.iter().map(|f| f.name.as_str()).collect(),
        }
    }

    /// The fields of codes on ports.
    fn fields(&self) -> Vec<Field> {
        let p = &self.machine.fixed.parameters;
        let amo = (p.TATM || p.SATM).then_some(amo::FIELD);
        FIELDS.into_iter().chain(amo).collect()
    }

    fn memories(&self) -> Vec<Memory<'_>> {
        let modules: BTreeSet<&str> = self
            .files
            .iter()
            .filter_map(|file| file.name.strip_suffix(".v"))
            .collect();
        modules.into_iter().filter_map(|m| self.memory(m)).collect()
    }

    fn memory<'a>(&self, module: &'a str) -> Option<Memory<'a>> {
        let plain = module.strip_prefix(&self.style.prefix)?;
        let parameters = &self.machine.fixed.parameters;
        let (rows, bits) = parameters.memory(plain)?;
        let ports = match plain {
            "spad_bank_ram" => "1RW, byte enables",
            _ => "1R1W",
        };
        Some(Memory {
            module,
            rows,
            bits,
            ports,
        })
    }
}

fn codes(field: &Field) -> (String, Value) {
    let values = field.codes.iter().copied().collect();
    (field.prefix.to_lowercase(), values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use serde_json::json;
    use std::path::Path;

    fn manifest(text: &str, units: &[&str]) -> Value {
        let config = Config::from_toml(text, Path::new("m.toml")).unwrap();
        let units: Vec<String> = units.iter().map(|u| u.to_string()).collect();
        json!(Design::emit(&units, &config).unwrap().manifest())
    }

    /// Two machines with different Verilog have different names, and the
    /// manifest says in what they differ.
    #[test]
    fn a_machine_can_be_told_by_its_manifest() {
        let preset = manifest("base = 'small'\n", &["spad_warp_mask"]);
        assert_eq!(preset["machine"]["name"], "small");
        assert_eq!(preset["machine"]["parameters"]["L"], 8);
        let wide = manifest(
            "base = 'small'\n[geometry]\nlanes = 16\n",
            &["spad_warp_mask"],
        );
        assert_eq!(wide["machine"]["parameters"]["L"], 16);
        let name = wide["machine"]["name"].as_str().unwrap();
        assert!(name.starts_with("small-") && name.len() == 14, "{name}");
        let hashed = manifest(
            "base = 'small'\n[hash]\npath = 'xor'\n",
            &["spad_warp_mask"],
        );
        assert_eq!(hashed["machine"]["hash"]["path"], "xor");
        assert!(hashed["machine"]["name"] != preset["machine"]["name"]);
        assert!(hashed["machine"]["name"] != wide["machine"]["name"]);
        // A name of the user's own stays, and what only ports carry is no other machine.
        let named = manifest(
            "base = 'small'\nname = 'mine'\n[path]\nahead = 1\n",
            &["spad_warp_mask"],
        );
        assert_eq!(named["machine"]["name"], "mine");
        let locks = manifest(
            "base = 'small'\n[path]\nlock_hash = 'xor'\n",
            &["spad_warp_mask"],
        );
        assert_eq!(locks["machine"]["name"], "small");
        assert_eq!(locks["machine"]["cfg"]["cfg_lock_hash"], 1);
        assert_eq!(preset["machine"]["cfg"]["cfg_lock_hash"], 0);
        let policy = manifest(
            "base = 'small'\n[scheduler]\npolicy = 'gto'\n",
            &["spad_warp_mask"],
        );
        assert!(policy["machine"]["cfg"]["cfg_policy"].is_null());
    }

    /// Outputs that let a neighbour continue declare the space that they require; no others do.
    #[test]
    fn readies_grants_and_holds_have_a_skid_depth() {
        let manifest = manifest(
            "base = 'small'\n",
            &["spad_sm_path", "spad_stream", "spad_tcdm"],
        );
        let units = manifest["units"].as_array().unwrap();
        let with_depth = |unit: &Value| -> Vec<String> {
            let ports = unit["ports"].as_array().unwrap().iter();
            let with = ports.filter(|port| port["skid_depth"] == 0);
            with.map(|port| port["name"].as_str().unwrap().to_owned())
                .collect()
        };
        let found: Vec<_> = units.iter().map(with_depth).collect();
        let expected = [
            vec!["ex_hold", "icn_ready"],
            vec!["req_ready"],
            vec!["tcdm_gnt"],
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn every_memory_is_listed() {
        let memories = manifest("base = 'small'\n", &["spad_sm_path"])["memories"].clone();
        let list = memories.as_array().unwrap();
        let of = |name: &str| list.iter().find(|m| m["module"] == name).unwrap();
        assert_eq!(
            (&of("spad_bank_ram")["rows"], &of("spad_bank_ram")["bits"]),
            (&json!(128), &json!(32))
        );
        // Sets of the history; a tag is what is left of a pc, and 5 bits a value.
        let tables: Vec<_> = list.iter().filter(|m| m["ports"] == "1R1W").collect();
        let sizes = |name: &str| (&of(name)["rows"], &of(name)["bits"]);
        assert_eq!(tables.len(), 2, "{list:?}");
        assert_eq!(sizes("spad_table_ram_tags"), (&json!(16), &json!(10)));
        assert_eq!(sizes("spad_table_ram_entries"), (&json!(16), &json!(15)));
        assert_eq!(
            manifest("base = 'small'\n", &["spad_warp_mask"])["memories"],
            json!([])
        );
    }
}
