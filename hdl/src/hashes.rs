//! The hash units by name: one list, with no logic, for RTL, golden models,
//! benches, proofs, configuration files and commands.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The kinds of configurable hash unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HashKind {
    /// Bit-vector permutation (hash paper, section 4.1).
    BitvecPerm,
    /// Bit-vector XOR (section 4.2).
    BitvecXor,
    /// Bitwise permutation (section 4.3).
    BitwisePerm,
    /// Bitwise XOR (section 4.4).
    BitwiseXor,
    /// Any GF(2) matrix; beyond the paper.
    Matrix,
}

impl HashKind {
    /// All kinds, from the smallest unit to the largest.
    pub const ALL: [HashKind; 5] = [
        HashKind::BitvecPerm,
        HashKind::BitvecXor,
        HashKind::BitwisePerm,
        HashKind::BitwiseXor,
        HashKind::Matrix,
    ];

    /// The name in specs and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            HashKind::BitvecPerm => "bitvec-perm",
            HashKind::BitvecXor => "bitvec-xor",
            HashKind::BitwisePerm => "bitwise-perm",
            HashKind::BitwiseXor => "bitwise-xor",
            HashKind::Matrix => "matrix",
        }
    }

    /// The Verilog module of the unit.
    pub fn unit(self) -> &'static str {
        match self {
            HashKind::BitvecPerm => "spad_hash_bitvec_perm",
            HashKind::BitvecXor => "spad_hash_bitvec_xor",
            HashKind::BitwisePerm => "spad_hash_bitwise_perm",
            HashKind::BitwiseXor => "spad_hash_bitwise_xor",
            HashKind::Matrix => "spad_hash_matrix",
        }
    }
}

impl fmt::Display for HashKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The units that have configuration registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Configured {
    /// A configurable hash unit.
    Hash(HashKind),
    /// `spad_rap`
    Rap,
    /// `spad_row_map`
    RowMap,
}

impl Configured {
    /// The Verilog module of its registers.
    pub const fn config_unit(self) -> &'static str {
        match self {
            Configured::Hash(HashKind::BitvecPerm) => "spad_hash_config_bitvec_perm",
            Configured::Hash(HashKind::BitvecXor) => "spad_hash_config_bitvec_xor",
            Configured::Hash(HashKind::BitwisePerm) => "spad_hash_config_bitwise_perm",
            Configured::Hash(HashKind::BitwiseXor) => "spad_hash_config_bitwise_xor",
            Configured::Hash(HashKind::Matrix) => "spad_hash_config_matrix",
            Configured::Rap => "spad_hash_config_rap",
            Configured::RowMap => "spad_hash_config_row_map",
        }
    }
}

/// The hash that the lanes of an SM path have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PathHash {
    /// bank = addr mod 2^m: no hardware.
    Mod,
    /// The fixed XOR hash, `spad_hash_xor`.
    Xor,
    /// The fixed ADD hash, `spad_hash_add`.
    Add,
    /// The machine's configurable unit, with a row map.
    Configurable,
    /// `spad_rap` with loadable shifts.
    Rap,
}
