//! One synthesis: a unit, mapped with Yosys and ABC for one clock period.

use super::effort::Effort;
use super::macros;
use super::prepare::{PREPARED, Prepared};
use super::technology::Technology;
use super::template::render;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::geometry::Geometry;
use crate::input::require_plain;
use crate::rtl::{Design, EmittedUnit, Port};
use crate::tool::{Cache, KeyBuilder, Kind, Tool, ToolOutput, unexpected_output};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
    /// Whether its modules are mapped one by one, in place of all of it at
    /// once: paths then tell which instances they go through.
    pub keep_hierarchy: bool,
}

/// A mapped unit.
#[derive(Clone, Debug)]
pub struct Netlist {
    /// Number of instances of each cell type.
    pub cells_by_type: BTreeMap<String, u64>,
    /// Number of flip-flops.
    pub flops: u64,
    /// Bits of the memories that were left out.
    pub memory_bits: u64,
    /// Sum of the cells' areas in µm².
    pub area_um2: f64,
    /// ABC's own delay of the slowest combinational path in ps; 0 if there
    /// is no logic.
    pub delay_ps: f64,
    /// Whether the top module has a port `clk`.
    pub clocked: bool,
    /// Flip-flops and memories, with `/` between instances.
    pub registers: Vec<String>,
    /// The memories as cells of a Liberty library; empty without memories.
    pub macros: String,
    /// Warnings of Yosys.
    pub warnings: Vec<String>,
    /// The directory with `netlist.v`, `netlist.json` and `yosys.log`.
    pub directory: PathBuf,
}

/// The module that is an SRAM macro on a chip.
const BANK: &str = "spad_bank_ram";

/// The modules that are tables in memory: the rest of the name says how many
/// rows of how many bits, as in `256x11`.
const TABLE: &str = "spad_table_ram_";

fn table(file: &str) -> Option<Memory> {
    let module = file.strip_suffix(".v")?;
    let (rows, bits) = module.strip_prefix(TABLE)?.split_once('x')?;
    Some(Memory {
        module: module.to_owned(),
        bits: rows.parse::<u64>().ok()? * bits.parse::<u64>().ok()?,
    })
}

/// The recipe for ABC, where it is not Yosys' own.
const RECIPE: &str = "recipe.abc";

const SCRIPT: &str = include_str!("../../synth/map.ys.tera");
const CONSTRAINTS: &str = include_str!("../../synth/abc.constr.tera");

impl SynthJob {
    /// One unit of `design`, which was emitted for `machine`. Its memories
    /// are left out, unless it is a bank itself.
    pub fn of(design: &Design, unit: &EmittedUnit, machine: &Config) -> Self {
        let files = design.files_of(unit).into_iter();
        let sources: Vec<_> = files.map(|f| (f.name, f.text)).collect();
        let has_banks = unit.name != BANK && sources.iter().any(|(f, _)| *f == format!("{BANK}.v"));
        let bank = Memory {
            module: BANK.to_owned(),
            bits: u64::from(machine.rows()) * u64::from(machine.word_bits),
        };
        let tables = sources.iter().filter_map(|(file, _)| table(file)).collect();
        let banks = has_banks.then_some(bank);
        SynthJob {
            unit: unit.name.clone(),
            top: unit.name.clone(),
            geometry: design.geometry,
            sources,
            memories: banks.into_iter().chain::<Vec<Memory>>(tables).collect(),
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

    /// What Yosys left in `directory`: its log, and the top of the netlist.
    pub(super) fn read_results(&self, directory: &Path) -> Result<(ToolOutput, YosysNetlist)> {
        let output = ToolOutput {
            stdout: get(&directory.join("yosys.log"))?,
            stderr: String::new(),
        };
        let fail = |what: String| unexpected_output(Kind::Yosys, what, &output);
        let json = get(&directory.join("netlist.json"))?;
        let netlist: YosysNetlist = serde_json::from_str(&json)
            .map_err(|e| fail(format!("wrote a netlist that cannot be read: {e}")))?;
        if !netlist.modules.contains_key(&self.top) {
            return Err(fail(format!("wrote a netlist without module {}", self.top)));
        }
        Ok((output, netlist))
    }

    /// Maps the unit, for a delay in ps between flip-flops, or from input to
    /// output. What was mapped before comes from the cache.
    pub fn map(
        &self,
        technology: &Technology,
        effort: Effort,
        target_ps: u32,
        yosys: &Tool,
        cache: &Cache,
    ) -> Result<Netlist> {
        let prepared = self.prepare(technology, yosys, cache)?;
        let recipe = effort.script(target_ps)?;
        let values = serde_json::json!({
            "top": self.top,
            "target_ps": target_ps,
            "script": recipe.as_ref().map(|_| RECIPE),
            "driving_cell": technology.driving_cell,
            "load_ff": technology.load_ff,
        });
        let mut scripts = vec![
            ("map.ys", render(SCRIPT, &values)?),
            ("abc.constr", render(CONSTRAINTS, &values)?),
        ];
        scripts.extend(recipe.map(|text| (RECIPE, text)));
        let mut key = KeyBuilder::new("synth-map-1")
            .add("yosys", yosys.version.to_string())
            .add("prepared", prepared.key.to_string())
            .add("liberty", &technology.liberty.digest);
        for (name, text) in &scripts {
            key = key.add(name, text);
        }
        let directory = cache.get_or_build(&key.finish(), |work| {
            for (name, text) in &scripts {
                put(&work.join(name), text)?;
            }
            let output = with_liberty(work, technology, || run_yosys(work, &prepared, yosys))?;
            parse_delay(&output)?; // nothing mad goes into the cache
            put(&work.join("yosys.log"), &output.log())
        })?;
        Netlist::read(&directory, self, prepared.warnings, technology)
    }

    /// Verilog of another geometry, or with other ports, is not the unit.
    fn check_ports(&self, top: &YosysModule) -> Result<()> {
        for port in &self.ports {
            let found = top.ports.get(&port.name).map(|p| p.bits.len());
            if found == Some(port.width) {
                continue;
            }
            let found = match found {
                Some(width) => format!("is {width} bits wide"),
                None => "is missing".to_owned(),
            };
            return Err(Error::usage(
                format!(
                    "{}: port '{}' {found}, expected {} bits",
                    self.unit, port.name, port.width
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

/// Runs `map.ys` on what was prepared, which does not stay in `work`.
fn run_yosys(work: &Path, prepared: &Prepared, yosys: &Tool) -> Result<ToolOutput> {
    let (from, here) = (prepared.directory.join(PREPARED), work.join(PREPARED));
    std::fs::copy(&from, &here).map_err(|e| Error::io("copy", &from, e))?;
    let command = yosys.command().args(["-Q", "-T", "-s", "map.ys"]);
    let output = command.cwd(work).run()?;
    std::fs::remove_file(&here).map_err(|e| Error::io("remove", &here, e))?;
    match work.join("netlist.json").is_file() {
        true => Ok(output),
        false => Err(unexpected_output(Kind::Yosys, "wrote no netlist", &output)),
    }
}

impl Netlist {
    fn read(
        directory: &Path,
        job: &SynthJob,
        mut complaints: Vec<String>,
        technology: &Technology,
    ) -> Result<Self> {
        let (output, yosys) = job.read_results(directory)?;
        let top = &yosys.modules[&job.top];
        job.check_ports(top)?;
        let boxes = job.memories.iter();
        let boxes = boxes.filter_map(|m| Some((m.module.as_str(), yosys.modules.get(&m.module)?)));
        let boxes: Vec<_> = boxes.collect();
        complaints.extend(warnings(&output));
        let fail = |what: String| unexpected_output(Kind::Yosys, what, &output);
        let mut netlist = Netlist {
            cells_by_type: BTreeMap::new(),
            flops: 0,
            memory_bits: 0,
            area_um2: 0.0,
            delay_ps: parse_delay(&output)?,
            clocked: top.ports.contains_key("clk"),
            registers: Vec::new(),
            macros: macros::liberty(&boxes, technology),
            warnings: complaints,
            directory: directory.to_owned(),
        };
        for (name, kind) in yosys.instances(&job.top) {
            if let Some(bits) = job.memory_bits(kind) {
                netlist.memory_bits += bits;
                netlist.registers.push(name);
                continue;
            }
            let cell = technology.liberty.cells.get(kind).ok_or_else(|| {
                fail(format!(
                    "could not map {}: the library {} has no cell for {kind}",
                    job.unit, technology.liberty.name
                ))
            })?;
            netlist.flops += u64::from(cell.flop);
            netlist.area_um2 += cell.area_um2;
            *netlist.cells_by_type.entry(kind.to_owned()).or_default() += 1;
            if cell.flop {
                netlist.registers.push(name);
            }
        }
        Ok(netlist)
    }

    /// Number of cells.
    pub fn cells(&self) -> u64 {
        self.cells_by_type.values().sum()
    }
}

/// A netlist as Yosys writes it in JSON.
#[derive(Deserialize)]
pub(super) struct YosysNetlist {
    pub modules: BTreeMap<String, YosysModule>,
}

impl YosysNetlist {
    /// Every cell under `top` that is no module of the netlist, or one
    /// without contents: its name, with `/` between instances, and its type.
    pub fn instances(&self, top: &str) -> Vec<(String, &str)> {
        let mut found = Vec::new();
        let mut open = vec![(String::new(), top)];
        while let Some((scope, module)) = open.pop() {
            for (name, instance) in &self.modules[module].cells {
                let name = format!("{scope}{name}");
                match self.modules.get(&instance.kind) {
                    Some(inside) if !inside.cells.is_empty() => {
                        open.push((format!("{name}/"), instance.kind.as_str()));
                    }
                    _ => found.push((name, instance.kind.as_str())),
                }
            }
        }
        found
    }
}

#[derive(Deserialize)]
pub(super) struct YosysModule {
    pub ports: BTreeMap<String, YosysPort>,
    pub cells: BTreeMap<String, Instance>,
}

#[derive(Deserialize)]
pub(super) struct YosysPort {
    pub direction: String,
    pub bits: Vec<Bit>,
}

/// A bit of a port or pin: the number of a net, or a constant.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Bit {
    Net(u64),
    Constant(serde::de::IgnoredAny),
}

impl Bit {
    /// The number of its net, if it is no constant.
    pub fn net(&self) -> Option<u64> {
        match self {
            Bit::Net(net) => Some(*net),
            Bit::Constant(_) => None,
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Instance {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub port_directions: BTreeMap<String, String>,
    #[serde(default)]
    pub connections: BTreeMap<String, Vec<Bit>>,
}

/// ABC's delay, of the slowest module where they were mapped one by one.
fn parse_delay(output: &ToolOutput) -> Result<f64> {
    let modules = output.stdout.split("Extracting gate netlist of module");
    // What is before the first is about none.
    let skipped = usize::from(modules.clone().count() > 1);
    let delays = modules
        .skip(skipped)
        .map(|text| module_delay(text, output))
        .collect::<Result<Vec<_>>>()?;
    Ok(delays.into_iter().fold(0.0, f64::max))
}

/// The delay on ABC's line `WireLoad = ... Delay = 145.85 ps ...`.
fn module_delay(text: &str, output: &ToolOutput) -> Result<f64> {
    let line = text.lines().rfind(|l| l.contains("WireLoad ="));
    let Some(line) = line else {
        // Yosys does not call ABC for a unit without logic.
        let no_logic = text.contains("there is nothing to map");
        return match no_logic {
            true => Ok(0.0),
            false => Err(unexpected_output(
                Kind::Yosys,
                "printed no delay of ABC's",
                output,
            )),
        };
    };
    let after = line
        .split_once("Delay =")
        .map(|(_, rest)| rest.trim_start());
    let number = after.and_then(|rest| rest.split_whitespace().next());
    number
        .and_then(|n| n.parse::<f64>().ok())
        .filter(|d| d.is_finite() && *d >= 0.0)
        .ok_or_else(|| unexpected_output(Kind::Yosys, "printed a delay that is no number", output))
}

/// Yosys's warnings about the design. What ABC and `dfflibmap` say about the
/// cells of the library concerns no user of the kit.
pub(super) fn warnings(output: &ToolOutput) -> Vec<String> {
    let about_library = |l: &str| l.starts_with("ABC:") || l.contains("in pin attribute of cell");
    let lines = output.stdout.lines();
    lines
        .filter(|l| l.contains("Warning:") && !about_library(l))
        .map(str::to_owned)
        .collect()
}

/// Runs `f` with the library as `cells.lib` in `work`; it does not stay.
pub(super) fn with_liberty<T>(
    work: &Path,
    technology: &Technology,
    f: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let path = work.join("cells.lib");
    put(&path, &technology.liberty.text)?;
    let result = f();
    std::fs::remove_file(&path).map_err(|e| Error::io("remove", &path, e))?;
    result
}

pub(super) fn put(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|e| Error::io("write", path, e))
}

pub(super) fn get(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(stdout: &str) -> ToolOutput {
        ToolOutput {
            stdout: stdout.to_owned(),
            stderr: String::new(),
        }
    }

    #[test]
    fn the_last_delay_counts() {
        let log = "ABC: WireLoad = \"none\"  Gates = 1 Area = 9 ( 9 %)   Delay =   145.85 ps  (100.0 %)\n\
                   ABC: WireLoad = \"none\"  Delay =   12.5 ps  (1 %)\n";
        assert_eq!(parse_delay(&output(log)).unwrap(), 12.5);
        let nothing = "Don't call ABC as there is nothing to map.";
        assert_eq!(parse_delay(&output(nothing)).unwrap(), 0.0);
    }

    #[test]
    fn nonsense_is_no_delay() {
        for log in [
            "",
            "WireLoad = none",
            "WireLoad = x Delay = fast",
            "WireLoad = x Delay = nan ps",
        ] {
            assert_eq!(
                parse_delay(&output(log)).unwrap_err().exit_status(),
                3,
                "{log}"
            );
        }
    }

    #[test]
    fn warnings_about_the_library_are_left_out() {
        let log = "Warning: a\nABC: Warning: b\nx.v:1: Warning: c\n\
                   Warning: Found unsupported expression 'SE*SI' in pin attribute of cell 'X' - skipping.\n";
        assert_eq!(warnings(&output(log)), ["Warning: a", "x.v:1: Warning: c"]);
    }
}
