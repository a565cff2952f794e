//! The RTL of each configurable unit: one line per unit.

use crate::configured::Configurable;
use crate::spad_hash_bitvec_perm::BitvecPerm;
use crate::spad_hash_bitvec_xor::BitvecXor;
use crate::spad_hash_bitwise_perm::BitwisePerm;
use crate::spad_hash_bitwise_xor::BitwiseXor;
use crate::spad_hash_matrix::Matrix;
use crate::spad_rap::Rap;
use crate::spad_row_map::RowMap;
use spadkit_names::{Configured, HashKind};

/// RTL of a unit.
pub(crate) fn rtl(unit: Configured) -> &'static dyn Configurable {
    match unit {
        Configured::Hash(HashKind::BitvecPerm) => &BitvecPerm,
        Configured::Hash(HashKind::BitvecXor) => &BitvecXor,
        Configured::Hash(HashKind::BitwisePerm) => &BitwisePerm,
        Configured::Hash(HashKind::BitwiseXor) => &BitwiseXor,
        Configured::Hash(HashKind::Matrix) => &Matrix,
        Configured::Rap => &Rap,
        Configured::RowMap => &RowMap,
    }
}
