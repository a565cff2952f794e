//! The sets of types that instructions take.

use crate::names::Type;

use Type::{
    B8, B16, B32, B64, B128, Bf16, Bf16x2, F16, F16x2, F32, F32x2, F64, Pred, S8, S16, S16x2, S32,
    S64, Tf32, U8, U16, U16x2, U32, U64,
};

/// A set of types.
pub(crate) type Types = &'static [Type];

pub(crate) const BITS: Types = &[B16, B32, B64];
pub(crate) const INTEGERS: Types = &[U16, U32, U64, S16, S32, S64];
pub(crate) const WIDE_INTEGERS: Types = &[U32, U64, S32, S64];
pub(crate) const HALVES: Types = &[F16, F16x2, Bf16, Bf16x2];
pub(crate) const FLOATS: Types = &[F32, F64];
pub(super) const PAIRS: Types = &[U16x2, S16x2];
/// Two numbers of single precision in 64 bits.
pub(super) const SINGLES: Types = &[F32x2];
pub(super) const SIGNED: Types = &[S16, S32, S64];
pub(super) const BITS_OR_PREDICATE: &[Types] = &[BITS, &[Pred]];
pub(super) const VALUES: &[Types] = &[BITS, INTEGERS, FLOATS];
pub(super) const IN_MEMORY: &[Types] = &[BITS, INTEGERS, FLOATS, &[B8, U8, S8, B128]];

/// The types that `cvt` converts from and to.
pub(crate) const CONVERTED: &[Types] = &[INTEGERS, HALVES, FLOATS, Type::SMALL, &[U8, S8, Tf32]];
