//! The modifiers of accesses to memory, asynchronous copies and their barriers.

use super::*;

pub(crate) const LD: Forms = &[
    form(&[])
        .may(&[
            &[Weak],
            L1_PRIORITY,
            L2_PRIORITY,
            &[L2CacheHint],
            PREFETCH,
            VECTORS,
        ])
        .spaces(&[&[Global]])
        .typed(),
    form(&[LOAD_CACHE])
        .may(&[&[Weak], L2_PRIORITY, &[L2CacheHint], PREFETCH, VECTORS])
        .spaces(&[&[Global]])
        .typed(),
    form(&[&[Nc]])
        .may(&[
            CONSTANT_CACHE,
            L2_PRIORITY,
            &[L2CacheHint],
            PREFETCH,
            VECTORS,
        ])
        .spaces(&[&[Global]])
        .typed(),
    form(&[&[Nc]])
        .may(&[L1_PRIORITY, L2_PRIORITY, &[L2CacheHint], PREFETCH, VECTORS])
        .spaces(&[&[Global]])
        .typed(),
    form(&[&[Volatile]])
        .may(&[L2_PRIORITY, PREFETCH, VECTORS])
        .spaces(&[&[Global]])
        .typed(),
    form(&[LOADING, SCOPES])
        .may(&[L1_PRIORITY, L2_PRIORITY, &[L2CacheHint], PREFETCH, VECTORS])
        .spaces(&[&[Global]])
        .typed(),
    form(&[&[Mmio], LOADING, &[Sys]])
        .spaces(&[&[Global]])
        .typed(),
    form(&[])
        .may(&[&[Weak], LOAD_CACHE, VECTORS])
        .spaces(&[UNCACHED])
        .typed(),
    form(&[])
        .may(&[&[Weak], LOAD_CACHE, VECTORS])
        .spaces(&[CONSTANTS])
        .typed(),
    form(&[&[Volatile]])
        .may(&[VECTORS])
        .spaces(&[UNCACHED])
        .typed(),
    form(&[LOADING, SCOPES])
        .may(&[VECTORS])
        .spaces(&[OF_THE_CLUSTER])
        .typed(),
];
pub(crate) const LDU: Forms = &[form(&[]).may(&[VECTORS]).spaces(&[&[Global]]).typed()];

const TO_BARRIER: &[Words] = &[&[Async], &[MbarrierBytes]];
pub(crate) const ST: Forms = &[
    form(&[])
        .may(&[&[Weak], L1_PRIORITY, L2_PRIORITY, &[L2CacheHint], VECTORS])
        .spaces(&[&[Global]])
        .typed(),
    form(&[STORE_CACHE])
        .may(&[&[Weak], L2_PRIORITY, &[L2CacheHint], VECTORS])
        .spaces(&[&[Global]])
        .typed(),
    form(&[&[Volatile]])
        .may(&[L2_PRIORITY, VECTORS])
        .spaces(&[&[Global]])
        .typed(),
    form(&[STORING, SCOPES])
        .may(&[L1_PRIORITY, L2_PRIORITY, &[L2CacheHint], VECTORS])
        .spaces(&[&[Global]])
        .typed(),
    form(&[&[Mmio], STORING, &[Sys]])
        .spaces(&[&[Global]])
        .typed(),
    form(&[])
        .may(&[&[Weak], STORE_CACHE, VECTORS])
        .spaces(&[UNCACHED])
        .typed(),
    form(&[])
        .may(&[&[Weak], STORE_CACHE, VECTORS])
        .spaces(&[&[Param, ParamFunc]])
        .typed(),
    form(&[&[Volatile]])
        .may(&[VECTORS])
        .spaces(&[UNCACHED])
        .typed(),
    form(&[STORING, SCOPES])
        .may(&[VECTORS])
        .spaces(&[OF_THE_CLUSTER])
        .typed(),
    form(TO_BARRIER)
        .may(&[&[Weak], &[V2, V4]])
        .spaces(&[&[SharedCluster]])
        .typed(),
    form(&[&[Async], &[MbarrierBytes], &[Cluster]])
        .may(&[&[V2, V4]])
        .spaces(&[&[SharedCluster]])
        .typed(),
];

const NUMBERS_IN_MEMORY: Types = &[U32, S32, U64, Type::S64, B16, B32, B64, B128, F32, F64];
pub(crate) const ATOM: Forms = &[
    form(&[OPERATORS])
        .may(&[ORDERS, SCOPES, &[L2CacheHint]])
        .spaces(&[FOR_ATOMICS])
        .types(&[NUMBERS_IN_MEMORY]),
    form(&[&[Add, Min, Max]])
        .may(&[&[Noftz], ORDERS, SCOPES, &[L2CacheHint]])
        .spaces(&[FOR_ATOMICS])
        .types(&[HALVES]),
    form(&[&[Add, Min, Max], VECTORS])
        .may(&[&[Noftz], ORDERS, SCOPES, &[L2CacheHint]])
        .spaces(&[&[Global]])
        .types(&[SUMMED]),
    form(&[&[Add]])
        .may(&[&[Noftz], ORDERS, SCOPES, &[L2CacheHint]])
        .spaces(&[FOR_ATOMICS])
        .types(&[&[F32]]),
];
/// Elements of vectors that atomics add.
const SUMMED: Types = &[F32, F16, Type::F16x2, Bf16, Type::Bf16x2];
pub(crate) const RED: Forms = &[
    form(&[REDUCTIONS])
        .may(&[STORING, SCOPES, &[L2CacheHint]])
        .spaces(&[FOR_ATOMICS])
        .types(&[NUMBERS_IN_MEMORY]),
    form(&[&[Add, Min, Max]])
        .may(&[&[Noftz], STORING, SCOPES, &[L2CacheHint]])
        .spaces(&[FOR_ATOMICS])
        .types(&[HALVES]),
    form(&[&[Add, Min, Max], VECTORS])
        .may(&[&[Noftz], STORING, SCOPES, &[L2CacheHint]])
        .spaces(&[&[Global]])
        .types(&[SUMMED]),
    form(&[&[Add]])
        .may(&[&[Noftz], STORING, SCOPES, &[L2CacheHint]])
        .spaces(&[FOR_ATOMICS])
        .types(&[&[F32]]),
    form(&[
        &[Async],
        &[Relaxed],
        &[Cluster],
        &[MbarrierBytes],
        REDUCTIONS,
    ])
    .spaces(&[&[SharedCluster]])
    .types(&[&[U32, S32, U64, B32]]),
];

const BYTES: &[Words] = &[&[Async], &[Bulk], &[MbarrierBytes]];
const GROUP: &[Words] = &[&[Async], &[Bulk], &[BulkGroup]];
const IN_SHARED: Spaces = &[SharedCta, SharedCluster];
const REDUCED: Types = &[U32, S32, U64, Type::S64, B32, B64, F16, Bf16, F32, F64];
const RANKS: Words = &[D1, D2, D3, D4, D5];
const LAYOUTS: Words = &[Tile, Im2col, Im2colNoOffs];
pub(crate) const CP: Forms = &[
    form(&[&[Async], &[Ca, Cg]])
        .may(&[&[L2CacheHint], PREFETCH])
        .spaces(&[OF_THE_BLOCK, &[Global]]),
    form(&[&[Async], &[CommitGroup, WaitGroup, WaitAll]]),
    form(&[&[Async], &[Mbarrier], &[Arrive]])
        .may(&[&[Noinc]])
        .spaces(&[OF_THE_BLOCK])
        .types(&[OBJECT]),
    form(&[&[Async], &[Bulk], &[CommitGroup]]),
    form(&[&[Async], &[Bulk], &[WaitGroup]]).may(&[&[ReadSources]]),
    form(&[&[Async], &[Bulk], &[Prefetch], &[L2]])
        .may(&[&[L2CacheHint]])
        .spaces(&[&[Global]]),
    form(BYTES)
        .may(&[&[Weak], &[MulticastCluster], &[L2CacheHint]])
        .spaces(&[IN_SHARED, &[Global]]),
    form(BYTES)
        .may(&[&[Weak]])
        .spaces(&[&[SharedCluster], &[SharedCta]]),
    form(GROUP)
        .may(&[&[Weak], &[CpMask], &[L2CacheHint]])
        .spaces(&[&[Global], &[SharedCta]]),
    form(&[&[Reduce], &[Async], &[Bulk], &[MbarrierBytes], REDUCTIONS])
        .spaces(&[&[SharedCluster], &[SharedCta]])
        .types(&[REDUCED]),
    form(&[&[Reduce], &[Async], &[Bulk], &[BulkGroup], REDUCTIONS])
        .may(&[&[L2CacheHint]])
        .spaces(&[&[Global], &[SharedCta]])
        .types(&[REDUCED]),
    form(&[&[Reduce], &[Async], &[Bulk], &[BulkGroup], &[Add], &[Noftz]])
        .may(&[&[L2CacheHint]])
        .spaces(&[&[Global], &[SharedCta]])
        .types(&[&[F16, Bf16, F32]]),
    form(&[&[Async], &[Bulk], &[Tensor], RANKS, &[MbarrierBytes]])
        .may(&[LAYOUTS, &[MulticastCluster], &[L2CacheHint]])
        .spaces(&[IN_SHARED, &[Global]]),
    form(&[&[Async], &[Bulk], &[Tensor], RANKS, &[BulkGroup]])
        .may(&[&[Tile, Im2colNoOffs], &[L2CacheHint]])
        .spaces(&[&[Global], &[SharedCta]]),
    form(&[
        &[Reduce],
        &[Async],
        &[Bulk],
        &[Tensor],
        RANKS,
        &[BulkGroup],
        REDUCTIONS,
    ])
    .may(&[&[Tile, Im2colNoOffs], &[L2CacheHint]])
    .spaces(&[&[Global], &[SharedCta]]),
    form(&[&[Async], &[Bulk], &[Prefetch], &[Tensor], RANKS, &[L2]])
        .may(&[LAYOUTS, &[L2CacheHint]])
        .spaces(&[&[Global]]),
];

pub(crate) const MBARRIER: Forms = &[
    form(&[&[Init, Inval]])
        .spaces(&[OF_THE_BLOCK])
        .types(&[OBJECT]),
    form(&[&[ExpectTx, CompleteTx]])
        .spaces(&[OF_THE_CLUSTER])
        .types(&[OBJECT]),
    form(&[&[ExpectTx, CompleteTx], &[Relaxed], &[Cta, Cluster]])
        .spaces(&[OF_THE_CLUSTER])
        .types(&[OBJECT]),
    form(&[&[Arrive, ArriveDrop]])
        .may(&[&[ExpectTx]])
        .spaces(&[OF_THE_CLUSTER])
        .types(&[OBJECT]),
    form(&[&[Arrive, ArriveDrop], STORING, &[Cta, Cluster]])
        .may(&[&[ExpectTx]])
        .spaces(&[OF_THE_CLUSTER])
        .types(&[OBJECT]),
    form(&[&[Arrive, ArriveDrop], &[NoComplete]])
        .spaces(&[OF_THE_BLOCK])
        .types(&[OBJECT]),
    form(&[&[Arrive, ArriveDrop], &[NoComplete], &[Release], &[Cta]])
        .spaces(&[OF_THE_BLOCK])
        .types(&[OBJECT]),
    form(&[&[TestWait, TryWait]])
        .may(&[&[Parity]])
        .spaces(&[OF_THE_BLOCK])
        .types(&[OBJECT]),
    form(&[&[TestWait, TryWait], LOADING, &[Cta, Cluster]])
        .may(&[&[Parity]])
        .spaces(&[OF_THE_BLOCK])
        .types(&[OBJECT]),
    form(&[&[PendingCount]]).types(&[OBJECT]),
];

pub(crate) const TENSORMAP: Forms = &[
    form(&[
        &[Replace],
        &[Tile],
        &[
            GlobalAddress,
            Rank,
            BoxDim,
            GlobalDim,
            GlobalStride,
            ElementStride,
            Elemtype,
            InterleaveLayout,
            SwizzleMode,
            SwizzleAtomicity,
            FillMode,
        ],
        &[B1024],
    ])
    .spaces(&[&[Global, SharedCta]])
    .types(&[&[B32, B64]]),
    form(&[
        &[CpFenceproxy],
        &[TensormapGeneric],
        &[Release],
        SCOPES,
        &[Sync],
        &[Aligned],
    ])
    .spaces(&[&[Global], OF_THE_BLOCK]),
];
