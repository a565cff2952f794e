//! What the line of a call accesses itself, if the call hands a pointer into the array to a
//! function that changes.

use super::declared_pointers::{pointers, pointers_to_rows};
use super::other_names::OtherNames;
use super::types::Kept;
use super::wrapped::Wrap;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::edits::Edit;
use crate::suggest::source::pointers::is_operand;
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::{brackets, word};

/// The edits of what the lines of a call access themselves: `p[i] = sum(q, n)`. `None` if they
/// name an element of the array in another way than through a pointer, or in an argument.
pub(super) fn beside_calls(
    text: &Text,
    (open, close): (usize, usize),
    passed: &[(usize, usize)],
    kept: Kept,
    mapped: Mapped,
) -> Option<Vec<Edit>> {
    let array = mapped.array;
    let all = OtherNames::at(text, close, array, Vec::new());
    let (from, to) = (text.line_start(open), text.line_end(close));
    let number = text.line_of(open);
    let is_call = |at: usize| passed.iter().any(|(open, end)| (*open..*end).contains(&at));
    let mut names = all.named_in(&text.masked[from..to]);
    names.push(array.to_owned());
    let mut is_beside = false;
    for name in &names {
        let mut at = from;
        while let Some(found) = word(&text.masked[at..to], name) {
            let begin = at + found;
            at = begin + name.len();
            let before = &text.masked[from..begin];
            // A row is an address, as is what `&` is before.
            let indices = brackets(&text.masked[at..to]).0.len();
            let is_address = before.trim_end().ends_with('&') && is_operand(before);
            let is_element = indices > 0 && indices >= all.depth(name) && !is_address;
            if is_call(begin) && !is_element {
                continue;
            }
            if is_call(begin) || name == array {
                return None;
            }
            is_beside = true;
        }
    }
    if !is_beside {
        return Some(Vec::new());
    }
    let known = pointers(text, close, array)?;
    let walking = known.walking.clone();
    let wrap = Wrap {
        names: &known.names(),
        rows: &pointers_to_rows(text, close),
        own: None,
        of_structures: false,
        walking: &walking,
        start: array,
        function: mapped.function,
        passed,
    };
    wrap.edits(text, (from, to), (kept, number))
}
