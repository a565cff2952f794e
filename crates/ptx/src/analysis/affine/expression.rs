//! Sums of terms with integer coefficients, modulo a power of two.

use super::Term;

/// Expressions with more terms are given up.
const MOST_TERMS: usize = 12;

/// `constant + sum of coefficient * term`, which equals a value modulo
/// 2^`bits`. Coefficients are not 0 and are the smallest in magnitude.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Affine {
    /// The constant.
    pub constant: i64,
    /// Terms, ascending, with their coefficients.
    pub terms: Vec<(Term, i64)>,
    /// The modulus is 2 to the power of this: 1 to 64.
    pub bits: u32,
}

/// The number of `bits` bits, as a signed one.
fn signed(value: i64, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    value << unused >> unused
}

impl Affine {
    /// A number.
    pub fn constant(value: i64, bits: u32) -> Self {
        Affine {
            constant: signed(value, bits),
            terms: Vec::new(),
            bits,
        }
    }

    /// A term alone.
    pub fn term(term: Term, bits: u32) -> Self {
        Affine {
            constant: 0,
            terms: vec![(term, 1)],
            bits,
        }
    }

    /// The value, where it is a number.
    pub fn value(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// The coefficient of a term; 0 where it does not occur.
    pub fn coefficient(&self, term: &Term) -> i64 {
        let found = self.terms.iter().find(|(t, _)| t == term);
        found.map_or(0, |(_, c)| *c)
    }

    /// A value of the expression that is not affine.
    pub fn opaque(&self) -> Option<super::super::ValueId> {
        self.terms.iter().find_map(|(t, _)| t.opaque())
    }

    /// Modulo 2^`bits`, where that is less.
    #[must_use]
    pub fn truncate(mut self, bits: u32) -> Self {
        if bits < self.bits {
            self.bits = bits;
            self.constant = signed(self.constant, bits);
            for (_, c) in &mut self.terms {
                *c = signed(*c, bits);
            }
            self.terms.retain(|(_, c)| *c != 0);
        }
        self
    }

    /// `self + factor * other`; none where that has too many terms.
    pub fn plus(&self, factor: i64, other: &Affine) -> Option<Self> {
        let bits = self.bits.min(other.scaled_bits(factor));
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let next = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    let sum = x.1.wrapping_add(factor.wrapping_mul(y.1));
                    b.next();
                    a.next().map(|x| (x.0.clone(), sum))
                }
                (Some(x), Some(y)) if x.0 < y.0 => a.next().cloned(),
                (Some(_), None) => a.next().cloned(),
                (_, Some(_)) => b.next().map(|y| (y.0.clone(), factor.wrapping_mul(y.1))),
                (None, None) => break,
            };
            let next = next.map(|(t, c)| (t, signed(c, bits)));
            terms.extend(next.filter(|(_, c)| *c != 0));
        }
        let constant = self
            .constant
            .wrapping_add(factor.wrapping_mul(other.constant));
        (terms.len() <= MOST_TERMS).then(|| Affine {
            constant: signed(constant, bits),
            terms,
            bits,
        })
    }

    /// `factor` times a number known modulo 2^n is known modulo more, where
    /// the factor is even.
    fn scaled_bits(&self, factor: i64) -> u32 {
        (self.bits + factor.trailing_zeros().min(64)).min(64)
    }

    /// `factor * self` for a register of `width` bits.
    pub fn scale(&self, factor: i64, width: u32) -> Self {
        let bits = self.scaled_bits(factor).min(width);
        let terms = self
            .terms
            .iter()
            .map(|(t, c)| (t.clone(), signed(c.wrapping_mul(factor), bits)));
        Affine {
            constant: signed(self.constant.wrapping_mul(factor), bits),
            terms: terms.filter(|(_, c)| *c != 0).collect(),
            bits,
        }
    }

    /// The product, where it is affine: for a register of `width` bits.
    pub fn times(&self, other: &Affine, width: u32) -> Option<Self> {
        if let Some(factor) = other.value() {
            return (other.bits >= width.min(self.bits)).then(|| self.scale(factor, width));
        }
        if self.value().is_some() {
            return other.times(self, width);
        }
        let bits = self.bits.min(other.bits).min(width);
        let mut sum = Affine::constant(self.constant.wrapping_mul(other.constant), bits);
        for (t, c) in &self.terms {
            let one = Affine::term(t.clone(), bits);
            sum = sum.plus(c.wrapping_mul(other.constant), &one)?;
            for (u, d) in &other.terms {
                let product = Affine::term(t.times(u)?, bits);
                sum = sum.plus(c.wrapping_mul(*d), &product)?;
            }
        }
        for (u, d) in &other.terms {
            let one = Affine::term(u.clone(), bits);
            sum = sum.plus(d.wrapping_mul(self.constant), &one)?;
        }
        Some(sum.truncate(bits))
    }

    /// The quotient by 2^`by`, where everything divides.
    pub(super) fn shifted_down(&self, by: u32) -> Option<Self> {
        let divides = |c: i64| by < 63 && c & ((1 << by) - 1) == 0;
        let all = divides(self.constant) && self.terms.iter().all(|(_, c)| divides(*c));
        (all && by < self.bits).then(|| Affine {
            constant: self.constant >> by,
            terms: self
                .terms
                .iter()
                .map(|(t, c)| (t.clone(), c >> by))
                .collect(),
            bits: self.bits - by,
        })
    }

    /// The value, modulo 2^`bits`, where `of` gives that of every term.
    pub fn evaluate(&self, of: impl Fn(&Term) -> Option<u64>) -> Option<u64> {
        let mut sum = self.constant as u64;
        for (term, coefficient) in &self.terms {
            let mut product = *coefficient as u64;
            for factor in term.factors() {
                product = product.wrapping_mul(of(factor)?);
            }
            sum = sum.wrapping_add(product);
        }
        Some(sum & u64::MAX >> (64 - self.bits.clamp(1, 64)))
    }
}
