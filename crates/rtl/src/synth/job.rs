//! The input of synthesis: the Verilog of a unit, without its memories.

use super::files::{get, put};
use super::yosys::{YosysModule, YosysNetlist};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::geometry::Geometry;
use crate::input::require_plain;
use crate::rtl::{Design, EmittedUnit, Port, Reset};
use crate::tool::{ToolKind, ToolOutput, product, unexpected_output};
use std::path::Path;

/// A module that is a memory macro on a chip: left out as a black box.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Name of the module.
    pub module: String,
    /// Bits of one instance.
    pub bits: u64,
}

/// A unit to synthesize.
#[derive(Clone, Debug)]
pub struct SynthJob {
    /// Name in results.
    pub unit: String,
    /// The top module.
    pub top: String,
    /// The geometry that it was emitted for.
    pub geometry: Geometry,
    /// File names (without directories) and Verilog texts, the top among them.
    pub sources: Vec<(String, String)>,
    /// Modules among them that are left out.
    pub memories: Vec<Memory>,
    /// Ports that the top must have. Empty: not checked.
    pub ports: Vec<Port>,
    /// Whether modules are mapped one by one, instead of the flattened design:
    /// paths then tell which instances they go through.
    pub keep_hierarchy: bool,
}

impl SynthJob {
    /// One unit of `design`, which was emitted for `machine`. Its memories are
    /// black boxes, unless it is a bank itself.
    pub fn of(design: &Design, unit: &EmittedUnit, machine: &Config) -> Self {
        let files = design.files_of(unit).into_iter();
        let sources: Vec<_> = files.map(|f| (f.name, f.text)).collect();
        let parameters = machine.parameters();
        let memory = |(file, _): &(String, String)| {
            let module = file.strip_suffix(".v").filter(|m| *m != unit.name)?;
            let (rows, bits) = parameters.memory(module)?;
            Some(Memory {
                module: module.to_owned(),
                bits: rows as u64 * bits as u64,
            })
        };
        let memories = sources.iter().filter_map(memory).collect();
        SynthJob {
            unit: unit.name.clone(),
            top: unit.name.clone(),
            geometry: design.geometry,
            sources,
            memories,
            ports: unit.ports.clone(),
            keep_hierarchy: false,
        }
    }

    /// Names of the modules that are left out.
    pub(super) fn memory_names(&self) -> Vec<&str> {
        self.memories.iter().map(|m| m.module.as_str()).collect()
    }

    /// Bits of the memories among the instances of a netlist.
    pub(super) fn memory_bits(&self, kind: &str) -> Option<u64> {
        let memory = self.memories.iter().find(|m| m.module == kind);
        memory.map(|m| m.bits)
    }

    /// The sources under `work/rtl`.
    pub(super) fn write_sources(&self, work: &Path) -> Result<()> {
        let rtl = work.join("rtl");
        std::fs::create_dir(&rtl).map_err(|e| Error::io("create", &rtl, e))?;
        for (name, text) in &self.sources {
            put(&rtl.join(name), text)?;
        }
        Ok(())
    }

    /// The files that [`SynthJob::write_sources`] writes.
    pub(super) fn source_paths(&self) -> Vec<String> {
        let names = self.sources.iter().map(|(name, _)| name);
        names.map(|name| format!("rtl/{name}")).collect()
    }

    /// Yosys' results in `directory`: its log, and the top of the netlist.
    pub(super) fn read_results(&self, directory: &Path) -> Result<(ToolOutput, YosysNetlist)> {
        let output = ToolOutput {
            stdout: get(&directory.join("yosys.log"))?,
            stderr: String::new(),
        };
        let fail = |what: String| unexpected_output(ToolKind::Yosys, what, &output);
        let json = product(ToolKind::Yosys, &directory.join("netlist.json"))?;
        let netlist: YosysNetlist = serde_json::from_slice(&json).map_err(|e| {
            fail(format!(
                "wrote a netlist that cannot be read (is a disk full?): {e}"
            ))
        })?;
        if !netlist.modules.contains_key(&self.top) {
            return Err(fail(format!("wrote a netlist without module {}", self.top)));
        }
        Ok((output, netlist))
    }

    /// Verilog of another geometry, or with other ports, is not the unit. It may have a
    /// reset of another style.
    pub(super) fn check_ports(&self, top: &YosysModule) -> Result<()> {
        let reset = Reset::of(self.sources.iter().map(|(_, text)| text.as_str()));
        for port in &self.ports {
            let name = match port.name.as_str() {
                "rst" => reset.port(),
                name => name,
            };
            let found = top.ports.get(name).map(|p| p.bits.len());
            if found == Some(port.width) {
                continue;
            }
            let found = match found {
                Some(width) => format!("is {width} bits wide"),
                None => "is missing".to_owned(),
            };
            return Err(Error::usage(
                format!(
                    "{}: port '{name}' {found}, expected {} bits",
                    self.unit, port.width
                ),
                "was the Verilog emitted for another machine? Name it with --preset or --config",
            ));
        }
        Ok(())
    }

    /// File names and the top go into scripts: refuse what would be
    /// something else there.
    pub(super) fn check(&self) -> Result<()> {
        let names = self.sources.iter().map(|(name, _)| name);
        let what = format!("unit {}: the file or module", self.unit);
        names
            .chain([&self.top])
            .chain(self.memories.iter().map(|m| &m.module))
            .try_for_each(|name| require_plain(&what, name))
    }
}
