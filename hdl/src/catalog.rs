//! A row of the list of units: how the modules of a unit are emitted, and which
//! machines have it. The list is in `lib.rs`.

use crate::address_widths::AddressWidths;
use crate::kinds::rtl;
use crate::machine::Machine;
use crate::module::{Module, Result};
use crate::params::Params;
use crate::spad_hash_config;
use spadkit_names::Configured;

/// A unit that can be emitted by its name.
#[derive(Clone)]
pub(crate) struct CatalogEntry {
    pub(crate) name: &'static str,
    emit: Emit,
    in_machine: fn(&Machine) -> bool,
    /// A part of the SM's pipeline, which serves one word of each lane at a time.
    in_pipeline: bool,
}

/// Emits the unit's module, and before it those that it instantiates.
#[derive(Clone, Copy)]
enum Emit {
    Geometry(fn(AddressWidths) -> Result<Module>),
    Configured(Configured),
    Registers(Configured),
    Hash(fn(&Machine) -> Result<Vec<Module>>),
    Path(fn(&Params) -> Result<Vec<Module>>),
    Machine(fn(&Params, &Machine) -> Result<Vec<Module>>),
}

impl CatalogEntry {
    const fn new(name: &'static str, emit: Emit) -> Self {
        CatalogEntry {
            name,
            emit,
            in_machine: |_| true,
            in_pipeline: matches!(emit, Emit::Path(_) | Emit::Machine(_)),
        }
    }

    /// One module, which is the same in all machines of a geometry.
    pub(crate) const fn of_geometry(
        name: &'static str,
        emit: fn(AddressWidths) -> Result<Module>,
    ) -> Self {
        CatalogEntry::new(name, Emit::Geometry(emit))
    }

    /// A unit that has registers.
    pub(crate) const fn configured(unit: Configured) -> Self {
        CatalogEntry::new(unit.unit(), Emit::Configured(unit))
    }

    /// The registers that configure a hash.
    pub(crate) const fn registers(of: Configured) -> Self {
        CatalogEntry::new(of.config_unit(), Emit::Registers(of))
    }

    /// A unit of the machine's own hash, without the path around it.
    pub(crate) const fn of_hash(
        name: &'static str,
        emit: fn(&Machine) -> Result<Vec<Module>>,
    ) -> Self {
        CatalogEntry::new(name, Emit::Hash(emit))
    }

    /// A unit of the scratchpad path.
    pub(crate) const fn of_path(
        name: &'static str,
        emit: fn(&Params) -> Result<Vec<Module>>,
    ) -> Self {
        CatalogEntry::new(name, Emit::Path(emit))
    }

    /// A unit of the path that has the lanes' hash in it.
    pub(crate) const fn of_machine(
        name: &'static str,
        emit: fn(&Params, &Machine) -> Result<Vec<Module>>,
    ) -> Self {
        CatalogEntry::new(name, Emit::Machine(emit))
    }

    /// Restricts the unit to machines that meet `condition`.
    pub(crate) const fn only_where(mut self, condition: fn(&Machine) -> bool) -> Self {
        self.in_machine = condition;
        self
    }

    /// A part of a scratchpad on a bus, which any pipeline can have.
    pub(crate) const fn on_a_bus(mut self) -> Self {
        self.in_pipeline = false;
        self
    }

    /// Whether it works in the SM's pipeline alone.
    pub(crate) const fn is_in_pipeline(&self) -> bool {
        self.in_pipeline
    }

    /// Whether the machine has it.
    pub(crate) fn is_in(&self, machine: &Machine) -> bool {
        (self.in_machine)(machine)
    }

    /// The unit's modules: first those that it instantiates, each once, its own last.
    pub(crate) fn emit(&self, machine: &Machine) -> Result<Vec<Module>> {
        let mut modules: Vec<Module> = Vec::new();
        for module in self.emit_all(machine)? {
            if !modules.iter().any(|m| m.doc.name == module.doc.name) {
                modules.push(module);
            }
        }
        Ok(modules)
    }

    fn emit_all(&self, machine: &Machine) -> Result<Vec<Module>> {
        let g = machine.geometry.check()?;
        match self.emit {
            Emit::Geometry(emit) => emit(g).map(|module| vec![module]),
            Emit::Configured(unit) => rtl(unit).emit(g).map(|module| vec![module]),
            Emit::Registers(of) => spad_hash_config::emit_unit(machine, of, self.name),
            Emit::Hash(emit) => emit(machine),
            Emit::Path(emit) => emit(&Params::new(machine)?),
            Emit::Machine(emit) => emit(&Params::new(machine)?, machine),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::module::Module;
    use crate::{AddressWidths, HashKind, HdlError, Machine, Params, emit, has_unit, unit_names};
    use std::collections::{BTreeMap, BTreeSet};

    /// Every geometry of eight banks and more; with fewer the smallest and the
    /// largest.
    fn every_geometry() -> impl Iterator<Item = AddressWidths> {
        let few = |addr_bits| addr_bits == 9 || addr_bits == 16;
        (9..=16).flat_map(move |addr_bits| {
            let least = if few(addr_bits) { 1 } else { 3 };
            (least..=6).map(move |bank_bits| AddressWidths {
                addr_bits,
                bank_bits,
            })
        })
    }

    /// Name and value where the line declares a `localparam` that is a number.
    fn number(line: &str) -> Option<(&str, u64)> {
        let declared = line.trim().strip_prefix("localparam ")?;
        let (name, value) = declared.strip_suffix(';')?.split_once(" = ")?;
        let value = value.rsplit('d').next()?.parse().ok()?;
        Some((name.rsplit(' ').next()?, value))
    }

    /// One file per module name, and plain Verilog-2001 text.
    fn check_text(name: &str, modules: &[Module]) {
        assert_eq!(modules.last().unwrap().doc.name, name);
        for sub in modules.iter().flat_map(|m| &m.submodules) {
            assert!(modules.iter().any(|m| m.doc.name == *sub), "{name}: {sub}");
        }
        for module in modules {
            let start = format!("\nmodule {}", module.doc.name);
            assert!(module.file.text.contains(&start), "{name}");
            assert!(!module.file.text.contains('$'), "{name} has a system task");
            let long = module.file.text.lines().find(|line| line.len() > 100);
            assert_eq!(long, None, "{}", module.doc.name);
        }
    }

    /// One name, one meaning: in all modules of a machine, whose numbers are in
    /// `values`, and in the table of parameters that the headers are written from.
    fn check_numbers(modules: &[Module], parameters: &Params, values: &mut BTreeMap<String, u64>) {
        for module in modules {
            for (name, value) in module.file.text.lines().filter_map(number) {
                if let Some(parameter) = parameters.value(name) {
                    assert_eq!(value, parameter as u64, "{name} in {}", module.doc.name);
                }
                let known = *values.entry(name.into()).or_insert(value);
                assert_eq!(known, value, "{name} in {}", module.doc.name);
            }
        }
    }

    /// Emission is total over the table, and deterministic.
    fn check_emission(geometries: impl Iterator<Item = AddressWidths>) {
        for geometry in geometries {
            let mut machine = Machine::of_geometry(geometry, HashKind::Matrix);
            machine.tcdm.atomics = geometry.bank_bits == 4;
            machine.axi.addr_bits = [0, 20, 64][geometry.addr_bits % 3];
            let parameters = Params::of(&machine);
            let mut values = BTreeMap::new();
            for name in unit_names().filter(|n| has_unit(n, &machine)) {
                let modules = emit(name, &machine).unwrap();
                check_text(name, &modules);
                check_numbers(&modules, &parameters, &mut values);
                if geometry.addr_bits == 9 {
                    let again = emit(name, &machine).unwrap();
                    assert_eq!(
                        again.last().unwrap().file.text,
                        modules.last().unwrap().file.text
                    );
                }
            }
            assert!(values.len() > 40, "{values:?}");
        }
    }

    fn is_usual(geometry: &AddressWidths) -> bool {
        [9, 14, 16].contains(&geometry.addr_bits)
    }

    #[test]
    fn every_unit_emits() {
        check_emission(every_geometry().filter(is_usual));
    }

    #[test]
    #[ignore = "part of make campaign"]
    fn every_unit_emits_in_every_other_geometry() {
        check_emission(every_geometry().filter(|g| !is_usual(g)));
    }

    /// The text of a module without its header, with no default of a parameter.
    fn without_defaults(module: &Module) -> String {
        let (_, text) = module
            .file
            .text
            .split_once("`default_nettype none")
            .unwrap();
        let line = |line: &str| match line.trim().strip_prefix("parameter ") {
            Some(parameter) => parameter.split_once(" = ").unwrap().0.to_owned(),
            None => line.to_owned(),
        };
        text.lines().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Modules that other numbers of the machine shape, too; the tag is a parameter.
    const TAGGED: [&str; 3] = ["spad_scratchpad", "spad_stream", "spad_stream_scratchpad"];

    /// The modules whose parameters have other defaults in the other machine, which is all
    /// that differs in them; those of `shaped` are left out.
    fn with_other_defaults(
        machine: &Machine,
        other: &Machine,
        shaped: &[&str],
    ) -> BTreeSet<String> {
        let defaults = |module: &Module| {
            let parameters = module.parameters().iter();
            parameters.map(|own| own.default).collect::<Vec<_>>()
        };
        let mut found = BTreeSet::new();
        for name in unit_names().filter(|n| has_unit(n, machine) && has_unit(n, other)) {
            let modules = emit(name, machine).unwrap().into_iter();
            for (module, other) in modules.zip(emit(name, other).unwrap()) {
                let own = module.doc.name.clone();
                if module.parameters().is_empty() || shaped.contains(&&*own) {
                    continue;
                }
                assert_eq!(without_defaults(&module), without_defaults(&other));
                if defaults(&module) != defaults(&other) {
                    found.insert(own);
                }
            }
        }
        found
    }

    /// A parameter of a module is all that it needs to know of what the parameter says:
    /// in a machine where that is different, the module differs in the default alone.
    #[test]
    fn parameters_are_all_that_differs_between_machines() {
        let geometry = |addr_bits, bank_bits| AddressWidths {
            addr_bits,
            bank_bits,
        };
        let mut small = Machine::of_geometry(geometry(12, 3), HashKind::Matrix);
        let mut large = Machine::of_geometry(geometry(14, 5), HashKind::Matrix);
        (small.lanes, small.warp_size, small.word_bits, small.warps) = (8, 16, 32, 8);
        (large.lanes, large.warp_size, large.word_bits, large.warps) = (16, 32, 64, 16);
        let found = with_other_defaults(&small, &large, &TAGGED);
        let expected = [
            "spad_crossbar",
            "spad_nonmem_queue",
            "spad_premem_queue",
            "spad_relssp_block",
            "spad_relssp_warp",
            "spad_writeback_mux",
        ];
        assert_eq!(found, expected.map(str::to_owned).into());
        let mut tagged = small.clone();
        (tagged.stream.tag_bits, tagged.warps) = (45, 16);
        let found = with_other_defaults(&small, &tagged, &[]);
        assert!(TAGGED.iter().all(|name| found.contains(*name)), "{found:?}");
    }

    #[test]
    fn what_is_not_in_the_table_is_refused() {
        let geometry = AddressWidths {
            addr_bits: 17,
            bank_bits: 5,
        };
        let machine = Machine::of_geometry(geometry, HashKind::Matrix);
        assert!(matches!(
            emit("spad_rap", &machine),
            Err(HdlError::Geometry { .. })
        ));
        assert!(matches!(
            emit("spad_nothing", &machine),
            Err(HdlError::UnknownUnit { .. })
        ));
    }
}
