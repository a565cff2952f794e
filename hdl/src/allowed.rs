//! The values that a number of a machine may have.

use std::fmt;
use std::ops::RangeInclusive;

/// A set of numbers. Shown, it ends the sentence `expected ...`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed {
    /// Numbers from the first to the second.
    Range(u32, u32),
    /// Powers of two among them.
    PowerOfTwo(u32, u32),
    /// Powers of two among them, and 0.
    ZeroOrPowerOfTwo(u32, u32),
    /// Either of two numbers.
    Either(u32, u32),
}

impl Allowed {
    /// Whether `value` is allowed.
    pub fn contains(self, value: u64) -> bool {
        let between = |from, to| (u64::from(from)..=u64::from(to)).contains(&value);
        match self {
            Allowed::Range(from, to) => between(from, to),
            Allowed::PowerOfTwo(from, to) => between(from, to) && value.is_power_of_two(),
            Allowed::ZeroOrPowerOfTwo(from, to) => {
                value == 0 || between(from, to) && value.is_power_of_two()
            }
            Allowed::Either(one, other) => [one, other].map(u64::from).contains(&value),
        }
    }
}

impl Allowed {
    /// The least and the largest allowed number.
    pub(crate) fn ends(self) -> [usize; 2] {
        let (from, to) = match self {
            Allowed::ZeroOrPowerOfTwo(_, to) => (0, to),
            Allowed::Range(from, to)
            | Allowed::PowerOfTwo(from, to)
            | Allowed::Either(from, to) => (from, to),
        };
        [from as usize, to as usize]
    }

    /// Every allowed value, ascending.
    pub(crate) fn values(self) -> impl Iterator<Item = usize> {
        let [least, most] = self.ends();
        (least..=most).filter(move |value| self.contains(*value as u64))
    }
}

impl From<RangeInclusive<u32>> for Allowed {
    fn from(range: RangeInclusive<u32>) -> Self {
        Allowed::Range(*range.start(), *range.end())
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Range(from, to) => write!(f, "{from} to {to}"),
            Allowed::PowerOfTwo(from, to) => write!(f, "a power of two from {from} to {to}"),
            Allowed::ZeroOrPowerOfTwo(from, to) => {
                write!(f, "0 or a power of two from {from} to {to}")
            }
            Allowed::Either(one, other) => write!(f, "{one} or {other}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_belong_to_it_and_it_says_what_it_is() {
        let of =
            |allowed: Allowed| -> Vec<u64> { (0..70).filter(|&v| allowed.contains(v)).collect() };
        assert_eq!(of(Allowed::Range(2, 5)), [2, 3, 4, 5]);
        assert_eq!(of(Allowed::PowerOfTwo(2, 16)), [2, 4, 8, 16]);
        assert_eq!(of(Allowed::ZeroOrPowerOfTwo(32, 64)), [0, 32, 64]);
        assert_eq!(of(Allowed::Either(32, 64)), [32, 64]);
        assert_eq!(Allowed::Range(2, 8).to_string(), "2 to 8");
        let banks = Allowed::PowerOfTwo(8, 64).to_string();
        assert_eq!(banks, "a power of two from 8 to 64");
    }
}
