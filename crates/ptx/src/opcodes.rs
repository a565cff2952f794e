//! The opcodes of PTX, a row each: all that decoding, execution, folding and
//! the analyses know of an opcode without its modifiers.
//!
//! What an instruction computes is elsewhere, once for each kind of value:
//! bits in `scalar`, known bits and affine expressions in `analysis`.
//! They take the types of the operands from here.

use super::names::Type;
use std::collections::HashMap;
use std::sync::LazyLock;

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
const PAIRS: Types = &[U16x2, S16x2];
/// Two numbers of single precision in 64 bits.
const SINGLES: Types = &[F32x2];
const SIGNED: Types = &[S16, S32, S64];
const BITS_OR_PREDICATE: &[Types] = &[BITS, &[Pred]];
const VALUES: &[Types] = &[BITS, INTEGERS, FLOATS];
const IN_MEMORY: &[Types] = &[BITS, INTEGERS, FLOATS, &[B8, U8, S8, B128]];

/// The types that `cvt` converts from and to.
pub(crate) const CONVERTED: &[Types] = &[INTEGERS, HALVES, FLOATS, Type::SMALL, &[U8, S8, Tf32]];

/// The form of an opcode's instructions: how they are decoded, and what
/// defines their results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Of integers, or of floating-point numbers where the type is one.
    Arithmetic,
    /// A quotient: as arithmetic, and of floating-point numbers a function.
    Quotient,
    /// Logic, shifts, bit fields.
    Bits,
    /// Comparisons and selections.
    Compare,
    /// A root or a transcendental function.
    Function,
    Convert,
    /// Of bytes and halves, with a second operation.
    Video,
    Move,
    Load,
    Store,
    Atomic,
    /// An asynchronous copy, or a wait for copies.
    Copy,
    LoadMatrix,
    StoreMatrix,
    ConvertAddress,
    TestSpace,
    /// Of shared memory in a cluster.
    ClusterAddress,
    Branch,
    IndexedBranch,
    Call,
    Return,
    Exit,
    Trap,
    Barrier,
    Fence,
    /// A read, write or question of a texture or a surface.
    Texture,
    /// An `mbarrier` object.
    Mbarrier,
    /// Changes or copies a tensor map.
    TensorMap,
    /// Between the lanes of a warp.
    Warp,
    /// A product of matrices, or a load, store or wait of one.
    Tensor,
    /// Changes nothing that a program can see.
    Hint,
    /// The executor refuses it, and says why.
    Refused(&'static str),
}

/// What the first operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// The result.
    Written,
    /// A source: there is no result.
    Read,
    /// The result of a reduction, else a source.
    WrittenByReduction,
    /// The result, which is also a source.
    Accumulated,
}

/// The type of an operand, from the types that the instruction names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// The first.
    First,
    /// The second.
    Second,
    /// Twice the first with `.wide`, else the first.
    Product,
    /// 32 bits, with a sign where one of the two types has one.
    Dot,
    Is(Type),
}

/// What a result may be the address of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// What one of the sources is; next to an address the others are indices.
    Sum,
    /// What one of the first two sources is.
    Choice,
    /// Nothing: it is a number.
    Number,
    /// What the source is, in another space.
    Converted,
    /// Whatever was stored, or passed as a parameter.
    Loaded,
    /// Whatever was in memory.
    Memory,
    /// Whatever the function returns.
    Returned,
}

/// What is known of an opcode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub class: Class,
    /// The types that it has, as a union; empty where its form says it, or
    /// where it has none.
    pub types: &'static [Types],
    pub first: First,
    /// Types of the result and of the sources, where these are plain values.
    pub result: Of,
    pub sources: &'static [Of],
    /// How many of the sources, from the last, may be left out.
    pub optional: usize,
    pub address: Address,
    /// Whether lanes have different results whatever the operands are. Of
    /// loads the place says it.
    pub differs: bool,
    /// Why a result is not affine in the sources, where it is not.
    pub not_affine: &'static str,
}

const fn row(class: Class) -> Row {
    Row {
        class,
        types: &[],
        first: First::Written,
        result: Of::First,
        sources: &[],
        optional: 0,
        address: Address::Sum,
        differs: false,
        not_affine: "an instruction that is not affine",
    }
}

impl Row {
    const fn types(self, types: &'static [Types]) -> Row {
        Row { types, ..self }
    }

    const fn takes(self, sources: &'static [Of]) -> Row {
        Row { sources, ..self }
    }

    const fn optional(self, optional: usize) -> Row {
        Row { optional, ..self }
    }

    const fn gives(self, result: Of) -> Row {
        Row { result, ..self }
    }

    const fn first(self, first: First) -> Row {
        Row { first, ..self }
    }

    const fn address(self, address: Address) -> Row {
        Row { address, ..self }
    }

    const fn differs(self) -> Row {
        let differs = true;
        Row { differs, ..self }
    }

    const fn not_affine(self, not_affine: &'static str) -> Row {
        Row { not_affine, ..self }
    }
}

macro_rules! opcodes {
    ($($variant:ident $text:literal $row:expr,)*) => {
        /// The first word of an instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs)]
        pub enum Opcode { $($variant),* }

        const ROWS: &[Row] = {
            use Class::*;
            &[$($row),*]
        };

        impl Opcode {
            /// All of them.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$variant),*];

            /// As it is written in PTX.
            pub fn text(self) -> &'static str {
                const TEXTS: &[&str] = &[$($text),*];
                TEXTS[self as usize]
            }
        }
    };
}

impl Opcode {
    /// The one that is written so.
    pub fn from_text(text: &str) -> Option<Self> {
        static BY_TEXT: LazyLock<HashMap<&'static str, Opcode>> =
            LazyLock::new(|| Opcode::ALL.iter().map(|&o| (o.text(), o)).collect());
        BY_TEXT.get(text).copied()
    }

    /// What is known of it.
    pub(crate) fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// What its instructions are.
    pub(crate) fn class(self) -> Class {
        self.row().class
    }
}

const MASKING: &str = "masking";
const DIVISION: &str = "division";
const PRODUCT: &str = "a product of values that both vary";
const DATA: &str = "data from memory";
const EXTREME: &str = "minimum or maximum";
const SELECTION: &str = "a selection";
const LANES: &str = "data of other lanes";
const COUNT: &str = "a permutation or count of bits";

const OWN: Of = Of::First;
const WORD: Of = Of::Is(U32);
const RAW: Of = Of::Is(B32);
const FLAG: Of = Of::Is(Pred);

const INT: &[Types] = &[INTEGERS];
const INT_FLOAT: &[Types] = &[INTEGERS, FLOATS];
const SIGNED_HALF_FLOAT: &[Types] = &[SIGNED, HALVES, FLOATS];
const WORDS: &[Types] = &[&[B32, B64]];

const TENSOR_MEMORY: Class =
    Class::Refused("tensor memory and its tensor cores (`tcgen05` of sm_100) are not supported");
const UNKNOWN: Class = Class::Refused("this instruction is not supported");

/// A read of a texture or a surface.
const fn texture() -> Row {
    row(Class::Texture)
        .address(Address::Memory)
        .differs()
        .not_affine(DATA)
}

/// A video instruction: of words, whose bytes and halves may be meant.
const fn video() -> Row {
    let row = row(Class::Video).types(&[&[U32, S32]]).gives(WORD);
    row.takes(&[WORD, WORD, WORD]).address(Address::Number)
}

/// An instruction of the warp.
const fn warp() -> Row {
    row(Class::Warp).differs().not_affine(LANES)
}

/// A function of one floating-point number.
const fn function(types: &'static [Types]) -> Row {
    row(Class::Function).types(types).takes(&[OWN])
}

/// An instruction without a result.
const fn no_result(class: Class) -> Row {
    row(class).first(First::Read)
}

opcodes! {
    Abs "abs" row(Arithmetic).types(SIGNED_HALF_FLOAT).takes(&[OWN]),
    Activemask "activemask" warp().address(Address::Number),
    Add "add" row(Arithmetic).types(&[INTEGERS, PAIRS, HALVES, FLOATS, SINGLES]).takes(&[OWN, OWN]),
    Addc "addc" row(Arithmetic).types(INT).takes(&[OWN, OWN]).differs(),
    And "and" row(Bits).types(BITS_OR_PREDICATE).takes(&[OWN, OWN]).not_affine(MASKING),
    Applypriority "applypriority" no_result(Hint),
    Atom "atom" row(Atomic).address(Address::Memory).differs().not_affine("the result of an atomic"),
    Bar "bar" row(Barrier).first(First::WrittenByReduction).differs(),
    Barrier "barrier" row(Barrier).first(First::WrittenByReduction).differs(),
    Bfe "bfe" row(Bits).types(&[WIDE_INTEGERS]).takes(&[OWN, WORD, WORD]).not_affine(MASKING),
    Bfi "bfi" row(Bits).types(WORDS).takes(&[OWN, OWN, WORD, WORD]),
    Bfind "bfind" row(Bits).types(&[WIDE_INTEGERS]).takes(&[OWN]).gives(WORD)
        .address(Address::Number).not_affine(COUNT),
    Bmsk "bmsk" row(Bits).takes(&[WORD, WORD]).gives(RAW).not_affine(MASKING),
    Bra "bra" no_result(Branch),
    Brev "brev" row(Bits).types(WORDS).takes(&[OWN]).not_affine(COUNT),
    Brkpt "brkpt" no_result(Hint),
    Brx "brx" no_result(IndexedBranch),
    Call "call" row(Class::Call).address(Address::Returned).differs()
        .not_affine("the result of a call"),
    Clz "clz" row(Bits).types(WORDS).takes(&[OWN]).gives(WORD)
        .address(Address::Number).not_affine(COUNT),
    Cnot "cnot" row(Bits).types(&[BITS]).takes(&[OWN]),
    Copysign "copysign" row(Bits).types(&[FLOATS]).takes(&[OWN, OWN]),
    Cos "cos" function(&[&[F32]]),
    Cp "cp" no_result(Copy),
    // The policy says nothing here: only that it is there.
    Createpolicy "createpolicy" row(Hint).address(Address::Number),
    Cvt "cvt" row(Convert).types(CONVERTED).takes(&[Of::Second]).not_affine("a conversion"),
    Cvta "cvta" row(ConvertAddress).takes(&[OWN]).address(Address::Converted),
    Discard "discard" no_result(Hint),
    Div "div" row(Quotient).types(INT_FLOAT).takes(&[OWN, OWN])
        .address(Address::Number).not_affine(DIVISION),
    Dp2a "dp2a" row(Bits).takes(&[RAW, RAW, Of::Dot]).gives(Of::Dot),
    Dp4a "dp4a" row(Bits).takes(&[RAW, RAW, Of::Dot]).gives(Of::Dot),
    Elect "elect" warp(),
    Ex2 "ex2" function(&[HALVES, &[F32]]),
    Exit "exit" no_result(Class::Exit),
    Fence "fence" no_result(Class::Fence),
    Fma "fma" row(Arithmetic).types(&[HALVES, FLOATS, SINGLES]).takes(&[OWN, OWN, OWN]),
    Fns "fns" row(Bits).takes(&[RAW, RAW, Of::Is(S32)]).gives(RAW).not_affine(COUNT),
    Getctarank "getctarank" row(ClusterAddress).address(Address::Number),
    Griddepcontrol "griddepcontrol" no_result(Hint),
    Isspacep "isspacep" row(TestSpace).address(Address::Number),
    Ld "ld" row(Load).types(IN_MEMORY).address(Address::Loaded).not_affine(DATA),
    Ldmatrix "ldmatrix" row(LoadMatrix).address(Address::Memory).differs().not_affine(DATA),
    Ldu "ldu" row(Load).types(IN_MEMORY).address(Address::Loaded).not_affine(DATA),
    Lg2 "lg2" function(&[&[F32]]),
    Lop3 "lop3" row(Bits).types(&[&[B32]]).takes(&[RAW, RAW, RAW, WORD]).not_affine(MASKING),
    Mad "mad" row(Arithmetic).types(INT_FLOAT).takes(&[OWN, OWN, Of::Product]).gives(Of::Product)
        .not_affine(PRODUCT),
    Mad24 "mad24" row(Arithmetic).types(&[&[U32, S32]]).takes(&[OWN, OWN, OWN]).not_affine(PRODUCT),
    Madc "madc" row(Arithmetic).types(INT).takes(&[OWN, OWN, OWN]).differs(),
    Match "match" warp().address(Address::Number),
    Max "max" row(Arithmetic).types(&[INTEGERS, PAIRS, HALVES, FLOATS]).takes(&[OWN, OWN])
        .address(Address::Choice).not_affine(EXTREME),
    Mapa "mapa" row(ClusterAddress).not_affine("an address in a cluster"),
    Mbarrier "mbarrier" row(Class::Mbarrier).address(Address::Number).differs().not_affine(DATA),
    Membar "membar" no_result(Class::Fence),
    Min "min" row(Arithmetic).types(&[INTEGERS, PAIRS, HALVES, FLOATS]).takes(&[OWN, OWN])
        .address(Address::Choice).not_affine(EXTREME),
    Mma "mma" row(Tensor).differs(),
    Mov "mov" row(Move).types(&[BITS, INTEGERS, FLOATS, &[Pred, B128]])
        .not_affine("a special register or part of a value"),
    Movmatrix "movmatrix" row(Warp).differs(),
    Mul "mul" row(Arithmetic).types(&[INTEGERS, HALVES, FLOATS, SINGLES]).takes(&[OWN, OWN]).gives(Of::Product)
        .not_affine(PRODUCT),
    Mul24 "mul24" row(Arithmetic).types(&[&[U32, S32]]).takes(&[OWN, OWN]).not_affine(PRODUCT),
    Nanosleep "nanosleep" no_result(Hint),
    Neg "neg" row(Arithmetic).types(SIGNED_HALF_FLOAT).takes(&[OWN]),
    Not "not" row(Bits).types(BITS_OR_PREDICATE).takes(&[OWN]).not_affine(MASKING),
    Or "or" row(Bits).types(BITS_OR_PREDICATE).takes(&[OWN, OWN]).not_affine(MASKING),
    Pmevent "pmevent" no_result(Hint),
    Popc "popc" row(Bits).types(WORDS).takes(&[OWN]).gives(WORD)
        .address(Address::Number).not_affine(COUNT),
    Prefetch "prefetch" no_result(Hint),
    Prefetchu "prefetchu" no_result(Hint),
    Prmt "prmt" row(Bits).types(&[&[B32]]).takes(&[RAW, RAW, RAW]).gives(RAW).not_affine(COUNT),
    Rcp "rcp" function(&[FLOATS]),
    Red "red" no_result(Atomic),
    Redux "redux" warp(),
    Rem "rem" row(Arithmetic).types(INT).takes(&[OWN, OWN])
        .address(Address::Number).not_affine(DIVISION),
    Ret "ret" no_result(Return),
    Rsqrt "rsqrt" function(&[FLOATS]),
    Sad "sad" row(Arithmetic).types(INT).takes(&[OWN, OWN, OWN]),
    Selp "selp" row(Compare).types(VALUES).takes(&[OWN, OWN, FLAG])
        .address(Address::Choice).not_affine(SELECTION),
    Set "set" row(Compare).types(&[BITS, INTEGERS, HALVES, FLOATS])
        .takes(&[Of::Second, Of::Second, FLAG]).optional(1).address(Address::Number),
    Setmaxnreg "setmaxnreg" no_result(Hint),
    Setp "setp" row(Compare).types(&[BITS, INTEGERS, HALVES, FLOATS])
        .takes(&[OWN, OWN, FLAG]).optional(1).gives(FLAG).address(Address::Number),
    Shf "shf" row(Bits).types(&[&[B32]]).takes(&[RAW, RAW, WORD]).not_affine(DIVISION),
    Shfl "shfl" warp().address(Address::Choice),
    Shl "shl" row(Bits).types(&[BITS]).takes(&[OWN, WORD]).not_affine(PRODUCT),
    Shr "shr" row(Bits).types(&[BITS, INTEGERS]).takes(&[OWN, WORD]).not_affine(DIVISION),
    Sin "sin" function(&[&[F32]]),
    Slct "slct" row(Compare).types(VALUES).takes(&[OWN, OWN, Of::Second])
        .address(Address::Choice).not_affine(SELECTION),
    Sqrt "sqrt" function(&[FLOATS]),
    St "st" no_result(Store).types(IN_MEMORY),
    Stmatrix "stmatrix" no_result(StoreMatrix),
    Suld "suld" texture(),
    Suq "suq" texture(),
    Sured "sured" no_result(Texture),
    Sust "sust" no_result(Texture),
    Sub "sub" row(Arithmetic).types(&[INTEGERS, HALVES, FLOATS, SINGLES]).takes(&[OWN, OWN]),
    Subc "subc" row(Arithmetic).types(INT).takes(&[OWN, OWN]).differs(),
    Szext "szext" row(Bits).takes(&[OWN, WORD]),
    Tanh "tanh" function(&[HALVES, &[F32]]),
    Tcgen05 "tcgen05" row(TENSOR_MEMORY).differs(),
    Tensormap "tensormap" no_result(TensorMap),
    Testp "testp" row(Compare).types(&[FLOATS]).takes(&[OWN]).gives(FLAG).address(Address::Number),
    Tex "tex" texture(),
    Tld4 "tld4" texture(),
    Trap "trap" no_result(Class::Trap),
    Txq "txq" texture(),
    Vabsdiff "vabsdiff" video().optional(1),
    Vabsdiff2 "vabsdiff2" video(),
    Vabsdiff4 "vabsdiff4" video(),
    Vadd "vadd" video().optional(1),
    Vadd2 "vadd2" video(),
    Vadd4 "vadd4" video(),
    Vavrg2 "vavrg2" video(),
    Vavrg4 "vavrg4" video(),
    Vmad "vmad" video(),
    Vmax "vmax" video().optional(1),
    Vmax2 "vmax2" video(),
    Vmax4 "vmax4" video(),
    Vmin "vmin" video().optional(1),
    Vmin2 "vmin2" video(),
    Vmin4 "vmin4" video(),
    Vset "vset" video().optional(1),
    Vset2 "vset2" video(),
    Vset4 "vset4" video(),
    Vshl "vshl" video().optional(1),
    Vshr "vshr" video().optional(1),
    Vsub "vsub" video().optional(1),
    Vsub2 "vsub2" video(),
    Vsub4 "vsub4" video(),
    Vote "vote" warp().address(Address::Number),
    Wgmma "wgmma" row(Tensor).first(First::Accumulated).differs(),
    Wmma "wmma" row(Tensor).differs(),
    Xor "xor" row(Bits).types(BITS_OR_PREDICATE).takes(&[OWN, OWN]).not_affine(MASKING),
    Other "another instruction" row(UNKNOWN).differs(),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_opcode_has_a_text_of_its_own() {
        for &opcode in Opcode::ALL {
            assert_eq!(Opcode::from_text(opcode.text()), Some(opcode));
        }
    }

    /// Where the scalar definitions say the result, the row says the types.
    #[test]
    fn plain_values_have_types() {
        use Class::*;
        for &opcode in Opcode::ALL {
            let plain = matches!(
                opcode.class(),
                Arithmetic
                    | Quotient
                    | Bits
                    | Compare
                    | Function
                    | Convert
                    | ConvertAddress
                    | Video
            );
            let row = opcode.row();
            assert_eq!(plain, !row.sources.is_empty(), "{}", opcode.text());
            assert!(row.optional < row.sources.len().max(1), "{}", opcode.text());
        }
    }
}
