//! Room for a mapping that needs more elements than the array has: its declaration
//! with a larger outermost dimension, or more dynamic shared memory.
//!
//! The outermost dimension alone grows, so that every other use of the array means
//! what it did.

use super::SourceLine;
use super::constants::{Constants, literal};
use super::declarator::Declarator;
use super::scan::{Text, last_name, word};
use super::source::Declarations;
use serde::Serialize;
use std::collections::BTreeSet;

/// The line of a declaration that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeclarationChange {
    /// `file:line` of the array's outermost dimension.
    pub source: String,
    /// The line.
    pub text: String,
    /// The same with more elements.
    pub changed_text: String,
}

/// What becomes larger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// The declaration; of several where a preprocessor chooses one.
    Static(Vec<DeclarationChange>),
    /// What the launch gives: the array is `extern`.
    Dynamic,
}

/// Bytes of an array as it is, and those that it needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes {
    pub has: u32,
    pub needs: u32,
}

/// Where `array` gets its room, as far as the lines `places` see its declaration.
/// `None` where one of them is not understood, or where the source counts the
/// elements of the array.
pub(super) fn room(
    array: &str,
    bytes: Bytes,
    places: &BTreeSet<String>,
    declarations: &Declarations,
    text: &mut SourceLine,
) -> Option<Room> {
    let mut lines = BTreeSet::new();
    for place in places {
        lines.extend(declarations.all_seen_from(place, text));
    }
    let mut changes = Vec::new();
    let mut dynamic = 0;
    for (file, line) in lines {
        let constants = Constants::of(&file, text);
        let found = Declarator::at(constants.place(), line, array)?;
        if found.is_dynamic() {
            dynamic += 1;
            continue;
        }
        if counts_elements(constants.place(), found.name, array) {
            return None;
        }
        changes.push(enlarged(&found, &file, bytes, &constants)?);
    }
    match (dynamic, changes.is_empty()) {
        (0, false) => Some(Room::Static(changes)),
        (1.., true) => Some(Room::Dynamic),
        _ => None,
    }
}

/// The line of a declaration with room for all bytes.
fn enlarged(
    found: &Declarator,
    file: &str,
    bytes: Bytes,
    constants: &Constants,
) -> Option<DeclarationChange> {
    let place = constants.place();
    let (from, to) = *found.dimensions.first()?;
    let outermost = place.text[from..to].trim();
    let new = Extent::of(found, bytes, constants).outermost(outermost);
    let (start, end) = (place.line_start(from), place.line_end(from));
    // A dimension of several lines is left to a person.
    (to <= end).then_some(())?;
    let (before, after) = (&place.text[start..from], &place.text[to..end]);
    let line = place.text[..from].matches('\n').count() + 1;
    Some(DeclarationChange {
        source: format!("{file}:{line}"),
        text: place.text[start..end].trim().to_owned(),
        changed_text: format!("{before}{new}{after}").trim().to_owned(),
    })
}

/// How much the outermost dimension grows.
struct Extent {
    /// Elements of an outermost row, or their text.
    row: Result<u64, String>,
    /// Bytes of an element, or their text.
    element: Result<u64, String>,
    /// Bytes that are missing.
    missing: u64,
}

impl Extent {
    fn of(found: &Declarator, bytes: Bytes, constants: &Constants) -> Self {
        let texts = || found.dimensions.iter().map(|&(a, b)| &constants.place().text[a..b]);
        let values: Vec<Option<u64>> = texts().map(|d| constants.value(d)).collect();
        let product = |of: &[Option<u64>]| {
            of.iter().try_fold(1u64, |all, one| all.checked_mul((*one)?))
        };
        let all = product(&values).filter(|all| *all > 0);
        let has = u64::from(bytes.has);
        let element = match (found.element_bytes(), all) {
            (Some(bytes), _) => Some(u64::from(bytes)),
            (None, Some(all)) => has.is_multiple_of(all).then_some(has / all),
            (None, None) => None,
        };
        let elements = element.filter(|e| has.is_multiple_of(*e)).map(|e| has / e);
        // Constants of the file that give another size are not those of the array.
        let of_rows = |rows: u64| elements.filter(|e| e.is_multiple_of(rows)).map(|e| e / rows);
        let row = match (product(&values[1..]), values[0]) {
            _ if values.len() == 1 => Some(1),
            (Some(row), Some(rows)) => (of_rows(rows) == Some(row)).then_some(row),
            (Some(row), None) => of_rows(row).map(|_| row),
            (None, Some(rows)) => Some(rows).filter(|r| *r > 0).and_then(of_rows),
            (None, None) => None,
        };
        let in_row: Vec<String> = texts().skip(1).map(factor).collect();
        Extent {
            row: row.filter(|r| *r > 0).ok_or_else(|| in_row.join(" * ")),
            element: element.ok_or_else(|| format!("sizeof({})", found.element)),
            missing: u64::from(bytes.needs - bytes.has),
        }
    }

    /// The outermost dimension, grown.
    fn outermost(&self, old: &str) -> String {
        let more = match (&self.row, &self.element) {
            (Ok(row), Ok(bytes)) => {
                let rows = self.missing.div_ceil(row * bytes);
                if let Some(old) = literal(old) {
                    return (old + rows).to_string();
                }
                rows.to_string()
            }
            (Err(row), Ok(bytes)) => quotient(self.missing.div_ceil(*bytes), row),
            (Ok(1), Err(bytes)) => quotient(self.missing, bytes),
            (Ok(row), Err(bytes)) => quotient(self.missing, &format!("{row} * {bytes}")),
            (Err(row), Err(bytes)) => quotient(self.missing, &format!("{row} * {bytes}")),
        };
        format!("{} + {more}", summand(old))
    }
}

/// `count` divided by an expression, rounded up.
fn quotient(count: u64, by: &str) -> String {
    format!("({count} + {by} - 1) / {}", factor(by))
}

/// What may stand beside a `*` as it is, and the rest in parentheses.
fn factor(text: &str) -> String {
    let text = text.trim();
    let is_one = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_call = text.starts_with("sizeof(") && text.find(')') == Some(text.len() - 1);
    if is_call || text.chars().all(is_one) {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

/// What may stand beside a `+` as it is, and the rest in parentheses.
fn summand(text: &str) -> String {
    if text.contains(['<', '>', '?', ':', '&', '|', '^', '=', ',']) {
        format!("({text})")
    } else {
        text.to_owned()
    }
}

/// Whether the block of a declaration, whose name is at `at`, takes the number of
/// the array's elements from its type: `sizeof(tile)`, `for (x : tile)`, or a
/// parameter `(&tile)[64]`.
fn counts_elements(place: &Text, at: usize, array: &str) -> bool {
    let mut from = at + array.len();
    let end = place.block_end(at);
    while let Some(found) = word(&place.masked[from..end], array) {
        let name = from + found;
        from = name + array.len();
        let (before, after) = (place.masked[..name].trim_end(), place.masked[from..].trim_start());
        if after.starts_with('[') {
            continue;
        }
        let Some(called) = before.strip_suffix(['(', ',', ':']).or(Some(before)) else {
            continue;
        };
        let counts = ["sizeof", "size", "end", "extent"].contains(&last_name(called.trim_end()));
        let in_a_loop = before.ends_with(':') && !before.ends_with("::") && after.starts_with(')');
        if counts || in_a_loop || takes_arrays(place, name) {
            return true;
        }
    }
    false
}

/// Whether the function that gets the argument at `at` takes an array by reference.
fn takes_arrays(place: &Text, at: usize) -> bool {
    let Some(open) = place.open_before(at) else {
        return false;
    };
    let function = last_name(place.masked[..open].trim_end());
    if !place.masked[open..].starts_with('(') || function.is_empty() {
        return false;
    }
    let mut from = 0;
    while let Some(found) = word(&place.masked[from..], function) {
        let end = from + found + function.len();
        from = end;
        let list = place.masked[end..].starts_with('(').then(|| place.closing(end)).flatten();
        let list = list.map_or("", |close| &place.masked[end + 1..close]);
        if list.contains("(&") && list.contains(")[") {
            return true;
        }
    }
    false
}
