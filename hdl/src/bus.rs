//! What the units that put the scratchpad behind a bus have in common: hash,
//! configuration registers, scratchpad.

use crate::expr::{choose, difference, number, sum, wire};
use crate::hashed_lanes::HashedLanes;
use crate::machine::Machine;
use crate::module::{Dir, Module, Port, Result};
use crate::params::Params;
use crate::shell::Shell;
use crate::{spad_scratchpad, spad_skid};
use rust_hdl::core::ast::VerilogStatement;

/// The modules of a bus unit, and what its template needs of them.
pub(crate) struct Bus {
    /// The modules, each behind what it instantiates.
    pub modules: Vec<Module>,
    /// Names of those that the unit instantiates itself.
    direct: Vec<String>,
    /// The hash.
    pub lanes: HashedLanes,
    /// Outputs of the scratchpad that nothing reads.
    pub silent: Vec<Port>,
}

impl Bus {
    /// The parts; `read` names the outputs of the scratchpad that the unit reads.
    pub(crate) fn new(p: &Params, machine: &Machine, locks: bool, read: &[&str]) -> Result<Self> {
        let (lanes, hash) = HashedLanes::new(p, machine, locks, ("head", "head"))?;
        let scratchpad = spad_scratchpad::emit_unit(p)?;
        let outputs = scratchpad.last().into_iter().flat_map(|m| &m.ports);
        let is_silent = |q: &&Port| q.dir == Dir::Out && !read.contains(&&*q.name);
        let silent = outputs.filter(is_silent).cloned().collect();
        let mut groups = vec![scratchpad, vec![spad_skid::emit_helper()?]];
        groups.extend(hash);
        let tops = groups.iter().filter_map(|modules| modules.last());
        Ok(Bus {
            direct: tops.map(|m| m.doc.name.clone()).collect(),
            modules: groups.into_iter().flatten().collect(),
            lanes,
            silent,
        })
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

/// `count_next`, the number of accesses inside behind a cycle in which one may
/// enter and one leave.
pub(crate) fn count_inside(enters: &str, leaves: &str) -> VerilogStatement {
    let one = || number(4, 1);
    let cases = [
        (wire(enters) & !wire(leaves), sum("count", one())),
        (wire(leaves) & !wire(enters), difference("count", one())),
    ];
    choose("count_next", cases, "count")
}
