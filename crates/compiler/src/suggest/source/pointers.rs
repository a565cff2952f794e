//! Names that point into the array: the pointers that a function declares, `float *re = s,
//! *im = s + n`, and references to elements.

use super::scan::Text;
use super::words::{first_name, is_word, last_name, word};

/// Functions of CUDA that access what their pointer points to, and nothing else of the array;
/// `wmma` computes the rest from the length of a row.
const ACCESSES: [&str; 3] = ["memcpy_async", "load_matrix_sync", "store_matrix_sync"];

/// Casts of a name, which stay the same address.
pub(in crate::suggest) const CASTS: [&str; 2] = ["reinterpret_cast<", "static_cast<"];

/// The words allowed between the `*` of a declaration and the name.
const OF_POINTERS: [&str; 4] = ["__restrict__", "__restrict", "const", "volatile"];

/// Whether what follows `before` is the operand of `&` or `*`, which have no other
/// before them.
pub(in crate::suggest) fn is_operand(before: &str) -> bool {
    let before = before.trim_end();
    let Some(left) = before.strip_suffix(['&', '*']) else {
        return false;
    };
    let left = left.trim_end();
    let ends_a_value = left.ends_with(|c: char| is_word(c) || matches!(c, ')' | ']'));
    !ends_a_value || last_name(left) == "return" || ends_a_head(left)
}

/// Whether the text ends with `for (...)` and the like.
fn ends_a_head(text: &str) -> bool {
    let text = Text::new(text.to_owned());
    let close = text.masked.len().saturating_sub(1);
    let open = text.masked.ends_with(')').then(|| text.open_before(close));
    let head = open.flatten().map(|open| text.masked[..open].trim_end());
    head.is_some_and(|head| ["for", "if", "while"].contains(&last_name(head)))
}

/// The end of the brackets and members after a name. A bracket may be on the next line.
pub(in crate::suggest) fn members(place: &Text, at: usize, to: usize) -> usize {
    let mut found = at;
    loop {
        let next = place.masked[found..to].trim_start();
        let end = if next.starts_with('[') {
            to - next.len()
        } else {
            found
        };
        let Some(c) = place.masked[end..to].chars().next() else {
            break;
        };
        let length = match c {
            '[' => place.closing(end).map_or(0, |close| close + 1 - end),
            '.' => 1 + first_name(&place.masked[end + 1..]).len(),
            '-' if place.masked[end..].starts_with("->") => {
                2 + first_name(&place.masked[end + 2..]).len()
            }
            _ => 0,
        };
        if length == 0 || end + length > to {
            break;
        }
        found = end + length;
    }
    found
}

/// The name at the end of a declaration, if it is that of a reference.
pub(in crate::suggest) fn declared_reference(declaration: &str) -> Option<&str> {
    let name = last_name(declaration);
    let kind = declaration[..declaration.len() - name.len()].trim_end();
    let kind = kind.strip_suffix('&')?.trim_end();
    (!name.is_empty() && kind.ends_with(is_word)).then_some(name)
}

/// Whether an expression is an element of one of `names`, a part of one, or what one
/// points to.
pub(in crate::suggest) fn is_element(expression: &str, names: &[String]) -> bool {
    if let Some(address) = expression.strip_prefix('*') {
        return points_into(address.trim_start(), names);
    }
    let text = Text::new(expression.to_owned());
    let name = &expression[..expression.find(|c| !is_word(c)).unwrap_or(0)];
    let is_all = members(&text, name.len(), expression.len()) == expression.len();
    is_all && !name.is_empty() && names.iter().any(|n| n == name)
}

/// The name at the end of a declaration, if it is that of a pointer.
pub(in crate::suggest) fn declared_pointer(declaration: &str) -> Option<&str> {
    let name = last_name(declaration);
    let mut kind = declaration[..declaration.len() - name.len()].trim_end();
    while let Some(rest) = OF_POINTERS.iter().find_map(|word| kind.strip_suffix(word)) {
        kind = rest.trim_end();
    }
    (!name.is_empty() && kind.ends_with('*')).then_some(name)
}

/// The name of a parameter that is a pointer or an array, `float *row`, `float rows[N][32]`
/// or `float (&rows)[N][32]`.
pub(in crate::suggest) fn pointer(parameter: &str) -> Option<&str> {
    let declared = parameter.split('=').next()?.trim_end();
    let array = || {
        let head = declared.split_once('[')?.0.trim_end();
        let inner = head.strip_suffix(')').unwrap_or(head).trim_end();
        let name = last_name(inner);
        let kind = inner[..inner.len() - name.len()].trim_end();
        let kind = if inner.len() < head.len() {
            let kind = kind.strip_suffix('&')?.trim_end();
            kind.strip_suffix('(')?.trim_end()
        } else {
            kind
        };
        let is_type = kind.ends_with(is_word) || kind.ends_with('>');
        (!name.is_empty() && is_type).then_some(name)
    };
    declared_pointer(declared).or_else(array)
}

/// Whether a pointer is assigned or moved after its declaration.
pub(in crate::suggest) fn is_moved(body: &Text, name: &str) -> bool {
    let mut from = 0;
    let mut declared = false;
    while let Some(found) = word(&body.masked[from..], name) {
        let before = body.masked[..from + found].trim_end();
        from += found + name.len();
        let after = body.masked[from..].trim_start();
        let is_assigned = after.starts_with('=') && !after.starts_with("==");
        let is_declared = is_assigned && !std::mem::replace(&mut declared, true);
        let is_stepped = (["++", "--"].iter()).any(|s| after.starts_with(s) || before.ends_with(s));
        let is_added = after.starts_with("+=") || after.starts_with("-=");
        let is_pointed = is_operand(before);
        if is_stepped || is_added || is_assigned && !is_declared && !is_pointed {
            return true;
        }
    }
    false
}

/// The text after the `=` at `equals`.
pub(in crate::suggest) fn value(body: &Text, equals: usize) -> &str {
    let end = body.masked[equals..]
        .find(';')
        .map_or(body.masked.len(), |end| equals + end);
    let first = body.split(equals + 1, end, ',').first().copied();
    first.map_or("", |(from, to)| body.masked[from..to].trim())
}

/// Whether an expression is one of `names`, `name + ...` or `&name[...]`, casts apart.
pub(in crate::suggest) fn points_into(expression: &str, names: &[String]) -> bool {
    let mut address = expression;
    loop {
        let cast = CASTS.iter().find(|cast| address.starts_with(**cast));
        let close = address
            .starts_with('(')
            .then(|| Text::new(address.to_owned()).closing(0));
        let opened = close.flatten().map(|close| address.split_at(close));
        let is_pointer = |kind: &str| kind.ends_with('*') || kind.contains("(*)");
        address = match (cast, opened) {
            (Some(_), _) => address.split_once(">(").map_or("", |(_, rest)| rest),
            (None, Some((kind, rest))) if is_pointer(kind.trim_end()) => &rest[1..],
            (None, Some((inside, ")"))) => &inside[1..],
            _ => break,
        }
        .trim_start();
    }
    let element = address.strip_prefix('&');
    let named = element.unwrap_or(address);
    let (name, rest) = named.split_at(first_name(named).len());
    let is_element = rest.starts_with('[');
    let is_plain = rest.is_empty() || rest.trim_start().starts_with(['+', '-', ')']);
    names.iter().any(|n| n == name)
        && !rest.contains('?')
        && (is_element == element.is_some())
        && (is_element || is_plain)
}

/// Whether the address of the element at `at` is an argument of a function that may access
/// several from there on.
pub(in crate::suggest) fn hands_over(place: &Text, at: usize) -> bool {
    let before = place.masked[..at].trim_end();
    let is_address = before.ends_with('&') && (is_operand(before) || is_cast(place, before));
    let called = place.open_before(at).and_then(|open| place.called(open));
    let (true, Some((_, name))) = (is_address, called) else {
        return false;
    };
    let casts = CASTS.iter().any(|cast| cast.trim_end_matches('<') == name);
    !casts && !accesses_one(name)
}

/// Whether `&` is after `(const int *)` at the end of the text before it.
fn is_cast(place: &Text, before: &str) -> bool {
    let found = || {
        let close = before
            .strip_suffix('&')?
            .trim_end()
            .strip_suffix(')')?
            .len();
        let inside = &place.masked[place.opening(close)? + 1..close];
        Some(inside.trim_end().ends_with('*'))
    };
    found() == Some(true)
}

/// Whether a function, or what may be a macro, accesses nothing but the element whose
/// address it gets.
pub(in crate::suggest) fn accesses_one(name: &str) -> bool {
    let of_cuda = ["__", "atomic"].iter().any(|begin| name.starts_with(begin));
    let is_macro = !name.contains(|c: char| c.is_ascii_lowercase());
    of_cuda || is_macro || ACCESSES.contains(&name)
}
