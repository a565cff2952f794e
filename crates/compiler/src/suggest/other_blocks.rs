//! Arrays that other blocks of the cluster access: their lines need the mapping, too, although
//! none of their accesses is one of the traced block.

use super::array::target::Target;
use super::lines::change::names;
use super::{SourceFiles, Suggestion};
use spadkit_mapping::geometry::WORD_BYTES;
use spadkit_mapping::trace::{AccessTrace, RemoteSite};
use std::collections::BTreeSet;

/// The lines in which other blocks access the array of `target`, and to which the change does
/// not give the mapping.
pub(super) fn open_lines(
    target: &Target,
    trace: &AccessTrace,
    change: &Suggestion,
    sources: &mut SourceFiles,
) -> Vec<String> {
    let own = target.base..target.base + WORD_BYTES * target.array.words();
    let sites = trace.remote_sites();
    let sites = sites.iter().filter(|site| site.meets(&own));
    let open: BTreeSet<String> = sites
        .filter(|site| !is_mapped(site, change, sources))
        .map(RemoteSite::line)
        .collect();
    open.into_iter().collect()
}

/// Whether the line of `site` has the mapping after the change: its own index is mapped, or its
/// address comes from the declaration, in which the rows become longer. An address that a
/// function maps is one of the own block.
fn is_mapped(site: &RemoteSite, change: &Suggestion, sources: &mut SourceFiles) -> bool {
    let Some(source) = site.source.as_deref() else {
        return false;
    };
    let names_array = |text: &str| names(text, &change.array);
    if change.function.is_empty() {
        return sources.line(source).is_some_and(|text| names_array(&text));
    }
    let mut own = change
        .lines
        .iter()
        .filter(|l| l.source.as_deref() == Some(source));
    own.any(|line| {
        let address = format!("{}_at", change.function_name);
        (line.statement()).is_some_and(|(old, new)| names_array(old) && !names(new, &address))
    })
}
