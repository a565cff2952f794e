//! The hash of all lanes with its configuration registers, as
//! `templates/hashed_lanes.v.tera` instantiates it: in the path and behind the
//! buses.

use crate::machine::Machine;
use crate::module::{Dir, Module, Port, Result};
use crate::params::Params;
use crate::shell::Shell;
use crate::spad_lane_hash;
use serde::Serialize;

/// A block of configuration registers.
#[derive(Serialize)]
struct ConfigBlock {
    unit: String,
    /// Prefix of its write ports.
    prefix: &'static str,
    writes: Vec<Port>,
    outputs: Vec<Port>,
}

impl ConfigBlock {
    fn new(prefix: &'static str, module: &Module) -> Self {
        let ports = |dir: Dir, start: &str| {
            let wanted = |q: &&Port| q.dir == dir && q.name.starts_with(start);
            module.ports.iter().filter(wanted).cloned().collect()
        };
        ConfigBlock {
            unit: module.doc.name.clone(),
            prefix,
            writes: ports(Dir::In, "wr_"),
            outputs: ports(Dir::Out, "cfg_"),
        }
    }
}

/// For the template, as `x.lanes`.
#[derive(Serialize)]
pub(crate) struct HashedLanes {
    configs: Vec<ConfigBlock>,
    /// The unit's operations take locks.
    locks: bool,
    /// Prefix of the signal with the addresses.
    from: &'static str,
    /// Prefix of the signals with banks, rows and locks.
    to: &'static str,
}

impl HashedLanes {
    /// The values for the template, and the modules: of each group the last is
    /// instantiated, behind what it instantiates itself.
    pub(crate) fn new(
        p: &Params,
        machine: &Machine,
        locks: bool,
        (from, to): (&'static str, &'static str),
    ) -> Result<(Self, Vec<Vec<Module>>)> {
        let hash = spad_lane_hash::emit_helper(p, machine)?;
        let block = |(prefix, modules): &(&'static str, Vec<Module>)| {
            Some(ConfigBlock::new(prefix, modules.last()?))
        };
        let configs = hash.configs.iter().filter_map(block).collect();
        let registers = hash.configs.into_iter().map(|(_, modules)| modules);
        let groups = [hash.modules].into_iter().chain(registers).collect();
        let lanes = HashedLanes {
            configs,
            locks,
            from,
            to,
        };
        Ok((lanes, groups))
    }

    /// The ports that write the configuration registers.
    pub(crate) fn writes(&self) -> Vec<Port> {
        let named = |config: &ConfigBlock, port: &Port| Port {
            name: format!("{}_{}", config.prefix, port.name),
            ..port.clone()
        };
        let of = |config| move |port| named(config, port);
        let blocks = self.configs.iter();
        blocks.flat_map(|c| c.writes.iter().map(of(c))).collect()
    }

    /// Adds these ports.
    pub(crate) fn write_ports(&self, shell: Shell) -> Shell {
        let ports = self.writes().into_iter();
        ports.fold(shell, |shell, port| {
            shell.input(&port.name, port.width, &port.doc)
        })
    }

    /// There is anything with a clock.
    pub(crate) fn has_registers(&self) -> bool {
        !self.configs.is_empty()
    }
}
