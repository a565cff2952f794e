//! Modifiers that the instructions of an opcode have, form by form as the PTX ISA lists
//! them. Their order is free, as for `ptxas`. What depends on types, such as the roundings
//! of a sum, is in `exec::decode::forms`.

mod matrices;
mod memory;

use super::types::{HALVES, Types};
use crate::names::{Space, Type, Word};

pub(super) use matrices::*;
pub(super) use memory::*;

use Space::{Const, Global, Local, Param, ParamEntry, ParamFunc, Shared, SharedCluster, SharedCta};
use Type::{B1, B8, B16, B32, B64, B128, Bf16, F16, F32, F64, Pred, S32, U32, U64};
use Word::*;

/// Words of which an instruction has one.
pub(crate) type Words = &'static [Word];
/// State spaces of which an instruction has one.
pub(crate) type Spaces = &'static [Space];
/// The forms of an opcode's instructions.
pub(crate) type Forms = &'static [Syntax];

/// The modifiers of one form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Syntax {
    /// Groups of words; the form has one of each.
    pub needs: &'static [Words],
    /// Groups of words; the form has at most one of each.
    pub may: &'static [Words],
    /// For each place of a space, the spaces that may stand there.
    pub spaces: &'static [Spaces],
    /// For each place of a type, the types that may stand there; none where the row
    /// says them.
    pub types: &'static [Types],
    /// Whether it has the shape of a product of a warpgroup.
    pub shape: bool,
}

pub(super) const fn form(needs: &'static [Words]) -> Syntax {
    Syntax {
        needs,
        may: &[],
        spaces: &[],
        types: &[],
        shape: false,
    }
}

impl Syntax {
    pub(super) const fn may(self, may: &'static [Words]) -> Syntax {
        Syntax { may, ..self }
    }

    pub(super) const fn spaces(self, spaces: &'static [Spaces]) -> Syntax {
        Syntax { spaces, ..self }
    }

    pub(super) const fn types(self, types: &'static [Types]) -> Syntax {
        Syntax { types, ..self }
    }

    /// The types that the row says.
    pub(super) const fn typed(self) -> Syntax {
        self.types(&[ROW])
    }

    pub(super) const fn shape(self) -> Syntax {
        Syntax {
            shape: true,
            ..self
        }
    }
}

/// The types of the row.
pub(super) const ROW: Types = &[];
pub(super) const WORD: Types = &[B32];
pub(super) const OBJECT: Types = &[B64];
pub(super) const ADDRESS: Types = &[U32, U64];
pub(super) const SIGNS: Types = &[U32, S32];
pub(super) const PREDICATE: Types = &[Pred];

pub(super) const ROUNDING: Words = &[Rn, Rz, Rm, Rp];
pub(super) const FUNCTION: Words = &[Rn, Rz, Rm, Rp, Approx, Full];
pub(super) const CONVERSION: Words = &[Rn, Rz, Rm, Rp, Rna, Rs, Rni, Rzi, Rmi, Rpi];
pub(super) const PARTS: Words = &[Lo, Hi, Wide];
pub(super) const COMPARISONS: Words = &[
    Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan,
];
pub(super) const PLAIN_COMPARISONS: Words = &[Eq, Ne, Lt, Le, Gt, Ge];
pub(super) const COMBINATIONS: Words = &[And, Or, Xor];
pub(super) const NUMBERS: Words = &[Finite, Infinite, Number, Notanumber, Normal, Subnormal];
pub(super) const MODES: Words = &[Clamp, Wrap];
pub(super) const PICKS: Words = &[F4e, B4e, Rc8, Ecl, Ecr, Rc16];

pub(super) const SCOPES: Words = &[Cta, Cluster, Gpu, Sys];
pub(super) const LOADING: Words = &[Relaxed, Acquire];
pub(super) const STORING: Words = &[Relaxed, Release];
pub(super) const ORDERS: Words = &[Relaxed, Acquire, Release, AcqRel];
pub(super) const VECTORS: Words = &[V2, V4, V8];
pub(super) const LOAD_CACHE: Words = &[Ca, Cg, Cs, Lu, Cv];
pub(super) const CONSTANT_CACHE: Words = &[Ca, Cg, Cs];
pub(super) const STORE_CACHE: Words = &[Wb, Cg, Cs, Wt];
pub(super) const L1_PRIORITY: Words = &[
    L1EvictNormal,
    L1EvictUnchanged,
    L1EvictFirst,
    L1EvictLast,
    L1NoAllocate,
];
pub(super) const L2_PRIORITY: Words = &[L2EvictNormal, L2EvictFirst, L2EvictLast];
pub(super) const PREFETCH: Words = &[L2Prefetch64, L2Prefetch128, L2Prefetch256];
pub(super) const OPERATORS: Words = &[Exch, Cas, Add, Inc, Dec, Min, Max, And, Or, Xor];
pub(super) const REDUCTIONS: Words = &[Add, Inc, Dec, Min, Max, And, Or, Xor];

pub(super) const ADDRESSED: Spaces = &[
    Const,
    Global,
    Local,
    Param,
    ParamEntry,
    Shared,
    SharedCta,
    SharedCluster,
];
pub(super) const UNCACHED: Spaces = &[Local, Shared, SharedCta, SharedCluster];
pub(super) const CONSTANTS: Spaces = &[Const, Param, ParamEntry, ParamFunc];
pub(super) const FOR_ATOMICS: Spaces = &[Global, Shared, SharedCta, SharedCluster];
pub(super) const OF_THE_BLOCK: Spaces = &[Shared, SharedCta];
pub(super) const OF_THE_CLUSTER: Spaces = &[Shared, SharedCta, SharedCluster];

/// No modifiers.
pub(crate) const BARE: Forms = &[form(&[])];
/// A type.
pub(crate) const PLAIN: Forms = &[form(&[]).typed()];
/// `.b32`
pub(crate) const OF_WORDS: Forms = &[form(&[]).types(&[WORD])];

pub(crate) const ABS: Forms = &[form(&[]).may(&[&[Ftz]]).typed()];
pub(crate) const ADD: Forms = &[form(&[]).may(&[ROUNDING, &[Ftz], &[Sat], &[Cc]]).typed()];
pub(crate) const ADDC: Forms = &[form(&[]).may(&[&[Cc]]).typed()];
pub(crate) const BFIND: Forms = &[form(&[]).may(&[&[Shiftamt]]).typed()];
pub(crate) const BMSK: Forms = &[form(&[MODES]).types(&[WORD])];
pub(crate) const BRANCH: Forms = &[form(&[]).may(&[&[Uni]])];
pub(crate) const BRX: Forms = &[form(&[&[Idx]]).may(&[&[Uni]])];
/// Forms of quotients, roots and other functions.
pub(crate) const OF_FUNCTIONS: Forms = &[form(&[]).may(&[FUNCTION, &[Ftz]]).typed()];
pub(crate) const CVT: Forms = &[
    form(&[])
        .may(&[CONVERSION, &[Ftz], &[Sat], &[Satfinite], &[Relu], &[Scaled]])
        .types(&[ROW, ROW]),
    form(&[&[Pack], &[Sat]]).types(&[ROW, ROW, ROW]),
];
pub(crate) const CVTA: Forms = &[form(&[])
    .may(&[&[To]])
    .spaces(&[ADDRESSED])
    .types(&[ADDRESS])];
pub(crate) const DP2A: Forms = &[form(&[&[Lo, Hi]]).types(&[SIGNS, SIGNS])];
pub(crate) const DP4A: Forms = &[form(&[]).types(&[SIGNS, SIGNS])];
pub(crate) const FMA: Forms = &[form(&[]).may(&[ROUNDING, &[Ftz], &[Sat, Relu]]).typed()];
pub(crate) const OF_THE_RANK: Forms = &[form(&[]).spaces(&[&[SharedCluster]]).types(&[ADDRESS])];
pub(crate) const ISSPACEP: Forms = &[form(&[]).spaces(&[ADDRESSED])];
pub(crate) const LOP3: Forms = &[form(&[]).may(&[&[And, Or]]).typed()];
pub(crate) const MAD: Forms = &[form(&[])
    .may(&[PARTS, ROUNDING, &[Ftz], &[Sat], &[Cc]])
    .typed()];
pub(crate) const MAD24: Forms = &[form(&[&[Lo, Hi]]).may(&[&[Sat]]).typed()];
pub(crate) const MADC: Forms = &[form(&[&[Lo, Hi]]).may(&[&[Cc]]).typed()];
pub(crate) const EXTREMES: Forms = &[form(&[])
    .may(&[&[Ftz], &[BigNan], &[Xorsign], &[Abs], &[Relu]])
    .typed()];
pub(crate) const MOV: Forms = &[form(&[]).may(&[&[V2, V4]]).typed()];
pub(crate) const MUL: Forms = &[form(&[]).may(&[PARTS, ROUNDING, &[Ftz], &[Sat]]).typed()];
pub(crate) const MUL24: Forms = &[form(&[&[Lo, Hi]]).typed()];
pub(crate) const PRMT: Forms = &[form(&[]).may(&[PICKS]).typed()];
pub(crate) const SET: Forms = &[form(&[COMPARISONS])
    .may(&[COMBINATIONS, &[Ftz]])
    .types(&[ROW, ROW])];
pub(crate) const SETP: Forms = &[form(&[COMPARISONS]).may(&[COMBINATIONS, &[Ftz]]).typed()];
pub(crate) const SHF: Forms = &[form(&[&[L, R], MODES]).typed()];
pub(crate) const SLCT: Forms = &[form(&[]).may(&[&[Ftz]]).types(&[ROW, &[S32, F32]])];
pub(crate) const SZEXT: Forms = &[form(&[MODES]).types(&[SIGNS])];
pub(crate) const TESTP: Forms = &[form(&[NUMBERS]).typed()];

pub(super) const THREE: &[Types] = &[SIGNS, SIGNS, SIGNS];
/// Video instructions of a word, of its parts, and those that compare.
pub(crate) const VIDEO: Forms = &[form(&[]).may(&[&[Sat], &[Add, Min, Max]]).types(THREE)];
pub(crate) const VIDEO_PARTS: Forms = &[form(&[]).may(&[&[Sat, Add]]).types(THREE)];
pub(crate) const VIDEO_SHIFT: Forms =
    &[form(&[MODES]).may(&[&[Sat], &[Add, Min, Max]]).types(THREE)];
pub(crate) const VMAD: Forms = &[form(&[]).may(&[&[Sat], &[Po], &[Shr7, Shr15]]).types(THREE)];
pub(crate) const VSET: Forms = &[form(&[PLAIN_COMPARISONS])
    .may(&[&[Add, Min, Max]])
    .types(&[SIGNS, SIGNS])];
pub(crate) const VSET_PARTS: Forms = &[form(&[PLAIN_COMPARISONS])
    .may(&[&[Add]])
    .types(&[SIGNS, SIGNS])];

pub(crate) const BAR: Forms = &[
    form(&[&[Sync, Arrive]]).may(&[&[Cta]]),
    form(&[&[Red], &[Popc]]).may(&[&[Cta]]).types(&[&[U32]]),
    form(&[&[Red], &[And, Or]])
        .may(&[&[Cta]])
        .types(&[PREDICATE]),
    form(&[&[Warp], &[Sync]]),
];
pub(crate) const BARRIER: Forms = &[
    form(&[&[Sync, Arrive]]).may(&[&[Cta], &[Aligned]]),
    form(&[&[Red], &[Popc]])
        .may(&[&[Cta], &[Aligned]])
        .types(&[&[U32]]),
    form(&[&[Red], &[And, Or]])
        .may(&[&[Cta], &[Aligned]])
        .types(&[PREDICATE]),
    form(&[&[Cluster], &[Arrive]]).may(&[STORING, &[Aligned]]),
    form(&[&[Cluster], &[Wait]]).may(&[&[Acquire], &[Aligned]]),
];
pub(crate) const FENCE: Forms = &[
    form(&[SCOPES]).may(&[&[Sc, AcqRel, Acquire, Release]]),
    form(&[&[MbarrierInit], &[Release], &[Cluster]]),
    form(&[&[Acquire], &[RestrictCluster], &[Cluster]]),
    form(&[&[Release], &[RestrictCta], &[Cluster]]),
    form(&[&[Proxy], &[Alias]]),
    form(&[&[Proxy], &[Async]]).spaces(&[&[Global, SharedCta, SharedCluster]]),
    form(&[
        &[Proxy],
        &[AsyncGeneric],
        &[Acquire],
        &[RestrictCluster],
        &[Cluster],
    ]),
    form(&[
        &[Proxy],
        &[AsyncGeneric],
        &[Release],
        &[RestrictCta],
        &[Cluster],
    ]),
    form(&[&[Proxy], &[TensormapGeneric], &[Release], SCOPES]).spaces(&[FOR_ATOMICS]),
    form(&[&[Proxy], &[TensormapGeneric], &[Acquire], SCOPES]),
];
pub(crate) const MEMBAR: Forms = &[form(&[&[Cta, Gl, Sys]]), form(&[&[Proxy], &[Alias]])];

pub(crate) const ELECT: Forms = &[form(&[&[Sync]])];
pub(crate) const MATCH: Forms = &[form(&[&[Any, All], &[Sync]]).types(&[&[B32, B64]])];
pub(crate) const REDUX: Forms = &[
    form(&[&[Sync], &[Add, Min, Max]]).types(&[SIGNS]),
    form(&[&[Sync], COMBINATIONS]).types(&[WORD]),
    form(&[&[Sync], &[Min, Max]])
        .may(&[&[Abs], &[BigNan]])
        .types(&[&[F32]]),
];
pub(crate) const SHFL: Forms = &[form(&[&[Up, Down, Bfly, Idx]])
    .may(&[&[Sync]])
    .types(&[WORD])];
pub(crate) const VOTE: Forms = &[
    form(&[&[All, Any, Uni]])
        .may(&[&[Sync]])
        .types(&[PREDICATE]),
    form(&[&[Ballot]]).may(&[&[Sync]]).types(&[WORD]),
];
