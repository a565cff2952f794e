//! What can be proved: each hash unit with its definition and its registers.

use super::harness::Harness;
use crate::geometry::Geometry;
use crate::hash::{Configured, HashKind};
use crate::model::HashConfig;
use serde::Serialize;

/// The configuration registers of the machine's own hash unit.
pub(super) const SHARED_CONFIG: &str = "spad_hash_config";

/// How the unit's function is made up, which decides how it is shown to be a
/// bijection.
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

const fn hash(kind: HashKind) -> Option<Configured> {
    Some(Configured::Hash(kind))
}

/// Every unit that has a definition.
pub(super) static SUBJECTS: [Subject; 9] = [
    subject!(
        "spad_hash_bitvec_perm",
        "bitvec_perm",
        hash(HashKind::BitvecPerm),
        Linear
    ),
    subject!(
        "spad_hash_bitvec_xor",
        "bitvec_xor",
        hash(HashKind::BitvecXor),
        Linear
    ),
    subject!(
        "spad_hash_bitwise_perm",
        "bitwise_perm",
        hash(HashKind::BitwisePerm),
        Linear
    ),
    subject!(
        "spad_hash_bitwise_xor",
        "bitwise_xor",
        hash(HashKind::BitwiseXor),
        Linear
    ),
    subject!("spad_hash_matrix", "matrix", hash(HashKind::Matrix), Linear),
    subject!("spad_hash_xor", "xor", None, Linear),
    subject!("spad_hash_add", "add", None, Shift),
    subject!("spad_row_map", "row_map", Some(Configured::RowMap), Row),
    subject!("spad_rap", "rap", Some(Configured::Rap), Shift),
];

/// One configuration register.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Register {
    /// Its name in the RTL.
    pub name: String,
    /// Its write index.
    pub index: usize,
    /// Bits.
    pub width: u32,
    /// Its value after reset.
    pub reset: u64,
}

impl Subject {
    /// The subject whose module is `unit`.
    pub fn of_unit(unit: &str) -> Option<&'static Subject> {
        SUBJECTS.iter().find(|s| s.unit == unit)
    }

    /// The subject that the configuration block `config` belongs to.
    pub fn of_config(config: &str) -> Option<&'static Subject> {
        SUBJECTS
            .iter()
            .find(|s| s.config_module().as_deref() == Some(config))
    }

    /// The module that holds the unit's registers.
    pub fn config_module(&self) -> Option<String> {
        self.configured?;
        let kind = self.unit.strip_prefix("spad_hash_");
        let kind = kind.or(self.unit.strip_prefix("spad_"));
        Some(format!("spad_hash_config_{}", kind.unwrap_or(self.unit)))
    }

    /// The registers by write index, as the golden model has them.
    pub fn registers(&self, geometry: Geometry) -> Vec<Register> {
        let Some(unit) = self.configured else {
            return Vec::new();
        };
        let model = HashConfig::new(unit, geometry);
        let register = |(index, &reset): (usize, &u64)| Register {
            name: self.register_name(index),
            index,
            width: model.register_bits(index),
            reset,
        };
        model.registers().iter().enumerate().map(register).collect()
    }

    fn register_name(&self, index: usize) -> String {
        match self.configured {
            Some(Configured::Hash(HashKind::BitvecPerm)) => "k".to_owned(),
            Some(Configured::Hash(HashKind::BitvecXor)) => ["k1", "k2", "mask"][index].to_owned(),
            _ => format!("r{index}"),
        }
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
