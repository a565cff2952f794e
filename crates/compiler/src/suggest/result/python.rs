//! Kernels of Python: their source has no addresses that a function could map. Numba's
//! arrays get longer rows where they are declared; those of Triton are laid out by its
//! compiler.

use super::left_alone::LeftAlone;
use crate::suggest::array::room::DeclarationChange;
use crate::suggest::source::edits::{Edit, applied};
use crate::suggest::source::files::{SourceFiles, split};
use crate::suggest::source::scan::word;
use crate::suggest::{LineChange, Suggestion, Suggestions};
use spadkit_mapping::geometry::WORD_BYTES;
use spadkit_mapping::software::LayoutSpec;
use std::collections::BTreeSet;

/// The declaration of an array of shared memory in Numba.
const DECLARES: &str = "shared.array(";

/// Adds a change to those that are found, translated to Python if all lines are Python.
pub(in crate::suggest) fn add(found: &mut Suggestions, s: Suggestion, sources: &mut SourceFiles) {
    let is_python = |l: &LineChange| {
        let file = l.source.as_deref().and_then(split);
        file.is_some_and(|(file, _)| file.ends_with(".py"))
    };
    if s.lines.is_empty() || !s.lines.iter().all(is_python) {
        return found.changes.push(s);
    }
    match longer_rows(&s, sources) {
        Some(LongerRows {
            array,
            padding,
            conflicts,
            elements,
            declaration,
        }) => found.changes.push(Suggestion {
            array,
            hash: padding,
            conflicts,
            elements,
            torn: Vec::new(),
            keeps_merged: false,
            parted: None,
            machine_code: None,
            declarations: vec![declaration],
            dynamic_shared: None,
            function: String::new(),
            function_name: String::new(),
            lines: Vec::new(),
            padding: None,
            cute: None,
            triton: None,
            ..s
        }),
        None => found.left.push(LeftAlone {
            by_compiler: true,
            ..LeftAlone::from(s)
        }),
    }
}

/// An array that Numba declares with longer rows.
struct LongerRows {
    /// Name of the array in the source.
    array: String,
    padding: LayoutSpec,
    /// Conflicts left.
    conflicts: u64,
    /// The elements of the longer rows.
    elements: u32,
    declaration: DeclarationChange,
}

fn longer_rows(s: &Suggestion, sources: &mut SourceFiles) -> Option<LongerRows> {
    let padding = s.padding.as_ref()?;
    let LayoutSpec::Pad { every, by } = padding.hash else {
        return None;
    };
    let elements = |words: u32| {
        let bytes = WORD_BYTES * words;
        let whole = bytes.is_multiple_of(s.element_bytes);
        whole.then(|| bytes / s.element_bytes)
    };
    let (row, more) = (elements(every)?, elements(by)?);
    let places: Vec<&str> = s.lines.iter().filter_map(|l| l.source.as_deref()).collect();
    let files: BTreeSet<&str> = places.iter().filter_map(|p| Some(split(p)?.0)).collect();
    let file = files.first().filter(|_| files.len() == 1)?;
    let lines: Vec<String> = sources.lines(file)?.to_vec();
    let accesses: Option<Vec<String>> = places.iter().map(|p| sources.line(p)).collect();
    let accesses = accesses?;
    let all = (1..).zip(&lines);
    let declared = all.flat_map(|(number, line)| {
        let text = line.trim().to_owned();
        declarations(&text).map(|d| (number, d)).collect::<Vec<_>>()
    });
    let of_array = |d: &Declaration| {
        let shape = (d.rows.checked_mul(d.columns), d.columns);
        shape == (Some(s.elements_before), row)
            && accesses.iter().all(|line| word(line, &d.name).is_some())
    };
    let mut found = declared.filter(|(_, d)| of_array(d));
    // Of two arrays with one shape, accessed by all lines, it is unknown which is meant.
    let (number, one) = found.next().filter(|_| found.next().is_none())?;
    let text = lines.get(number as usize - 1)?.trim().to_owned();
    let edit = Edit {
        from: one.at.0,
        to: one.at.1,
        new: (one.columns + more).to_string(),
    };
    let declaration = DeclarationChange {
        source: format!("{file}:{number}"),
        changed_text: applied(&text, std::slice::from_ref(&edit))?,
        with_others: None,
        bytes: None,
        edit,
        text,
    };
    Some(LongerRows {
        array: one.name,
        padding: padding.hash.clone(),
        conflicts: padding.conflicts,
        elements: one.rows * (one.columns + more),
        declaration,
    })
}

/// `name = cuda.shared.array((rows, columns), ...)`.
struct Declaration {
    name: String,
    rows: u32,
    columns: u32,
    /// The span of `columns` in the line.
    at: (usize, usize),
}

/// The arrays of two dimensions, with numbers, that a line declares.
fn declarations(line: &str) -> impl Iterator<Item = Declaration> {
    line.match_indices(DECLARES).filter_map(|(at, _)| {
        let name = line[..at].rsplit_once('=')?.0;
        let name = name.rsplit([';', ' ']).find(|part| !part.is_empty())?;
        let open = at + DECLARES.len();
        let inside = line[open..].trim_start().strip_prefix('(')?;
        let start = line.len() - inside.len();
        let inside = inside.split(')').next()?;
        let (rows, columns) = inside.split_once(',')?;
        let from = start + rows.len() + 1;
        let number = columns.trim();
        let from = from + columns.len() - columns.trim_start().len();
        Some(Declaration {
            name: name.to_owned(),
            rows: rows.trim().parse().ok()?,
            columns: number.parse().ok()?,
            at: (from, from + number.len()),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_numba_are_found_by_their_declarations() {
        let line = "sa=cuda.shared.array((16, 8),f4); sb = numba.cuda.shared.array(( 16,4 ), f4)";
        let found: Vec<_> = declarations(line).collect();
        let shown = found
            .iter()
            .map(|d| (&d.name[..], d.rows, d.columns, &line[d.at.0..d.at.1]));
        assert!(shown.eq([("sa", 16, 8, "8"), ("sb", 16, 4, "4")]));
        for other in [
            "s=cuda.shared.array(256,f4)",
            "s=cuda.shared.array((N, 8),f4)",
            "s[x]",
        ] {
            assert_eq!(declarations(other).count(), 0, "{other}");
        }
    }
}
