//! Shows suggested changes next to the lines of the source.

use super::code::change_of;
use crate::readable::readable;
use crate::report::{SourcePage, grouped};
use crate::software::LayoutSpec;
use crate::suggest::{Suggestion, split};

/// Adds the declarations with longer rows to the lines of the source.
pub(super) fn declare(pages: &mut [SourcePage], declarations: &[(String, String)]) {
    for (place, changed) in declarations {
        let Some((file, number)) = split(place) else {
            continue;
        };
        let page = pages.iter_mut().find(|p| p.file == file);
        if let Some(line) = page.and_then(|p| p.lines.iter_mut().find(|l| l.line == number)) {
            line.change = Some(changed.clone());
        }
    }
}

/// Adds the suggested lines to those of the source.
///
/// Line numbers are those under `chosen`: a change for another mapping states the
/// conflicts that it leaves.
pub(super) fn suggest(
    pages: &mut [SourcePage],
    suggestions: &[Suggestion],
    chosen: Option<&LayoutSpec>,
) {
    let leaves = |s: &Suggestion| {
        (chosen.is_some() && chosen != Some(&s.hash)).then(|| {
            format!(
                "{} in software leaves {} of the {} conflicts of {}",
                s.hash,
                grouped(s.conflicts),
                grouped(s.conflicts_before),
                readable(&s.array)
            )
        })
    };
    let mut put = |place: &str, change: String, by_hand: bool, s: &Suggestion| {
        let Some((file, number)) = split(place) else {
            return;
        };
        let page = pages.iter_mut().find(|p| p.file == file);
        let found = page.and_then(|p| p.lines.iter_mut().find(|l| l.line == number));
        if let Some(found) = found.filter(|l| l.change.is_none()) {
            found.change = Some(change);
            found.change_by_hand = by_hand;
            found.change_leaves = leaves(s);
        }
    };
    for s in suggestions {
        for declaration in &s.declarations {
            let changed = declaration.changed_with_others().to_owned();
            put(&declaration.source, changed, false, s);
        }
    }
    for (s, line) in suggestions
        .iter()
        .flat_map(|s| s.lines.iter().map(move |l| (s, l)))
    {
        // An inlined line is changed where its function is called.
        let called = line
            .inlined_at
            .first()
            .filter(|_| line.changed_text.is_none());
        let call = line.call.as_ref().map(|c| &c.source);
        if let Some(place) = call.or(called).or(line.source.as_ref()) {
            put(place, change_of(line, s), line.is_by_hand(), s);
        }
    }
}
