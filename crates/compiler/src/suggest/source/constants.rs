//! Constants of the source: the values of array bounds.

use super::bindings::Bindings;
use super::elements::aliases;
use super::files::Included;
use super::scan::Text;
use super::words::{is_word, word};
use crate::suggest::SourceFiles;
use std::rc::Rc;

/// Constants that are defined by each other.
const MOST_STEPS: u32 = 8;
/// Parentheses inside of each other.
const MOST_DEPTH: u32 = 64;

/// The constants of one file, as defined in it and in the files that it includes.
pub(in crate::suggest) struct Constants {
    place: Rc<Text>,
    /// The file with the files that it includes.
    all: Rc<Included>,
    /// The position of their use; definitions in the function around it come first.
    at: Option<usize>,
    /// The arguments of template parameters.
    bound: Bindings,
}

impl Constants {
    /// The constants of `file`.
    pub fn of(file: &str, sources: &mut SourceFiles) -> Self {
        Constants {
            place: sources.text(file),
            all: sources.with_included(file),
            at: None,
            bound: Bindings::default(),
        }
    }

    /// The constants within a template with these arguments.
    pub fn bound_to(self, bound: Bindings) -> Self {
        Constants { bound, ..self }
    }

    /// The constants as seen from a line.
    pub fn seen_from(self, line: u32) -> Self {
        let at = self.place.start_of_line(line);
        Constants { at, ..self }
    }

    /// Bytes of a type; `None` if neither its name nor a `typedef` or `using` says it, or
    /// several say different ones.
    pub fn bytes_of(&self, element: &str) -> Option<u32> {
        self.bytes_in(element, MOST_STEPS)
    }

    fn bytes_in(&self, element: &str, steps: u32) -> Option<u32> {
        if let Some(bytes) = self.bound.bytes_of(element) {
            return Some(bytes);
        }
        let steps = steps.checked_sub(1)?;
        // A parameter of a template is what an instance says.
        if is_parameter(&self.place.masked, element) {
            return None;
        }
        let mut all = aliases(&self.all.text.masked, element).map(|is| self.bytes_in(is, steps));
        let first = all.next()??;
        all.all(|bytes| bytes == Some(first)).then_some(first)
    }

    /// The text of the file.
    pub fn place(&self) -> &Text {
        &self.place
    }

    /// The value of an expression of integers, constants, macros and `sizeof` of
    /// types whose size the name says; `None` for any other, and where a constant
    /// has several definitions.
    pub fn value(&self, expression: &str) -> Option<u64> {
        self.value_in(expression, MOST_STEPS)
    }

    fn value_in(&self, expression: &str, steps: u32) -> Option<u64> {
        let mut parser = Parser {
            constants: self,
            rest: expression,
            steps: steps.checked_sub(1)?,
            depth: 0,
        };
        let value = parser.shift()?;
        parser.rest.trim().is_empty().then_some(value)
    }

    /// The value of `name`, if all of its definitions agree: those of the function
    /// around if there are any, else all.
    fn named(&self, name: &str, steps: u32) -> Option<u64> {
        if let Some(value) = self.bound.value(name) {
            return Some(value);
        }
        let function = self
            .at
            .and_then(|at| Some((self.place.outermost_function(at)?.body, at)));
        let own = function.map_or(Vec::new(), |part| definitions(&self.place, name, part));
        let all = if own.is_empty() {
            definitions(&self.all.text, name, (0, self.all.text.masked.len()))
        } else {
            own
        };
        let mut values = all
            .into_iter()
            .map(|definition| self.value_in(definition, steps));
        let first = values.next()??;
        values.all(|value| value == Some(first)).then_some(first)
    }
}

/// The definitions of `name` in this span.
fn definitions<'a>(place: &'a Text, name: &str, (mut from, to): (usize, usize)) -> Vec<&'a str> {
    let mut found = Vec::new();
    while let Some(at) = word(&place.masked[from..to], name) {
        let at = from + at;
        from = at + name.len();
        found.extend(definition(place, at, from));
    }
    found
}

/// The definition of the name between `at` and `end`, if it is one: by
/// `#define`, as a constant, or as an enumerator.
fn definition(place: &Text, at: usize, end: usize) -> Option<&str> {
    let masked = &place.masked;
    let line = &masked[place.line_start(at)..at];
    if line.trim_start().starts_with('#') {
        let is_macro = line.trim_end().ends_with("define") && !masked[end..].starts_with('(');
        return is_macro.then(|| masked[end..place.line_end(end)].trim());
    }
    let equals = masked[end..].trim_start().strip_prefix('=')?;
    if equals.starts_with('=') {
        return None;
    }
    let begin = masked.len() - equals.len();
    let statement = &masked[place.statement_start(at)..at];
    let is_constant = ["const", "constexpr"]
        .iter()
        .any(|w| word(statement, w).is_some());
    let block = masked[..at].rfind(['{', ';', '}']);
    let is_enumerator = block.is_some_and(|open| {
        let before = &masked[..open];
        let head = &before[before.rfind([';', '{', '}']).map_or(0, |end| end + 1)..];
        masked[open..].starts_with('{') && word(head, "enum").is_some()
    });
    // A parameter of a template has no value of its own.
    let is_parameter = word(statement, "template").is_some();
    if is_parameter || !(is_constant || is_enumerator) {
        return None;
    }
    let stop = masked[begin..].find([';', '}'])?;
    let (from, to) = *place.split(begin, begin + stop, ',').first()?;
    Some(&masked[from..to])
}

/// Whether a template has a type of that name as parameter.
fn is_parameter(masked: &str, name: &str) -> bool {
    let of = |keyword: &str| {
        let mut all = masked.match_indices(keyword);
        all.any(|(at, _)| {
            let after = masked[at + keyword.len()..].trim_start();
            let rest = after.strip_prefix(name);
            rest.is_some_and(|rest| rest.trim_start().starts_with([',', '>', '=']))
        })
    };
    of("typename ") || of("class ")
}

/// Integer arithmetic as C++ has it, on values that are not negative.
struct Parser<'a> {
    constants: &'a Constants,
    rest: &'a str,
    steps: u32,
    depth: u32,
}

impl<'a> Parser<'a> {
    /// The first of `operators` that follows, which is passed.
    fn one_of(&mut self, operators: &[&'static str]) -> Option<&'static str> {
        let rest = self.rest.trim_start();
        let found = operators.iter().find(|o| rest.starts_with(**o))?;
        self.rest = &rest[found.len()..];
        Some(found)
    }

    fn shift(&mut self) -> Option<u64> {
        let mut value = self.sum()?;
        while let Some(operator) = self.one_of(&["<<", ">>"]) {
            let by = u32::try_from(self.sum()?).ok()?;
            value = match operator {
                "<<" => value.checked_mul(1u64.checked_shl(by)?)?,
                _ => value.checked_shr(by)?,
            };
        }
        Some(value)
    }

    fn sum(&mut self) -> Option<u64> {
        let mut value = self.product()?;
        while let Some(operator) = self.one_of(&["+", "-"]) {
            let other = self.product()?;
            value = match operator {
                "+" => value.checked_add(other)?,
                _ => value.checked_sub(other)?,
            };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<u64> {
        let mut value = self.primary()?;
        while let Some(operator) = self.one_of(&["*", "/", "%"]) {
            let other = self.primary()?;
            value = match operator {
                "*" => value.checked_mul(other)?,
                "/" => value.checked_div(other)?,
                _ => value.checked_rem(other)?,
            };
        }
        Some(value)
    }

    fn primary(&mut self) -> Option<u64> {
        if self.one_of(&["("]).is_some() {
            self.depth += 1;
            (self.depth <= MOST_DEPTH).then_some(())?;
            let value = self.shift()?;
            self.depth -= 1;
            self.one_of(&[")"])?;
            return Some(value);
        }
        let token = self.token()?;
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            return literal(token);
        }
        if token == "sizeof" {
            let inside = self.rest.trim_start().strip_prefix('(')?;
            let (name, rest) = inside.split_once(')')?;
            self.rest = rest;
            return self.constants.bytes_of(name.trim()).map(u64::from);
        }
        self.constants.named(token, self.steps)
    }

    /// A name or a number.
    fn token(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (token, after) = rest.split_at(end);
        self.rest = after;
        (!token.is_empty()).then_some(token)
    }
}

/// `32`, `0x20`, `32u`. A leading 0 is octal, which nobody means.
pub(in crate::suggest) fn literal(token: &str) -> Option<u64> {
    let digits = token.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None if digits.len() > 1 && digits.starts_with('0') => None,
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::source::files::given;

    const SOURCE: &str = "#define TILE 16 // of threads\n\
        #define F(x) x\n\
        static const int A = 2 * TILE, B = A + 1;\n\
        constexpr unsigned C = 1u << 4;\n\
        enum { D = 3, E = D * 2 };\n\
        template <int G = 5, const int H = 6>\n\
        void f(int n = 7) { n = 8; int A2 = 9; if (TILE == 16) n = 0; }\n\
        #if X\n\
        #define TWICE 1\n\
        #else\n\
        #define TWICE 2\n\
        #endif\n\
        constexpr int SELF = SELF + 1;\n";

    #[test]
    fn bounds_are_computed_from_the_constants_of_the_file() {
        let constants = Constants::of("k.cu", &mut given(SOURCE));
        for (expression, value) in [
            ("32", 32),
            ("0x10u", 16),
            ("TILE + 1", 17),
            ("(A - 2) * B / 3 % 7", 1),
            ("1 << 4 + 1", 32),
            ("C", 16),
            ("E * sizeof(float)", 24),
            (" 64*TILE ", 1024),
        ] {
            assert_eq!(constants.value(expression), Some(value), "{expression}");
        }
        for unknown in [
            "",
            "G",
            "H",
            "n",
            "A2",
            "TWICE",
            "SELF",
            "F(3)",
            "TILE +",
            "1 - 2",
            "1 / 0",
            "010",
            "a ? 1 : 2",
            "f()",
            &"(".repeat(100_000),
            "1 << 64",
            "1.5",
        ] {
            assert_eq!(constants.value(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_typedef_says_how_many_bytes_its_name_has() {
        let source = "typedef long fr_t;\nusing real = fr_t;\ntypedef float T;\n\
            template <typename T> void f();\n#if X\nusing either = float;\n#else\n\
            using either = double;\n#endif\ntypedef loop loop;\ntypedef struct A S;";
        let constants = Constants::of("k.cu", &mut given(source));
        for (name, bytes) in [
            ("fr_t", Some(8)),
            ("real", Some(8)),
            ("T", None),
            ("either", None),
            ("loop", None),
            ("S", None),
        ] {
            assert_eq!(constants.bytes_of(name), bytes, "{name}");
        }
        assert_eq!(constants.value("2 * sizeof(real)"), Some(16));
    }
}
