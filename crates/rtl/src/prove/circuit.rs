//! The values that the circuit templates are filled in with.

use super::after_reset::after_reset;
use super::subject::{Form, Register, Subject};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::rtl::{Design, Dir, EmittedUnit, Port};
use serde::Serialize;

/// A wire of the circuit.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Wire {
    pub name: String,
    pub width: usize,
}

#[derive(Clone, Debug, Serialize)]
struct Connection {
    port: String,
    signal: String,
}

/// An instance of a module under proof.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Instance {
    module: String,
    name: String,
    connections: Vec<Connection>,
}

impl Instance {
    /// `unit` as `name`, each port at the signal that `signal` gives.
    pub fn new(unit: &EmittedUnit, name: &str, signal: impl Fn(&Port) -> String) -> Self {
        let connect = |port: &Port| Connection {
            port: port.name.clone(),
            signal: signal(port),
        };
        Instance {
            module: unit.name.clone(),
            name: name.to_owned(),
            connections: unit.ports.iter().map(connect).collect(),
        }
    }
}

/// A register of the RTL that the script replaces by an input.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Cut {
    pub register: String,
    pub input: String,
}

/// Everything that a template may use.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Values {
    pub unit: &'static str,
    pub config: String,
    pub n: u32,
    pub m: u32,
    pub linear: bool,
    pub value: &'static str,
    pub value_width: u32,
    /// The output after a reset, a function of `addr`.
    pub after_reset: String,
    pub low_mask: u32,
    pub registers: Vec<Register>,
    pub register_count: usize,
    pub register_width: u32,
    pub packed_registers: String,
    pub row_registers: Vec<Register>,
    pub row_register_width: u32,
    pub row_registers_width: u32,
    pub write_ports: Vec<Port>,
    pub indexed: bool,
    pub wires: Vec<Wire>,
    pub instances: Vec<Instance>,
}

/// The name of the instance that holds the unit's registers.
pub(super) const CONFIG: &str = "config_";
/// The name of the instance that holds the row map's registers.
pub(super) const ROW_CONFIG: &str = "row_config";

impl Values {
    /// A circuit for `subject` without instances.
    pub fn new(subject: &Subject, config: Option<&EmittedUnit>, machine: &Config) -> Self {
        let geometry = machine.geometry;
        let registers = subject.registers(machine);
        let width = registers.iter().map(|r| r.width).max().unwrap_or(1);
        let row_registers = row_subject().registers(machine);
        let row_width = row_registers.iter().map(|r| r.width).max().unwrap_or(1);
        let write_ports: Vec<Port> = config
            .into_iter()
            .flat_map(|c| c.ports.iter().filter(|p| p.dir == Dir::In).cloned())
            .collect();
        Values {
            unit: subject.unit,
            config: config.map_or_else(String::new, |c| c.name.clone()),
            n: geometry.addr_bits(),
            m: geometry.bank_bits(),
            linear: subject.form == Form::Linear,
            value: subject.value(),
            value_width: subject.value_width(geometry),
            after_reset: after_reset(subject, machine),
            low_mask: geometry.bank_mask(),
            register_count: registers.len().max(1),
            register_width: width,
            packed_registers: pack(&registers, width),
            row_register_width: row_width,
            row_registers_width: row_width * row_registers.len() as u32,
            registers,
            row_registers,
            indexed: write_ports.iter().any(|p| p.name == "wr_index"),
            write_ports,
            wires: Vec::new(),
            instances: Vec::new(),
        }
    }

    /// Adds an instance.
    pub fn instance(&mut self, unit: &EmittedUnit, name: &str, signal: impl Fn(&Port) -> String) {
        self.instances.push(Instance::new(unit, name, signal));
    }

    /// Adds a wire for each configuration port of `unit`.
    pub fn cfg_wires(&mut self, unit: &EmittedUnit) {
        let cfg = unit.ports.iter().filter(|p| p.name.starts_with("cfg_"));
        self.wires.extend(cfg.map(|p| Wire {
            name: p.name.clone(),
            width: p.width,
        }));
    }
}

/// `{..., r1, r0}` with every register in a field of `width` bits.
fn pack(registers: &[Register], width: u32) -> String {
    let field = |r: &Register| match width - r.width {
        0 => r.name.clone(),
        pad => format!("{pad}'d0, {}", r.name),
    };
    match registers {
        [] => "1'd0".to_owned(),
        some => some.iter().rev().map(field).collect::<Vec<_>>().join(", "),
    }
}

/// `spad_row_map`.
pub(super) fn row_subject() -> &'static Subject {
    Subject::of_unit("spad_row_map").expect("the table has the row map")
}

/// A port's own name.
pub(super) fn same(port: &Port) -> String {
    port.name.clone()
}

/// Inputs other than addresses and configuration tied to zero: what they do
/// to the registers does not matter where the registers are replaced.
pub(super) fn quiet(port: &Port) -> String {
    match port.dir {
        Dir::Out => port.name.clone(),
        Dir::In => format!("{}'d0", port.width),
    }
}

/// The unit of `design`, which was asked for it.
pub(super) fn emitted<'a>(design: &'a Design, name: &str) -> Result<&'a EmittedUnit> {
    let missing = || Error::defect(format!("unit {name} was not emitted"));
    design.unit(name).ok_or_else(missing)
}
