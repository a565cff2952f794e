//! A unit as a graph of Yosys' own gates: which outputs depend on which
//! inputs within a cycle, and how many gates are between registers.

use super::files::put;
use super::job::SynthJob;
use super::stages::{group_of, register_name, stage_of};
use super::yosys::{YosysModule, YosysNetlist};
use crate::error::Result;
use crate::template::fill;
use crate::tool::{Cache, KeyBuilder, Tool, ToolOutput};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

const SCRIPT: &str = include_str!("../../synth/structure.ys.tera");

/// Runs `structure.ys`, unless the cache has its results: what `read` finds in its log and
/// the netlist.
pub(super) fn build<T>(
    job: &SynthJob,
    yosys: &Tool,
    cache: &Cache,
    read: impl Fn(&ToolOutput, &YosysNetlist) -> Result<T>,
) -> Result<T> {
    job.check()?;
    let values = serde_json::json!({
        "top": job.top,
        "files": job.source_paths(),
        "memories": job.memory_names(),
    });
    let script = fill("structure.ys.tera", SCRIPT, &values)?;
    let mut key = KeyBuilder::new("structure-2")
        .add("yosys", &yosys.build)
        .add("script", &script);
    for (name, text) in &job.sources {
        key = key.add(name, text);
    }
    let build = |work: &Path| {
        job.write_sources(work)?;
        put(&work.join("structure.ys"), &script)?;
        let command = yosys.command().args(["-Q", "-T", "-s", "structure.ys"]);
        let output = command.cwd(work).run()?;
        put(&work.join("yosys.log"), &output.log())
    };
    cache.get_or_build(&key.finish(), build, |entry| {
        let (output, netlist) = job.read_results(entry)?;
        read(&output, &netlist)
    })
}

/// A unit in Yosys' own gates, its memories left out.
pub struct Gates {
    gates: Vec<Gate>,
    registers: Vec<Register>,
    inputs: Vec<Pins>,
    outputs: Vec<Pins>,
}

/// A port, and its nets.
struct Pins {
    port: String,
    nets: Vec<u64>,
}

/// A gate with one output.
struct Gate {
    inputs: Vec<u64>,
    output: u64,
}

/// A flip-flop or a memory.
struct Register {
    group: String,
    inputs: Vec<u64>,
    outputs: Vec<u64>,
}

/// Yosys' flip-flops: `$_DFF_P_`, `$_DFFE_PP_`, `$_SDFF_PP0_`, `$_SDFFCE_...`.
pub(super) fn is_flop(kind: &str) -> bool {
    let name = kind.trim_start_matches("$_");
    ["DFF", "SDFF", "ALDFF"].iter().any(|p| name.starts_with(p))
}

impl Gates {
    /// The gates of a unit. What was built before comes from the cache.
    pub fn of(job: &SynthJob, yosys: &Tool, cache: &Cache) -> Result<Self> {
        build(job, yosys, cache, |_, netlist| {
            Ok(Self::read(job, &netlist.modules[&job.top]))
        })
    }

    fn read(job: &SynthJob, top: &YosysModule) -> Self {
        let (mut gates, mut registers) = (Vec::new(), Vec::new());
        for (name, cell) in &top.cells {
            let keeps = is_flop(&cell.kind) || job.memory_bits(&cell.kind).is_some();
            let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
            for (pin, bits) in &cell.connections {
                let is_output = cell.port_directions.get(pin).is_some_and(|d| d == "output");
                let is_clock = keeps && ["C", "clk"].contains(&pin.as_str());
                let nets = bits.iter().filter_map(|bit| bit.net());
                match (is_output, is_clock) {
                    (true, _) => outputs.extend(nets),
                    (false, true) => {}
                    (false, false) => inputs.extend(nets),
                }
            }
            if keeps {
                registers.push(Register {
                    group: group_of(&register_name(name)),
                    inputs,
                    outputs,
                });
            } else if let [output] = outputs[..] {
                gates.push(Gate { inputs, output });
            }
        }
        let ports = |direction: &str| {
            let is = top.ports.iter().filter(|(_, p)| p.direction == direction);
            let pins = is.map(|(port, p)| Pins {
                port: port.clone(),
                nets: p.bits.iter().filter_map(|bit| bit.net()).collect(),
            });
            pins.collect()
        };
        let gates = sorted(gates);
        Gates {
            gates,
            registers,
            inputs: ports("input"),
            outputs: ports("output"),
        }
    }

    /// For every net that is reachable from `sources` without passing a
    /// register, the largest number of gates to it.
    fn levels_from(&self, sources: impl Iterator<Item = u64>) -> HashMap<u64, usize> {
        let mut levels: HashMap<u64, usize> = sources.map(|net| (net, 0)).collect();
        for gate in &self.gates {
            let reached = gate.inputs.iter().filter_map(|net| levels.get(net)).max();
            if let Some(level) = reached {
                let level = level + 1;
                let known = levels.entry(gate.output).or_default();
                *known = level.max(*known);
            }
        }
        levels
    }

    /// For every output, the inputs that it depends on within the cycle; none
    /// if it depends only on registers.
    pub fn dependencies(&self) -> BTreeMap<String, BTreeSet<String>> {
        let none = |o: &Pins| (o.port.clone(), BTreeSet::new());
        let mut found: BTreeMap<_, BTreeSet<_>> = self.outputs.iter().map(none).collect();
        for input in &self.inputs {
            let reached = self.levels_from(input.nets.iter().copied());
            for output in &self.outputs {
                if output.nets.iter().any(|net| reached.contains_key(net)) {
                    let of = found.get_mut(&output.port).expect("every output is there");
                    of.insert(input.port.clone());
                }
            }
        }
        found
    }

    /// The most gates between a register of one group and a register of
    /// another, by (from, to); memories are registers.
    pub fn levels(&self) -> BTreeMap<(String, String), usize> {
        let mut sources: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for register in &self.registers {
            let nets = sources.entry(&register.group).or_default();
            nets.extend(&register.outputs);
        }
        let mut found = BTreeMap::new();
        for (from, nets) in sources {
            let reached = self.levels_from(nets.into_iter());
            for register in &self.registers {
                let deepest = register.inputs.iter().filter_map(|n| reached.get(n)).max();
                if let Some(levels) = deepest {
                    let pair = (from.to_owned(), register.group.clone());
                    let known = found.entry(pair).or_default();
                    *known = (*levels).max(*known);
                }
            }
        }
        found
    }

    /// The most gates on any path from an input, a register or a memory to an output,
    /// a register or a memory.
    pub fn deepest(&self) -> usize {
        let inputs = self.inputs.iter().flat_map(|pins| &pins.nets);
        let registers = self.registers.iter();
        let sources = inputs.chain(registers.clone().flat_map(|r| &r.outputs));
        let reached = self.levels_from(sources.copied());
        let outputs = self.outputs.iter().flat_map(|pins| &pins.nets);
        let ends = outputs.chain(registers.flat_map(|r| &r.inputs));
        ends.filter_map(|net| reached.get(net))
            .max()
            .copied()
            .unwrap_or(0)
    }

    /// The most gates on a path from registers into those that a stage of
    /// `spad_sm_path` writes; into a group of none by the group's name.
    pub fn levels_by_stage(&self) -> BTreeMap<String, usize> {
        let mut found = BTreeMap::new();
        for ((_, to), levels) in self.levels() {
            let stage = stage_of(&to).map_or(to.clone(), str::to_owned);
            let known = found.entry(stage).or_default();
            *known = levels.max(*known);
        }
        found
    }
}

/// Gates with every one after those that drive it. Gates in a loop, which
/// no unit has, are left out.
fn sorted(gates: Vec<Gate>) -> Vec<Gate> {
    let driver: HashMap<u64, usize> = gates
        .iter()
        .enumerate()
        .map(|(i, g)| (g.output, i))
        .collect();
    let driven_by = |gate: &Gate| -> Vec<usize> {
        let drivers = gate.inputs.iter().filter_map(|net| driver.get(net));
        drivers.copied().collect()
    };
    let mut waits: Vec<usize> = gates.iter().map(|g| driven_by(g).len()).collect();
    let mut drives: Vec<Vec<usize>> = vec![Vec::new(); gates.len()];
    for (i, gate) in gates.iter().enumerate() {
        for from in driven_by(gate) {
            drives[from].push(i);
        }
    }
    let mut order: Vec<usize> = (0..gates.len()).filter(|i| waits[*i] == 0).collect();
    let mut next = 0;
    while let Some(&gate) = order.get(next) {
        next += 1;
        for &to in &drives[gate] {
            waits[to] -= 1;
            if waits[to] == 0 {
                order.push(to);
            }
        }
    }
    let mut gates: Vec<Option<Gate>> = gates.into_iter().map(Some).collect();
    order.into_iter().filter_map(|i| gates[i].take()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Geometry;

    /// a and b; register x takes a & b, register y takes !(x ^ a); out is
    /// !x, and through is !a.
    const NETLIST: &str = r#"{
        "ports": {
            "clk": {"direction": "input", "bits": [2]},
            "a": {"direction": "input", "bits": [3]},
            "b": {"direction": "input", "bits": [4, "0"]},
            "out": {"direction": "output", "bits": [10]},
            "through": {"direction": "output", "bits": [11]}
        },
        "cells": {
            "g4": {"type": "$_NOT_", "port_directions": {"A": "input", "Y": "output"},
                "connections": {"A": [3], "Y": [11]}},
            "g3": {"type": "$_NOT_", "port_directions": {"A": "input", "Y": "output"},
                "connections": {"A": [6], "Y": [10]}},
            "g2": {"type": "$_NOT_", "port_directions": {"A": "input", "Y": "output"},
                "connections": {"A": [7], "Y": [8]}},
            "g1": {"type": "$_XOR_",
                "port_directions": {"A": "input", "B": "input", "Y": "output"},
                "connections": {"A": [6], "B": [3], "Y": [7]}},
            "g0": {"type": "$_AND_",
                "port_directions": {"A": "input", "B": "input", "Y": "output"},
                "connections": {"A": [3], "B": [4], "Y": [5]}},
            "x_valid_reg": {"type": "$_DFF_P_",
                "port_directions": {"C": "input", "D": "input", "Q": "output"},
                "connections": {"C": [2], "D": [5], "Q": [6]}},
            "y_reg": {"type": "$_DFF_P_",
                "port_directions": {"C": "input", "D": "input", "Q": "output"},
                "connections": {"C": [2], "D": [8], "Q": [9]}}
        }
    }"#;

    #[test]
    fn dependencies_end_at_registers_and_levels_are_between_them() {
        let job = SynthJob {
            unit: "u".into(),
            top: "u".into(),
            geometry: Geometry::new(14, 5).unwrap(),
            sources: Vec::new(),
            memories: Vec::new(),
            ports: Vec::new(),
            keep_hierarchy: false,
        };
        let gates_of = |netlist: &str| Gates::read(&job, &serde_json::from_str(netlist).unwrap());
        let gates = gates_of(NETLIST);
        let dependencies = gates.dependencies();
        assert!(dependencies["out"].is_empty());
        assert_eq!(dependencies["through"], BTreeSet::from(["a".to_owned()]));
        let pair = ("x".to_owned(), "y".to_owned());
        assert_eq!(gates.levels(), BTreeMap::from([(pair, 2)]));
        let stages = BTreeMap::from([("y".to_owned(), 2)]);
        assert_eq!(gates.levels_by_stage(), stages);
        assert_eq!(gates.deepest(), 2);
        // Paths from ports count, too.
        let xor = r#""A": [6], "B": [3], "Y": [7]"#;
        let gates = gates_of(&NETLIST.replace(xor, r#""A": [3], "B": [3], "Y": [7]"#));
        assert!(gates.levels().is_empty());
        assert_eq!(gates.deepest(), 2);
    }
}
