//! `manifest.json`: what was emitted, for which machine
//! (docs/guides/integration.md).

use super::design::{Design, EmittedUnit};
use serde_json::{Map, Value, json};
use spadkit_hdl::codes::{FIELDS, Field};
use std::collections::BTreeSet;

impl Design {
    /// `manifest.json`: machine, units, files, ports (docs/guides/integration.md).
    pub fn manifest(&self) -> Value {
        let fixed = &self.machine.fixed;
        json!({
            "format_version": 1,
            "preset": self.preset,
            "geometry": self.geometry,
            "machine": {
                "name": self.machine.name,
                "parameters": fixed["parameters"],
                "hash": fixed["hash"],
                "cfg": self.machine.cfg,
            },
            "reset": self.reset,
            "prefix": self.prefix,
            "codes": codes(),
            "memories": self.memories(),
            "units": self.units.iter().map(|u| self.unit_entry(u)).collect::<Vec<_>>(),
            "system_verilog": self.system.iter().map(|f| &f.name).collect::<Vec<_>>(),
        })
    }

    fn unit_entry(&self, unit: &EmittedUnit) -> Value {
        let mut entry = json!({
            "name": unit.name,
            "top": unit.top,
            "doc": unit.summary,
            "files": unit.files,
            "latency_cycles": unit.latency_cycles,
            "ports": unit.ports,
        });
        if !self.benches.is_empty() {
            entry["test_bench"] = json!(unit.bench_file());
        }
        entry
    }

    /// The modules in which an SRAM macro goes: rows and bits of each.
    fn memories(&self) -> Vec<Value> {
        let modules: BTreeSet<&str> = self
            .files
            .iter()
            .filter_map(|file| file.name.strip_suffix(".v"))
            .collect();
        let memory = |module: &str| {
            let plain = module.strip_prefix(&self.prefix)?;
            let parameters = &self.machine.fixed["parameters"];
            let (rows, bits, ports) = match plain.strip_prefix("spad_table_ram_") {
                Some(size) => {
                    let (rows, bits) = size.split_once('x')?;
                    let (rows, bits): (u32, u32) = (rows.parse().ok()?, bits.parse().ok()?);
                    (json!(rows), json!(bits), "1R1W")
                }
                None if plain == "spad_bank_ram" => (
                    parameters["ROWS"].clone(),
                    parameters["D"].clone(),
                    "1RW, byte enables",
                ),
                None => return None,
            };
            Some(json!({ "module": module, "rows": rows, "bits": bits, "ports": ports }))
        };
        modules.into_iter().filter_map(memory).collect()
    }
}

/// What the codes on ports mean, by field: `{"kind": {"ALU": 0, ...}, ...}`.
fn codes() -> Value {
    let values = |field: &Field| -> Value { field.codes.iter().copied().collect() };
    let fields = FIELDS.iter();
    fields
        .map(|field| (field.prefix.to_lowercase(), values(field)))
        .collect::<Map<_, _>>()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use std::path::Path;

    fn manifest(text: &str, units: &[&str]) -> Value {
        let config = Config::from_toml(text, Path::new("m.toml")).unwrap();
        let units: Vec<String> = units.iter().map(|u| u.to_string()).collect();
        Design::emit(&units, &config).unwrap().manifest()
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

    /// What lets a neighbour go on says what room that asks for, and nothing
    /// else does.
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
        let tables = list.iter().filter(|m| m["ports"] == "1R1W");
        assert!(tables.clone().count() >= 1);
        assert!(
            tables.clone().all(|m| m["rows"] == 16),
            "sets of the history: {list:?}"
        );
        assert_eq!(
            manifest("base = 'small'\n", &["spad_warp_mask"])["memories"],
            json!([])
        );
    }
}
