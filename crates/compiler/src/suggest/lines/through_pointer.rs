//! Accesses through a pointer into an array: the statement with the address
//! mapped, where it shows which of its parts is the access.

use super::calls::{Address, window_with};
use super::declared_pointers::names_into;
use super::types::Kept;
use crate::suggest::SourceFiles;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::edits::CallChange;
use crate::suggest::source::files::split;
use crate::suggest::source::scan::{Text, arguments};
use crate::suggest::source::words::{first_name, is_word, word};
use spadkit_mapping::trace::Op;

/// Operators of two characters that end with `=`, by their first.
const OPERATORS: [char; 13] = [
    '=', '!', '<', '>', '+', '-', '*', '/', '%', '&', '|', '^', '~',
];

/// The statement of `source`, whose accesses to `array` are all of kind `op`, with
/// their address under `function`. `None` where another part of the statement may
/// be the access, or `array` is not declared; nor where a mapping may take apart what
/// the statement copies.
pub(in crate::suggest) fn pointer_change(
    source: &str,
    (op, kept): (Op, Kept),
    mapped: Mapped,
    sources: &mut SourceFiles,
) -> Option<CallChange> {
    let array = mapped.array;
    let (_, number) = split(source)?;
    let (place, line) = window_with(source, array, sources)?;
    let end = place.statement_end(line);
    // An access of several elements may belong to the next statement, too.
    if place.masked[end..place.line_end(end - 1).max(end)].contains(['[', '*']) {
        return None;
    }
    // The line may be the second of its statement.
    let begins = [line, place.statement_start(line)];
    let found = begins.into_iter().find_map(|begin| {
        let found = accessed(&place, op, begin, end)?;
        let statement = (begin, end);
        Some(Address { statement, ..found })
    })?;
    if names_another(&place, &found, array) {
        return None;
    }
    let address = found.of_element.as_deref();
    if address.is_some_and(|address| kept.tears(number, address)) {
        return None;
    }
    found.changed(&place, source, mapped)
}

/// Whether another line of the statement names the array, or a pointer into it: it changes
/// by itself.
fn names_another(place: &Text, found: &Address, array: &str) -> bool {
    let (begin, end) = found.statement;
    let names = names_into(place, found.from, array);
    let parts = [(begin, found.from), (found.to, end)];
    let is_apart = |&(from, to): &(usize, usize)| place.masked[from..to].trim().contains('\n');
    let mut apart = parts.iter().filter(|part| is_apart(part));
    apart.any(|&(from, to)| {
        let part = &place.masked[from..to];
        names.iter().any(|name| word(part, name).is_some())
    })
}

/// The pointer expression that the statement between `begin` and `end` accesses by `op`.
fn accessed(place: &Text, op: Op, begin: usize, end: usize) -> Option<Address> {
    if op == Op::Atomic {
        return argument_of_an_atomic(place, begin, end);
    }
    let equals = assignment(place, begin, end)?;
    if op == Op::Load {
        return element(place, equals + 1, end - 1);
    }
    element(place, after_conditions(place, begin, equals)?, equals)
}

/// The position of the `=` of a statement's only assignment.
fn assignment(place: &Text, from: usize, to: usize) -> Option<usize> {
    let statement = &place.masked[from..to];
    // The header of a loop ends in the middle of its parentheses.
    let is_whole = statement.matches('(').count() == statement.matches(')').count();
    if statement.contains(['{', '}']) || !statement.ends_with(';') || !is_whole {
        return None;
    }
    let parts = place.split(from, to, '=');
    let [first, _] = &parts[..] else { return None };
    let before = &place.masked[first.0..first.1];
    (!before.ends_with(OPERATORS)).then_some(first.1)
}

/// The start of the left side, after `if (...)` and the like.
fn after_conditions(place: &Text, from: usize, to: usize) -> Option<usize> {
    let mut from = from;
    loop {
        let left = place.masked[from..to].trim_start();
        from = to - left.len();
        let name = first_name(left);
        from = match name {
            "else" => from + name.len(),
            "if" | "for" | "while" => place.closing(from + left.find('(')?)? + 1,
            _ => return Some(from),
        };
    }
}

/// The element that the expression between `from` and `to` is: `*p`, `*(p + 1)` or
/// `p[i]`; `None` for any other expression.
fn element(place: &Text, from: usize, to: usize) -> Option<Address> {
    let whole = Address::new(place, (from, to), (from, to));
    let (from, to) = (whole.from, whole.to);
    let masked = &place.masked[from..to];
    let address = match masked.strip_prefix('*') {
        Some(rest) if rest.starts_with('(') => {
            let close = place.closing(from + 1)?;
            (close + 1 == to).then(|| place.text[from + 2..close].to_owned())?
        }
        Some(name) => (!name.is_empty() && name.chars().all(is_word)).then(|| name.to_owned())?,
        None => {
            let mut at = from + masked.find(|c| !is_word(c)).filter(|at| *at > 0)?;
            while at < to {
                at = to - place.masked[at..to].trim_start().len();
                place.masked[at..].starts_with('[').then_some(())?;
                at = place.closing(at)? + 1;
            }
            format!("&{}", &place.text[from..to])
        }
    };
    Some(Address {
        of_element: Some(address.trim().to_owned()),
        ..whole
    })
}

/// The first argument of the only atomic function of a statement.
fn argument_of_an_atomic(place: &Text, from: usize, to: usize) -> Option<Address> {
    let statement = &place.masked[from..to];
    let mut calls = statement.match_indices("atomic");
    let (at, _) = calls.next()?;
    let is_only = calls.next().is_none() && !statement[..at].ends_with(is_word);
    let open = from + at + statement[at..].find('(').filter(|_| is_only)?;
    let is_name = place.masked[from + at..open].chars().all(is_word);
    let first = *arguments(place, open).filter(|_| is_name)?.first()?;
    Some(Address::new(place, (from, to), first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::lines::types::Types;
    use crate::suggest::source::files::given;

    /// The compiler merges the two accesses, and gives them one line.
    #[test]
    fn a_line_of_two_statements_is_left_to_a_person() {
        let two = "p[2 * t] = x[t]; p[2 * t + 1] = x[t + 1];";
        assert_eq!(change(two, Op::Store), None);
        let found = change("p[t] = x[t]; n++; // p[0]", Op::Store).unwrap();
        assert_eq!(found, "*at_at(tile, &p[t]) = x[t];");
    }

    /// The change of a statement in a kernel that declares `tile`.
    fn change(statement: &str, op: Op) -> Option<String> {
        let source = format!("__shared__ float tile[64];\nfloat *p = tile;\n{statement}\n");
        let mut text = given(&source);
        let types = Types::of("k.cu", &mut text);
        let kept = types.kept("tile", Some(16));
        let found = pointer_change("k.cu:3", (op, kept), Mapped::words("tile", "at"), &mut text);
        found.map(|c| c.changed_text)
    }

    #[test]
    fn stores_change_on_the_left() {
        for (statement, changed) in [
            ("p[i] = x[i];", "*at_at(tile, &p[i]) = x[i];"),
            ("*p = 0;", "*at_at(tile, p) = 0;"),
            (
                "if (i < n) *((int4 *)p + i) = *q;",
                "if (i < n) *at_at(tile, (int4 *)p + i) = *q;",
            ),
        ] {
            let found = change(statement, Op::Store);
            assert_eq!(found.as_deref(), Some(changed), "{statement}");
        }
        for other in [
            "for (int k = 0; k < 4; k++) p[k] = 0;",
            "p[i] += x;",
            "f(p);",
            "p->x = 1;",
            "a = b = c;",
            "p[i] == 2;",
        ] {
            assert_eq!(change(other, Op::Store), None, "{other}");
        }
    }

    #[test]
    fn loads_change_where_they_are_all_of_the_right_side() {
        let found = change("const float x = p[2 * i];", Op::Load).unwrap();
        assert_eq!(found, "const float x = *at_at(tile, &p[2 * i]);");
        let found = change("*q =\n    *((int4 *)(p + 4) + i);", Op::Load).unwrap();
        assert_eq!(found, "*q = *at_at(tile, (int4 *)(p + 4) + i);");
        let source = "__shared__ int tile[8];\n*q =\n*(p + 4);";
        let mut text = given(source);
        let types = Types::of("k.cu", &mut text);
        let kept = types.kept("tile", Some(4));
        let second = pointer_change(
            "k.cu:3",
            (Op::Load, kept),
            Mapped::words("tile", "at"),
            &mut text,
        )
        .unwrap();
        assert_eq!(second.changed_text, "*q = *at_at(tile, p + 4);");
        for other in [
            "x = p[i] + p[j];",
            "x = *p + 1;",
            "x = f(p[i]);",
            "use(p[i]);",
        ] {
            assert_eq!(change(other, Op::Load), None, "{other}");
        }
    }

    /// A swizzle of words would take the members of the structure apart.
    #[test]
    fn a_structure_that_is_copied_by_words_is_left_to_a_person() {
        let head = "struct P { float x, y; };\n__shared__ P s[8];\nP *p = s;\nauto *q = &s[1];\n";
        let change = |statement: &str, unit| {
            let source = format!("{head}{statement}\n");
            let mut text = given(&source);
            let types = Types::of("k.cu", &mut text);
            let kept = types.kept("s", Some(unit));
            pointer_change(
                "k.cu:5",
                (Op::Load, kept),
                Mapped::words("s", "at"),
                &mut text,
            )
        };
        for copy in [
            "P r = s[7 - t];",
            "P r = p[7 - t];",
            "P r = *p;",
            "P r = *q;",
        ] {
            assert_eq!(change(copy, 4), None, "{copy}");
        }
        let whole = change("P r = s[7 - t];", 8).unwrap();
        assert_eq!(whole.changed_text, "P r = *at_at(s, &s[7 - t]);");
    }

    #[test]
    fn the_pointer_of_an_atomic_is_its_first_argument() {
        let found = change("old = atomicAdd(p + (x >> 2), 1u);", Op::Atomic).unwrap();
        assert_eq!(found, "old = atomicAdd(at_at(tile, p + (x >> 2)), 1u);");
        assert_eq!(change("atomicAdd(p, atomicAdd(q, 1));", Op::Atomic), None);
    }
}
