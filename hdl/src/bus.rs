//! What the units that put the scratchpad behind a bus have in common: hash,
//! configuration registers, scratchpad.

use crate::machine::{Machine, Params};
use crate::module::{Dir, Module, Port, Result};
use crate::shell::Shell;
use crate::spad_sm_path::ConfigBlock;
use crate::{spad_lane_hash, spad_scratchpad, spad_skid};
use serde::Serialize;

/// The modules of a bus unit, and what its template needs of them.
pub(crate) struct Bus {
    /// The modules, each behind what it instantiates.
    pub modules: Vec<Module>,
    /// Names of those that the unit instantiates itself.
    direct: Vec<String>,
    /// For the template `hashed_lanes.v.tera`.
    pub values: BusValues,
}

/// For the templates, as `x.bus`.
#[derive(Serialize)]
pub(crate) struct BusValues {
    configs: Vec<ConfigBlock>,
    /// The unit's operations take locks.
    locks: bool,
    /// Outputs of the scratchpad that nothing reads.
    silent: Vec<Port>,
}

impl Bus {
    /// The parts; `read` names the outputs of the scratchpad that the unit reads.
    pub(crate) fn new(p: &Params, machine: &Machine, locks: bool, read: &[&str]) -> Result<Self> {
        let hash = spad_lane_hash::emit_helper(p, machine)?;
        let scratchpad = spad_scratchpad::emit_unit(p)?;
        let outputs = scratchpad.last().into_iter().flat_map(|m| &m.ports);
        let is_silent = |q: &&Port| q.dir == Dir::Out && !read.contains(&&*q.name);
        let silent = outputs.filter(is_silent).cloned().collect();
        let block = |(prefix, modules): &(&'static str, Vec<Module>)| {
            Some(ConfigBlock::new(prefix, modules.last()?))
        };
        let configs = hash.configs.iter().filter_map(block).collect();
        let mut groups = vec![scratchpad, vec![spad_skid::emit_helper()?], hash.modules];
        groups.extend(hash.configs.into_iter().map(|(_, modules)| modules));
        let tops = groups.iter().filter_map(|modules| modules.last());
        Ok(Bus {
            direct: tops.map(|m| m.doc.name.clone()).collect(),
            modules: groups.into_iter().flatten().collect(),
            values: BusValues {
                configs,
                locks,
                silent,
            },
        })
    }

    /// Adds the write ports of the configuration registers.
    pub(crate) fn write_ports(&self, mut shell: Shell) -> Shell {
        for config in &self.values.configs {
            for (name, port) in config.write_ports() {
                shell = shell.input(&name, port.width, &port.doc);
            }
        }
        shell
    }

    /// Names the modules that the template instantiates.
    pub(crate) fn instances(&self, mut shell: Shell) -> Shell {
        let direct = |m: &&Module| self.direct.contains(&m.doc.name);
        for module in self.modules.iter().filter(direct) {
            shell = shell.instantiates(module);
        }
        shell
    }
}
