//! Functions that hand a pointer into the array to each other, with all their
//! calls.

use super::calls::declaration_at;
use super::declared_pointers::names_into;
use crate::suggest::source::pointers::{pointer, points_into};
use crate::suggest::source::scan::{Function, Text, arguments};
use crate::suggest::source::words::brackets;
use crate::suggest::source::words::{first_name, word};
use std::collections::BTreeMap;

/// A function that is handed a pointer into the array.
pub(in crate::suggest) struct Handed {
    pub name: String,
    /// The parentheses of its parameters.
    open: usize,
    pub close: usize,
    pub body: usize,
    /// The parentheses of all its calls.
    pub calls: Vec<usize>,
    /// The parameters that are such pointers.
    pub names: Vec<String>,
}

impl Handed {
    /// The function, and the functions that pass their own pointer on to it. `None` if
    /// one of them sees the array itself, or if a call may pass another address.
    pub fn all(place: &Text, callee: &Function, array: &str) -> Option<Vec<Self>> {
        let mut all = vec![Handed::of(place, callee, array)?];
        let mut at = 0;
        while at < all.len() {
            for call in all[at].calls.clone() {
                let caller = place.function_around(call)?;
                let is_new = all.iter().all(|f| f.body != caller.body);
                if declaration_at(place, call, array).is_none() && is_new {
                    all.push(Handed::of(place, &caller, array)?);
                }
            }
            at += 1;
        }
        let mut names = Names {
            place,
            array,
            all: &all,
            known: BTreeMap::new(),
        };
        let names: Vec<_> = (0..all.len())
            .map(|at| names.of(at))
            .collect::<Option<_>>()?;
        for (function, names) in all.iter_mut().zip(names) {
            function.names = names;
        }
        Some(all)
    }

    fn of(place: &Text, function: &Function, array: &str) -> Option<Self> {
        let end = place.block_end(function.body);
        let start = format!("spad_{array}");
        let sees_it = declaration_at(place, function.body, array).is_some();
        if sees_it || word(&place.masked[function.open..end], &start).is_some() {
            return None;
        }
        Some(Handed {
            name: function.name.clone(),
            open: function.open,
            close: function.close,
            body: function.body,
            calls: calls(place, function)?,
            names: Vec::new(),
        })
    }

    /// The parameters among its names that are arrays of arrays, with the number of
    /// brackets of an element.
    pub fn rows(&self, place: &Text) -> BTreeMap<String, usize> {
        let names = self.names.iter();
        let depths = names.map(|name| (name.clone(), depth(place, self.body, name)));
        depths.filter(|(_, depth)| *depth > 1).collect()
    }
}

/// The number of brackets of an element of `name`, which points into the array: that of the
/// declaration that a line at `at` sees, or of the parameter.
fn depth(place: &Text, at: usize, name: &str) -> usize {
    let of = |declaration: &str| {
        let after = declaration[word(declaration, name)? + name.len()..].trim_start();
        // Of `(&name)[N]`.
        let after = after.strip_prefix(')').unwrap_or(after);
        Some(brackets(after).0.len())
    };
    let parameter = || {
        let function = place.function_around(at)?;
        of(&place.masked[function.open..function.close])
    };
    let found = declaration_at(place, at, name).map_or_else(parameter, |d| of(&d));
    found.unwrap_or(0).max(1)
}

/// The parameters of functions that all their calls give addresses in the array.
struct Names<'a> {
    place: &'a Text,
    array: &'a str,
    all: &'a [Handed],
    /// The results for functions so far; `None` also while a function is being
    /// analysed, as in a cycle of calls.
    known: BTreeMap<usize, Option<Vec<String>>>,
}

impl Names<'_> {
    /// The names for a function; `None` if calls differ, or there are none.
    fn of(&mut self, at: usize) -> Option<Vec<String>> {
        if let Some(known) = self.known.get(&at) {
            return known.clone();
        }
        self.known.insert(at, None);
        let callee = &self.all[at];
        let calls = callee.calls.iter();
        let given =
            calls.map(|call| handed(self.place, callee.open, *call, &self.seen_from(*call)?));
        let given: Vec<Vec<String>> = given.collect::<Option<_>>()?;
        let same = given.windows(2).all(|two| two[0] == two[1]);
        let names = given
            .into_iter()
            .next()
            .filter(|names| same && !names.is_empty());
        self.known.insert(at, names.clone());
        names
    }

    /// The names at a call that point into the array.
    fn seen_from(&mut self, call: usize) -> Option<Vec<String>> {
        match declaration_at(self.place, call, self.array) {
            // The address of a volatile array is none of `const void *`.
            Some(declaration) if word(&declaration, "volatile").is_some() => None,
            Some(_) => Some(names_into(self.place, call, self.array)),
            None => {
                let body = self.place.function_around(call)?.body;
                self.of(self.all.iter().position(|f| f.body == body)?)
            }
        }
    }
}

/// Whether a body names the array in its declaration and in `calls` alone. Another kernel
/// may have an array of that name, whose own elements do not change.
pub(in crate::suggest) fn only_hands_over<'a>(
    place: &Text,
    (from, to): (usize, usize),
    array: &str,
    calls: impl Iterator<Item = &'a usize> + Clone,
) -> bool {
    let mut at = from;
    while let Some(found) = word(&place.masked[at..to], array) {
        let begin = at + found;
        at = begin + array.len();
        let statement = place.statement_start(begin);
        let is_declared = place.masked[statement..begin].contains("__shared__");
        let is_in = |open: &usize| {
            place
                .closing(*open)
                .is_some_and(|end| (*open..end).contains(&begin))
        };
        if !is_declared && !calls.clone().any(is_in) {
            return false;
        }
    }
    true
}

/// The parameters between the parentheses at `open` that a call gives addresses from
/// `own`; `None` if one of them is no pointer.
fn handed(place: &Text, open: usize, call: usize, own: &[String]) -> Option<Vec<String>> {
    let given = arguments(place, call)?;
    let parameters = arguments(place, open)?;
    let mut names = Vec::new();
    for (parameter, given) in parameters.into_iter().zip(given) {
        let given = place.masked[given.0..given.1].trim();
        if points_into(given, own) || is_row(place, call, given, own) {
            names.push(pointer(&place.masked[parameter.0..parameter.1])?.to_owned());
        }
    }
    Some(names)
}

/// Whether an expression is a row of an array of arrays, and so the address of its first
/// element.
fn is_row(place: &Text, at: usize, expression: &str, own: &[String]) -> bool {
    let (name, rest) = expression.split_at(first_name(expression).len());
    let (indices, end) = brackets(rest);
    let is_all = !indices.is_empty() && rest[end..].trim().is_empty();
    is_all && own.iter().any(|n| n == name) && indices.len() < depth(place, at, name)
}

/// The parentheses of all calls of a function of the file. `None` if it is named in
/// another way: declared before, overloaded, recursive, in a macro.
pub(in crate::suggest) fn calls(place: &Text, callee: &Function) -> Option<Vec<usize>> {
    let mut calls = Vec::new();
    let mut from = 0;
    while let Some(found) = word(&place.masked[from..], &callee.name) {
        let at = from + found;
        from = at + callee.name.len();
        let open = place.call(&callee.name, at).filter(|(name, _)| *name == at);
        let (_, open) = open?;
        if open == callee.open {
            continue;
        }
        let caller = place.function_around(at)?;
        let is_macro = place.masked[place.line_start(at)..at]
            .trim_start()
            .starts_with('#');
        if caller.body == callee.body || is_macro {
            return None;
        }
        calls.push(open);
    }
    (!calls.is_empty()).then_some(calls)
}
