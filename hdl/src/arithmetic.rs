//! The value of a number that the Verilog text computes, as `i*m + 1` is.

/// Operators, from those that bind weakest; of two that begin alike, the longer
/// one first.
const LEVELS: [&[&str]; 5] = [
    &["==", "!="],
    &["<=", "<"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/"],
];

/// Numbers with names, and their values.
#[derive(Debug, Default)]
pub(crate) struct Names {
    names: Vec<String>,
    values: Vec<Option<isize>>,
}

impl Names {
    /// The slot of a name.
    pub(crate) fn slot(&mut self, name: &str) -> usize {
        let known = self.names.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.values.push(None);
            self.names.len() - 1
        })
    }

    /// Gives a name a value, or none; returns the one before.
    pub(crate) fn set(&mut self, slot: usize, value: Option<isize>) -> Option<isize> {
        std::mem::replace(&mut self.values[slot], value)
    }
}

/// A number by its text.
#[derive(Debug)]
pub(crate) enum Number {
    Literal(isize),
    /// The slot of a name.
    Name(usize),
    Binary(&'static str, Box<[Number; 2]>),
    /// A condition, the number if it holds, and if not.
    Choice(Box<[Number; 3]>),
}

impl Number {
    /// Reads what a [`Size`](crate::size::Size) or a condition is written as.
    pub(crate) fn parse(text: &str, names: &mut Names) -> Self {
        let mut reader = Reader { rest: text, names };
        let number = reader.choice();
        assert!(
            reader.rest.is_empty(),
            "'{}' is left of {text}",
            reader.rest
        );
        number
    }

    /// Its value; a comparison is 1 or 0.
    pub(crate) fn value(&self, names: &Names) -> isize {
        match self {
            Number::Literal(value) => *value,
            Number::Name(slot) => {
                names.values[*slot].unwrap_or_else(|| panic!("{} has no value", names.names[*slot]))
            }
            Number::Binary(operator, sides) => {
                applied(operator, sides[0].value(names), sides[1].value(names))
            }
            Number::Choice(parts) => {
                let holds = parts[0].value(names) != 0;
                parts[if holds { 1 } else { 2 }].value(names)
            }
        }
    }
}

fn applied(operator: &str, a: isize, b: isize) -> isize {
    match operator {
        "==" => isize::from(a == b),
        "!=" => isize::from(a != b),
        "<=" => isize::from(a <= b),
        "<" => isize::from(a < b),
        "<<" => a << b,
        ">>" => a >> b,
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        _ => unreachable!("{operator} is in no level"),
    }
}

/// What is left to read, and the names in it.
struct Reader<'a> {
    rest: &'a str,
    names: &'a mut Names,
}

impl Reader<'_> {
    /// `condition ? number : number`, or a number without.
    fn choice(&mut self) -> Number {
        let condition = self.binary(0);
        if !self.took("?") {
            return condition;
        }
        let then = self.choice();
        assert!(self.took(":"), "a ':' before '{}'", self.rest);
        Number::Choice(Box::new([condition, then, self.choice()]))
    }

    /// Operators of a level and of those that bind stronger.
    fn binary(&mut self, level: usize) -> Number {
        let Some(operators) = LEVELS.get(level) else {
            return self.operand();
        };
        let mut number = self.binary(level + 1);
        while let Some(operator) = operators.iter().find(|operator| self.begins(operator)) {
            self.took(operator);
            let right = self.binary(level + 1);
            number = Number::Binary(operator, Box::new([number, right]));
        }
        number
    }

    /// Whether an operator comes next; `<` is not the first half of `<<`.
    fn begins(&self, operator: &str) -> bool {
        let after = self.rest.trim_start().strip_prefix(operator);
        after.is_some_and(|after| operator != "<" || !after.starts_with('<'))
    }

    fn operand(&mut self) -> Number {
        if self.took("(") {
            let number = self.choice();
            assert!(self.took(")"), "a ')' before '{}'", self.rest);
            return number;
        }
        let text = self.rest.trim_start();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
        let (word, after) = text.split_at(end);
        assert!(!word.is_empty(), "a number before '{text}'");
        self.rest = after;
        match word.parse() {
            Ok(value) => Number::Literal(value),
            Err(_) => Number::Name(self.names.slot(word)),
        }
    }

    /// Goes on after `token` if that comes next.
    fn took(&mut self, token: &str) -> bool {
        let after = self.rest.trim_start().strip_prefix(token);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::Size;

    fn value(text: &str) -> isize {
        let mut names = Names::default();
        for (name, value) in [("L", 32), ("m", 5), ("i", 3)] {
            let slot = names.slot(name);
            names.set(slot, Some(value));
        }
        Number::parse(text, &mut names).value(&names)
    }

    #[test]
    fn a_number_has_the_value_of_its_text() {
        assert_eq!(value("(i*L + 1)*8"), 776);
        assert_eq!(value("L-1-i"), 28);
        assert_eq!(value("L << (m - i - 1)"), 64);
        assert_eq!(value("1 + L >> 1"), 16);
        assert_eq!(value("L / 2 - i"), 13);
        assert_eq!(value("i + 1 < m"), 1);
        assert_eq!(value("i == 0"), 0);
        let bits = Size::parameter("L", 2..=64).index_bits();
        assert_eq!(value(bits.text()), 5);
    }
}
