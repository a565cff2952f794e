//! The golden model of each configurable hash unit: a line per kind.

use super::hash_config::ConfigRegister;
use super::hash_unit::{Bank, HashUnit};
use super::{HashBitvecPerm, HashBitvecXor, HashBitwisePerm, HashBitwiseXor, HashMatrix};
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::kind::Ports;
use spadkit_mapping::hash::{HashKind, UnitSpec};

/// A unit whose kind is known at run time: see [`HashUnit`] for each.
#[derive(Debug)]
pub struct AnyUnit {
    /// Whether its bank is a function of any values of its registers.
    pub any_registers: bool,
    pub(super) registers: fn(Geometry) -> Vec<ConfigRegister>,
    pub(super) outputs: fn(&[u64], Geometry) -> Ports,
    pub(super) bank: fn(&[u64], Geometry) -> Bank,
}

macro_rules! units {
    ($($kind:ident, $unit:ident;)+) => {
        /// The unit of `kind`.
        pub fn unit_of(kind: HashKind) -> AnyUnit {
            match kind {
                $(HashKind::$kind => AnyUnit {
                    any_registers: $unit::ANY_REGISTERS,
                    registers: $unit::registers,
                    outputs: $unit::outputs,
                    bank: $unit::bank,
                },)+
            }
        }

        /// The bank of an address in the unit with configuration `spec`.
        pub fn bank_of(spec: &UnitSpec, geometry: Geometry) -> Bank {
            match spec {
                $(UnitSpec::$kind(spec) => {
                    let unit = $unit::new(spec, geometry);
                    Box::new(move |addr| unit.step(addr))
                })+
            }
        }
    };
}

units! {
    BitvecPerm, HashBitvecPerm;
    BitvecXor, HashBitvecXor;
    BitwisePerm, HashBitwisePerm;
    BitwiseXor, HashBitwiseXor;
    Matrix, HashMatrix;
}
