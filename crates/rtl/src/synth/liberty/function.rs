//! The boolean functions of cell outputs.

/// The truth table of `function` over `inputs`, bit `i` of the row number
/// being input `i`; `None` if the text is not a function of these inputs, or if
/// there are more than six.
///
/// Liberty's operators, from strong to weak: `!a` and `a'`; `^`; `a & b`,
/// `a * b` and `a b`; `a | b` and `a + b`.
pub(super) fn truth_table(function: &str, inputs: &[&str]) -> Option<u64> {
    if inputs.len() > 6 {
        return None;
    }
    let mut table = 0;
    for row in 0..1_u64 << inputs.len() {
        let mut parser = Parser {
            rest: function.as_bytes(),
            inputs,
            row,
            depth: 0,
        };
        let value = parser.or()?;
        parser.skip_space();
        if !parser.rest.is_empty() {
            return None;
        }
        table |= u64::from(value) << row;
    }
    Some(table)
}

/// Evaluates the function for one row of the table.
struct Parser<'a> {
    rest: &'a [u8],
    inputs: &'a [&'a str],
    row: u64,
    depth: u32,
}

impl Parser<'_> {
    fn skip_space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.rest.first().copied()
    }

    fn take(&mut self, any_of: &[u8]) -> bool {
        let here = self.peek().is_some_and(|c| any_of.contains(&c));
        if here {
            self.rest = &self.rest[1..];
        }
        here
    }

    fn or(&mut self) -> Option<bool> {
        let mut value = self.and()?;
        while self.take(b"|+") {
            value |= self.and()?;
        }
        Some(value)
    }

    fn and(&mut self) -> Option<bool> {
        let mut value = self.xor()?;
        loop {
            let explicit = self.take(b"&*");
            // Two operands side by side are an AND, too.
            let operand = self
                .peek()
                .is_some_and(|c| c.is_ascii_alphanumeric() || b"_(!\"".contains(&c));
            if !explicit && !operand {
                return Some(value);
            }
            value &= self.xor()?;
        }
    }

    fn xor(&mut self) -> Option<bool> {
        let mut value = self.not()?;
        while self.take(b"^") {
            value ^= self.not()?;
        }
        Some(value)
    }

    fn not(&mut self) -> Option<bool> {
        let mut invert = false;
        while self.take(b"!") {
            invert = !invert;
        }
        let mut value = self.operand()?;
        while self.take(b"'") {
            value = !value;
        }
        Some(value ^ invert)
    }

    fn operand(&mut self) -> Option<bool> {
        if self.take(b"(") {
            self.depth += 1;
            if self.depth > 32 {
                return None;
            }
            let value = self.or()?;
            self.depth -= 1;
            return self.take(b")").then_some(value);
        }
        self.skip_space();
        let in_name = |c: &u8| c.is_ascii_alphanumeric() || b"_[]".contains(c);
        let length = self.rest.iter().take_while(|c| in_name(c)).count();
        let (name, rest) = self.rest.split_at(length);
        self.rest = rest;
        match name {
            b"0" => Some(false),
            b"1" => Some(true),
            _ => {
                let index = self.inputs.iter().position(|i| i.as_bytes() == name)?;
                Some(self.row >> index & 1 == 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_bind_as_in_liberty() {
        let table = |f| truth_table(f, &["A", "B"]);
        assert_eq!(table("A"), Some(0b1010));
        assert_eq!(table("!A"), Some(0b0101));
        assert_eq!(table("A'"), Some(0b0101));
        for nand in ["!(A & B)", "(A B)'", "(!(A*B))", "A' + B'", "!A | !B"] {
            assert_eq!(table(nand), Some(0b0111), "{nand}");
        }
        assert_eq!(table("A ^ B"), Some(0b0110));
        assert_eq!(table("A + A B"), Some(0b1010));
        assert_eq!(table("!A ^ B"), Some(0b1001));
        assert_eq!(table("1"), Some(0b1111));
    }

    #[test]
    fn what_is_no_function_is_none() {
        for bad in ["", "A &", "(A", "A)", "C", "A # B", "IQ"] {
            assert_eq!(truth_table(bad, &["A", "B"]), None, "{bad}");
        }
        let deep = "(".repeat(100_000);
        assert_eq!(truth_table(&deep, &["A"]), None);
        assert_eq!(truth_table("A", &["A"; 7]), None);
    }
}
