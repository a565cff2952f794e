//! The address of an element, `&tile[y][x]`, and what is done with it. Where it leads to other
//! elements, mapping only the named one would miss these.

use super::edits::Edit;
use super::pointers::{CASTS, accesses_one, declared_reference, is_operand, members};
use super::scan::{KEYWORDS, Text};
use super::words::{is_word, last_name, word};
use crate::suggest::mapped::Mapped;

/// Integers as which an address is computed with; others end with `_t`.
const INTEGERS: [&str; 5] = ["int", "unsigned", "long", "size_t", "uint"];

/// The use of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::suggest) enum Used {
    /// The element itself: `*&tile[i]`, or the argument of an atomic function.
    Exactly,
    /// An access to another element, with its span: `(&tile[0][0])[i]`.
    Element(usize, usize),
    /// An access to another address, with its span, that is read or written there:
    /// `*(&tile[0][0] + i)`.
    Address(usize, usize),
    /// Something else: it is stored, or computed with.
    Otherwise,
}

/// The use of the address of the element in this span of `code`; `None` if the
/// element has no `&`.
pub(in crate::suggest) fn use_of(code: &Text, element: (usize, usize)) -> Option<Used> {
    let (begin, end) = in_parentheses(code, element);
    let before = code.masked[..begin].trim_end();
    if let Some(open) = opening_after(before, '(').filter(|_| code.masked[end..].starts_with(')'))
        && code
            .called(open)
            .is_some_and(|(_, name)| name == "addressof")
    {
        return Some(Used::Otherwise);
    }
    let address = before.strip_suffix('&')?.len();
    let is_address = is_operand(before) || cast_before(code, address).is_some();
    is_address.then(|| {
        let to = members(code, end, code.masked.len());
        Expression {
            from: address,
            to,
            is_cast: false,
            is_closed: false,
        }
        .used(code)
    })
}

/// The element with the parentheses that are around it alone: `(tile[y][x])`, as TVM and
/// macros print it.
fn in_parentheses(code: &Text, (mut begin, mut end): (usize, usize)) -> (usize, usize) {
    loop {
        let after = code.masked[end..].trim_start();
        let open = opening_after(code.masked[..begin].trim_end(), '(');
        let Some(open) = open.filter(|open| after.starts_with(')') && code.called(*open).is_none())
        else {
            return (begin, end);
        };
        (begin, end) = (open, code.masked.len() - after.len() + 1);
    }
}

impl Used {
    /// Maps the expression that contains the element at `at`, and returns its end; none if it
    /// names the array once more, or is not understood.
    pub fn edits(self, code: &Text, at: usize, mapped: Mapped) -> Option<([Edit; 2], usize)> {
        let array = mapped.array;
        let called = mapped.at();
        let (from, to, new) = match self {
            Used::Element(from, to) => (from, to, [format!("(*{called}&"), "))".to_owned()]),
            Used::Address(from, to) => (from, to, [called, ")".to_owned()]),
            Used::Exactly | Used::Otherwise => return None,
        };
        let others = [&code.masked[from..at], &code.masked[at + array.len()..to]];
        let is_only = others.iter().all(|part| word(part, array).is_none());
        let [before, after] = new;
        let edits = [Edit::insert(from, before), Edit::insert(to, after)];
        is_only.then_some((edits, to))
    }
}

/// Whether the element in this span is bound to a reference whose address leads to
/// others: `float &e = tile[i]; (&e)[1] = 0;`
pub(in crate::suggest) fn leads_elsewhere(code: &Text, (at, end): (usize, usize)) -> bool {
    let head = code.masked[..at].trim_end().strip_suffix('=');
    let Some(name) = head.and_then(|head| declared_reference(head.trim_end())) else {
        return false;
    };
    let mut from = end;
    while let Some(found) = word(&code.masked[from..], name) {
        let begin = from + found;
        from = begin + name.len();
        if !matches!(use_of(code, (begin, from)), None | Some(Used::Exactly)) {
            return true;
        }
    }
    false
}

/// An expression whose value is the address.
struct Expression {
    from: usize,
    to: usize,
    /// To a type other than that of the elements.
    is_cast: bool,
    /// Whether brackets after it are its own: `(...)` or `f(...)`.
    is_closed: bool,
}

impl Expression {
    fn used(mut self, code: &Text) -> Used {
        loop {
            let before = code.masked[..self.from].trim_end();
            let after = code.masked[self.to..].trim_start();
            if self.is_closed && after.starts_with('[') {
                return self.indexed(code, after);
            }
            if self.is_closed && after.starts_with("->") {
                return Used::Exactly;
            }
            if before.ends_with('*') && is_operand(before) {
                return Used::Exactly;
            }
            if let Some(open) = cast_before(code, self.from) {
                (self.from, self.is_cast, self.is_closed) = (open, true, false);
                continue;
            }
            let open = opening_after(before, '(').filter(|_| after.starts_with(')'));
            let Some(open) = open else {
                return self.in_another(code, after);
            };
            let to = code.masked.len() - after.len() + 1;
            // The operand of an `asm` statement.
            if code.text[..open].trim_end().ends_with('"') {
                return Used::Exactly;
            }
            match code.called(open) {
                None => self.from = open,
                Some((_, name)) if KEYWORDS.contains(&name) && name != "return" => {
                    return Used::Otherwise;
                }
                Some((_, "return")) => self.from = open,
                Some((begin, name)) if stays_an_address(name) => {
                    (self.from, self.is_cast) = (begin, true);
                }
                Some((_, name)) if accesses_one(name) => return Used::Exactly,
                Some(_) => return Used::Otherwise,
            }
            (self.to, self.is_closed) = (to, true);
        }
    }

    /// The use as an array: `(&tile[0][0])[i]`.
    fn indexed(&self, code: &Text, after: &str) -> Used {
        let open = code.masked.len() - after.len();
        let Some(close) = code.closing(open) else {
            return Used::Otherwise;
        };
        if code.masked[open + 1..close].trim() == "0" {
            Used::Exactly
        } else if self.is_cast {
            Used::Otherwise
        } else {
            Used::Element(self.from, members(code, open, code.masked.len()))
        }
    }

    /// The use as a part of an expression: an argument, or the first term of an
    /// address.
    fn in_another(&self, code: &Text, after: &str) -> Used {
        let Some(open) = code.open_before(self.from) else {
            return Used::Otherwise;
        };
        let is_argument = code.masked[..self.from].trim_end().ends_with(['(', ','])
            && after.starts_with([',', ')']);
        if let Some((_, name)) = code.called(open) {
            return if is_argument && accesses_one(name) {
                Used::Exactly
            } else {
                Used::Otherwise
            };
        }
        let outside = code.masked[..open].trim_end();
        let is_first = code.masked[open + 1..self.from].trim().is_empty();
        let is_read =
            code.masked[open..].starts_with('(') && outside.ends_with('*') && is_operand(outside);
        let Some(close) = code.closing(open).filter(|_| is_first && is_read) else {
            return Used::Otherwise;
        };
        let next = code.masked[close + 1..].trim_start();
        if self.is_cast || !after.starts_with(['+', '-']) || next.starts_with(['[', '.', '(']) {
            return Used::Otherwise;
        }
        Used::Address(open + 1, close)
    }
}

/// The position of the bracket that a text ends with.
fn opening_after(before: &str, bracket: char) -> Option<usize> {
    before.strip_suffix(bracket).map(str::len)
}

/// The opening parenthesis of a cast, `(float4 *)`, `(const int *)` or `(unsigned)`,
/// that ends at `at`.
fn cast_before(code: &Text, at: usize) -> Option<usize> {
    let close = code.masked[..at].trim_end().strip_suffix(')')?.len();
    let open = code.opening(close)?;
    let inside = code.masked[open + 1..close].trim();
    let is_type = |c: char| is_word(c) || c.is_whitespace() || "*:<>".contains(c);
    let names_one = inside.ends_with('*') || inside.split_whitespace().any(is_integer);
    let called = last_name(code.masked[..open].trim_end());
    let is_cast = called.is_empty() || called == "return";
    (is_cast && names_one && inside.chars().all(is_type)).then_some(open)
}

fn is_integer(name: &str) -> bool {
    INTEGERS.contains(&name) || name.ends_with("_t")
}

/// Whether `name(address)` is that address, as another type.
fn stays_an_address(name: &str) -> bool {
    let is_cast = CASTS.iter().any(|cast| cast.trim_end_matches('<') == name);
    is_cast || is_integer(name) || name.starts_with("__cvta")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The use of the address of a line's first `t[...]`, with the text that it covers.
    fn used(line: &str) -> Option<(Used, String)> {
        let code = Text::new(line.to_owned());
        let begin = code.masked.find("t[")?;
        let found = use_of(&code, (begin, members(&code, begin + 1, code.masked.len())))?;
        let part = match found {
            Used::Element(from, to) | Used::Address(from, to) => line[from..to].to_owned(),
            _ => String::new(),
        };
        Some((found, part))
    }

    #[test]
    fn addresses_of_one_element() {
        for line in [
            "x = *&t[i][j];",
            "x = *&((t[i][j]));",
            "*reinterpret_cast<float4 *>(&t[i][j]) = v;",
            "x = *(const float4 *)&t[i][j] + 1;",
            "x = ((float4 *)&t[i][j])[0];",
            "x = (&t[i][j])->y;",
            "atomicAdd(&t[i][j], 1);",
            "atomicAdd(n, &t[i][j]);",
            "x = LOAD(&t[i][j]);",
            "asm(\"ld %0, [%1];\" : \"=f\"(v) : \"r\"((unsigned)__cvta_generic_to_shared(&t[i][j])));",
            ": \"r\"(uint32_t(__cvta_generic_to_shared(&t[i][j]))),",
            "wmma::load_matrix_sync(a, &t[i][j], 32);",
        ] {
            assert_eq!(used(line).map(|u| u.0), Some(Used::Exactly), "{line}");
        }
    }

    #[test]
    fn addresses_of_other_elements() {
        for (line, expected) in [
            ("(&t[0][0])[i] = v;", "(&t[0][0])[i]"),
            ("x = y + (&t[0][0])[f(i)].z;", "(&t[0][0])[f(i)].z"),
            ("x = *(&t[0][0] + i);", "&t[0][0] + i"),
            ("*((&t[0][0]) - i) = v;", "(&t[0][0]) - i"),
        ] {
            let (_, part) = used(line).unwrap();
            assert_eq!(part, expected, "{line}");
        }
        for line in [
            "float *e = &t[i][0];",
            "auto e = (&t[i][0]);",
            "e = c ? &t[i][0] : p;",
            "sum(&t[i][0], n);",
            "sum((&(t[i][0])), n);",
            "x = ((float4 *)&t[i][0])[j];",
            "x = *((float4 *)&t[i][0] + j);",
            "x = *(j + &t[i][0]);",
            "f(x, &t[i][0] + j);",
            ": \"r\"((unsigned)__cvta_generic_to_shared(&t[i][0]) + 4 * r)",
            "unsigned a = __cvta_generic_to_shared(&t[i][0]);",
            "x = std::addressof(t[0][0])[i];",
            "return &t[i][0];",
            "if (&t[i][0]) x = 1;",
        ] {
            assert_eq!(used(line).map(|u| u.0), Some(Used::Otherwise), "{line}");
        }
        for line in ["x = t[i][j];", "x = a & t[i][j];", "x = f(a) & t[i][j];"] {
            assert_eq!(used(line), None, "{line}");
        }
    }
}
