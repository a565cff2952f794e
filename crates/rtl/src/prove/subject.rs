//! The subjects of proofs: each hash unit with its definition and its registers.

use super::harness::Harness;
use crate::config::Config;
use crate::geometry::Geometry;
use crate::hash::{Configured, HashKind, kind};
use crate::model::{ConfigRegister, HashConfig};
use serde::Serialize;
use std::sync::LazyLock;

/// The configuration registers of the machine's own hash unit.
pub(super) const SHARED_CONFIG: &str = "spad_hash_config";

/// The structure of the unit's function, which decides how it is proved to be a bijection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The bank is a matrix over GF(2) times the address.
    Linear,
    /// The bank is the column plus a shift that depends on the row.
    Shift,
    /// The row index.
    Row,
}

/// A unit, its definition and the registers that configure it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Subject {
    /// The module.
    pub unit: &'static str,
    /// Verilog of the module `definition`.
    pub definition: &'static str,
    /// The kind of registers, if the unit has any.
    pub configured: Option<Configured>,
    /// Linear or not.
    pub form: Form,
}

macro_rules! subject {
    ($unit:literal, $definition:literal, $configured:expr, $form:ident) => {
        Subject {
            unit: $unit,
            definition: include_str!(concat!("../../testbenches/prove/", $definition, ".v")),
            configured: $configured,
            form: Form::$form,
        }
    };
}

/// Every unit that has a definition.
pub(super) static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    let of_kind = |kind: HashKind| Subject {
        unit: kind.unit(),
        definition: kind::of(kind).definition,
        configured: Some(Configured::Hash(kind)),
        form: Form::Linear,
    };
    let others = [
        subject!("spad_hash_xor", "xor", None, Linear),
        subject!("spad_hash_add", "add", None, Shift),
        subject!("spad_row_map", "row_map", Some(Configured::RowMap), Row),
        subject!("spad_rap", "rap", Some(Configured::Rap), Shift),
    ];
    HashKind::ALL
        .into_iter()
        .map(of_kind)
        .chain(others)
        .collect()
});

/// One configuration register.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Register {
    /// Name of the register in the unit's description.
    pub name: String,
    /// Write index of the register.
    pub index: usize,
    /// Bits.
    pub width: u32,
    /// Value of the register after reset.
    pub reset: u64,
}

impl Register {
    /// Name of the register in the RTL.
    pub fn in_rtl(&self) -> String {
        spadkit_hdl::register_name(&self.name)
    }
}

impl Subject {
    /// The subject whose module is `unit`.
    pub fn of_unit(unit: &str) -> Option<&'static Subject> {
        SUBJECTS.iter().find(|s| s.unit == unit)
    }

    /// The subject that the configuration block `config` belongs to.
    pub fn of_config(config: &str) -> Option<&'static Subject> {
        SUBJECTS.iter().find(|s| s.config_module() == Some(config))
    }

    /// The module that holds the unit's registers.
    pub fn config_module(&self) -> Option<&'static str> {
        self.configured.map(Configured::config_unit)
    }

    /// The registers by write index, as the golden model has them.
    pub fn registers(&self, machine: &Config) -> Vec<Register> {
        let Some(unit) = self.configured else {
            return Vec::new();
        };
        let model = HashConfig::new(unit, machine);
        let register = |(index, register): (usize, &ConfigRegister)| Register {
            name: register.name.clone(),
            index,
            width: register.bits,
            reset: register.reset,
        };
        model.shape().iter().enumerate().map(register).collect()
    }

    /// The name of the output.
    pub fn value(&self) -> &'static str {
        match self.form {
            Form::Row => "row",
            Form::Linear | Form::Shift => "bank",
        }
    }

    /// Bits of the output.
    pub fn value_width(&self, geometry: Geometry) -> u32 {
        match self.form {
            Form::Row => geometry.row_bits(),
            Form::Linear | Form::Shift => geometry.bank_bits(),
        }
    }
}

/// The units that can be proved, of `all`.
pub fn provable_units(all: &[String]) -> Vec<String> {
    let known = |u: &&String| {
        Subject::of_unit(u).is_some()
            || Harness::of_unit(u).next().is_some()
            || Subject::of_config(u).is_some()
            || *u == SHARED_CONFIG
    };
    all.iter().filter(known).cloned().collect()
}
