//! Room for a mapping that needs more elements than the array has: its declaration
//! with a larger outermost dimension, or more dynamic shared memory.
//!
//! Only the outermost dimension grows, so that every other use of the array keeps its meaning.

use super::extent::{Bytes, Extent, more};
use crate::suggest::SourceFiles;
use crate::suggest::source::bindings::Bindings;
use crate::suggest::source::constants::Constants;
use crate::suggest::source::declarations::{Declarations, Named};
use crate::suggest::source::declarator::Declarator;
use crate::suggest::source::edits::Edit;
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::{last_name, word};
use serde::Serialize;
use std::collections::BTreeSet;

/// The line of a declaration that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeclarationChange {
    /// `file:line` of the array's outermost dimension.
    pub source: String,
    /// The line.
    pub text: String,
    /// The line with more elements.
    pub changed_text: String,
    /// The line with the changes of all suggestions, where others change it, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with_others: Option<String>,
    /// Bytes of the array before and after the change: whole outermost rows are added.
    /// `None` if the source does not show their length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<[u64; 2]>,
    /// Bytes of the text that are replaced, and by what.
    #[serde(skip)]
    pub(in crate::suggest) edit: Edit,
}

impl DeclarationChange {
    /// The line with the changes of all suggestions.
    pub fn changed_with_others(&self) -> &str {
        self.with_others.as_deref().unwrap_or(&self.changed_text)
    }
}

/// The way in which an array becomes larger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::suggest) enum Room {
    /// The declaration; of several where a preprocessor chooses one.
    Static(Vec<DeclarationChange>),
    /// The size that the launch gives: the array is `extern`.
    Dynamic,
}

/// The way in which `array` can become larger, if the lines `places` see its
/// declaration. `None` if one of the declarations is not understood, if the source
/// counts the elements of the array, or if declarations may not have that many bytes.
pub(in crate::suggest) fn room(
    array: Named,
    bytes: Bytes,
    places: &BTreeSet<String>,
    declarations: &Declarations,
    sources: &mut SourceFiles,
) -> Option<Room> {
    let mut dynamic = 0;
    let changes = each(
        array,
        places,
        declarations,
        sources,
        |found, file, constants| {
            if found.is_dynamic() {
                dynamic += 1;
                return Some(None);
            }
            enlarged(found, file, bytes, constants).map(Some)
        },
    )?;
    match (dynamic, changes.is_empty()) {
        (0, false) => bytes.can_be_declared().then_some(Room::Static(changes)),
        (1.., true) => Some(Room::Dynamic),
        _ => None,
    }
}

/// The declarations of `array` that the lines `places` see, with `by` more elements in
/// each innermost row. `None` as for [`room`].
pub(in crate::suggest) fn longer_rows(
    array: Named,
    by: u32,
    places: &BTreeSet<String>,
    declarations: &Declarations,
    sources: &mut SourceFiles,
) -> Option<Vec<DeclarationChange>> {
    let changes = each(
        array,
        places,
        declarations,
        sources,
        |found, file, constants| {
            let is_of_rows = found.dimensions.len() > 1 && !found.is_dynamic();
            let row = *found.dimensions.last().filter(|_| is_of_rows)?;
            let place = constants.place();
            let longer = more(place.text[row.0..row.1].trim(), by);
            edited(place, file, row, longer).map(Some)
        },
    )?;
    (!changes.is_empty()).then_some(changes)
}

/// Applies `change` to each declaration that the lines `places` see.
fn each(
    array: Named,
    places: &BTreeSet<String>,
    declarations: &Declarations,
    sources: &mut SourceFiles,
    mut change: impl FnMut(&Declarator, &str, &Constants) -> Option<Option<DeclarationChange>>,
) -> Option<Vec<DeclarationChange>> {
    let mut lines = BTreeSet::new();
    for place in places {
        lines.extend(declarations.all_seen_from(place, sources));
    }
    let mut changes = Vec::new();
    for (file, line) in lines {
        let constants = Constants::of(&file, sources).seen_from(line);
        let found = Declarator::at(constants.place(), line, array.declared())?;
        let counted = counts_elements(constants.place(), found.name, array.declared());
        if counted && !found.is_dynamic() {
            return None;
        }
        let bound = Bindings::of(array.variable, constants.place(), found.name);
        changes.extend(change(&found, &file, &constants.bound_to(bound))?);
    }
    Some(changes)
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
    let extent = Extent::of(found, bytes, constants);
    let has = u64::from(bytes.has);
    let grown = extent.added().map(|added| [has, has.saturating_add(added)]);
    let change = edited(place, file, (from, to), extent.outermost(outermost))?;
    Some(DeclarationChange {
        bytes: grown,
        ..change
    })
}

/// The line with `new` instead of the dimension between `from` and `to`.
fn edited(
    place: &Text,
    file: &str,
    (from, to): (usize, usize),
    new: String,
) -> Option<DeclarationChange> {
    let (start, end) = (place.line_start(from), place.line_end(from));
    // A dimension of several lines is left to a person.
    (to <= end).then_some(())?;
    let line = place.line_of(from);
    let untrimmed = &place.text[start..end];
    let start = start + untrimmed.len() - untrimmed.trim_start().len();
    let text = untrimmed.trim().to_owned();
    let (from, to) = (from - start, to - start);
    Some(DeclarationChange {
        source: format!("{file}:{line}"),
        changed_text: format!("{}{new}{}", &text[..from], &text[to..]),
        with_others: None,
        bytes: None,
        edit: Edit { from, to, new },
        text,
    })
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
        let (before, after) = (
            place.masked[..name].trim_end(),
            place.masked[from..].trim_start(),
        );
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
    let Some((_, function)) = place.called(open) else {
        return false;
    };
    let mut from = 0;
    while let Some(found) = word(&place.masked[from..], function) {
        let end = from + found + function.len();
        from = end;
        let list = place.masked[end..]
            .starts_with('(')
            .then(|| place.closing(end))
            .flatten();
        let list = list.map_or("", |close| &place.masked[end + 1..close]);
        if list.contains("(&") && list.contains(")[") {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests;
