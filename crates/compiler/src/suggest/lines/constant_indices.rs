//! The elements that a changed line names, against those that the run accesses there. Constant
//! indices name few: where the line accesses others, its elements lead to them, and to wrap
//! the constants would map the wrong elements.

use super::change::LineChange;
use crate::suggest::array::form::Form;
use crate::suggest::array::target::Target;
use crate::suggest::source::constants::literal;
use crate::suggest::source::edits::Maps;
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::brackets;
use crate::suggest::source::words::word;
use std::collections::BTreeSet;

/// Takes back the changes of indices of lines that access more than they name.
pub(in crate::suggest) fn keep_named(
    changes: &mut [LineChange],
    target: &Target,
    form: &Form,
    array: &str,
) {
    let places = target.accesses.places();
    let own_words = |source: &String| -> BTreeSet<u32> {
        let own = target.accesses.accesses.iter();
        let own = own.filter(|a| places.of(a.pc).of_user().0.source.as_ref() == Some(source));
        own.flat_map(|a| a.addrs.iter().flatten().copied())
            .collect()
    };
    // For a matrix, the first element is named, and wmma computes the others.
    for line in changes.iter_mut().filter(|l| !l.is_of_rows()) {
        let Some((old, new)) = line.statement() else {
            continue;
        };
        // An address of the run is mapped, whatever the constants are.
        let is_by_index = !new.contains("_at(") && line.maps().is_none_or(|m| m == Maps::Indices);
        let named = named(old, form, array).filter(|_| is_by_index);
        let (Some(named), Some(source)) = (named, &line.source) else {
            continue;
        };
        if !own_words(source).is_subset(&named) {
            (line.call, line.changed_text, line.declared) = (None, None, None);
        }
    }
}

/// The words of the elements that a statement names, if all their indices are constants.
fn named(statement: &str, form: &Form, array: &str) -> Option<BTreeSet<u32>> {
    let code = Text::new(statement.to_owned());
    let mut words = BTreeSet::new();
    let mut from = 0;
    while let Some(found) = word(&code.masked[from..], array) {
        from += found + array.len();
        let (indices, end) = brackets(&code.masked[from..]);
        from += end;
        let indices: Option<Vec<u64>> = indices.iter().map(|i| literal(i.trim())).collect();
        let first = form.element_of(&indices?)?.checked_mul(form.bytes.into())?;
        let last = first + u64::from(form.bytes) - 1;
        words.extend(u32::try_from(first / 4).ok()?..=u32::try_from(last / 4).ok()?);
    }
    (!words.is_empty()).then_some(words)
}
