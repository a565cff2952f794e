//! Longer rows in the declaration of an array, where that is the better change: no
//! instruction is added, and the accesses that the compiler merges stay merged.

use super::matrices::LongerRows;
use super::padding;
use crate::suggest::SourceFiles;
use crate::suggest::Suggestion;
use crate::suggest::array::room;
use crate::suggest::array::target::Target;
use crate::suggest::lines::Lines;
use spadkit_mapping::geometry::WORD_BYTES;
use spadkit_mapping::software::LayoutSpec;
use spadkit_mapping::trace::AccessTrace;

/// The longer rows that leave the fewest conflicts, if nothing but the declaration has to
/// change for them.
pub(in crate::suggest) fn longer_rows(
    target: &Target,
    lines: &Lines,
    array: &str,
    trace: &AccessTrace,
    sources: &mut SourceFiles,
) -> Option<LongerRows> {
    let form = lines.form.as_ref()?;
    // wmma has to know the length of its rows.
    (!target.array.has_matrices()).then_some(())?;
    let (_, by, layout) = padding::best_rows(target, form, lines, array)?;
    if let Some((mut bytes, _)) = target.growth(&layout, trace)
        && let LayoutSpec::Pad { by, .. } = layout.spec()
    {
        // The last row is longer, too.
        bytes.needs += WORD_BYTES * by;
        bytes.can_be_declared().then_some(())?;
    }
    let own = &lines.declarations;
    let declarations = room::longer_rows(target.named(array), by, &lines.places(), own, sources)?;
    Some(LongerRows {
        layout,
        declarations,
        lines: Vec::new(),
    })
}

/// The change by longer rows or the one by an index, whichever leaves fewer conflicts in the
/// changed source. Of equal ones the rows, if an index has the same gaps, or tears accesses.
pub(in crate::suggest) fn better(rows: Suggestion, by_index: Suggestion) -> Suggestion {
    let gains = |s: &Suggestion| s.machine_code.as_ref().is_none_or(|code| code.gains());
    let tears = !by_index.torn.is_empty();
    let is_better = match (gains(&rows), gains(&by_index)) {
        (true, false) => true,
        (false, true) => false,
        _ if rows.conflicts == by_index.conflicts => tears || rows.hash == by_index.hash,
        _ => rows.conflicts < by_index.conflicts,
    };
    if is_better {
        Suggestion {
            keeps_merged: tears,
            ..rows
        }
    } else {
        by_index
    }
}
