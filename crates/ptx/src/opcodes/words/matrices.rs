//! The modifiers of textures, surfaces, matrices and their products.

use super::*;

const FLAT: Words = &[D1, D2, D3, A1d, A2d];
const SHAPES: Words = &[D1, D2, D3, A1d, A2d, Cube, Acube];
const OUTSIDE: Words = &[Trap, Clamp, Zero];
pub(crate) const TEX: Forms = &[form(&[SHAPES, &[V4]])
    .may(&[&[Base, Level, Grad]])
    .types(&[&[U32, S32, F32], &[S32, F32]])];
pub(crate) const TLD4: Forms =
    &[form(&[&[R, G, B, A], SHAPES, &[V4]]).types(&[&[U32, S32, F32], &[F32]])];
const QUERIED: &[Types] = &[WORD];
pub(crate) const TXQ: Forms = &[form(&[&[
    QueryWidth,
    QueryHeight,
    QueryDepth,
    ArraySize,
    ChannelDataType,
    ChannelOrder,
    NormalizedCoords,
    NumMipmapLevels,
    NumSamples,
]])
.types(QUERIED)];
pub(crate) const SUQ: Forms = &[form(&[&[
    QueryWidth,
    QueryHeight,
    QueryDepth,
    ArraySize,
    ChannelDataType,
    ChannelOrder,
]])
.types(QUERIED)];
pub(crate) const SULD: Forms = &[form(&[&[B], FLAT])
    .may(&[OUTSIDE, &[Ca, Cg, Cs, Cv], &[V2, V4]])
    .types(&[&[B8, B16, B32, B64]])];
pub(crate) const SUST: Forms = &[
    form(&[&[B], FLAT])
        .may(&[OUTSIDE, STORE_CACHE, &[V2, V4]])
        .types(&[&[B8, B16, B32, B64]]),
    form(&[&[P], FLAT])
        .may(&[OUTSIDE, STORE_CACHE, &[V2, V4]])
        .types(&[&[B32, U32, S32, F32]]),
];
pub(crate) const SURED: Forms = &[
    form(&[&[B], &[Add, Min, Max], FLAT])
        .may(&[OUTSIDE])
        .types(&[&[U32, S32, U64, Type::S64]]),
    form(&[&[B], &[And, Or], FLAT])
        .may(&[OUTSIDE])
        .types(&[&[B32, B64]]),
    form(&[&[P], &[Add, Min, Max, And, Or], FLAT])
        .may(&[OUTSIDE])
        .types(&[&[B32, B64]]),
];

const MATRIX: &[Words] = &[&[Sync], &[Aligned], &[M8n8], &[X1, X2, X4]];
pub(crate) const OF_MATRICES: Forms = &[form(MATRIX)
    .may(&[&[Trans]])
    .spaces(&[OF_THE_BLOCK])
    .types(&[&[B16]])];
pub(crate) const MOVMATRIX: Forms =
    &[form(&[&[Sync], &[Aligned], &[M8n8], &[Trans]]).types(&[&[B16]])];

const LAYOUT: Words = &[Row, Col];
const MMA_SHAPES: Words = &[
    M8n8k4, M8n8k16, M8n8k32, M8n8k128, M16n8k4, M16n8k8, M16n8k16, M16n8k32, M16n8k64, M16n8k128,
    M16n8k256,
];
const WMMA_SHAPES: Words = &[
    M16n16k16, M8n32k16, M32n8k16, M16n16k8, M8n8k4, M8n8k32, M8n8k128,
];
const FOUR: &[Types] = &[ROW, ROW, ROW, ROW];
pub(crate) const MMA: Forms = &[
    form(&[&[Sync], &[Aligned], MMA_SHAPES, LAYOUT, LAYOUT])
        .may(&[&[Sp, SpOrdered], ROUNDING, &[Satfinite]])
        .types(FOUR),
    form(&[
        &[Sync],
        &[Aligned],
        MMA_SHAPES,
        LAYOUT,
        LAYOUT,
        &[And, Xor],
        &[Popc],
    ])
    .types(FOUR),
];
pub(crate) const WGMMA: Forms = &[
    form(&[&[Sync], &[Aligned], &[Word::Fence, CommitGroup, WaitGroup]]),
    form(&[&[Sync], &[Aligned], &[MmaAsync]])
        .may(&[&[Sp], &[Satfinite]])
        .shape()
        .types(&[&[F16, F32, S32], ROW, ROW]),
    form(&[&[Sync], &[Aligned], &[MmaAsync], &[And], &[Popc]])
        .shape()
        .types(&[&[S32], &[B1], &[B1]]),
];
const IN_MEMORY: Spaces = &[Global, Shared, SharedCta];
pub(crate) const WMMA: Forms = &[
    form(&[
        &[Load],
        &[A, B, C],
        &[Sync],
        &[Aligned],
        LAYOUT,
        WMMA_SHAPES,
    ])
    .spaces(&[IN_MEMORY])
    .types(&[ROW]),
    form(&[&[Store], &[D], &[Sync], &[Aligned], LAYOUT, WMMA_SHAPES])
        .spaces(&[IN_MEMORY])
        .types(&[ROW]),
    form(&[&[Mma], &[Sync], &[Aligned], LAYOUT, LAYOUT, WMMA_SHAPES])
        .may(&[ROUNDING, &[Satfinite]])
        .types(FOUR),
    form(&[
        &[Mma],
        &[And, Xor],
        &[Popc],
        &[Sync],
        &[Aligned],
        LAYOUT,
        LAYOUT,
        WMMA_SHAPES,
    ])
    .types(FOUR),
];
