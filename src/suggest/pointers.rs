//! Names that point into the array: the pointers that a function declares, `float *re = s,
//! *im = s + n`, and references to elements.

use super::calls::declaration_at;
use super::macros::defined;
use super::scan::{Text, first_name, is_word, last_name, word};
use super::source::brackets;
use std::collections::BTreeMap;

/// Casts of a name, which stay the same address.
pub(super) const CASTS: [&str; 2] = ["reinterpret_cast<", "static_cast<"];

/// Whether what follows `before` is the operand of `&` or `*`, which have no other
/// before them.
pub(super) fn is_operand(before: &str) -> bool {
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

/// Where the brackets and members end that follow a name. A bracket may be on the next line.
pub(super) fn members(place: &Text, at: usize, to: usize) -> usize {
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

/// The pointers into `array` that the function around `at` declares, if they point
/// nowhere else, and the references to its elements.
pub(super) fn pointers(place: &Text, at: usize, array: &str) -> Option<Vec<String>> {
    let body = place.function_around(at)?.body;
    let body = Text::new(place.text[body..place.block_end(body)].to_owned());
    let mut names = vec![array.to_owned()];
    names.extend(macros_into(place, &names));
    let mut rows = rows_of(place, at, array, &names);
    let mut references = Vec::new();
    let mut from = 0;
    while let Some(found) = body.masked[from..].find('=') {
        let equals = from + found;
        from = equals + 1;
        let before = body.masked[..equals].trim_end();
        let value = value(&body, equals);
        let is_row = || is_row(value, &rows);
        if let Some((name, depth)) = declared_rows(before).filter(|_| is_row()) {
            names.push(name.to_owned());
            rows.insert(name.to_owned(), depth);
        } else if let Some(name) =
            declared_pointer(before).filter(|_| points_into(value, &names) || is_row())
        {
            names.push(name.to_owned());
        } else if let Some(name) = declared_reference(before).filter(|_| is_element(value, &names))
        {
            references.push(name.to_owned());
        }
    }
    names.remove(0);
    let all: Vec<&str> = names.iter().map(String::as_str).chain([array]).collect();
    let stays = names
        .iter()
        .all(|name| stays_inside(&body, name, &all, &rows));
    names.extend(references);
    stays.then_some(names)
}

/// What has rows around `at`, of `array` and the macros `names` that stand for it, with the
/// number of brackets of an element.
fn rows_of(place: &Text, at: usize, array: &str, names: &[String]) -> BTreeMap<String, usize> {
    let mut found = pointers_to_rows(place, at);
    found.retain(|name, _| names.contains(name));
    if let Some(declared) = declaration_at(place, at, array)
        && let Some(begin) = word(&declared, array)
    {
        let depth = brackets(&declared[begin + array.len()..]).0.len();
        found.insert(array.to_owned(), depth);
    }
    found
}

/// The macros without parameters that stand for `array` or a pointer into it. One with
/// several definitions may stand for something else.
fn macros_into(place: &Text, names: &[String]) -> Vec<String> {
    let all: Vec<(&str, &str)> = place.masked.lines().filter_map(defined).collect();
    let is_pointer = |(name, body): &&(&str, &str)| {
        let is_only = all.iter().filter(|(other, _)| other == name).count() == 1;
        is_only && !body.starts_with('(') && points_into(without_parentheses(body), names)
    };
    let pointers = all.iter().filter(is_pointer);
    pointers.map(|(name, _)| (*name).to_owned()).collect()
}

/// The pointers to rows that the function around `at` declares, and the macros that are
/// such, with the number of brackets of an element.
pub(super) fn pointers_to_rows(place: &Text, at: usize) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    if let Some(function) = place.function_around(at) {
        let body = &place.masked[function.body..place.block_end(function.body)];
        let declared = body.match_indices('=').filter_map(|(equals, _)| {
            let (name, depth) = declared_rows(body[..equals].trim_end())?;
            Some((name.to_owned(), depth))
        });
        found.extend(declared);
    }
    for (name, body) in place.masked.lines().filter_map(defined) {
        // `((float (*)[32])smem)`
        if let Some(after) = body.split_once("(*)").map(|(_, after)| after) {
            found.insert(name.to_owned(), brackets(after).0.len() + 1);
        }
    }
    found
}

/// An expression without the parentheses around all of it.
fn without_parentheses(expression: &str) -> &str {
    let expression = expression.trim();
    let text = Text::new(expression.to_owned());
    match expression.starts_with('(').then(|| text.closing(0)) {
        Some(Some(close)) if close + 1 == expression.len() => {
            without_parentheses(&expression[1..close])
        }
        _ => expression,
    }
}

/// The name of a pointer to rows at the end of a declaration, `float (*rows)[32]`, and the
/// number of brackets of an element.
fn declared_rows(declaration: &str) -> Option<(&str, usize)> {
    let at = declaration.rfind("(*")?;
    let name = first_name(declaration[at + 2..].trim_start());
    let after = declaration[at + 2..].trim_start()[name.len()..].trim_start();
    let (lengths, end) = brackets(after.strip_prefix(')')?);
    let is_all = after[1 + end..].trim().is_empty();
    (is_all && !name.is_empty() && !lengths.is_empty()).then_some((name, lengths.len() + 1))
}

/// Whether an expression is a row of one of `rows`: fewer brackets than an element has.
fn is_row(expression: &str, rows: &BTreeMap<String, usize>) -> bool {
    let expression = without_parentheses(expression);
    let name = first_name(expression);
    let (indices, end) = brackets(&expression[name.len()..]);
    let is_all = name.len() + end == expression.len();
    is_all && rows.get(name).is_some_and(|depth| indices.len() < *depth)
}

/// What names elements of `array` there: its own name, too.
pub(super) fn names_into(place: &Text, at: usize, array: &str) -> Vec<String> {
    let mut names = pointers(place, at, array).unwrap_or_default();
    names.push(array.to_owned());
    names
}

/// The name at the end of a declaration, if it is that of a reference.
pub(super) fn declared_reference(declaration: &str) -> Option<&str> {
    let name = last_name(declaration);
    let kind = declaration[..declaration.len() - name.len()].trim_end();
    let kind = kind.strip_suffix('&')?.trim_end();
    (!name.is_empty() && kind.ends_with(is_word)).then_some(name)
}

/// Whether an expression is an element of one of `names`, a part of one, or what one
/// points to.
pub(super) fn is_element(expression: &str, names: &[String]) -> bool {
    if let Some(address) = expression.strip_prefix('*') {
        return points_into(address.trim_start(), names);
    }
    let text = Text::new(expression.to_owned());
    let name = &expression[..expression.find(|c| !is_word(c)).unwrap_or(0)];
    let is_all = members(&text, name.len(), expression.len()) == expression.len();
    is_all && !name.is_empty() && names.iter().any(|n| n == name)
}

/// The name at the end of a declaration, if it is that of a pointer.
pub(super) fn declared_pointer(declaration: &str) -> Option<&str> {
    let name = last_name(declaration);
    let kind = declaration[..declaration.len() - name.len()].trim_end();
    let kind = kind.strip_suffix("__restrict__").unwrap_or(kind);
    (!name.is_empty() && kind.trim_end().ends_with('*')).then_some(name)
}

/// The name of a parameter that is a pointer or an array, `float *row`, `float rows[N][32]`
/// or `float (&rows)[N][32]`.
pub(super) fn pointer(parameter: &str) -> Option<&str> {
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

/// Whether every assignment of `name` is an address in the array.
fn stays_inside(body: &Text, name: &str, names: &[&str], rows: &BTreeMap<String, usize>) -> bool {
    let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
    let mut from = 0;
    while let Some(found) = word(&body.masked[from..], name) {
        // `*p = x` leaves the pointer where it is.
        let is_pointed = is_operand(&body.masked[..from + found]);
        from += found + name.len();
        let after = body.masked[from..].trim_start();
        let is_assigned = after.starts_with('=') && !after.starts_with("==") && !is_pointed;
        let equals = body.masked.len() - after.len();
        let is_inside = |value: &str| points_into(value, &names) || is_row(value, rows);
        if is_assigned && !is_inside(value(body, equals)) {
            return false;
        }
    }
    true
}

/// Whether a pointer is assigned or moved after its declaration.
pub(super) fn is_moved(body: &Text, name: &str) -> bool {
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

/// What follows the `=` at `equals`.
pub(super) fn value(body: &Text, equals: usize) -> &str {
    let end = body.masked[equals..]
        .find(';')
        .map_or(body.masked.len(), |end| equals + end);
    let first = body.split(equals + 1, end, ',').first().copied();
    first.map_or("", |(from, to)| body.masked[from..to].trim())
}

/// Whether an expression is one of `names`, `name + ...` or `&name[...]`, casts apart.
pub(super) fn points_into(expression: &str, names: &[String]) -> bool {
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
pub(super) fn hands_over(place: &Text, at: usize) -> bool {
    let before = place.masked[..at].trim_end();
    let is_address = before.ends_with('&') && (is_operand(before) || is_cast(place, before));
    let called = place.open_before(at).and_then(|open| place.called(open));
    let (true, Some((_, name))) = (is_address, called) else {
        return false;
    };
    let of_cuda = ["__", "atomic"].iter().any(|begin| name.starts_with(begin))
        || ["memcpy_async", "load_matrix_sync", "store_matrix_sync"].contains(&name);
    let casts = CASTS.iter().any(|cast| cast.trim_end_matches('<') == name);
    let is_macro = !name.contains(|c: char| c.is_ascii_lowercase());
    !of_cuda && !casts && !is_macro
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
