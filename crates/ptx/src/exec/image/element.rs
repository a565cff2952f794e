//! Conversion between an element in memory and one lane of a register.

use crate::exec::registers::Width;
use crate::names::Type;

/// An element of a load or store: what it is in memory, and the register of
/// its lane. With a sign only where that is seen, in wider registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    U8InHalf,
    S8InHalf,
    U8InWord,
    S8InWord,
    U8InDouble,
    S8InDouble,
    Half,
    U16InWord,
    S16InWord,
    U16InDouble,
    S16InDouble,
    Word,
    U32InDouble,
    S32InDouble,
    Double,
}

impl Element {
    /// A value of type `ty` in a register of that width; none where it does
    /// not fit.
    pub fn new(ty: Type, width: Width) -> Option<Element> {
        use Element::*;
        Some(match (ty.bits(), width, ty.is_signed()) {
            (8, Width::Half, false) => U8InHalf,
            (8, Width::Half, true) => S8InHalf,
            (8, Width::Word, false) => U8InWord,
            (8, Width::Word, true) => S8InWord,
            (8, Width::Double, false) => U8InDouble,
            (8, Width::Double, true) => S8InDouble,
            (16, Width::Half, _) => Half,
            (16, Width::Word, false) => U16InWord,
            (16, Width::Word, true) => S16InWord,
            (16, Width::Double, false) => U16InDouble,
            (16, Width::Double, true) => S16InDouble,
            (32, Width::Word, _) => Word,
            (32, Width::Double, false) => U32InDouble,
            (32, Width::Double, true) => S32InDouble,
            (64, Width::Double, _) => Double,
            _ => return None,
        })
    }

    /// Size in memory.
    pub fn bytes(self) -> u32 {
        use Element::*;
        match self {
            U8InHalf | S8InHalf | U8InWord | S8InWord | U8InDouble | S8InDouble => 1,
            Half | U16InWord | S16InWord | U16InDouble | S16InDouble => 2,
            Word | U32InDouble | S32InDouble => 4,
            Double => 8,
        }
    }

    /// The value of a wider register, from that in memory.
    pub fn extend(self, value: u64) -> u64 {
        use Element::*;
        match self {
            S8InHalf | S8InWord | S8InDouble => value as i8 as i64 as u64,
            S16InWord | S16InDouble => value as i16 as i64 as u64,
            S32InDouble => value as i32 as i64 as u64,
            _ => value,
        }
    }
}
