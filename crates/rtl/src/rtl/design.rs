//! A set of emitted units.

use super::budget::Budget;
use super::machine::Description;
use super::prefix;
use super::timescale::Timescale;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::quote::nearest;
use serde::Serialize;
use spadkit_hdl::{HdlError, Module, Origin, Port, Printed, Style, Vector};

/// One Verilog file; holds one module of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// File name, `MODULE.v` or `MODULE.sv`.
    pub name: String,
    /// The text.
    pub text: String,
    /// For each line, the line of the Rust description that wrote it, if one did;
    /// empty for a file without a description.
    pub origins: Vec<Option<Origin>>,
}

impl SourceFile {
    /// A file that no description of a unit wrote.
    pub fn plain(name: String, text: String) -> Self {
        SourceFile {
            name,
            text,
            origins: Vec::new(),
        }
    }

    fn printed(name: String, Printed { text, origins }: Printed) -> Self {
        SourceFile {
            name,
            text,
            origins,
        }
    }

    /// The name of its module.
    pub(super) fn module(&self) -> &str {
        let name = self.name.rsplit_once('.');
        name.map_or(&self.name, |(module, _)| module)
    }
}

/// One unit of a design.
#[derive(Clone, Debug, Serialize)]
pub struct EmittedUnit {
    /// Name of the unit.
    pub name: String,
    /// Name of the unit's module: the unit's name, after the design's prefix.
    pub top: String,
    /// Function of the unit, in one sentence.
    #[serde(rename = "doc")]
    pub summary: String,
    /// The files that it needs, those of submodules first.
    pub files: Vec<String>,
    /// Clock cycles from input to output.
    pub latency_cycles: u32,
    /// Parameters of the top module that an instance may set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Vector>,
    /// Ports of the top module.
    pub ports: Vec<Port>,
}

impl EmittedUnit {
    /// Whether the unit has a clock.
    pub fn is_sequential(&self) -> bool {
        self.ports.iter().any(|p| p.name == "clk")
    }

    /// The lines of the description that drive an output; none for a name that is no
    /// output.
    pub fn driven_by(&self, output: &str) -> Vec<Origin> {
        let port = self.ports.iter().find(|port| port.name == output);
        port.map_or_else(Vec::new, |port| port.driven_by.clone())
    }

    /// The module of its test bench.
    pub fn bench_module(&self) -> String {
        format!("{}_tb", self.top)
    }

    /// The file of its test bench, where the design has them.
    pub fn bench_file(&self) -> String {
        format!("tb/{}.v", self.bench_module())
    }
}

/// Emitted units and their files, each file once.
#[derive(Clone, Debug)]
pub struct Design {
    /// The machine's name.
    pub preset: String,
    /// The machine's geometry.
    pub geometry: crate::geometry::Geometry,
    /// The units in the order asked for.
    pub units: Vec<EmittedUnit>,
    /// All files, by order of first use.
    pub files: Vec<SourceFile>,
    /// A test bench per unit, or none at all
    /// ([`add_test_benches`](crate::cosim::add_test_benches)).
    pub benches: Vec<SourceFile>,
    /// SystemVerilog files: those beside the Verilog, and those that replace
    /// the file with the same module
    /// ([`with_system_verilog`](Self::with_system_verilog)).
    pub system: Vec<SourceFile>,
    /// Modules that have assertions, with them: `MODULE.sv`.
    pub(super) asserted: Vec<SourceFile>,
    /// The clock period of the constraints, and what is outside of it.
    pub budget: Budget,
    /// Style in which it is printed.
    pub style: Style,
    /// The unit of delays that every file states, if any
    /// ([`with_timescale`](Self::with_timescale)).
    pub timescale: Option<Timescale>,
    /// Whether each file from a description gets a source map, `FILE.map`.
    pub source_map: bool,
    pub(super) machine: Description,
}

impl Design {
    /// Every unit of the kit.
    pub fn all_units() -> Vec<String> {
        spadkit_hdl::unit_names().map(str::to_owned).collect()
    }

    /// Whether a unit decides by a policy which warp issues.
    pub fn has_scheduler(&self) -> bool {
        let mut ports = self.units.iter().flat_map(|unit| &unit.ports);
        ports.any(|port| port.name == "cfg_policy")
    }

    /// A design of `config` without units.
    pub fn empty(config: &Config) -> Self {
        Design {
            preset: config.name.clone(),
            geometry: config.geometry,
            units: Vec::new(),
            files: Vec::new(),
            benches: Vec::new(),
            system: Vec::new(),
            asserted: Vec::new(),
            budget: Budget::default(),
            style: Style::default(),
            timescale: None,
            source_map: false,
            machine: Description::of(config),
        }
    }

    /// Emits `units` (all if empty) for `config`, with a synchronous reset.
    pub fn emit(units: &[String], config: &Config) -> Result<Self> {
        Self::emit_with(units, config, Style::default())
    }

    /// Emits `units` (all if empty) for `config` in a style, or with only a reset
    /// style. Fails if the prefix makes a module's name no plain Verilog identifier.
    pub fn emit_with(units: &[String], config: &Config, style: impl Into<Style>) -> Result<Self> {
        let style = style.into();
        prefix::check(&style.prefix)?;
        let all = Self::all_units();
        let machine = config.machine();
        let has_rtl = |name: &String| config.needs_rtl(name).is_ok();
        let emitted = |name: &String| has_rtl(name) && spadkit_hdl::has_unit(name, &machine);
        let named = !units.is_empty();
        refuse_contexts(units, config)?;
        let mut design = Design {
            style,
            ..Self::empty(config)
        };
        // All means all units of the machine: one without locks has no lock unit,
        // one that serves wide accesses in phases has only the hash units.
        let wanted: Vec<&String> = if named {
            units.iter().collect()
        } else {
            all.iter().filter(|name| emitted(name)).collect()
        };
        for name in wanted {
            if design.units.iter().any(|u| u.name == *name) {
                continue;
            }
            if all.contains(name) {
                config.needs_rtl(name)?;
            }
            let modules = spadkit_hdl::emit_with(name, &machine, &design.style);
            design.add(name, modules.map_err(|e| hdl_error(e, &all))?);
        }
        Ok(design)
    }

    /// The design with `timescale` in every file, test benches that it has
    /// already included.
    pub fn with_timescale(mut self, timescale: Timescale) -> Self {
        let Design {
            files,
            system,
            asserted,
            benches,
            ..
        } = &mut self;
        let all = [files, system, asserted, benches];
        for SourceFile { text, origins, .. } in all.into_iter().flatten() {
            let (line, stated) = timescale.stated(text);
            *text = stated;
            if line < origins.len() {
                origins.insert(line, None);
            }
        }
        self.timescale = Some(timescale);
        self
    }

    fn add(&mut self, name: &str, modules: Vec<Module>) {
        let file_name = |m: &Module| format!("{}.v", m.doc.name);
        let Some(top) = modules.last() else { return };
        self.units.push(EmittedUnit {
            name: name.to_owned(),
            top: top.doc.name.clone(),
            summary: top.doc.summary.clone(),
            files: modules.iter().map(file_name).collect(),
            latency_cycles: top.doc.latency_cycles,
            parameters: top.vectors.clone(),
            ports: top.ports.clone(),
        });
        for module in modules {
            let name = file_name(&module);
            if self.files.iter().any(|f| f.name == name) {
                continue;
            }
            if let Some(text) = module.asserted {
                let name = format!("{}.sv", module.doc.name);
                self.asserted.push(SourceFile::printed(name, text));
            }
            self.files.push(SourceFile::printed(name, module.file));
        }
    }

    /// The unit called `name`.
    pub fn unit(&self, name: &str) -> Option<&EmittedUnit> {
        self.units.iter().find(|u| u.name == name)
    }

    /// The files of one unit, in its own order: what else the design holds
    /// must not show in what tools make of them. (Yosys numbers its cells in
    /// the order of the files, and its choice of faults goes by their names.)
    pub fn files_of(&self, unit: &EmittedUnit) -> Vec<SourceFile> {
        let file = |name: &String| self.files.iter().find(|f| f.name == *name).cloned();
        unit.files.iter().filter_map(file).collect()
    }

    /// `files`, each replaced by the SystemVerilog file with the same module, if there is one.
    pub fn in_system_verilog(&self, files: &[SourceFile]) -> Vec<SourceFile> {
        let other = |file: &SourceFile| {
            let module = file.module();
            self.system.iter().find(|other| other.module() == module)
        };
        let file = |file: &SourceFile| other(file).unwrap_or(file).clone();
        files.iter().map(file).collect()
    }
}

/// Several contexts of the retry loop are in the golden model alone.
fn refuse_contexts(units: &[String], config: &Config) -> Result<()> {
    let contexts = config.path.retry_contexts;
    let with_loop = |unit: &String| ["spad_sm_path", "spad_retry_sequencer"].contains(&&**unit);
    let wanted = units.is_empty() || units.iter().any(with_loop);
    if contexts == 1 || config.path.locks == 0 || !wanted {
        return Ok(());
    }
    Err(Error::usage(
        format!("the RTL has one context of the retry loop, but the machine has {contexts}"),
        "set contexts = 1 in [retry]; 'sim' alone takes several",
    ))
}

/// There is no unit `name` among `all`: the one that was meant, or all of them.
pub(crate) fn no_unit(name: &str, all: &[&str]) -> Error {
    // The common prefix does not make names similar.
    let known = all.iter().filter_map(|k| k.strip_prefix("spad_"));
    let near = nearest(name.strip_prefix("spad_").unwrap_or(name), known);
    let help = match near {
        Some(near) => format!("did you mean 'spad_{near}'?"),
        None => format!("units are {}", all.join(", ")),
    };
    Error::usage(format!("there is no unit '{name}'"), help)
}

pub(super) fn hdl_error(error: HdlError, all: &[String]) -> Error {
    match error {
        HdlError::UnknownUnit { ref name } => {
            let names: Vec<&str> = all.iter().map(String::as_str).collect();
            no_unit(name, &names)
        }
        HdlError::NotThere { .. } => Error::usage(
            error.to_string(),
            "omit the unit, or choose a machine that has it: --preset NAME, or --config FILE",
        ),
        HdlError::Machine { .. } | HdlError::Geometry { .. } => Error::usage(
            error.to_string(),
            "take another machine: --preset NAME, or --config FILE with other values",
        ),
        other => Error::defect(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spadkit_hdl::{Dir, Reset};
    use std::path::Path;

    /// Yosys numbers cells in the order of the files, and its choice of faults
    /// goes by their names: a unit must not have other faults among others.
    #[test]
    fn the_files_of_a_unit_do_not_depend_on_the_other_units() {
        let config = Config::preset("small").unwrap();
        let all = Design::emit(&[], &config).unwrap();
        for unit in &all.units {
            let alone = Design::emit(std::slice::from_ref(&unit.name), &config).unwrap();
            assert!(all.files_of(unit) == alone.files, "{}", unit.name);
        }
    }

    /// Messages name the lines that drive an output.
    #[test]
    fn every_output_has_lines_that_drive_it() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for preset in ["small", "sharing-48k"] {
            let design = Design::emit(&[], &Config::preset(preset).unwrap()).unwrap();
            let ports = design.units.iter().flat_map(|unit| &unit.ports);
            for port in ports {
                assert_eq!(port.driven_by.is_empty(), port.dir == Dir::In, "{port:?}");
                for at in &port.driven_by {
                    let text = std::fs::read_to_string(repository.join(at.file)).unwrap();
                    let line = text.lines().nth(at.line as usize - 1).unwrap();
                    let calls = [
                        "assign", "next", "port", "same", "name", "table", "instance",
                    ];
                    assert!(calls.iter().any(|call| line.contains(call)), "{at}: {line}");
                }
            }
        }
    }

    /// Nothing but the lists of events, the level and what is said of the reset
    /// changes.
    #[test]
    fn every_unit_has_all_styles() {
        let (sync, any_time) = (
            "always @(posedge clk)",
            "always @(posedge clk or posedge rst)",
        );
        let back_to_high = |text: &str| {
            text.replace("negedge rst_n", "posedge rst")
                .replace("(!rst_n)", "(rst)")
                .replace("we & rst_n", "we & ~rst")
                .replace("  rst_n ", "  rst   ")
                .replace("rst_n", "rst")
                .replace("synchronous reset, active low", "synchronous reset")
        };
        for preset in ["small", "gt200", "sharing-48k"] {
            let config = Config::preset(preset).unwrap();
            let design = Design::emit(&[], &config).unwrap();
            for reset in [Reset::Async, Reset::SyncLow, Reset::AsyncLow] {
                let changed = Design::emit_with(&[], &config, reset).unwrap();
                for (file, other) in design.files.iter().zip(&changed.files) {
                    let text = back_to_high(&other.text);
                    let resets = file.text.contains("input wire rst,");
                    assert_eq!(
                        text != other.text,
                        reset.is_low() && resets,
                        "{}",
                        file.name
                    );
                    let back = text.replace(any_time, sync);
                    let back = back.replace("asynchronous reset", "synchronous reset");
                    assert_eq!(back, file.text, "{}", file.name);
                    let resets = file.text.matches("if (rst)").count();
                    let expected = if reset.is_async() { resets } else { 0 };
                    assert_eq!(text.matches(any_time).count(), expected, "{}", file.name);
                }
                for (unit, other) in design.units.iter().zip(&changed.units) {
                    let has = |unit: &EmittedUnit, name| unit.ports.iter().any(|p| p.name == name);
                    assert_eq!(has(other, reset.port()), has(unit, "rst"));
                    assert!(!reset.is_low() || !has(other, "rst"));
                }
            }
        }
    }
}
