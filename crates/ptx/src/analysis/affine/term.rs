//! Terms of affine expressions.

use super::super::ValueId;
use crate::ast::Symbol;
use crate::names::Special;

/// A factor that an instruction multiplies, as an unsigned number.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Term {
    /// `%tid.x`, `.y`, `.z`: 0, 1, 2.
    Tid(u8),
    /// `%ctaid`
    Ctaid(u8),
    /// `%ntid`
    Ntid(u8),
    /// `%nctaid`
    Nctaid(u8),
    /// `%laneid`
    Laneid,
    /// `%warpid`
    Warpid,
    /// A number among the function's parameters.
    Parameter {
        /// Index of the parameter.
        index: u32,
        /// Byte offset in it.
        offset: u32,
        /// Size of the number: 1, 2, 4 or 8 bytes.
        bytes: u32,
    },
    /// The number of times that the loop with that header block has gone round since it
    /// was entered: 0 in the first round.
    Trips(u32),
    /// The address of a variable in its space.
    Base(Symbol),
    /// A value that is not affine.
    Opaque(ValueId),
    /// The product of several terms, ascending, of which at most one differs
    /// from thread to thread.
    Product(Vec<Term>),
}

impl Term {
    /// The term that a special register is.
    pub(super) fn of_special(special: Special) -> Option<Self> {
        use Special::*;
        Some(match special {
            TidX => Term::Tid(0),
            TidY => Term::Tid(1),
            TidZ => Term::Tid(2),
            CtaidX => Term::Ctaid(0),
            CtaidY => Term::Ctaid(1),
            CtaidZ => Term::Ctaid(2),
            NtidX => Term::Ntid(0),
            NtidY => Term::Ntid(1),
            NtidZ => Term::Ntid(2),
            NctaidX => Term::Nctaid(0),
            NctaidY => Term::Nctaid(1),
            NctaidZ => Term::Nctaid(2),
            Laneid => Term::Laneid,
            Warpid => Term::Warpid,
            _ => return None,
        })
    }

    /// The special register that the term is.
    pub fn special(&self) -> Option<Special> {
        use Special::*;
        let axis = |of: [Special; 3], at: u8| of.get(usize::from(at)).copied();
        match self {
            Term::Tid(at) => axis([TidX, TidY, TidZ], *at),
            Term::Ctaid(at) => axis([CtaidX, CtaidY, CtaidZ], *at),
            Term::Ntid(at) => axis([NtidX, NtidY, NtidZ], *at),
            Term::Nctaid(at) => axis([NctaidX, NctaidY, NctaidZ], *at),
            Term::Laneid => Some(Laneid),
            Term::Warpid => Some(Warpid),
            _ => None,
        }
    }

    /// The terms that are multiplied: one, or those of a product.
    pub fn factors(&self) -> &[Term] {
        match self {
            Term::Product(factors) => factors,
            one => std::slice::from_ref(one),
        }
    }

    /// Whether it is the same for all threads of a block at all times.
    pub fn is_constant(&self) -> bool {
        self.factors().iter().all(|t| {
            matches!(
                t,
                Term::Ctaid(_)
                    | Term::Ntid(_)
                    | Term::Nctaid(_)
                    | Term::Parameter { .. }
                    | Term::Base(_)
            )
        })
    }

    /// Whether it is not affine, or has a factor that is not.
    pub fn opaque(&self) -> Option<ValueId> {
        self.factors().iter().find_map(|t| match t {
            Term::Opaque(value) => Some(*value),
            _ => None,
        })
    }

    /// The product with another term; none where it would be no affine one.
    pub(super) fn times(&self, other: &Term) -> Option<Term> {
        let mut factors = [self.factors(), other.factors()].concat();
        let varying = factors.iter().filter(|t| !t.is_constant()).count();
        if varying > 1 || factors.len() > 4 {
            return None;
        }
        factors.sort_unstable();
        Some(Term::Product(factors))
    }
}
