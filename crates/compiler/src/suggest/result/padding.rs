//! The padding of an array: in its declaration if its rows are known.

use super::torn::Torn;
use crate::suggest::array::form::Form;
use crate::suggest::array::target::Target;
use crate::suggest::lines::{Lines, element_index, lanes};
use crate::suggest::source::constants::literal;
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::brackets;
use crate::suggest::source::words::word;
use crate::suggest::{LineChange, Suggestion, Tuned};
use serde::Serialize;
use spadkit_mapping::geometry::WORD_BYTES;
use spadkit_mapping::software::choice::MappingKind;
use spadkit_mapping::software::{Layout, LayoutSpec};
use spadkit_ptx::analysis::SourceIndex;
use std::collections::{BTreeMap, BTreeSet};

/// Padding that is as good as the best mapping, or nearly.
#[derive(Clone, Debug, Serialize)]
pub struct Padding {
    /// The padding as a mapping of 32-bit words.
    pub hash: LayoutSpec,
    /// Conflicts left.
    pub conflicts: u64,
    /// Bytes that it adds.
    pub wasted_bytes: u32,
    /// The declaration.
    pub declaration: String,
    /// Bytes of dynamic shared memory that the launch gives, and those that it has to
    /// give, where the array is `extern`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch_bytes: Option<[u32; 2]>,
    /// Whether the declaration is all that changes: longer rows, or larger elements.
    pub in_declaration: bool,
    /// Expression of the index of an element.
    pub index: String,
}

/// The rows of an array, as far as its indices show them.
pub(in crate::suggest) struct Shape {
    /// Candidates for the elements of a row, ascending: with each, every index is
    /// a row and a column. Empty if some index does not show its row.
    pub rows: Vec<u32>,
    pub elements: u32,
}

impl Shape {
    pub fn of(target: &Target, tuned: &Tuned, form: Option<&Form>) -> Self {
        let elements = target.elements_before();
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
        // With several dimensions, the declaration defines the row.
        let declared = form.filter(|f| f.brackets() > 1);
        if let Some(form) = declared {
            let own = form.row().filter(|row| elements.is_multiple_of(*row));
            let rows = own.into_iter().collect();
            return Shape { rows, elements };
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
pub(in crate::suggest) fn padding(
    target: &Target,
    shape: &Shape,
    lines: &Lines,
    array: &str,
    torn: &Torn,
) -> Option<Padding> {
    let padded = Padded {
        target,
        shape,
        lines,
        form: lines.form.as_ref(),
        array,
        torn,
    };
    // Neither the members of one object are seen here, nor the size of some elements.
    // What is behind a part of dynamic shared memory would begin later.
    if lines.is_one_object || lines.has_open_size || target.is_part() {
        return None;
    }
    let own = padded.in_form();
    // Gaps elsewhere than at the end of a row change the shape of the array.
    if own.is_some() || padded.form.is_some_and(|f| f.brackets() > 1) {
        return own;
    }
    (padded.with_gaps())
        .or_else(|| padded.as_indices_show())
        .or_else(|| padded.spread_out())
}

/// An array that gets padding.
struct Padded<'a> {
    target: &'a Target<'a>,
    shape: &'a Shape,
    lines: &'a Lines,
    form: Option<&'a Form>,
    array: &'a str,
    torn: &'a Torn,
}

impl Padded<'_> {
    fn is_dynamic(&self) -> bool {
        self.form.is_some_and(|f| f.is_dynamic)
    }

    /// The padding of `layout`, in the declaration.
    fn of(&self, layout: &Layout, declaration: String, index: String) -> Padding {
        let (target, array) = (self.target, self.target.array);
        let launch_bytes = || {
            let before = target.bytes().unwrap_or(WORD_BYTES * array.words());
            let needs = WORD_BYTES * layout.words_needed(array.words());
            [before, before.max(needs)]
        };
        Padding {
            hash: layout.spec().clone(),
            conflicts: array.count(layout).conflicts,
            wasted_bytes: WORD_BYTES * array.wasted(layout),
            declaration,
            launch_bytes: self.is_dynamic().then(launch_bytes),
            in_declaration: true,
            index,
        }
    }

    /// Longer rows, or larger structures.
    fn in_form(&self) -> Option<Padding> {
        let found = in_form(self.target, self.form?, self.lines, self.array);
        found.map(|(layout, declaration, index)| Padding {
            wasted_bytes: declared_gaps(layout.spec(), WORD_BYTES * self.target.array.words()),
            ..self.of(&layout, declaration, index)
        })
    }

    /// Gaps between whole elements.
    fn with_gaps(&self) -> Option<Padding> {
        let (layout, declaration, index) = gaps(self.target, self.form?, self.array)?;
        Some(Padding {
            in_declaration: false,
            ..self.of(&layout, declaration, index)
        })
    }

    /// If the declaration is not seen, its rows are those that the indices show.
    fn as_indices_show(&self) -> Option<Padding> {
        let array = self.array;
        let by_index = |l: &LineChange| l.text.as_deref().is_none_or(|t| word(t, array).is_some());
        if self.form.is_some() || !self.lines.changes.iter().all(by_index) {
            return None;
        }
        let (row, by, layout) = declared(self.target, self.shape)?;
        let rows = self.shape.elements / row;
        let declaration = format!("__shared__ T {array}[{rows}][{}];", row + by);
        let bytes = self.target.element_bytes();
        let index = format!(
            "where the source declares {array}[{rows}][{row}]: {array}[row][column], rows of \
             {row} elements of {bytes} bytes (T) stay what they are"
        );
        Some(Padding {
            in_declaration: false,
            wasted_bytes: declared_gaps(layout.spec(), WORD_BYTES * self.target.array.words()),
            ..self.of(&layout, declaration, index)
        })
    }

    /// An index that leaves gaps, which counts whole elements.
    fn spread_out(&self) -> Option<Padding> {
        let (target, array) = (self.target, self.array);
        if self.form.is_some_and(|f| in_parts(target, f)) {
            return None;
        }
        // With narrower accesses, neighbouring words need not stay together.
        let best = (self.torn.padding()).or_else(|| target.best_of(MappingKind::Pad))?;
        let layout = &best.layout;
        let &LayoutSpec::Pad { every, by } = layout.spec() else {
            return None;
        };
        // The texts count elements: the padding must be whole ones.
        let bytes = self.form.map_or(target.element_bytes(), |f| f.bytes);
        let every = whole(WORD_BYTES * every, bytes)?;
        let by = whole(WORD_BYTES * by, bytes)?;
        let words = layout.words_needed(target.array.words());
        let elements = (WORD_BYTES * words).div_ceil(bytes);
        let (declaration, of) = match self.form {
            Some(form) => (form.with_elements(elements)?, String::new()),
            None => (
                format!("__shared__ T {array}[{elements}];"),
                format!(" of {bytes} bytes (T)"),
            ),
        };
        let index = spread(every, by);
        let index = format!("{array}[{index}] for element i{of}");
        // Such an index hides neighbours from the compiler, as a function does.
        let conflicts = self.torn.conflicts(layout);
        (conflicts < target.conflicts_before()).then(|| Padding {
            conflicts,
            in_declaration: false,
            ..self.of(layout, declaration, index)
        })
    }
}

/// Bytes that a declaration with longer rows or elements adds to an array of these bytes: each
/// has its gap, the last one too. None for a mapping without gaps.
fn declared_gaps(spec: &LayoutSpec, bytes: u32) -> u32 {
    match spec {
        LayoutSpec::Pad { every, by } => (bytes / WORD_BYTES).div_ceil(*every) * by * WORD_BYTES,
        _ => 0,
    }
}

impl Suggestion {
    /// Bytes by which the array grows, with longer rows in its declaration by those of all gaps.
    pub fn added_bytes(&self) -> u32 {
        if self.has_longer_rows() {
            return declared_gaps(&self.hash, self.elements_before * self.element_bytes);
        }
        self.elements.saturating_sub(self.elements_before) * self.element_bytes
    }
}

/// The number of elements of `unit` bytes, if it is whole.
fn whole(bytes: u32, unit: u32) -> Option<u32> {
    bytes.is_multiple_of(unit).then_some(bytes / unit)
}

/// The index of element `i` with gaps of `by` after every `every`.
fn spread(every: u32, by: u32) -> String {
    match (every, by) {
        (1, by) => format!("i * {}", by + 1),
        (every, 1) => format!("i + i / {every}"),
        (every, by) => format!("i + i / {every} * {by}"),
    }
}

/// A padding in the declaration of the array, and its texts: longer rows, else larger
/// structures.
fn in_form(
    target: &Target,
    form: &Form,
    lines: &Lines,
    array: &str,
) -> Option<(Layout, String, String)> {
    if let Some((row, by, layout)) = longer_rows(target, form, lines, array) {
        let index = format!("{array}[row][column]: rows of {row} elements stay what they are");
        return Some((layout, form.with_longer_rows(by), index));
    }
    let banks = target.array.geometry().banks() as u32;
    if !in_parts(target, form) || !form.takes_a_member || !form.may_be_longer {
        return None;
    }
    let (by, layout) = best_of(target, form.bytes, 4, banks)?;
    let (bytes, more) = (form.bytes, 4 * by);
    let index = format!(
        "{array}: {} has {} bytes in the place of {bytes}",
        form.element,
        bytes.saturating_add(more)
    );
    Some((layout, form.with_member(more), index))
}

/// Whether elements are accessed by their parts.
fn in_parts(target: &Target, form: &Form) -> bool {
    form.bytes > target.element_bytes()
}

/// Gaps between whole elements of the array as the source declares it, and the texts.
fn gaps(target: &Target, form: &Form, array: &str) -> Option<(Layout, String, String)> {
    if !in_parts(target, form) {
        return None;
    }
    let all = 4 * target.array.words() / form.bytes;
    let counts = (0..u32::BITS).map(|n| 1 << n).take_while(|n| *n < all);
    let gaps = counts.filter_map(|n| Some((n, best_of(target, n * form.bytes, form.bytes, 4)?)));
    let cost = |(_, (_, layout)): &(u32, (u32, Layout))| cost(target, layout);
    let (every, (by, layout)) = gaps.min_by_key(cost)?;
    let elements = (4 * layout.words_needed(target.array.words())).div_ceil(form.bytes);
    let declaration = form.with_elements(elements)?;
    let index = format!("{array}[{}] for element i", spread(every, by));
    Some((layout, declaration, index))
}

/// The rows of the declaration, if they are nearly as good as the best mapping.
pub(in crate::suggest) fn longer_rows(
    target: &Target,
    form: &Form,
    lines: &Lines,
    array: &str,
) -> Option<(u32, u32, Layout)> {
    let found = best_rows(target, form, lines, array)?;
    target
        .is_nearly_best(cost(target, &found.2).0)
        .then_some(found)
}

/// The rows of the declaration, if every access is one to a row, and how many elements
/// more they best have.
pub(in crate::suggest) fn best_rows(
    target: &Target,
    form: &Form,
    lines: &Lines,
    array: &str,
) -> Option<(u32, u32, Layout)> {
    // An access to a row is one by its index: through a pointer, it may be any.
    let mut own = lines.changes.iter().filter(|l| !l.accesses.is_empty());
    let row = form.row().filter(|_| form.may_be_longer).filter(|_| {
        own.all(|l| !l.is_through_a_pointer(array) && stays_in_rows(target, form, l, array))
    })?;
    let length = row.checked_mul(form.bytes)?;
    let banks = target.array.geometry().banks() as u32;
    let (by, layout) = fewest_of(target, length, form.bytes, banks)?;
    Some((row, by, layout))
}

/// Whether a line whose rows are constants goes to no others: `tile[0][i]` may go on
/// behind the end of the row, and `i` then counts the elements of all of them.
fn stays_in_rows(target: &Target, form: &Form, line: &LineChange, array: &str) -> bool {
    let (Some(text), Some(place)) = (&line.text, &line.source) else {
        return true;
    };
    let Some(length) = form.row().map(|row| u64::from(row) * u64::from(form.bytes)) else {
        return true;
    };
    let Some(rows) = constant_rows(form, text, array) else {
        return true;
    };
    let places = target.accesses.places();
    let own = target.accesses.accesses.iter();
    let mut own = own.filter(|a| places.of(a.pc).of_user().0.source.as_ref() == Some(place));
    own.all(|access| {
        let mut words = access.addrs.iter().flatten();
        words.all(|word| rows.contains(&(4 * u64::from(*word) / length)))
    })
}

/// The rows that a line names, if all of them are constants.
fn constant_rows(form: &Form, text: &str, array: &str) -> Option<BTreeSet<u64>> {
    let code = Text::new(text.to_owned());
    let mut rows = BTreeSet::new();
    let mut from = 0;
    while let Some(found) = word(&code.masked[from..], array) {
        from += found + array.len();
        let (indices, end) = brackets(&code.masked[from..]);
        from += end;
        let (_, outer) = indices
            .split_last()
            .filter(|_| indices.len() == form.brackets())?;
        let outer: Option<Vec<u64>> = outer.iter().map(|i| literal(i.trim())).collect();
        rows.insert(form.row_of(&outer?)?);
    }
    (!rows.is_empty()).then_some(rows)
}

/// The padding of up to `most` units of `unit` bytes after every `length` bytes, if
/// it is nearly as good as the best mapping.
pub(in crate::suggest) fn best_of(
    target: &Target,
    length: u32,
    unit: u32,
    most: u32,
) -> Option<(u32, Layout)> {
    let best = fewest_of(target, length, unit, most)?;
    target
        .is_nearly_best(cost(target, &best.1).0)
        .then_some(best)
}

/// The padding with the fewest conflicts, then the fewest words wasted, of up to
/// `most` units of `unit` bytes after every `length` bytes.
fn fewest_of(target: &Target, length: u32, unit: u32, most: u32) -> Option<(u32, Layout)> {
    let geometry = target.array.geometry();
    let layout = |by: u32| {
        let every = whole(length, 4)?;
        let by = whole(by.checked_mul(unit)?, 4)?;
        let layout = Layout::new(&LayoutSpec::Pad { every, by }, geometry).ok()?;
        let is_possible = target.array.refuses(&layout).is_none();
        is_possible.then_some(layout)
    };
    let all = (1..most).filter_map(|by| Some((by, layout(by)?)));
    all.min_by_key(|(_, layout)| cost(target, layout))
}

fn cost(target: &Target, layout: &Layout) -> Cost {
    let conflicts = target.array.count(layout).conflicts;
    (conflicts, target.array.wasted(layout))
}

/// The cost: conflicts, then words wasted.
type Cost = (u64, u32);

/// Row and padding in elements, and the layout: the one with the fewest
/// conflicts, then the fewest words wasted, if it is nearly as good as the best
/// mapping.
fn declared(target: &Target, shape: &Shape) -> Option<(u32, u32, Layout)> {
    let bytes = target.element_bytes();
    let banks = target.array.geometry().banks() as u32;
    let all = shape.rows.iter().filter_map(|&row| {
        // A bank's words, or more where elements are narrower.
        let (by, layout) = best_of(target, row * bytes, bytes, banks * 4 / bytes.min(4))?;
        Some((row, by, layout))
    });
    all.min_by_key(|(.., layout)| cost(target, layout))
}
