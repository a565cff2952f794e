//! The pointers into the array that a function has: those that it declares, rows of the array
//! among them, and macros.

use super::calls::declaration_at;
use crate::suggest::source::macros::defined;
use crate::suggest::source::pointers::{
    declared_pointer, declared_reference, is_element, is_operand, points_into, value,
};
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::brackets;
use crate::suggest::source::words::{first_name, last_name, word};
use std::collections::BTreeMap;

/// The pointers into the array that a function declares.
pub(in crate::suggest) struct Pointers {
    /// Pointers, which point nowhere else.
    pub walking: Vec<String>,
    /// References to elements.
    pub references: Vec<String>,
}

impl Pointers {
    /// Names of all of them.
    pub fn names(self) -> Vec<String> {
        let mut names = self.walking;
        names.extend(self.references);
        names
    }
}

/// The pointers into `array` that the function around `at` declares, if they point
/// nowhere else, and the references to its elements.
pub(in crate::suggest) fn pointers(place: &Text, at: usize, array: &str) -> Option<Pointers> {
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
        let points = points_into(value, &names) || is_row(value, &rows);
        if let Some((name, depth)) = declared_rows(before).filter(|_| points) {
            names.push(name.to_owned());
            rows.insert(name.to_owned(), depth);
        } else if let Some(name) = pointer_to(before, value).filter(|_| points) {
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
    stays.then_some(Pointers {
        walking: names,
        references,
    })
}

/// The name at the end of a declaration with that value, if it is that of a pointer:
/// `float *e`, or `auto e = &tile[i]`.
fn pointer_to<'a>(declaration: &'a str, value: &str) -> Option<&'a str> {
    let deduced = || {
        let name = last_name(declaration);
        let kind = declaration[..declaration.len() - name.len()].trim_end();
        let is_auto = !name.is_empty() && last_name(kind) == "auto" && value.starts_with('&');
        is_auto.then_some(name)
    };
    declared_pointer(declaration).or_else(deduced)
}

/// The names with rows around `at`, among `array` and the macros `names` that expand to it,
/// with the number of indices of an element.
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
pub(in crate::suggest) fn pointers_to_rows(place: &Text, at: usize) -> BTreeMap<String, usize> {
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

/// The names of elements of `array` at `at`, including its own.
pub(in crate::suggest) fn names_into(place: &Text, at: usize, array: &str) -> Vec<String> {
    let known = pointers(place, at, array).map(Pointers::names);
    let mut names = known.unwrap_or_default();
    names.push(array.to_owned());
    names
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
