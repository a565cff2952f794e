//! Bank mappings: their specs, their algebra and their hardware encoding.
//!
//! A [`HashSpec`] says *which* mapping; a [`Mapping`] is that mapping made
//! concrete for one [`Geometry`](crate::geometry::Geometry): a bijection
//! address -> (bank, row).

mod encode;
mod gf2;
pub mod kind;
mod mapping;
mod port_value;
mod shift;
mod spec;

pub use encode::{Configuration, Encoding, encode, encode_for, encode_row_map};
pub use gf2::Gf2Matrix;
pub use kind::UnitSpec;
pub use mapping::{BankFunction, Mapping, RowMap};
pub use port_value::PortValue;
pub use shift::ShiftTable;
pub(crate) use shift::random_permutation;
pub use shift::uniform;
pub use spadkit_names::{Configured, HASH_ADD, HASH_XOR, HashKind};
pub use spec::{HashSpec, hash_kind};
