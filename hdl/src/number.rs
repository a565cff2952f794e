//! Whole numbers that the Verilog computes, such as `i*m + 1`: their
//! expression, their text, and their value.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex};

/// Bits of an index below `count`: max(1, ceil(log2 count)).
pub(crate) fn index_bits(count: usize) -> usize {
    (count.next_power_of_two().trailing_zeros() as usize).max(1)
}

/// A number. Handles of sizes can be copied, so every number is kept once, for
/// as long as the program runs: there are few.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) enum Number {
    Literal(isize),
    /// A parameter, a `localparam` or the index of a loop.
    Name(&'static str),
    Binary(Operator, [&'static Number; 2]),
    /// Bits of an index below a number, which are from one count to another.
    IndexBits(&'static Number, [usize; 2]),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    ShiftLeft,
    ShiftRight,
    Equal,
    Unequal,
    Less,
}

/// The operators of a text that have spaces around them, in addition to those of
/// long sums, of shifts and of comparisons.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spaces {
    /// Around `+` and `-` of names and numbers.
    pub(crate) sums: bool,
    /// Around `/`.
    pub(crate) divisions: bool,
}

/// The precedence of a text's outermost operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Literal,
    Name,
    Product,
    /// A sum of names and numbers, which is written without spaces.
    Short,
    /// Any other sum.
    Sum,
    Shift,
    Comparison,
    /// A choice by cases; only a `localparam` is one.
    Choice,
}

/// Names with their values.
pub(crate) type Values = HashMap<&'static str, isize>;

impl Number {
    /// The one copy of a number.
    pub(crate) fn kept(self) -> &'static Number {
        static NUMBERS: LazyLock<Mutex<HashSet<&'static Number>>> = LazyLock::new(Mutex::default);
        let mut numbers = NUMBERS.lock().expect("no thread fails inside");
        if let Some(known) = numbers.get(&self) {
            return known;
        }
        let new: &'static Number = Box::leak(Box::new(self));
        numbers.insert(new);
        new
    }

    pub(crate) fn binary(
        operator: Operator,
        a: &'static Number,
        b: &'static Number,
    ) -> &'static Number {
        Number::Binary(operator, [a, b]).kept()
    }

    /// Value of the number; a comparison is 1 or 0.
    pub(crate) fn value(&self, values: &Values) -> isize {
        match self {
            Number::Literal(value) => *value,
            Number::Name(name) => {
                let value = values.get(name);
                *value.unwrap_or_else(|| panic!("{name} has no value"))
            }
            Number::Binary(operator, [a, b]) => {
                applied(*operator, a.value(values), b.value(values))
            }
            Number::IndexBits(number, [least, most]) => {
                let bits = index_bits(number.value(values) as usize);
                bits.clamp(*least, *most) as isize
            }
        }
    }

    /// Calls `each` with every name.
    pub(crate) fn names(&self, each: &mut impl FnMut(&'static str)) {
        match self {
            Number::Literal(_) => {}
            Number::Name(name) => each(name),
            Number::Binary(_, parts) => parts.iter().for_each(|part| part.names(each)),
            Number::IndexBits(number, _) => number.names(each),
        }
    }

    pub(crate) fn form(&self) -> Form {
        use Operator::{Add, Divide, Multiply, ShiftLeft, ShiftRight, Subtract};
        let short =
            |part: &&Number| matches!(part.form(), Form::Literal | Form::Name | Form::Short);
        match self {
            Number::Literal(_) => Form::Literal,
            Number::Name(_) => Form::Name,
            Number::IndexBits(..) => Form::Choice,
            Number::Binary(Multiply | Divide, _) => Form::Product,
            Number::Binary(ShiftLeft | ShiftRight, _) => Form::Shift,
            Number::Binary(Add | Subtract, parts) if parts.iter().all(short) => Form::Short,
            Number::Binary(Add | Subtract, _) => Form::Sum,
            Number::Binary(..) => Form::Comparison,
        }
    }

    /// Verilog text of the number.
    pub(crate) fn text(&self) -> String {
        self.written(Spaces::default())
    }

    /// Verilog text of the number with other spaces.
    pub(crate) fn written(&self, spaces: Spaces) -> String {
        match self {
            Number::Literal(value) => value.to_string(),
            Number::Name(name) => (*name).to_owned(),
            Number::Binary(operator, [a, b]) => {
                let (left, right) = operator.sides(a, b, spaces);
                let spaced = match operator {
                    Operator::Add | Operator::Subtract => self.form() == Form::Sum || spaces.sums,
                    Operator::Multiply => false,
                    Operator::Divide => spaces.divisions,
                    _ => true,
                };
                let symbol = operator.symbol();
                if spaced {
                    format!("{left} {symbol} {right}")
                } else {
                    format!("{left}{symbol}{right}")
                }
            }
            Number::IndexBits(..) => self.cases().join(" : "),
        }
    }

    /// The texts of its cases, `limit ? bits` and the last without a limit; of
    /// another number its text.
    pub(crate) fn cases(&self) -> Vec<String> {
        let spaces = Spaces {
            divisions: true,
            ..Spaces::default()
        };
        let Number::IndexBits(number, [least, most]) = self else {
            return vec![self.written(spaces)];
        };
        let number = number.written(spaces);
        let case = |bits| format!("{number} <= {} ? {bits}", 1usize << bits);
        let cases = (*least..*most).map(case);
        cases.chain([most.to_string()]).collect()
    }

    /// The text as a factor, or as what is subtracted.
    fn factor(&self, spaces: Spaces) -> String {
        self.in_parentheses_if(&[Form::Short, Form::Sum, Form::Shift], spaces)
    }

    /// The text as an operand of `<`, or before a `-`.
    pub(crate) fn compared(&self, spaces: Spaces) -> String {
        self.in_parentheses_if(&[Form::Shift, Form::Choice], spaces)
    }

    /// The text after a `<<` or `>>`.
    fn distance(&self, spaces: Spaces) -> String {
        match self.form() {
            Form::Literal | Form::Name => self.written(spaces),
            Form::Short => {
                let spaces = Spaces {
                    sums: true,
                    ..spaces
                };
                format!("({})", self.written(spaces))
            }
            _ => format!("({})", self.written(spaces)),
        }
    }

    fn in_parentheses_if(&self, forms: &[Form], spaces: Spaces) -> String {
        let text = self.written(spaces);
        if forms.contains(&self.form()) {
            format!("({text})")
        } else {
            text
        }
    }
}

impl Operator {
    /// The texts of its operands.
    fn sides(self, a: &Number, b: &Number, spaces: Spaces) -> (String, String) {
        match self {
            Operator::Add => (a.written(spaces), b.written(spaces)),
            Operator::Subtract => (a.written(spaces), b.factor(spaces)),
            Operator::Multiply | Operator::Divide => (a.factor(spaces), b.factor(spaces)),
            Operator::ShiftLeft | Operator::ShiftRight => (a.factor(spaces), b.distance(spaces)),
            Operator::Equal | Operator::Unequal | Operator::Less => {
                (a.written(spaces), b.written(spaces))
            }
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::ShiftLeft => "<<",
            Operator::ShiftRight => ">>",
            Operator::Equal => "==",
            Operator::Unequal => "!=",
            Operator::Less => "<",
        }
    }
}

fn applied(operator: Operator, a: isize, b: isize) -> isize {
    match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        Operator::Divide => a / b,
        Operator::ShiftLeft => a << b,
        Operator::ShiftRight => a >> b,
        Operator::Equal => isize::from(a == b),
        Operator::Unequal => isize::from(a != b),
        Operator::Less => isize::from(a < b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::Size;

    #[test]
    fn a_number_has_the_value_that_its_text_has_in_verilog() {
        let values = Values::from([("L", 32), ("m", 5), ("i", 3)]);
        let (l, m) = (Size::named("L", 32), Size::named("m", 5));
        let i = Size::index("i", 0.into(), m);
        let cases = [
            ((i * l + 1) * 8, "(i*L + 1)*8", 776),
            (l - 1 - i, "L-1-i", 28),
            (l - (i + 1), "L-(i+1)", 28),
            (l << (m - i - 1), "L << (m - i - 1)", 64),
            ((l + 1) >> 1, "(L+1) >> 1", 16),
            (l / 2 - i, "L/2 - i", 13),
            (Size::parameter("L", 2..=64).index_bits(), "", 5),
        ];
        for (size, text, value) in cases {
            let number = size.number();
            assert_eq!(number.value(&values), value, "{text}");
            if !text.is_empty() {
                assert_eq!(number.text(), text);
            }
        }
        let less = |a: Size, b: Size| Number::binary(Operator::Less, a.number(), b.number());
        assert_eq!(less(i + 1, m).value(&values), 1);
        assert_eq!(less(m, i).value(&values), 0);
    }

    #[test]
    fn the_names_of_a_number_are_found() {
        let (l, m) = (Size::named("L", 32), Size::named("m", 5));
        let mut names = Vec::new();
        let number = ((l - 1) << m).index_bits();
        number.number().names(&mut |name| names.push(name));
        assert_eq!(names, ["L", "m"]);
    }
}
