//! One lane's hash stage of the SM path: bank, row and lock of an address.

use crate::hashes::{Configured, PathHash};
use crate::machine::Machine;
use crate::module::{Dir, Module, Port, Result, UnitDoc};
use crate::params::Params;
use crate::shell::Shell;
use crate::spad_hash_config;
use crate::{spad_hash_add, spad_hash_xor};
use serde::Serialize;

/// The hash of a path: the modules of a lane and the configuration blocks.
pub(crate) struct LaneHash {
    /// The lane's module last, before it what it instantiates.
    pub modules: Vec<Module>,
    /// The configuration blocks: prefix of the path's write ports, and modules.
    pub configs: Vec<(&'static str, Vec<Module>)>,
}

#[derive(Serialize)]
struct Extra {
    kind: &'static str,
    unit: String,
    hash_ports: Vec<String>,
    row_map: bool,
    lo: usize,
    up_bits: usize,
}

fn config_ports(module: &Module) -> impl Iterator<Item = &Port> {
    let is_config = |port: &&Port| port.name.starts_with("cfg_") && port.dir == Dir::In;
    module.ports.iter().filter(is_config)
}

/// Emits the hash of `machine`'s path.
pub(crate) fn emit_helper(p: &Params, machine: &Machine) -> Result<LaneHash> {
    let g = machine.geometry;
    let block = |unit: Configured| spad_hash_config::emit_unit(g, unit, unit.config_unit());
    let (unit, configs) = match machine.path_hash {
        PathHash::Mod => (None, vec![]),
        PathHash::Xor => (Some(spad_hash_xor::emit_unit(g)?), vec![]),
        PathHash::Add => (Some(spad_hash_add::emit_unit(g)?), vec![]),
        PathHash::Configurable => {
            let unit = Configured::Hash(machine.hash_unit);
            let configs = vec![("hash", block(unit)?), ("row", block(Configured::RowMap)?)];
            (Some(unit.rtl().emit(g)?), configs)
        }
        // The fixed row does for a shift.
        PathHash::Rap => (
            Some(Configured::Rap.rtl().emit(g)?),
            vec![("hash", block(Configured::Rap)?)],
        ),
    };
    let row_map = match configs.len() {
        2 => Some(Configured::RowMap.rtl().emit(g)?),
        _ => None,
    };
    let lo = p.LK.min(5);
    let extra = Extra {
        kind: if unit.is_some() { "unit" } else { "mod" },
        unit: unit.as_ref().map_or(String::new(), |u| u.doc.name.clone()),
        hash_ports: unit
            .iter()
            .flat_map(config_ports)
            .map(|q| q.name.clone())
            .collect(),
        row_map: row_map.is_some(),
        lo,
        up_bits: p.n.saturating_sub(p.LK).min(lo),
    };
    let doc = UnitDoc {
        name: "spad_lane_hash".into(),
        summary: "bank, row and lock of one lane's address. cfg_lock_hash: 0 the low address \
                  bits; 1 the low five of them XORed with the bits above the index; 2 added to \
                  them, modulo 32."
            .into(),
        parameters: p.text(&["n", "m", "R", "LK"]),
        timing: "combinational; cfg_* is static while a kernel runs".into(),
        paper: "hash paper, section 4; atomics paper, section IV; microarchitecture/hash-units.md"
            .into(),
        latency_cycles: 0,
    };
    let mut shell = Shell::new(doc);
    let units: Vec<Module> = unit.into_iter().chain(row_map).collect();
    for port in units.iter().flat_map(config_ports) {
        shell = shell.input(&port.name, port.width, &port.doc);
    }
    shell = shell
        .input("cfg_lock_hash", 2, "lock hash")
        .input("addr", p.n, "word address")
        .output("bank", p.m, "bank")
        .output("row", p.R, "row inside the bank")
        .output("lock", p.LK, "lock index");
    for unit in &units {
        shell = shell.instantiates(unit);
    }
    let lane = shell.emit_with("spad_lane_hash.v.tera", p, &extra)?;
    Ok(LaneHash {
        modules: units.into_iter().chain([lane]).collect(),
        configs,
    })
}
