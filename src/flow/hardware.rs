//! The stages that need Verilog.

use super::commands::measured_units;
use super::options::{Options, Watch};
use crate::config::Config;
use crate::cosim::{BENCH_CYCLES, CosimOptions, CosimResult, add_test_benches, cosim_all};
use crate::error::{Error, Result};
use crate::output::OwnedFolder;
use crate::report::{CosimLine, FlowReport};
use crate::rtl::{Design, design_files};
use crate::synth::{Measured, Synthesis};
use crate::tool::{Cache, ToolKind, Toolbox};
use crate::trace::AccessTrace;

pub(super) struct Hardware<'a> {
    pub trace: &'a AccessTrace,
    pub machine: &'a Config,
    pub options: &'a Options,
    pub watch: &'a dyn Watch,
    pub tools: &'a Toolbox,
}

impl Hardware<'_> {
    /// Every unit of the machine with its test bench.
    pub fn design(&self) -> Result<Design> {
        let mut design = Design::emit(&[], self.machine)?;
        add_test_benches(&mut design, self.machine, BENCH_CYCLES as usize)?;
        Ok(design)
    }

    /// Refuses a folder `rtl` in which something is in the way.
    pub fn check_folder(&self, design: &Design) -> Result<()> {
        self.folder().check_files(&design_files(design))
    }

    /// Writes the Verilog into the folder `rtl`.
    pub fn write(&self, design: &Design) -> Result<()> {
        self.folder().write(&design_files(design))
    }

    fn folder(&self) -> OwnedFolder {
        OwnedFolder::new(self.options.out.join("rtl"), self.options.force)
    }

    /// The combinational units on the kernel's own addresses, the phases of its
    /// accesses where the machine has any, and the configuration registers.
    pub fn cosim(&self, mut design: Design) -> Result<Vec<CosimResult>> {
        let family = ["spad_hash", "spad_row_map", "spad_rap", "spad_phases"];
        design
            .units
            .retain(|unit| family.iter().any(|p| unit.name.starts_with(p)));
        let options = CosimOptions {
            config: self.machine,
            cycles: Some(self.options.cycles),
            seed: 1,
            trace: Some(self.trace),
            replay: None,
            rtl_dir: Some(self.options.out.join("rtl")),
            trust: false,
            wave: None,
        };
        let total = design.units.len() as u64;
        cosim_all(
            &design,
            &options,
            self.tools,
            &Cache::user()?,
            &|done, unit| self.watch.progress(done, total, unit),
        )
    }

    /// Fails if the cell library cannot be read or has no such name. One that is
    /// known and not installed is what the synthesis is left out for.
    pub fn check_library(&self) -> Result<()> {
        match self.options.library.load() {
            Ok(_) | Err(Error::ToolMissing { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The configurable hashes and what the recommended mapping needs.
    pub fn synthesis(&self, report: &FlowReport) -> Result<Synthesis> {
        let technology = self.options.library.load()?;
        let done = Synthesis::run(
            &measured_units(report),
            &[],
            self.machine,
            &technology,
            self.tools,
            Measured::default(),
            &|done, total, what| self.watch.progress(done, total, what),
        )?;
        for warning in &done.report.warnings {
            self.watch.warn(warning);
        }
        Ok(done)
    }

    /// Name and version of each installed tool.
    pub fn versions(&self) -> Result<Vec<(String, String)>> {
        let mut versions = Vec::new();
        for kind in [
            ToolKind::Verilator,
            ToolKind::Cxx,
            ToolKind::Yosys,
            ToolKind::Sta,
        ] {
            if let Some(tool) = self.tools.get_optional(kind)? {
                versions.push((kind.name().to_owned(), tool.version.to_string()));
            }
        }
        Ok(versions)
    }
}

pub(super) fn cosim_line(result: &CosimResult) -> CosimLine {
    CosimLine {
        unit: result.unit.clone(),
        cycles: result.outcome.cycles,
        checks: result.outcome.checks,
        mismatches: result.outcome.mismatches,
    }
}
