//! The hash units by name: one list, with no logic, for RTL, golden models,
//! benches, proofs, configuration files and commands.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Declares the kinds of configurable hash unit, a line each: the variant, its
/// name in specs, and the name of its files after `spad_hash_`.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident, $name:literal, $file:ident;)+) => {
        /// The kinds of configurable hash unit.
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
        )]
        pub enum HashKind {
            $($(#[$doc])* #[serde(rename = $name)] $kind,)+
        }

        impl HashKind {
            /// All kinds, from the smallest unit to the largest.
            pub const ALL: [HashKind; [$($name),+].len()] = [$(HashKind::$kind),+];

            /// The name in specs and on the command line.
            pub const fn name(self) -> &'static str {
                match self {
                    $(HashKind::$kind => $name,)+
                }
            }

            /// The Verilog module of the unit.
            pub const fn unit(self) -> &'static str {
                match self {
                    $(HashKind::$kind => concat!("spad_hash_", stringify!($file)),)+
                }
            }

            /// The Verilog module of its registers.
            const fn config_unit(self) -> &'static str {
                match self {
                    $(HashKind::$kind => concat!("spad_hash_config_", stringify!($file)),)+
                }
            }
        }
    };
}

kinds! {
    /// Bit-vector permutation (hash paper, section 4.1).
    BitvecPerm, "bitvec-perm", bitvec_perm;
    /// Bit-vector XOR (section 4.2).
    BitvecXor, "bitvec-xor", bitvec_xor;
    /// Bitwise permutation (section 4.3).
    BitwisePerm, "bitwise-perm", bitwise_perm;
    /// Bitwise XOR (section 4.4).
    BitwiseXor, "bitwise-xor", bitwise_xor;
    /// Any GF(2) matrix; beyond the paper.
    Matrix, "matrix", matrix;
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
    /// The one whose Verilog module this is.
    pub fn of_unit(module: &str) -> Option<Self> {
        let kinds = HashKind::ALL.into_iter().map(Configured::Hash);
        let mut all = kinds.chain([Configured::Rap, Configured::RowMap]);
        all.find(|unit| unit.unit() == module)
    }

    /// Verilog module of the unit.
    pub const fn unit(self) -> &'static str {
        match self {
            Configured::Hash(kind) => kind.unit(),
            Configured::Rap => "spad_rap",
            Configured::RowMap => "spad_row_map",
        }
    }

    /// The Verilog module of its registers.
    pub const fn config_unit(self) -> &'static str {
        match self {
            Configured::Hash(kind) => kind.config_unit(),
            Configured::Rap => "spad_hash_config_rap",
            Configured::RowMap => "spad_hash_config_row_map",
        }
    }
}

/// The Verilog module of the fixed XOR hash.
pub const HASH_XOR: &str = "spad_hash_xor";
/// The Verilog module of the fixed ADD hash.
pub const HASH_ADD: &str = "spad_hash_add";

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_with_registers_is_found_by_its_name() {
        let kinds = HashKind::ALL.into_iter().map(Configured::Hash);
        for unit in kinds.chain([Configured::Rap, Configured::RowMap]) {
            assert_eq!(Configured::of_unit(unit.unit()), Some(unit));
            assert_eq!(Configured::of_unit(unit.config_unit()), None);
        }
        assert_eq!(Configured::of_unit(HASH_XOR), None);
    }
}
