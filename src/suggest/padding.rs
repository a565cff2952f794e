//! The padding of an array: in its declaration if its rows are known.

use super::Tuned;
use super::lines::{Lines, element_index, lanes};
use super::target::Target;
use crate::ptx::analysis::SourceIndex;
use crate::software::choice::MappingKind;
use crate::software::{Layout, LayoutSpec};
use serde::Serialize;
use std::collections::BTreeMap;

/// Padding that is as good as the best mapping, or nearly.
#[derive(Clone, Debug, Serialize)]
pub struct Padding {
    /// As a mapping of 32-bit words.
    pub hash: LayoutSpec,
    /// Conflicts left.
    pub conflicts: u64,
    /// Bytes that it adds.
    pub wasted_bytes: u32,
    /// The declaration.
    pub declaration: String,
    /// How it is indexed.
    pub index: String,
}

/// The rows of an array, as far as its indices show them.
pub(super) struct Shape {
    /// Candidates for the elements of a row, ascending: with each, every index is
    /// a row and a column. Empty if some index does not show its row.
    pub rows: Vec<u32>,
    pub elements: u32,
}

impl Shape {
    pub fn of(target: &Target, tuned: &Tuned) -> Self {
        let elements = (4 * target.array.words()).div_ceil(target.element_bytes());
        let places = target.accesses.places();
        let mut indices: BTreeMap<u32, SourceIndex> = BTreeMap::new();
        for access in &target.accesses.accesses {
            if indices.contains_key(&access.pc) {
                continue;
            }
            let place = places.of(access.pc);
            let Some(index) = element_index(target, tuned, access.pc, &place) else {
                let rows = Vec::new();
                return Shape { rows, elements };
            };
            indices.insert(access.pc, index);
        }
        let strides = indices.values().flat_map(|i| &i.terms);
        let strides = strides.filter_map(|(c, _)| u32::try_from(c.unsigned_abs()).ok());
        let mut rows: Vec<u32> = strides.filter(|&c| c > 1 && c < elements).collect();
        rows.sort_unstable();
        rows.dedup();
        rows.retain(|&row| elements.is_multiple_of(row) && has_rows(target, &indices, row));
        Shape { rows, elements }
    }
}

/// Whether the part of every index that is not a multiple of `row` is a column
/// of such a row, wherever the run accesses the array.
fn has_rows(target: &Target, indices: &BTreeMap<u32, SourceIndex>, row: u32) -> bool {
    let block = target.accesses.block_dim;
    let bytes = target.element_bytes();
    target.accesses.accesses.iter().all(|access| {
        lanes(access, target.accesses).all(|(word, thread)| {
            // The word does not identify an element narrower than it.
            let element = (bytes >= 4).then(|| i64::from(word) * 4 / i64::from(bytes));
            let column = column(&indices[&access.pc], thread, block, element, row.into());
            column.is_some_and(|c| (0..i64::from(row)).contains(&c))
        })
    })
}

/// The part of a thread's index that is not a multiple of `row`. If the value of
/// one term is not known, it follows from the `element` that is accessed.
fn column(
    index: &SourceIndex,
    thread: [u32; 3],
    block: [u32; 3],
    element: Option<i64>,
    row: i64,
) -> Option<i64> {
    let mut column = index.constant.rem_euclid(row);
    let (mut rest, mut unknown) = (element.map(|e| e - index.constant), None);
    for (coefficient, factors) in &index.terms {
        let value = SourceIndex::product(*coefficient, factors, thread, block);
        match value {
            Some(value) => {
                rest = rest.map(|r| r - value);
                column += if coefficient % row == 0 { 0 } else { value };
            }
            None if unknown.is_none() => unknown = Some(*coefficient),
            None => return None,
        }
    }
    match unknown {
        Some(coefficient) if coefficient % row != 0 => Some(column + rest?),
        _ => Some(column),
    }
}

/// The best padding in the declaration; else the best as an index.
pub(super) fn padding(
    target: &Target,
    shape: &Shape,
    lines: &Lines,
    array: &str,
) -> Option<Padding> {
    let bytes = target.element_bytes();
    let element = lines.declared.as_ref().map_or("T", |d| &d.element);
    let found = |layout: &Layout| Padding {
        hash: layout.spec().clone(),
        conflicts: target.array.count(layout).conflicts,
        wasted_bytes: 4 * target.array.wasted(layout),
        declaration: String::new(),
        index: String::new(),
    };
    if let Some((row, by, layout)) = declared(target, shape) {
        return Some(Padding {
            declaration: format!(
                "__shared__ {element} {array}[{}][{}];",
                shape.elements / row,
                row + by
            ),
            index: format!("{array}[row][column]: rows of {row} elements stay what they are"),
            ..found(&layout)
        });
    }
    let best = target.best_of(MappingKind::Pad)?;
    let &LayoutSpec::Pad { every, by } = best.layout.spec() else {
        return None;
    };
    // The texts count elements: the padding must be whole ones.
    let whole = |words: u32| {
        (4 * words)
            .is_multiple_of(bytes)
            .then_some(4 * words / bytes)
    };
    let (every, by) = (whole(every)?, whole(by)?);
    let gaps = match by {
        1 => format!("i / {every}"),
        by => format!("i / {every} * {by}"),
    };
    Some(Padding {
        declaration: format!(
            "__shared__ {element} {array}[{}];",
            target.elements(&best.layout)
        ),
        index: format!("{array}[i + {gaps}] for element i"),
        ..found(&best.layout)
    })
}

/// The cost: conflicts, then words wasted.
type Cost = (u64, u32);

/// Row and padding in elements, and the layout: the one with the fewest
/// conflicts, then the fewest words wasted, if it is nearly as good as the best
/// mapping.
fn declared(target: &Target, shape: &Shape) -> Option<(u32, u32, Layout)> {
    let bytes = target.element_bytes();
    let geometry = target.array.geometry();
    let mut best: Option<(Cost, (u32, u32, Layout))> = None;
    for &row in &shape.rows {
        for words in 1..geometry.banks() as u32 {
            let (by, length) = (4 * words, row * bytes);
            if by % bytes != 0 || length % 4 != 0 {
                continue;
            }
            let spec = LayoutSpec::Pad {
                every: length / 4,
                by: words,
            };
            let Ok(layout) = Layout::new(&spec, geometry) else {
                continue;
            };
            if target.array.refuses(&layout).is_some() {
                continue;
            }
            let conflicts = target.array.count(&layout).conflicts;
            let cost = (conflicts, target.array.wasted(&layout));
            if target.is_nearly_best(conflicts) && best.as_ref().is_none_or(|b| cost < b.0) {
                best = Some((cost, (row, by / bytes, layout)));
            }
        }
    }
    best.map(|b| b.1)
}
