//! The closed vocabularies of PTX beside its opcodes: modifiers, types, state
//! spaces, special registers.
//!
//! Words that the kit has no use for are `Other`; the span of the instruction
//! still has their text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum $name { $($variant),* }

        impl $name {
            /// Every name.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The name as it is written in PTX.
            pub fn text(self) -> &'static str {
                match self { $($name::$variant => $text),* }
            }

            /// The one that is written so.
            pub fn from_text(text: &str) -> Option<Self> {
                static BY_TEXT: LazyLock<HashMap<&'static str, $name>> =
                    LazyLock::new(|| $name::ALL.iter().map(|&n| (n.text(), n)).collect());
                BY_TEXT.get(text).copied()
            }
        }
    };
}

names! {
    /// The type of a value, as in the fundamental types of the PTX ISA.
    Type {
        B8 = "b8", B16 = "b16", B32 = "b32", B64 = "b64", B128 = "b128",
        U8 = "u8", U16 = "u16", U32 = "u32", U64 = "u64",
        S8 = "s8", S16 = "s16", S32 = "s32", S64 = "s64",
        F16 = "f16", F16x2 = "f16x2", Bf16 = "bf16", Bf16x2 = "bf16x2", Tf32 = "tf32",
        F32 = "f32", F32x2 = "f32x2", F64 = "f64", U16x2 = "u16x2", S16x2 = "s16x2", Pred = "pred",
        // Small numbers, two or four in a register of bits; elements of matrices.
        E2m1x2 = "e2m1x2", E2m3x2 = "e2m3x2", E3m2x2 = "e3m2x2", E4m3x2 = "e4m3x2",
        E5m2x2 = "e5m2x2", Ue8m0x2 = "ue8m0x2", E2m1x4 = "e2m1x4", E2m3x4 = "e2m3x4",
        E3m2x4 = "e3m2x4", E4m3x4 = "e4m3x4", E5m2x4 = "e5m2x4",
        E4m3 = "e4m3", E5m2 = "e5m2", S4 = "s4", U4 = "u4", S2 = "s2", U2 = "u2", B1 = "b1",
    }
}

impl Type {
    /// Two or four floating-point numbers of at most 8 bits.
    pub const SMALL: &'static [Type] = {
        use Type::*;
        &[
            E2m1x2, E2m3x2, E3m2x2, E4m3x2, E5m2x2, Ue8m0x2, E2m1x4, E2m3x4, E3m2x4, E4m3x4, E5m2x4,
        ]
    };

    /// Size of a value in bits; 1 for predicates.
    pub fn bits(self) -> u32 {
        use Type::*;
        match self {
            Pred | B1 => 1,
            S2 | U2 => 2,
            S4 | U4 => 4,
            B8 | U8 | S8 | E4m3 | E5m2 | E2m1x2 => 8,
            B16 | U16 | S16 | F16 | Bf16 => 16,
            E2m3x2 | E3m2x2 | E4m3x2 | E5m2x2 | Ue8m0x2 | E2m1x4 => 16,
            B32 | U32 | S32 | F32 | F16x2 | Bf16x2 | Tf32 | U16x2 | S16x2 => 32,
            E2m3x4 | E3m2x4 | E4m3x4 | E5m2x4 => 32,
            B64 | U64 | S64 | F64 | F32x2 => 64,
            B128 => 128,
        }
    }

    /// The type of untyped bits of the same size; predicates stay.
    pub fn as_bits(self) -> Self {
        match self.bits() {
            1 => Type::Pred,
            8 => Type::B8,
            16 => Type::B16,
            32 => Type::B32,
            64 => Type::B64,
            _ => Type::B128,
        }
    }

    /// The integer type of twice the size: that of a wide product.
    pub fn doubled(self) -> Option<Self> {
        Some(match self {
            Type::U16 => Type::U32,
            Type::S16 => Type::S32,
            Type::U32 => Type::U64,
            Type::S32 => Type::S64,
            _ => return None,
        })
    }

    /// Size of a value in memory in bytes.
    pub fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    /// Whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(
            self,
            Type::S2 | Type::S4 | Type::S8 | Type::S16 | Type::S32 | Type::S64 | Type::S16x2
        )
    }

    /// Whether it is a floating-point number, packed ones included.
    pub fn is_float(self) -> bool {
        use Type::*;
        matches!(
            self,
            F16 | F16x2 | Bf16 | Bf16x2 | Tf32 | F32 | F32x2 | F64 | E4m3 | E5m2
        ) || self.is_small()
    }

    /// Whether values are two or four floating-point numbers of at most 8 bits.
    pub fn is_small(self) -> bool {
        Type::SMALL.contains(&self)
    }

    /// Whether values are only elements, or parts of registers of bits: no
    /// register is declared so.
    pub fn is_element(self) -> bool {
        use Type::*;
        matches!(self, E4m3 | E5m2 | S4 | U4 | S2 | U2 | B1) || self.is_small()
    }
}

names! {
    /// State space of a variable or an access.
    Space {
        Reg = "reg", Const = "const", Global = "global", Local = "local", Param = "param",
        ParamEntry = "param::entry", ParamFunc = "param::func", Shared = "shared",
        SharedCta = "shared::cta", SharedCluster = "shared::cluster", Sreg = "sreg", Tex = "tex",
    }
}

names! {
    /// Modifiers that are neither a type nor a state space.
    Word {
        // Comparison and combination.
        Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge", Lo = "lo", Ls = "ls",
        Hi = "hi", Hs = "hs", Equ = "equ", Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu",
        Geu = "geu", Num = "num", Nan = "nan", And = "and", Or = "or", Xor = "xor",
        // Rounding and range.
        Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp", Rna = "rna", Rs = "rs", Rni = "rni", Rzi = "rzi",
        Rmi = "rmi", Rpi = "rpi", Sat = "sat", Satfinite = "satfinite", Relu = "relu",
        Scaled = "scaled::n2::ue8m0", Pack = "pack", Ftz = "ftz", Approx = "approx", Full = "full", BigNan = "NaN", Xorsign = "xorsign",
        // Integer forms.
        Wide = "wide", Cc = "cc", Shiftamt = "shiftamt", Clamp = "clamp", Wrap = "wrap",
        L = "l", R = "r", F4e = "f4e", B4e = "b4e", Rc8 = "rc8", Ecl = "ecl", Ecr = "ecr",
        Rc16 = "rc16",
        // Number classes of testp.
        Finite = "finite", Infinite = "infinite", Number = "number", Notanumber = "notanumber",
        Normal = "normal", Subnormal = "subnormal",
        // Memory.
        V2 = "v2", V4 = "v4", V8 = "v8", Volatile = "volatile", Weak = "weak",
        Relaxed = "relaxed", Acquire = "acquire", Release = "release", AcqRel = "acq_rel",
        Sc = "sc", Cta = "cta", Cluster = "cluster", Gpu = "gpu", Sys = "sys", Gl = "gl",
        Mmio = "mmio", Nc = "nc", Ca = "ca", Cg = "cg", Cs = "cs", Lu = "lu", Cv = "cv", Wb = "wb",
        Wt = "wt", Unified = "unified", L1EvictNormal = "L1::evict_normal",
        L1EvictUnchanged = "L1::evict_unchanged", L1EvictFirst = "L1::evict_first",
        L1EvictLast = "L1::evict_last", L1NoAllocate = "L1::no_allocate",
        L2EvictNormal = "L2::evict_normal", L2EvictUnchanged = "L2::evict_unchanged",
        L2EvictFirst = "L2::evict_first", L2EvictLast = "L2::evict_last",
        L2CacheHint = "L2::cache_hint", L2Prefetch64 = "L2::64B", L2Prefetch128 = "L2::128B",
        L2Prefetch256 = "L2::256B", L1 = "L1", L2 = "L2", To = "to",
        Proxy = "proxy", Alias = "alias", Level = "level",
        // Atomics and reductions.
        Exch = "exch", Cas = "cas", Add = "add", Inc = "inc", Dec = "dec", Min = "min",
        Max = "max", Noftz = "noftz", Popc = "popc",
        // Warps and barriers.
        Sync = "sync", Aligned = "aligned", Arrive = "arrive", Red = "red", Wait = "wait",
        Warp = "warp", Up = "up", Down = "down", Bfly = "bfly", Idx = "idx", All = "all",
        Any = "any", Uni = "uni", Ballot = "ballot",
        // Copies and matrices.
        Async = "async", CommitGroup = "commit_group", WaitGroup = "wait_group",
        WaitAll = "wait_all", Init = "init", Inval = "inval",
        ArriveDrop = "arrive_drop", ExpectTx = "expect_tx", CompleteTx = "complete_tx",
        TestWait = "test_wait", TryWait = "try_wait", Parity = "parity",
        PendingCount = "pending_count", NoComplete = "noComplete", Noinc = "noinc", Reduce = "reduce",
        BulkGroup = "bulk_group", ReadSources = "read", MbarrierBytes = "mbarrier::complete_tx::bytes",
        Prefetch = "prefetch", MulticastCluster = "multicast::cluster", CpMask = "cp_mask",
        LaunchDependents = "launch_dependents", Bulk = "bulk", Tensor = "tensor", Mbarrier = "mbarrier",
        M8n8 = "m8n8", X1 = "x1", X2 = "x2", X4 = "x4", Trans = "trans", Load = "load",
        // Textures and surfaces.
        D1 = "1d", D2 = "2d", D3 = "3d", D4 = "4d", D5 = "5d", A1d = "a1d", A2d = "a2d", Cube = "cube",
        Acube = "acube", Base = "base", Grad = "grad", P = "p", G = "g",
        Zero = "zero", Trap = "trap", QueryWidth = "width", QueryHeight = "height",
        QueryDepth = "depth",
        ArraySize = "array_size", ChannelDataType = "channel_data_type",
        ChannelOrder = "channel_order", NormalizedCoords = "normalized_coords",
        NumMipmapLevels = "num_mipmap_levels", NumSamples = "num_samples",
        Store = "store", Mma = "mma", Row = "row", Col = "col", A = "a", B = "b", C = "c", D = "d",
        Sp = "sp", SpOrdered = "sp::ordered_metadata", MmaAsync = "mma_async", Fence = "fence",
        M8n8k4 = "m8n8k4", M8n8k16 = "m8n8k16", M8n8k32 = "m8n8k32", M8n8k128 = "m8n8k128",
        M16n8k4 = "m16n8k4", M16n8k8 = "m16n8k8", M16n8k16 = "m16n8k16", M16n8k32 = "m16n8k32",
        M16n8k64 = "m16n8k64", M16n8k128 = "m16n8k128", M16n8k256 = "m16n8k256",
        M16n16k8 = "m16n16k8", M16n16k16 = "m16n16k16", M8n32k16 = "m8n32k16",
        M32n8k16 = "m32n8k16",
        // Tensor maps.
        Tile = "tile", Im2col = "im2col", Im2colNoOffs = "im2col_no_offs", Replace = "replace",
        CpFenceproxy = "cp_fenceproxy", B1024 = "b1024", Tensormap = "tensormap",
        MbarrierInit = "mbarrier_init", AsyncGeneric = "async::generic",
        RestrictCta = "sync_restrict::shared::cta",
        RestrictCluster = "sync_restrict::shared::cluster",
        TensormapGeneric = "tensormap::generic", GlobalAddress = "global_address", Rank = "rank",
        BoxDim = "box_dim", GlobalDim = "global_dim", GlobalStride = "global_stride",
        ElementStride = "element_stride", Elemtype = "elemtype",
        InterleaveLayout = "interleave_layout", SwizzleMode = "swizzle_mode",
        SwizzleAtomicity = "swizzle_atomicity", FillMode = "fill_mode",
        // Video instructions, float reductions.
        Po = "po", Shr7 = "shr7", Shr15 = "shr15", Abs = "abs",
        Other = "another modifier",
    }
}

/// Bytes or halves that an operand of a video instruction names: `.b0`,
/// `.h1`, `.b7654`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Selector {
    /// Halves of 16 bits; else bytes.
    pub halves: bool,
    /// The part that each place takes, the lowest place first.
    parts: [u8; 4],
    count: u8,
}

impl Selector {
    /// The selector that is written `text` (without its dot).
    pub fn from_text(text: &str) -> Option<Self> {
        let (halves, digits) = match text.as_bytes() {
            [b'b', digits @ ..] => (false, digits),
            [b'h', digits @ ..] => (true, digits),
            _ => return None,
        };
        let (most, last) = if halves { (2, b'3') } else { (4, b'7') };
        if !(1..=most).contains(&digits.len()) || digits.iter().any(|d| !(b'0'..=last).contains(d))
        {
            return None;
        }
        let mut parts = [0; 4];
        for (part, digit) in parts.iter_mut().zip(digits.iter().rev()) {
            *part = digit - b'0';
        }
        let count = digits.len() as u8;
        Some(Selector {
            halves,
            parts,
            count,
        })
    }

    /// The parts, that of the lowest place first.
    pub fn parts(&self) -> &[u8] {
        &self.parts[..usize::from(self.count)]
    }
}

/// The shape of a product of `wgmma`, which has 64 rows: `.m64n128k16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GroupShape {
    /// An eighth of the columns.
    eighths: u8,
    /// The length of the inner products, as a power of two.
    log2_k: u8,
}

impl GroupShape {
    /// The shape that is written `text` (without its dot).
    pub fn from_text(text: &str) -> Option<Self> {
        let (n, k) = text.strip_prefix("m64n")?.split_once('k')?;
        let [n, k] = [n, k].map(|digits| digits.parse::<u32>().ok());
        let shape = |n: u32, k: u32| GroupShape {
            eighths: (n / 8) as u8,
            log2_k: k.ilog2() as u8,
        };
        let n = n.filter(|n| (8..=256).contains(n) && n % 8 == 0)?;
        let k = k.filter(|k| k.is_power_of_two() && *k <= 256)?;
        let shape = shape(n, k);
        (shape.text() == text).then_some(shape)
    }

    /// The shape as it is written in PTX, without its dot.
    pub fn text(self) -> String {
        format!("m64n{}k{}", self.columns(), self.k())
    }

    /// Columns of the result.
    pub fn columns(self) -> u32 {
        8 * u32::from(self.eighths)
    }

    /// The length of the inner products.
    pub fn k(self) -> u32 {
        1 << self.log2_k
    }
}

/// A `.word` after the opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modifier {
    /// A type, `.u32`.
    Type(Type),
    /// A state space, `.global`.
    Space(Space),
    /// The shape of a product of a warpgroup.
    Group(GroupShape),
    /// Anything else, `.rn`.
    Word(Word),
}

impl Modifier {
    /// The modifier that is written `text` (without its dot).
    pub fn from_text(text: &str) -> Self {
        if let Some(ty) = Type::from_text(text) {
            return Modifier::Type(ty);
        }
        if let Some(space) = Space::from_text(text) {
            return Modifier::Space(space);
        }
        if let Some(shape) = GroupShape::from_text(text) {
            return Modifier::Group(shape);
        }
        Modifier::Word(Word::from_text(text).unwrap_or(Word::Other))
    }

    /// The modifier as it is written in PTX, without its dot.
    pub fn text(self) -> Cow<'static, str> {
        match self {
            Modifier::Type(ty) => ty.text().into(),
            Modifier::Space(space) => space.text().into(),
            Modifier::Group(shape) => shape.text().into(),
            Modifier::Word(word) => word.text().into(),
        }
    }
}

names! {
    /// Registers that the machine sets.
    Special {
        TidX = "%tid.x", TidY = "%tid.y", TidZ = "%tid.z",
        NtidX = "%ntid.x", NtidY = "%ntid.y", NtidZ = "%ntid.z",
        CtaidX = "%ctaid.x", CtaidY = "%ctaid.y", CtaidZ = "%ctaid.z",
        NctaidX = "%nctaid.x", NctaidY = "%nctaid.y", NctaidZ = "%nctaid.z",
        Laneid = "%laneid", Warpid = "%warpid", Nwarpid = "%nwarpid", Smid = "%smid",
        Nsmid = "%nsmid", Gridid = "%gridid", LanemaskEq = "%lanemask_eq",
        LanemaskLe = "%lanemask_le", LanemaskLt = "%lanemask_lt", LanemaskGe = "%lanemask_ge",
        LanemaskGt = "%lanemask_gt", Clock = "%clock", ClockHi = "%clock_hi",
        Clock64 = "%clock64", Globaltimer = "%globaltimer", GlobaltimerLo = "%globaltimer_lo",
        GlobaltimerHi = "%globaltimer_hi", DynamicSmemSize = "%dynamic_smem_size",
        TotalSmemSize = "%total_smem_size", AggrSmemSize = "%aggr_smem_size",
        ReservedSmemBegin = "%reserved_smem_offset_begin",
        ReservedSmemEnd = "%reserved_smem_offset_end",
        ReservedSmemCap = "%reserved_smem_offset_cap",
        ReservedSmem0 = "%reserved_smem_offset_0", ReservedSmem1 = "%reserved_smem_offset_1",
        Envreg = "%envreg", Envreg1 = "%envreg1", Envreg2 = "%envreg2",
        ClusteridX = "%clusterid.x", ClusteridY = "%clusterid.y", ClusteridZ = "%clusterid.z",
        NclusteridX = "%nclusterid.x", NclusteridY = "%nclusterid.y",
        NclusteridZ = "%nclusterid.z", ClusterCtaidX = "%cluster_ctaid.x",
        ClusterCtaidY = "%cluster_ctaid.y", ClusterCtaidZ = "%cluster_ctaid.z",
        ClusterNctaidX = "%cluster_nctaid.x", ClusterNctaidY = "%cluster_nctaid.y",
        ClusterNctaidZ = "%cluster_nctaid.z", ClusterCtarank = "%cluster_ctarank",
        ClusterNctarank = "%cluster_nctarank",
        Other = "another special register",
    }
}

/// Names of special registers that no supported instruction reads, without
/// what follows a dot or a number.
const OTHER_SPECIAL: &[&str] = &[
    "%cluster",
    "%nclusterid",
    "%is_explicit_cluster",
    "%pm",
    "%current_graph_exec",
    "%smem",
];

impl Special {
    /// Whether the driver fills it: zero without a cooperative launch, in which two of
    /// them have the address of the barrier of the whole grid.
    pub fn is_of_the_driver(self) -> bool {
        matches!(self, Special::Envreg | Special::Envreg1 | Special::Envreg2)
    }

    /// The special register of that name; [`Special::Other`] for those that
    /// the kit does not model.
    pub fn named(name: &str) -> Option<Special> {
        let known = Special::from_text(name).filter(|&s| s != Special::Other);
        // The driver fills these; two of them have the address that a barrier of
        // the whole grid needs, and nothing tells the others apart.
        if matches!(known, Some(Special::Envreg1 | Special::Envreg2)) {
            return known;
        }
        let number = name.strip_prefix(Special::Envreg.text());
        if let Some(number) = number.and_then(|n| n.parse::<u32>().ok()) {
            return (number < 32).then_some(Special::Envreg);
        }
        let other = || OTHER_SPECIAL.iter().any(|prefix| name.starts_with(prefix));
        known.or_else(|| other().then_some(Special::Other))
    }

    /// Whether it tells where the shared memory lies that CUDA keeps for
    /// itself; see [`SharedMemory::reserved`](super::shared::SharedMemory).
    pub fn is_reserved_shared(self) -> bool {
        use Special::*;
        matches!(
            self,
            ReservedSmemBegin | ReservedSmemEnd | ReservedSmemCap | ReservedSmem0 | ReservedSmem1
        )
    }

    /// Size in bits.
    pub fn bits(self) -> u32 {
        match self {
            Special::Clock64 | Special::Globaltimer | Special::Gridid => 64,
            _ => 32,
        }
    }
}
