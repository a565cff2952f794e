//! The opcodes of PTX, a row each: all that decoding, execution, folding and
//! the analyses know of an opcode without its modifiers.
//!
//! What an instruction computes is elsewhere, once for each kind of value:
//! bits in `scalar`, known bits and affine expressions in `analysis`.
//! They take the types of the operands from here.

mod row;
mod types;
mod words;

use super::names::Type;
use std::collections::HashMap;
use std::sync::LazyLock;

use row::row;
use types::{BITS_OR_PREDICATE, IN_MEMORY, PAIRS, SIGNED, SINGLES, VALUES};
use words::*;

pub(crate) use row::{Address, Class, First, Of, Row};
pub(crate) use types::{BITS, CONVERTED, FLOATS, HALVES, INTEGERS, Types, WIDE_INTEGERS};
pub(crate) use words::{Syntax, Words};

use Type::{B32, B64, B128, F32, Pred, S32, U32};

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
            /// Every opcode.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$variant),*];

            /// The opcode as it is written in PTX.
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

    /// Facts about the opcode.
    pub(crate) fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// Class of its instructions.
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
    Abs "abs" row(Arithmetic).types(SIGNED_HALF_FLOAT).takes(&[OWN]).words(ABS),
    Activemask "activemask" warp().address(Address::Number).words(OF_WORDS),
    Add "add" row(Arithmetic).types(&[INTEGERS, PAIRS, HALVES, FLOATS, SINGLES]).takes(&[OWN, OWN])
        .words(ADD),
    Addc "addc" row(Arithmetic).types(INT).takes(&[OWN, OWN]).differs().words(ADDC),
    And "and" row(Bits).types(BITS_OR_PREDICATE).takes(&[OWN, OWN]).not_affine(MASKING)
        .words(PLAIN),
    Applypriority "applypriority" no_result(Hint),
    Atom "atom" row(Atomic).address(Address::Memory).differs().not_affine("the result of an atomic")
        .words(ATOM),
    Bar "bar" row(Barrier).first(First::WrittenByReduction).differs().words(BAR),
    Barrier "barrier" row(Barrier).first(First::WrittenByReduction).differs().words(BARRIER),
    Bfe "bfe" row(Bits).types(&[WIDE_INTEGERS]).takes(&[OWN, WORD, WORD]).not_affine(MASKING)
        .words(PLAIN),
    Bfi "bfi" row(Bits).types(WORDS).takes(&[OWN, OWN, WORD, WORD]).words(PLAIN),
    Bfind "bfind" row(Bits).types(&[WIDE_INTEGERS]).takes(&[OWN]).gives(WORD)
        .address(Address::Number).not_affine(COUNT).words(BFIND),
    Bmsk "bmsk" row(Bits).takes(&[WORD, WORD]).gives(RAW).not_affine(MASKING).words(BMSK),
    Bra "bra" no_result(Branch).words(BRANCH),
    Brev "brev" row(Bits).types(WORDS).takes(&[OWN]).not_affine(COUNT).words(PLAIN),
    Brkpt "brkpt" no_result(Hint),
    Brx "brx" no_result(IndexedBranch).words(BRX),
    Call "call" row(Class::Call).address(Address::Returned).differs()
        .not_affine("the result of a call").words(BRANCH),
    Clz "clz" row(Bits).types(WORDS).takes(&[OWN]).gives(WORD)
        .address(Address::Number).not_affine(COUNT).words(PLAIN),
    Cnot "cnot" row(Bits).types(&[BITS]).takes(&[OWN]).words(PLAIN),
    Copysign "copysign" row(Bits).types(&[FLOATS]).takes(&[OWN, OWN]).words(PLAIN),
    Cos "cos" function(&[&[F32]]).words(OF_FUNCTIONS),
    Cp "cp" no_result(Copy).words(CP),
    // The policy says nothing here: only that it is there.
    Createpolicy "createpolicy" row(Hint).address(Address::Number),
    Cvt "cvt" row(Convert).types(CONVERTED).takes(&[Of::Second]).not_affine("a conversion")
        .words(CVT),
    Cvta "cvta" row(ConvertAddress).takes(&[OWN]).address(Address::Converted).words(CVTA),
    Discard "discard" no_result(Hint),
    Div "div" row(Quotient).types(INT_FLOAT).takes(&[OWN, OWN])
        .address(Address::Number).not_affine(DIVISION).words(OF_FUNCTIONS),
    Dp2a "dp2a" row(Bits).takes(&[RAW, RAW, Of::Dot]).gives(Of::Dot).words(DP2A),
    Dp4a "dp4a" row(Bits).takes(&[RAW, RAW, Of::Dot]).gives(Of::Dot).words(DP4A),
    Elect "elect" warp().words(ELECT),
    Ex2 "ex2" function(&[HALVES, &[F32]]).words(OF_FUNCTIONS),
    Exit "exit" no_result(Class::Exit),
    Fence "fence" no_result(Class::Fence).words(FENCE),
    Fma "fma" row(Arithmetic).types(&[HALVES, FLOATS, SINGLES]).takes(&[OWN, OWN, OWN]).words(FMA),
    Fns "fns" row(Bits).takes(&[RAW, RAW, Of::Is(S32)]).gives(RAW).not_affine(COUNT)
        .words(OF_WORDS),
    Getctarank "getctarank" row(ClusterAddress).address(Address::Number).words(OF_THE_RANK),
    Griddepcontrol "griddepcontrol" no_result(Hint),
    Isspacep "isspacep" row(TestSpace).address(Address::Number).words(ISSPACEP),
    Ld "ld" row(Load).types(IN_MEMORY).address(Address::Loaded).not_affine(DATA).words(LD),
    Ldmatrix "ldmatrix" row(LoadMatrix).address(Address::Memory).differs().not_affine(DATA)
        .words(OF_MATRICES),
    Ldu "ldu" row(Load).types(IN_MEMORY).address(Address::Loaded).not_affine(DATA).words(LDU),
    Lg2 "lg2" function(&[&[F32]]).words(OF_FUNCTIONS),
    Lop3 "lop3" row(Bits).types(&[&[B32]]).takes(&[RAW, RAW, RAW, WORD]).not_affine(MASKING)
        .words(LOP3),
    Mad "mad" row(Arithmetic).types(INT_FLOAT).takes(&[OWN, OWN, Of::Product]).gives(Of::Product)
        .not_affine(PRODUCT).words(MAD),
    Mad24 "mad24" row(Arithmetic).types(&[&[U32, S32]]).takes(&[OWN, OWN, OWN]).not_affine(PRODUCT)
        .words(MAD24),
    Madc "madc" row(Arithmetic).types(INT).takes(&[OWN, OWN, OWN]).differs().words(MADC),
    Match "match" warp().address(Address::Number).words(MATCH),
    Max "max" row(Arithmetic).types(&[INTEGERS, PAIRS, HALVES, FLOATS]).takes(&[OWN, OWN])
        .address(Address::Choice).not_affine(EXTREME).words(EXTREMES),
    Mapa "mapa" row(ClusterAddress).not_affine("an address in a cluster").words(OF_THE_RANK),
    Mbarrier "mbarrier" row(Class::Mbarrier).address(Address::Number).differs().not_affine(DATA)
        .words(MBARRIER),
    Membar "membar" no_result(Class::Fence).words(MEMBAR),
    Min "min" row(Arithmetic).types(&[INTEGERS, PAIRS, HALVES, FLOATS]).takes(&[OWN, OWN])
        .address(Address::Choice).not_affine(EXTREME).words(EXTREMES),
    Mma "mma" row(Tensor).differs().words(MMA),
    Mov "mov" row(Move).types(&[BITS, INTEGERS, FLOATS, &[Pred, B128]])
        .not_affine("a special register or part of a value").words(MOV),
    Movmatrix "movmatrix" row(Warp).differs().words(MOVMATRIX),
    Mul "mul" row(Arithmetic).types(&[INTEGERS, HALVES, FLOATS, SINGLES])
        .takes(&[OWN, OWN]).gives(Of::Product)
        .not_affine(PRODUCT).words(MUL),
    Mul24 "mul24" row(Arithmetic).types(&[&[U32, S32]]).takes(&[OWN, OWN]).not_affine(PRODUCT)
        .words(MUL24),
    Nanosleep "nanosleep" no_result(Hint),
    Neg "neg" row(Arithmetic).types(SIGNED_HALF_FLOAT).takes(&[OWN]).words(ABS),
    Not "not" row(Bits).types(BITS_OR_PREDICATE).takes(&[OWN]).not_affine(MASKING).words(PLAIN),
    Or "or" row(Bits).types(BITS_OR_PREDICATE).takes(&[OWN, OWN]).not_affine(MASKING).words(PLAIN),
    Pmevent "pmevent" no_result(Hint),
    Popc "popc" row(Bits).types(WORDS).takes(&[OWN]).gives(WORD)
        .address(Address::Number).not_affine(COUNT).words(PLAIN),
    Prefetch "prefetch" no_result(Hint),
    Prefetchu "prefetchu" no_result(Hint),
    Prmt "prmt" row(Bits).types(&[&[B32]]).takes(&[RAW, RAW, RAW]).gives(RAW).not_affine(COUNT)
        .words(PRMT),
    Rcp "rcp" function(&[FLOATS]).words(OF_FUNCTIONS),
    Red "red" no_result(Atomic).words(RED),
    Redux "redux" warp().words(REDUX),
    Rem "rem" row(Arithmetic).types(INT).takes(&[OWN, OWN])
        .address(Address::Number).not_affine(DIVISION).words(PLAIN),
    Ret "ret" no_result(Return).words(BRANCH),
    Rsqrt "rsqrt" function(&[FLOATS]).words(OF_FUNCTIONS),
    Sad "sad" row(Arithmetic).types(INT).takes(&[OWN, OWN, OWN]).words(PLAIN),
    Selp "selp" row(Compare).types(VALUES).takes(&[OWN, OWN, FLAG])
        .address(Address::Choice).not_affine(SELECTION).words(PLAIN),
    Set "set" row(Compare).types(&[BITS, INTEGERS, HALVES, FLOATS])
        .takes(&[Of::Second, Of::Second, FLAG]).optional(1).address(Address::Number).words(SET),
    Setmaxnreg "setmaxnreg" no_result(Hint),
    Setp "setp" row(Compare).types(&[BITS, INTEGERS, HALVES, FLOATS])
        .takes(&[OWN, OWN, FLAG]).optional(1).gives(FLAG).address(Address::Number).words(SETP),
    Shf "shf" row(Bits).types(&[&[B32]]).takes(&[RAW, RAW, WORD]).not_affine(DIVISION).words(SHF),
    Shfl "shfl" warp().address(Address::Choice).words(SHFL),
    Shl "shl" row(Bits).types(&[BITS]).takes(&[OWN, WORD]).not_affine(PRODUCT).words(PLAIN),
    Shr "shr" row(Bits).types(&[BITS, INTEGERS]).takes(&[OWN, WORD]).not_affine(DIVISION)
        .words(PLAIN),
    Sin "sin" function(&[&[F32]]).words(OF_FUNCTIONS),
    Slct "slct" row(Compare).types(VALUES).takes(&[OWN, OWN, Of::Second])
        .address(Address::Choice).not_affine(SELECTION).words(SLCT),
    Sqrt "sqrt" function(&[FLOATS]).words(OF_FUNCTIONS),
    St "st" no_result(Store).types(IN_MEMORY).words(ST),
    Stmatrix "stmatrix" no_result(StoreMatrix).words(OF_MATRICES),
    Suld "suld" texture().words(SULD),
    Suq "suq" texture().words(SUQ),
    Sured "sured" no_result(Texture).words(SURED),
    Sust "sust" no_result(Texture).words(SUST),
    Sub "sub" row(Arithmetic).types(&[INTEGERS, HALVES, FLOATS, SINGLES]).takes(&[OWN, OWN])
        .words(ADD),
    Subc "subc" row(Arithmetic).types(INT).takes(&[OWN, OWN]).differs().words(ADDC),
    Szext "szext" row(Bits).takes(&[OWN, WORD]).words(SZEXT),
    Tanh "tanh" function(&[HALVES, &[F32]]).words(OF_FUNCTIONS),
    Tcgen05 "tcgen05" row(TENSOR_MEMORY).differs(),
    Tensormap "tensormap" no_result(TensorMap).words(TENSORMAP),
    Testp "testp" row(Compare).types(&[FLOATS]).takes(&[OWN]).gives(FLAG).address(Address::Number)
        .words(TESTP),
    Tex "tex" texture().words(TEX),
    Tld4 "tld4" texture().words(TLD4),
    Trap "trap" no_result(Class::Trap),
    Txq "txq" texture().words(TXQ),
    Vabsdiff "vabsdiff" video().optional(1).words(VIDEO),
    Vabsdiff2 "vabsdiff2" video().words(VIDEO_PARTS),
    Vabsdiff4 "vabsdiff4" video().words(VIDEO_PARTS),
    Vadd "vadd" video().optional(1).words(VIDEO),
    Vadd2 "vadd2" video().words(VIDEO_PARTS),
    Vadd4 "vadd4" video().words(VIDEO_PARTS),
    Vavrg2 "vavrg2" video().words(VIDEO_PARTS),
    Vavrg4 "vavrg4" video().words(VIDEO_PARTS),
    Vmad "vmad" video().words(VMAD),
    Vmax "vmax" video().optional(1).words(VIDEO),
    Vmax2 "vmax2" video().words(VIDEO_PARTS),
    Vmax4 "vmax4" video().words(VIDEO_PARTS),
    Vmin "vmin" video().optional(1).words(VIDEO),
    Vmin2 "vmin2" video().words(VIDEO_PARTS),
    Vmin4 "vmin4" video().words(VIDEO_PARTS),
    Vset "vset" video().optional(1).words(VSET),
    Vset2 "vset2" video().words(VSET_PARTS),
    Vset4 "vset4" video().words(VSET_PARTS),
    Vshl "vshl" video().optional(1).words(VIDEO_SHIFT),
    Vshr "vshr" video().optional(1).words(VIDEO_SHIFT),
    Vsub "vsub" video().optional(1).words(VIDEO),
    Vsub2 "vsub2" video().words(VIDEO_PARTS),
    Vsub4 "vsub4" video().words(VIDEO_PARTS),
    Vote "vote" warp().address(Address::Number).words(VOTE),
    Wgmma "wgmma" row(Tensor).first(First::Accumulated).differs().words(WGMMA),
    Wmma "wmma" row(Tensor).differs().words(WMMA),
    Xor "xor" row(Bits).types(BITS_OR_PREDICATE).takes(&[OWN, OWN]).not_affine(MASKING)
        .words(PLAIN),
    Other "another instruction" row(UNKNOWN).differs(),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ast::Modifiers;

    #[test]
    fn each_opcode_has_a_text_of_its_own() {
        for &opcode in Opcode::ALL {
            assert_eq!(Opcode::from_text(opcode.text()), Some(opcode));
        }
    }

    #[test]
    fn there_is_room_for_the_modifiers_of_every_form() {
        let count = |form: &Syntax| {
            form.needs.len() + form.may.len() + form.spaces.len() + form.types.len()
        };
        let forms = Opcode::ALL.iter().flat_map(|o| o.row().forms);
        let most = forms.map(count).max().unwrap();
        assert!((10..=Modifiers::LIMIT).contains(&most), "{most}");
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
