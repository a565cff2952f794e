//! SystemVerilog in addition to the Verilog: package, wrappers with structs, and
//! modules with assertions.

use super::design::{Design, SourceFile, hdl_error};
use crate::config::Config;
use crate::error::{Error, Result};
use spadkit_hdl::Companion;

/// The SystemVerilog that is added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SystemVerilog {
    /// `spad_pkg`, and the wrappers of the units that have one.
    pub wrappers: bool,
    /// The modules that have assertions, with them.
    pub assertions: bool,
}

impl Design {
    /// Adds what `wanted` names for the units of the design, which was emitted
    /// for `config`. Fails where assertions are wanted, but no module has some.
    pub fn with_system_verilog(mut self, wanted: SystemVerilog, config: &Config) -> Result<Self> {
        let machine = config.machine();
        let all = Self::all_units();
        let fail = |e| hdl_error(e, &all);
        let mut files: Vec<Companion> = Vec::new();
        if wanted.wrappers {
            let style = &self.style;
            files.push(spadkit_hdl::package(&machine, style).map_err(fail)?);
            for unit in &self.units {
                let inside = (&*unit.ports, &*unit.parameters);
                let wrapper = spadkit_hdl::wrapper(&unit.name, inside, &machine, style);
                files.extend(wrapper.map_err(fail)?);
                let buses = spadkit_hdl::bus_wrappers(&unit.name, inside, &machine, style);
                files.extend(buses.map_err(fail)?);
            }
        }
        if wanted.assertions && self.asserted.is_empty() {
            return Err(Error::usage(
                "none of the modules of these units has assertions",
                "the units that hold passes or accesses have some: spad_sm_path, spad_stream",
            ));
        }
        let source = |c: Companion| SourceFile::plain(format!("{}.sv", c.name), c.text);
        self.system = files.into_iter().map(source).collect();
        if wanted.assertions {
            self.system.append(&mut self.asserted.clone());
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: SystemVerilog = SystemVerilog {
        wrappers: true,
        assertions: true,
    };

    fn names(units: &[&str]) -> Vec<String> {
        let config = Config::preset("small").unwrap();
        let units: Vec<String> = units.iter().map(|u| (*u).to_owned()).collect();
        let design = Design::emit(&units, &config).unwrap();
        let design = design.with_system_verilog(ALL, &config).unwrap();
        design.system.into_iter().map(|f| f.name).collect()
    }

    #[test]
    fn units_bring_what_they_have() {
        let stream = [
            "spad_pkg",
            "spad_stream_sv",
            "spad_conflict_arbiter",
            "spad_lock_unit",
            "spad_skid",
            "spad_stream",
        ];
        assert_eq!(
            names(&["spad_stream"]),
            stream.map(|name| format!("{name}.sv"))
        );
        let path = [
            "spad_pkg",
            "spad_warp_scheduler",
            "spad_relssp",
            "spad_access_unit",
            "spad_conflict_history",
            "spad_hash_stage",
            "spad_premem_queue",
            "spad_retry_sequencer",
            "spad_conflict_arbiter",
            "spad_lock_unit",
            "spad_nonmem_queue",
            "spad_skid",
            "spad_writeback_mux",
            "spad_sm_path",
        ];
        let path = path.map(|name| format!("{name}.sv"));
        assert_eq!(names(&["spad_rap", "spad_sm_path"]), path);
    }

    #[test]
    fn units_without_assertions_are_refused() {
        let config = Config::preset("small").unwrap();
        let design = Design::emit(&["spad_rap".to_owned()], &config).unwrap();
        let error = design.with_system_verilog(ALL, &config).unwrap_err();
        assert_eq!(error.exit_status(), 2);
    }
}
