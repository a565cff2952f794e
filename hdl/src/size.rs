//! Numbers that the Verilog text computes: widths, indices, bounds of loops.
//!
//! A size knows how it is written (`L*m`, `i-1`) and between which values it
//! lies, so that widths are checked while the text keeps the names.

use std::collections::HashSet;
use std::ops::{Add, Div, Mul, Sub};
use std::sync::{LazyLock, Mutex};

/// A whole number by its Verilog text, with the values that it can have: one,
/// or those of the loops that it stands in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    text: &'static str,
    form: Form,
    least: isize,
    most: isize,
}

/// What a text is, for the parentheses and spaces around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Number,
    Name,
    Product,
    /// A sum of names and numbers, without spaces.
    Short,
    /// Any other sum.
    Sum,
}

impl Size {
    /// A `localparam` or parameter.
    pub(crate) fn named(name: &str, value: usize) -> Self {
        Size::new(name, Form::Name, value as isize, value as isize)
    }

    /// The index of a loop from `from` to below `to`.
    pub(crate) fn index(name: &str, from: Size, to: Size) -> Self {
        Size::new(name, Form::Name, from.least, to.most - 1)
    }

    fn new(text: &str, form: Form, least: isize, most: isize) -> Self {
        let text = interned(text);
        Size {
            text,
            form,
            least,
            most,
        }
    }

    /// The index in every turn but the first.
    pub(crate) fn behind_first(self) -> Self {
        Size {
            least: self.least + 1,
            ..self
        }
    }

    /// The index in every turn but the last.
    pub(crate) fn before_last(self) -> Self {
        Size {
            most: self.most - 1,
            ..self
        }
    }

    pub(crate) fn text(self) -> &'static str {
        self.text
    }

    /// Whether it is written as a number.
    pub(crate) fn is_number(self) -> bool {
        self.form == Form::Number
    }

    /// Its value, if it is the same in every turn of every loop.
    pub(crate) fn value(self) -> Option<usize> {
        let value = usize::try_from(self.least).ok()?;
        (self.least == self.most).then_some(value)
    }

    /// Its value as a number, where it has one.
    pub(crate) fn plain(self) -> Self {
        self.value().map_or(self, Size::from)
    }

    /// Whether the two are the same in every turn.
    pub(crate) fn same(self, other: Size) -> bool {
        self.text == other.text || self.value().is_some() && self.value() == other.value()
    }

    /// Whether it lies in 0 to `end` in every turn.
    pub(crate) fn within(self, end: Size) -> bool {
        self.least >= 0 && self.most <= end.least.max(end.most)
    }

    /// The text as a factor, or as what is subtracted.
    fn factor(self) -> String {
        match self.form {
            Form::Short | Form::Sum => format!("({})", self.text),
            _ => self.text.to_owned(),
        }
    }

    fn sum(self, symbol: char, right: String, other: Size, values: [isize; 2]) -> Size {
        let short = |form| matches!(form, Form::Number | Form::Name | Form::Short);
        let [least, most] = values;
        match (self.form, other.form) {
            (Form::Number, Form::Number) => Size::from(least as usize),
            (a, b) if short(a) && short(b) => {
                let text = format!("{}{symbol}{right}", self.text);
                Size::new(&text, Form::Short, least, most)
            }
            _ => {
                let text = format!("{} {symbol} {right}", self.text);
                Size::new(&text, Form::Sum, least, most)
            }
        }
    }
}

impl From<usize> for Size {
    fn from(value: usize) -> Self {
        let text = value.to_string();
        Size::new(&text, Form::Number, value as isize, value as isize)
    }
}

impl<T: Into<Size>> Add<T> for Size {
    type Output = Size;
    fn add(self, other: T) -> Size {
        let other = other.into();
        let values = [self.least + other.least, self.most + other.most];
        self.sum('+', other.text.to_owned(), other, values)
    }
}

impl<T: Into<Size>> Sub<T> for Size {
    type Output = Size;
    fn sub(self, other: T) -> Size {
        let other = other.into();
        let values = [self.least - other.most, self.most - other.least];
        self.sum('-', other.factor(), other, values)
    }
}

impl<T: Into<Size>> Mul<T> for Size {
    type Output = Size;
    fn mul(self, other: T) -> Size {
        let other = other.into();
        let (least, most) = (self.least * other.least, self.most * other.most);
        match (self.form, other.form) {
            (Form::Number, Form::Number) => Size::from(least as usize),
            _ => {
                let text = format!("{}*{}", self.factor(), other.factor());
                Size::new(&text, Form::Product, least, most)
            }
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
        let text = format!("{}/{by}", self.factor());
        let (least, most) = (self.least / by as isize, self.most / by as isize);
        match self.form {
            Form::Number => Size::from(least as usize),
            _ => Size::new(&text, Form::Product, least, most),
        }
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
    }

    #[test]
    fn sizes_are_checked_in_every_turn_of_a_loop() {
        let (l, m) = (Size::named("L", 32), Size::named("m", 5));
        let i = Size::index("i", 1.into(), l);
        assert!((i * m + m).within(l * m) && !(i * m + m + 1).within(l * m));
        assert!((l * m).same(Size::from(160)) && i.same(i) && !i.same(l));
        assert_eq!((i.value(), (l * m).plain().text()), (None, "160"));
    }
}
