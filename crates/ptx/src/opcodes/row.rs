//! Rows of opcodes: the facts about an opcode, and their notation.

use super::types::Types;
use super::words::{BARE, Forms};
use crate::names::Type;

/// The form of an opcode's instructions: how they are decoded, and what
/// defines their results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Arithmetic of integers, or of floating-point numbers if the type is one.
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
    /// Arithmetic of bytes and halves, with a second operation.
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
    /// Addresses of shared memory in a cluster.
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

/// The kind of the first operand.
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
    /// The first type that the instruction names.
    First,
    /// The second.
    Second,
    /// Twice the first with `.wide`, else the first.
    Product,
    /// 32 bits, with a sign where one of the two types has one.
    Dot,
    Is(Type),
}

/// The variable that a result may be the address of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// The variable of one of the sources; next to an address the others are indices.
    Sum,
    /// The variable of one of the first two sources.
    Choice,
    /// Nothing: it is a number.
    Number,
    /// The variable of the source, in another space.
    Converted,
    /// Whatever was stored, or passed as a parameter.
    Loaded,
    /// Whatever was in memory.
    Memory,
    /// Whatever the function returns.
    Returned,
}

/// The facts about an opcode.
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
    /// Number of sources, from the last, that may be left out.
    pub optional: usize,
    pub address: Address,
    /// Whether lanes have different results whatever the operands are. Of
    /// loads the place says it.
    pub differs: bool,
    /// The modifiers of its instructions, form by form.
    pub forms: Forms,
    /// Why a result is not affine in the sources, where it is not.
    pub not_affine: &'static str,
}

pub(super) const fn row(class: Class) -> Row {
    Row {
        class,
        types: &[],
        first: First::Written,
        result: Of::First,
        sources: &[],
        optional: 0,
        address: Address::Sum,
        differs: false,
        forms: BARE,
        not_affine: "an instruction that is not affine",
    }
}

impl Row {
    pub(super) const fn types(self, types: &'static [Types]) -> Row {
        Row { types, ..self }
    }

    pub(super) const fn takes(self, sources: &'static [Of]) -> Row {
        Row { sources, ..self }
    }

    pub(super) const fn optional(self, optional: usize) -> Row {
        Row { optional, ..self }
    }

    pub(super) const fn gives(self, result: Of) -> Row {
        Row { result, ..self }
    }

    pub(super) const fn first(self, first: First) -> Row {
        Row { first, ..self }
    }

    pub(super) const fn address(self, address: Address) -> Row {
        Row { address, ..self }
    }

    pub(super) const fn differs(self) -> Row {
        let differs = true;
        Row { differs, ..self }
    }

    pub(super) const fn words(self, forms: Forms) -> Row {
        Row { forms, ..self }
    }

    pub(super) const fn not_affine(self, not_affine: &'static str) -> Row {
        Row { not_affine, ..self }
    }
}
