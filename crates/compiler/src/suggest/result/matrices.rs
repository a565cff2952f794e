//! Arrays whose rows `wmma` loads and stores: it takes a pointer and the length of a
//! row. Longer rows need a longer length there, and no other index changes.

use super::padding;
use crate::suggest::array::extent::more;
use crate::suggest::array::room::{self, DeclarationChange};
use crate::suggest::array::target::Target;
use crate::suggest::lines::Lines;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::constants::literal;
use crate::suggest::source::edits::{CallChange, Edit, Maps, applied, change};
use crate::suggest::source::files::split;
use crate::suggest::source::scan::{Text, arguments};
use crate::suggest::source::words::word;
use crate::suggest::{LineChange, Parts, SourceFiles};
use spadkit_mapping::software::{Layout, LayoutSpec};
use std::collections::BTreeSet;

/// The calls whose third argument is the length of a row.
const CALLS: [&str; 2] = ["load_matrix_sync", "store_matrix_sync"];

/// An array with longer rows: what changes in the source.
pub(in crate::suggest) struct LongerRows {
    pub layout: Layout,
    pub declarations: Vec<DeclarationChange>,
    /// The lines that give the length.
    pub lines: Vec<LineChange>,
}

/// The best of them, if the declaration has rows and every call is understood.
pub(in crate::suggest) fn longer_rows(
    target: &Target,
    lines: &Lines,
    array: &str,
    sources: &mut SourceFiles,
) -> Option<LongerRows> {
    let form = lines
        .form
        .as_ref()
        .filter(|_| target.array.has_matrices())?;
    let (_, by, layout) = padding::longer_rows(target, form, lines, array)?;
    let own = &lines.declarations;
    let declarations = room::longer_rows(target.named(array), by, &lines.places(), own, sources)?;
    let mut changed = Vec::new();
    for line in &lines.changes {
        let Parts::Rows(lengths) = &line.parts else {
            continue;
        };
        let rows = Rows::new(lengths, &layout, form.bytes)?;
        let source = line.source.as_deref()?;
        changed.push(LineChange {
            changed_text: None,
            declared: None,
            call: Some(of_calls(source, array, rows, sources)?),
            ..line.clone()
        });
    }
    Some(LongerRows {
        layout,
        declarations,
        lines: changed,
    })
}

/// Gives the calls of lines whose index is mapped the new length, and maps the index of
/// `array + index`; those that are not understood become lines whose change is not known.
pub(in crate::suggest) fn give_lengths(
    lines: &mut Lines,
    layout: &Layout,
    mapped: Mapped,
    sources: &mut SourceFiles,
) {
    let array = mapped.array;
    let element = lines.form.as_ref().map(|form| form.bytes);
    let is_flat = lines.form.as_ref().is_some_and(|form| form.brackets() == 1);
    for line in &mut lines.changes {
        let Parts::Rows(lengths) = &line.parts else {
            continue;
        };
        let rows = element.and_then(|element| Rows::new(lengths, layout, element));
        if is_flat && line.changed_text.is_none() {
            let source = line.source.as_deref();
            let found = source.zip(rows);
            line.declared = None;
            line.call = found.and_then(|(source, rows)| of_pointers(source, mapped, rows, sources));
            continue;
        }
        let changed = line.changed_text.take();
        line.changed_text = changed.zip(rows).and_then(|(text, rows)| {
            let place = Text::new(text);
            let end = place.text.len();
            let (edits, last) = edits(&place, (0, end), array, rows)?;
            (last <= end).then(|| applied(&place.text, &edits))?
        });
        (line.declared, line.call) = (None, None);
    }
}

/// Rows of a matrix that become longer.
#[derive(Clone, Copy)]
struct Rows {
    /// Present length of the rows, and the length that is added.
    bytes: u32,
    more: u32,
    /// Bytes of an element of the array.
    element: u32,
}

impl Rows {
    /// `None` where they are of several lengths, or `layout` has no gaps.
    fn new(lengths: &BTreeSet<u32>, layout: &Layout, element: u32) -> Option<Self> {
        let bytes = lengths.first().copied().filter(|_| lengths.len() == 1)?;
        let &LayoutSpec::Pad { every, by } = layout.spec() else {
            return None;
        };
        Some(Rows {
            bytes,
            more: bytes.checked_div(every)?.checked_mul(by)?,
            element,
        })
    }

    /// The new length, counted as `length` is: in elements of the matrix, of which a
    /// cast in `pointer` may make others than those of the array.
    fn longer(&self, length: &str, pointer: &str) -> Option<String> {
        let number = literal(length).and_then(|n| u32::try_from(n).ok());
        let element = match number {
            Some(number) => self.bytes.checked_div(number)?,
            None => self.element,
        };
        let is_cast = pointer.contains("_cast") || pointer.contains("*)");
        let is_known = number.is_some() || !is_cast;
        let is_whole = element > 0 && self.more.is_multiple_of(element);
        (is_known && is_whole).then(|| more(length, self.more / element))
    }
}

/// The statement at `source` with longer rows in all its calls that name the array.
fn of_calls(
    source: &str,
    array: &str,
    rows: Rows,
    sources: &mut SourceFiles,
) -> Option<CallChange> {
    with_rows(source, array, rows, sources, |_, _| Some(Vec::new()))
}

/// The change of calls each of which gets `array + index`, which becomes the address
/// of the mapped element.
fn of_pointers(
    source: &str,
    mapped: Mapped,
    rows: Rows,
    sources: &mut SourceFiles,
) -> Option<CallChange> {
    let pointers = |place: &Text, (begin, end)| {
        let mut edits = Vec::new();
        let mut at = begin;
        while let Some((open, close)) = next_call(place, at, end) {
            at = close;
            if word(&place.masked[open..close], mapped.array).is_some() {
                edits.push(pointer(place, open, mapped)?);
            }
        }
        Some(edits)
    };
    let change = with_rows(source, mapped.array, rows, sources, pointers)?;
    Some(CallChange {
        maps: Maps::Indices,
        ..change
    })
}

/// The statement at `source` with longer rows in all its calls that name the array, and
/// with the edits that `more` makes in its first line.
fn with_rows(
    source: &str,
    array: &str,
    rows: Rows,
    sources: &mut SourceFiles,
    more: impl FnOnce(&Text, (usize, usize)) -> Option<Vec<Edit>>,
) -> Option<CallChange> {
    let (file, number) = split(source)?;
    let place = sources.text(file);
    let begin = place.start_of_line(number)?;
    let end = place.line_end(begin);
    let (mut edits, last) = edits(&place, (begin, end), array, rows)?;
    edits.extend(more(&place, (begin, end))?);
    let end = if last > end {
        place.statement_end(last)
    } else {
        end
    };
    change(source.to_owned(), &place, (begin, end), &edits)
}

/// `&a[place(i)]` instead of the pointer `a + i` in the call whose parenthesis is at
/// `open`; `None` if it is written in another way.
fn pointer(place: &Text, open: usize, mapped: Mapped) -> Option<Edit> {
    let Mapped {
        array, function, ..
    } = mapped;
    let mut all = arguments(place, open)?.into_iter().take(2);
    let (from, to) = all.find(|(from, to)| word(&place.masked[*from..*to], array).is_some())?;
    let part = &place.masked[from..to];
    let from = to - part.trim_start().len();
    let to = from + part.trim().len();
    let rest = place.masked[from..to].strip_prefix(array)?.trim_start();
    let index = match rest.strip_prefix('+') {
        Some(_) => place.text[to - rest.len() + 1..to].trim(),
        None => rest.is_empty().then_some("0")?,
    };
    let mut depth = 0;
    // An operator that binds less tightly than a sum would change its meaning in brackets.
    let is_sum = index.chars().all(|c| {
        depth += i32::from(c == '(' || c == '[') - i32::from(c == ')' || c == ']');
        depth > 0 || !"?<>&|^=,".contains(c)
    });
    (is_sum && word(index, array).is_none()).then(|| Edit {
        from,
        to,
        new: format!("&{array}[{function}({index})]"),
    })
}

/// The edits of the calls that begin in this span and name the array, and the end of the
/// last call; `None` if there is no such call, or one is not understood.
fn edits(
    place: &Text,
    (from, to): (usize, usize),
    array: &str,
    rows: Rows,
) -> Option<(Vec<Edit>, usize)> {
    let mut edits = Vec::new();
    let mut at = from;
    while let Some((open, close)) = next_call(place, at, to) {
        at = close;
        if word(&place.masked[open..close], array).is_none() {
            continue;
        }
        let &(start, end) = arguments(place, open)?.get(2)?;
        let length = place.masked[start..end].trim();
        let start = end - place.masked[start..end].trim_start().len();
        edits.push(Edit {
            from: start,
            to: start + length.len(),
            new: rows.longer(length, &place.masked[open..close])?,
        });
    }
    (!edits.is_empty()).then_some((edits, at))
}

/// The parentheses of the first call that begins in this span.
fn next_call(place: &Text, from: usize, to: usize) -> Option<(usize, usize)> {
    let part = place.masked.get(from..to)?;
    let found = CALLS
        .iter()
        .filter_map(|call| Some(word(part, call)? + call.len()));
    let open = from + found.min()?;
    let open = open + place.masked[open..].find('(')?;
    Some((open, place.closing(open)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
wmma::load_matrix_sync(fa, &as[warp * 16][kk], LDA); // 64
wmma::load_matrix_sync(fa, &as[0][0], 64); wmma::load_matrix_sync(fb, &bs[0][0], 64);
wmma::store_matrix_sync(&as[0][0],
                        acc, /* rows */ (N + 1),
                        wmma::mem_row_major);
load(as);
store_matrix_sync((float *)&as[0][0], c, 32, row);
store_matrix_sync((float *)&as[0][0], c, N, row);
";

    fn changed(line: u32, array: &str) -> Option<String> {
        let mut text = crate::suggest::source::files::given(SOURCE);
        let rows = Rows {
            bytes: 128,
            more: 16,
            element: 2,
        };
        let change = of_calls(&format!("k.cu:{line}"), array, rows, &mut text)?;
        Some(change.changed_text)
    }

    #[test]
    fn a_sum_of_the_array_becomes_an_element() {
        let changed = |pointer: &str| {
            let source = format!("wmma::load_matrix_sync(fa, {pointer}, 64); // of as\n");
            let mut text = crate::suggest::source::files::given(&source);
            let rows = Rows {
                bytes: 64,
                more: 16,
                element: 1,
            };
            let change = of_pointers("k.cu:1", Mapped::words("as", "f"), rows, &mut text)?;
            Some(change.changed_text)
        };
        for (pointer, expected) in [
            ("as + kk", "&as[f(kk)]"),
            ("as", "&as[f(0)]"),
            ("as + (r << 4) * 64 - 1", "&as[f((r << 4) * 64 - 1)]"),
        ] {
            let expected = format!("wmma::load_matrix_sync(fa, {expected}, 80); // of as");
            assert_eq!(changed(pointer), Some(expected));
        }
        for other in [
            "as + a << 1",
            "p ? as : b",
            "(half *)as + 1",
            "as + as[0]",
            "as - 1",
        ] {
            assert_eq!(changed(other), None, "{other}");
        }
    }

    #[test]
    fn the_length_of_a_row_grows_in_the_calls_of_the_array_alone() {
        assert_eq!(
            changed(1, "as").unwrap(),
            "wmma::load_matrix_sync(fa, &as[warp * 16][kk], LDA + 8); // 64"
        );
        assert_eq!(
            changed(2, "bs").unwrap(),
            "wmma::load_matrix_sync(fa, &as[0][0], 64); wmma::load_matrix_sync(fb, &bs[0][0], 72);"
        );
        assert_eq!(
            changed(3, "as").unwrap(),
            "wmma::store_matrix_sync(&as[0][0], acc, /* rows */ (N + 1) + 8, wmma::mem_row_major);"
        );
        assert_eq!(changed(1, "bs"), None);
        assert_eq!(changed(6, "as"), None);
        // The array has elements of 2 bytes, the matrix others.
        assert_eq!(
            changed(7, "as").unwrap(),
            "store_matrix_sync((float *)&as[0][0], c, 36, row);"
        );
        assert_eq!(changed(8, "as"), None);
    }
}
