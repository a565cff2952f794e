//! Offsets of addresses from the variable that they point into.

use super::super::{KnownBits, ValueId};
use super::{Affine, Affines, Term};
use crate::ast::Symbol;

/// Offsets are modulo 2 to this power.
const BITS: u32 = 32;

impl Affines<'_> {
    /// The name of a variable.
    pub fn variable_name(&self, symbol: Symbol) -> &str {
        &self.module.variable(self.function, symbol).name
    }

    /// The known bits of `value` less the address of a variable, modulo 2^32;
    /// `None` if the value is not the address of a variable for which `is_base`
    /// holds plus something. Unlike the bits of the value, these do not depend
    /// on where the variable is.
    pub fn offset_bits(
        &self,
        value: ValueId,
        is_base: impl Fn(Symbol) -> bool,
    ) -> Option<KnownBits> {
        let expression = self.expression(value);
        if expression.bits < BITS {
            return None;
        }
        let expression = expression.truncate(BITS);
        let constant = expression.constant as u64 & u64::from(u32::MAX);
        let (mut sum, mut bases) = (KnownBits::constant(constant), 0);
        for (term, coefficient) in &expression.terms {
            match term {
                Term::Base(symbol) if *coefficient == 1 && is_base(*symbol) => bases += 1,
                term => {
                    let factor = KnownBits::constant(*coefficient as u64 & u64::from(u32::MAX));
                    sum = sum.add(self.term_bits(term).mul(factor, BITS), BITS);
                }
            }
        }
        (bases == 1).then_some(sum)
    }

    /// The least and the largest byte that an address may be, counted from the
    /// beginning of a shared variable for which `is_base` holds. `None` if the
    /// address is not that of such a variable plus something, or if the latter has
    /// no bound.
    pub fn offset_range(
        &self,
        address: &Affine,
        is_base: impl Fn(Symbol) -> bool,
    ) -> Option<(u32, u32)> {
        if address.bits < BITS {
            return None;
        }
        let mut rest = address.clone().truncate(BITS);
        let own = |(term, factor): &(Term, i64)| match term {
            Term::Base(symbol) => *factor == 1 && is_base(*symbol),
            _ => false,
        };
        let before = rest.terms.len();
        rest.terms.retain(|term| !own(term));
        let (low, high) = self
            .range(&rest)
            .filter(|_| before - rest.terms.len() == 1)?;
        Some((u32::try_from(low).ok()?, u32::try_from(high).ok()?))
    }

    fn term_bits(&self, term: &Term) -> KnownBits {
        let known = match term {
            Term::Opaque(value) => self.facts.of(*value),
            Term::Product(factors) => {
                let factors = factors.iter().map(|factor| self.term_bits(factor));
                factors.fold(KnownBits::constant(1), |a, b| a.mul(b, BITS))
            }
            Term::Base(_) | Term::Trips(_) | Term::Parameter { .. } => KnownBits::unknown(BITS),
            other => {
                let range = other.special().and_then(|s| self.context.range(s));
                match range {
                    Some((low, high)) => KnownBits::range(low.into(), high.into()),
                    None => KnownBits::unknown(BITS),
                }
            }
        };
        known.truncate(BITS)
    }
}
