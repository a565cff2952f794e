//! Numbers that the Verilog text computes: widths, indices, bounds of loops.
//!
//! A size knows its expression (`L*m`, `i-1`) and the range of its values, so
//! that widths are checked while the text keeps the names.

pub(crate) use crate::number::index_bits;
use crate::number::{Form, Number, Operator, Spaces};
use std::collections::HashSet;
use std::fmt;
use std::ops::{Add, Div, Mul, RangeInclusive, Shl, Shr, Sub};
use std::sync::{LazyLock, Mutex};

/// A whole number of the Verilog, with the values that it can have: one, or
/// those of the loops that it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    number: &'static Number,
    least: isize,
    most: isize,
}

impl Size {
    /// A parameter that instances set to a value of the range.
    pub(crate) fn parameter(name: &str, values: RangeInclusive<usize>) -> Self {
        let (least, most) = (*values.start() as isize, *values.end() as isize);
        Size::name(name, least, most)
    }

    /// A `localparam` that stands for `value`.
    pub(crate) fn called(name: &str, value: Size) -> Self {
        Size::name(name, value.least, value.most)
    }

    /// A number that has a name.
    pub(crate) fn named(name: &str, value: usize) -> Self {
        Size::name(name, value as isize, value as isize)
    }

    /// The index of a loop from `from` to below `to`.
    pub(crate) fn index(name: &str, from: Size, to: Size) -> Self {
        Size::name(name, from.least, to.most - 1)
    }

    fn name(name: &str, least: isize, most: isize) -> Self {
        let number = Number::Name(interned(name)).kept();
        Size {
            number,
            least,
            most,
        }
    }

    /// The size that an operator makes of two sizes, with its range.
    fn of(operator: Operator, [a, b]: [Size; 2], [least, most]: [isize; 2]) -> Self {
        let number = Number::binary(operator, a.number, b.number);
        Size {
            number,
            least,
            most,
        }
    }

    /// The index in every iteration but the first.
    pub(crate) fn after_first(self) -> Self {
        Size {
            least: self.least + 1,
            ..self
        }
    }

    /// The index in every iteration but the last.
    pub(crate) fn before_last(self) -> Self {
        Size {
            most: self.most - 1,
            ..self
        }
    }

    pub(crate) fn number(self) -> &'static Number {
        self.number
    }

    /// Verilog text of the size.
    pub(crate) fn text(self) -> String {
        self.number.text()
    }

    /// Whether it is written as 1.
    pub(crate) fn is_bit(self) -> bool {
        *self.number == Number::Literal(1)
    }

    /// Whether it is written as a number.
    pub(crate) fn is_number(self) -> bool {
        matches!(self.number, Number::Literal(_))
    }

    /// Value of the size, if it is the same in every iteration of every loop.
    pub(crate) fn value(self) -> Option<usize> {
        let value = usize::try_from(self.least).ok()?;
        (self.least == self.most).then_some(value)
    }

    /// The size as a plain number, if it has one value.
    pub(crate) fn plain(self) -> Self {
        self.value().map_or(self, Size::from)
    }

    /// The size where each name is what `of` says.
    pub(crate) fn with(self, of: &impl Fn(&'static str) -> Size) -> Self {
        Size::of_number(self.number, of)
    }

    fn of_number(number: &'static Number, of: &impl Fn(&'static str) -> Size) -> Self {
        let part = |number| Size::of_number(number, of);
        match number {
            Number::Literal(value) => Size::from(*value as usize),
            Number::Name(name) => of(name),
            Number::IndexBits(count, _) => part(count).index_bits(),
            Number::Binary(Operator::Add, [a, b]) => part(a) + part(b),
            Number::Binary(Operator::Subtract, [a, b]) => part(a) - part(b),
            Number::Binary(Operator::Multiply, [a, b]) => part(a) * part(b),
            Number::Binary(Operator::Divide, [a, b]) => {
                part(a) / part(b).value().expect("sizes are divided by numbers")
            }
            Number::Binary(Operator::ShiftLeft, [a, b]) => part(a) << part(b),
            Number::Binary(Operator::ShiftRight, [a, b]) => part(a) >> part(b),
            Number::Binary(..) => unreachable!("a comparison is no size: {number:?}"),
        }
    }

    /// Whether the two are the same in every iteration.
    pub(crate) fn same(self, other: Size) -> bool {
        self.number == other.number || self.value().is_some() && self.value() == other.value()
    }

    /// Whether it lies in 0 to `end` in every iteration.
    pub(crate) fn within(self, end: Size) -> bool {
        self.least >= 0 && self.most <= end.least.max(end.most)
    }

    /// Whether all numbers of this many bits are below `end`.
    pub(crate) fn numbers_within(self, end: Size) -> bool {
        let numbers = u32::try_from(self.most)
            .ok()
            .and_then(|bits| 1isize.checked_shl(bits));
        numbers.is_some_and(|numbers| numbers <= end.least.max(end.most))
    }

    /// The number of the highest bit of something of this width.
    pub(crate) fn top(self) -> String {
        match self.number {
            Number::Binary(Operator::Add, [below, Number::Literal(1)])
                if self.number.form() == Form::Short =>
            {
                below.text()
            }
            number => format!("{}-1", number.compared(Spaces::default())),
        }
    }

    /// Bits of an index below this number, at least one. Verilog-2001 has no
    /// function for it.
    pub(crate) fn index_bits(self) -> Size {
        let [least, most] = [self.least, self.most].map(|number| index_bits(number as usize));
        Size {
            number: Number::IndexBits(self.number, [least, most]).kept(),
            least: least as isize,
            most: most as isize,
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl From<usize> for Size {
    fn from(value: usize) -> Self {
        let value = value as isize;
        Size {
            number: Number::Literal(value).kept(),
            least: value,
            most: value,
        }
    }
}

impl<T: Into<Size>> Add<T> for Size {
    type Output = Size;
    fn add(self, other: T) -> Size {
        let other = other.into();
        let values = [self.least + other.least, self.most + other.most];
        match (self.number, other.number) {
            (Number::Literal(0), _) => other,
            (Number::Literal(_), Number::Literal(_)) => Size::from(values[0] as usize),
            _ => Size::of(Operator::Add, [self, other], values),
        }
    }
}

impl<T: Into<Size>> Sub<T> for Size {
    type Output = Size;
    fn sub(self, other: T) -> Size {
        let other = other.into();
        let values = [self.least - other.most, self.most - other.least];
        match (self.number, other.number) {
            (Number::Literal(_), Number::Literal(_)) => Size::from(values[0] as usize),
            _ => Size::of(Operator::Subtract, [self, other], values),
        }
    }
}

impl<T: Into<Size>> Mul<T> for Size {
    type Output = Size;
    fn mul(self, other: T) -> Size {
        let other = other.into();
        let values = [self.least * other.least, self.most * other.most];
        match (self.number, other.number) {
            (Number::Literal(1), _) => other,
            (Number::Literal(0), _) => 0.into(),
            (Number::Literal(_), Number::Literal(_)) => Size::from(values[0] as usize),
            _ => Size::of(Operator::Multiply, [self, other], values),
        }
    }
}

impl Mul<Size> for usize {
    type Output = Size;
    fn mul(self, other: Size) -> Size {
        Size::from(self) * other
    }
}

impl Div<usize> for Size {
    type Output = Size;
    fn div(self, by: usize) -> Size {
        let values = [self.least, self.most].map(|value| value / by as isize);
        match self.number {
            Number::Literal(_) => Size::from(values[0] as usize),
            _ => Size::of(Operator::Divide, [self, by.into()], values),
        }
    }
}

impl<T: Into<Size>> Shl<T> for Size {
    type Output = Size;
    fn shl(self, by: T) -> Size {
        let by = by.into();
        let values = [self.least << by.least.max(0), self.most << by.most];
        Size::of(Operator::ShiftLeft, [self, by], values)
    }
}

impl Shl<Size> for usize {
    type Output = Size;
    fn shl(self, by: Size) -> Size {
        Size::from(self) << by
    }
}

impl<T: Into<Size>> Shr<T> for Size {
    type Output = Size;
    fn shr(self, by: T) -> Size {
        let by = by.into();
        let values = [self.least >> by.most, self.most >> by.least.max(0)];
        Size::of(Operator::ShiftRight, [self, by], values)
    }
}

/// The one copy of a text that lives as long as the program: names and sizes
/// are few, and handles that can be copied read like what they stand for.
pub(crate) fn interned(text: &str) -> &'static str {
    static TEXTS: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut texts = TEXTS.lock().expect("no thread fails inside");
    if let Some(known) = texts.get(text) {
        return known;
    }
    let new: &'static str = Box::leak(text.to_owned().into_boxed_str());
    texts.insert(new);
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_like_verilog() {
        let (l, m) = (Size::named("L", 32), Size::named("m", 5));
        let k = Size::index("k", 0.into(), 4.into());
        assert_eq!((l * m).text(), "L*m");
        assert_eq!((k * l + k).text(), "k*L + k");
        assert_eq!(((k * l + k) * 8).text(), "(k*L + k)*8");
        assert_eq!(((k + 1) * m).text(), "(k+1)*m");
        assert_eq!((l - 1 - k).text(), "L-1-k");
        assert_eq!((Size::from(3) * 4).text(), "12");
        let shifted = l << (m - k - 1);
        assert_eq!(shifted.text(), "L << (m - k - 1)");
        assert_eq!((shifted * m).text(), "(L << (m - k - 1))*m");
        assert_eq!(((l + k) >> 1).top(), "((L+k) >> 1)-1");
        assert_eq!((l * m).top(), "L*m-1");
    }

    #[test]
    fn sizes_are_checked_in_every_iteration_of_a_loop() {
        let (l, m) = (Size::named("L", 32), Size::named("m", 5));
        let i = Size::index("i", 1.into(), l);
        assert!((i * m + m).within(l * m) && !(i * m + m + 1).within(l * m));
        assert!((l * m).same(Size::from(160)) && i.same(i) && !i.same(l));
        assert_eq!((i.value(), &*(l * m).plain().text()), (None, "160"));
    }

    #[test]
    fn parameters_are_checked_with_their_largest_value() {
        let width = Size::parameter("WIDTH", 2..=100);
        let i = Size::index("i", 0.into(), width >> 1);
        assert!((2 * i + 2).within(width) && !(2 * i + 3).within(width));
        assert_eq!((width.value(), &*width.plain().text()), (None, "WIDTH"));
        let levels = Size::parameter("N", 2..=9).index_bits();
        assert_eq!(levels.text(), "N <= 2 ? 1 : N <= 4 ? 2 : N <= 8 ? 3 : 4");
        assert!(levels.within(4.into()) && !levels.within(3.into()));
    }
}
