//! Shared by the golden models of the configurable hash units.

use super::hash_config::ConfigRegister;
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::kind::{Kind, Ports};

/// The golden model of a configurable hash unit and of its registers.
pub trait HashUnit: Sized + 'static {
    /// The configuration of the unit.
    type Spec: Kind;

    /// Whether its bank is a defined function for any register values;
    /// otherwise only for those of a legal configuration.
    const ANY_REGISTERS: bool = true;

    /// The unit with the configuration `spec`.
    fn new(spec: &Self::Spec, geometry: Geometry) -> Self;

    /// The bank of word address `addr`.
    fn step(&self, addr: u32) -> u32;

    /// The configuration registers by write index.
    fn registers(geometry: Geometry) -> Vec<ConfigRegister>;

    /// Name and value of each `cfg_*` output of the registers. A value without
    /// meaning (an address bit from n upward, an offset beyond the last)
    /// selects nothing.
    fn outputs(registers: &[u64], geometry: Geometry) -> Ports;

    /// The bank of an address with these values of the registers.
    fn bank(registers: &[u64], geometry: Geometry) -> Bank;
}

/// The bank of an address.
pub type Bank = Box<dyn Fn(u32) -> u32>;
