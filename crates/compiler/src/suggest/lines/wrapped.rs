//! Lines whose accesses all go through pointers into the array: each element is put under
//! the function.

use super::calls::{declaration_at, declares, window};
use super::declared_pointers::{pointers, pointers_to_rows};
use super::pointers_to_start;
use super::types::{Kept, member_of};
use crate::suggest::SourceFiles;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::declarations::parsed;
use crate::suggest::source::edits::{self, CallChange, Edit, Maps};
use crate::suggest::source::elements::bytes_of_type;
use crate::suggest::source::files::split;
use crate::suggest::source::pointers::{CASTS, is_operand, members};
use crate::suggest::source::scan::{Text, arguments};
use crate::suggest::source::words::brackets;
use crate::suggest::source::words::{is_word, last_name, word};
use std::collections::BTreeMap;

/// The line with the address of every element under `function`. `None` where a pointer
/// is used in another way, or may point elsewhere; where a mapping may take apart an
/// object; or where the line names elements of the array itself.
pub(in crate::suggest) fn pointers_change(
    source: &str,
    kept: Kept,
    mapped: Mapped,
    sources: &mut SourceFiles,
) -> Option<CallChange> {
    let Mapped {
        array, function, ..
    } = mapped;
    let (_, number) = split(source)?;
    let (place, line) = window(source, sources)?;
    let end = place.line_end(line);
    let start = pointers_to_start::pointer(source, (&place, line), array, sources);
    if start.is_none() && !declares(&place, line, array) {
        return None;
    }
    let seen = start.as_deref().unwrap_or(array);
    let known = pointers(&place, line, seen)?;
    let walking = known.walking.clone();
    let mut names = known.names();
    if word(&place.masked[line..end], seen).is_some() {
        // Members of the array's own elements are mapped one by one.
        names.push(seen.to_owned());
    }
    let wrap = Wrap {
        names: &names,
        rows: &pointers_to_rows(&place, line),
        own: start.is_none().then_some(array),
        of_structures: start.is_none() && has_structures(&place, line, array),
        walking: &walking,
        start: seen,
        function,
        passed: &[],
    };
    let edits = wrap.edits(&place, (line, end), (kept, number))?;
    if edits.is_empty() {
        return None;
    }
    let change = edits::change(source.to_owned(), &place, (line, end), &edits)?;
    Some(CallChange {
        maps: Maps::Pointers,
        ..change
    })
}

/// Whether the array that a line at `at` sees has one dimension of structures.
fn has_structures(place: &Text, at: usize, array: &str) -> bool {
    let declared = declaration_at(place, at, array);
    let declared = declared.and_then(|text| parsed(&format!("{text};"), array));
    declared.is_some_and(|d| d.dimensions.len() == 1 && bytes_of_type(&d.element).is_none())
}

/// Elements that are put under a function.
pub(in crate::suggest) struct Wrap<'a> {
    /// Pointers into the array.
    pub names: &'a [String],
    /// Pointers that are arrays of arrays, with the number of brackets of an element.
    pub rows: &'a BTreeMap<String, usize>,
    /// The name among `names` that is the array itself: with it, only members of
    /// elements are understood.
    pub own: Option<&'a str>,
    /// Whether its elements are structures, which may be copied as a whole.
    pub of_structures: bool,
    /// Pointers that are declared as such, and all of whose values point into the
    /// array.
    pub walking: &'a [String],
    /// The base that the function counts from.
    pub start: &'a str,
    pub function: &'a str,
    /// Arguments that are passed on unchanged.
    pub passed: &'a [(usize, usize)],
}

/// The use of a name by a part of a line.
enum Use {
    /// An element: its span.
    Element(usize, usize),
    /// `&a[i]`, which a cast to another type reads or writes.
    Address(usize, usize),
    /// `*p` and `*p++`: where the star is, and where it ends.
    Pointed(usize, usize),
    /// `p += 4`, `p++`: the pointer alone; the end of the expression.
    Moved(usize),
}

impl Wrap<'_> {
    /// The edits of a part of line `number`: each `name[...]` is put under the
    /// function. `None` if a name is used in a way that is not understood.
    pub fn edits(
        &self,
        place: &Text,
        (from, to): (usize, usize),
        (kept, number): (Kept, u32),
    ) -> Option<Vec<Edit>> {
        let mut edits = Vec::new();
        let mut at = from;
        loop {
            let next = self.names.iter().filter_map(|name| {
                let found = at + word(&place.masked[at..to], name)?;
                Some((found, found + name.len()))
            });
            let Some((begin, after)) = next.min() else {
                return Some(edits);
            };
            let mut passed = self.passed.iter();
            if let Some((_, end)) = passed.find(|(open, end)| (*open..*end).contains(&begin)) {
                at = (*end).min(to);
                continue;
            }
            let own = self.own == Some(&place.masked[begin..after]);
            if let Some(end) = self.stays(place, (from, to), (begin, after)) {
                at = end;
                continue;
            }
            let used = usage(place, (from, to), (begin, after), own, self.of_structures)?;
            let (opened, closed) = (format!("{}_at({}, ", self.function, self.start), ")");
            at = match used {
                Use::Moved(end) => end,
                Use::Element(begin, end) => {
                    self.is_plain(place, (begin, after, end), (kept, number))?;
                    edits.push(Edit::insert(begin, format!("(*{opened}&")));
                    edits.push(Edit::insert(end, format!("){closed}")));
                    end
                }
                Use::Address(begin, end) => {
                    self.is_plain(place, (begin, after, end), (kept, number))?;
                    edits.push(Edit::insert(begin, opened));
                    edits.push(Edit::insert(end, closed));
                    end
                }
                Use::Pointed(star, end) => {
                    let name = &place.masked[begin..after];
                    let is_element = !self.rows.contains_key(name);
                    (is_element && !kept.tears(number, name)).then_some(())?;
                    edits.push(Edit::insert(star, "("));
                    edits.push(Edit::insert(star + 1, opened));
                    edits.push(Edit::insert(end, format!("){closed}")));
                    end
                }
            };
        }
    }

    /// Whether nothing else of the array is in the brackets of an element, and a mapping
    /// leaves it whole.
    fn is_plain(
        &self,
        place: &Text,
        (begin, after, end): (usize, usize, usize),
        (kept, number): (Kept, u32),
    ) -> Option<()> {
        let (element, inside) = (&place.masked[begin..end], &place.masked[after..end]);
        let name = last_name(&place.masked[..after]);
        let is_row = |depth: &usize| brackets(inside).0.len() != *depth;
        let is_used_otherwise = self.rows.get(name).is_some_and(is_row)
            || self.names.iter().any(|n| word(inside, n).is_some())
            || place.masked[end..].starts_with('(')
            || kept.tears(number, element);
        (!is_used_otherwise).then_some(())
    }
}

/// The use of the name in this span; `None` if that is not understood. Of the array
/// itself, `own`, only members of elements, whole structures and addresses under a cast are
/// understood.
fn usage(
    place: &Text,
    (from, to): (usize, usize),
    (begin, after): (usize, usize),
    own: bool,
    of_structures: bool,
) -> Option<Use> {
    let before = &place.masked[from..begin];
    if !own && let Some((begin, end)) = atomic_address(place, begin).filter(|a| a.1 <= to) {
        return Some(Use::Address(begin, end));
    }
    if let Some((begin, end)) = cast_element(place, (from, to), (begin, after)) {
        return (!is_operand(&place.masked[from..begin])).then_some(Use::Element(begin, end));
    }
    let end = members(place, after, to);
    if end > after {
        if let Some(address) = under_a_cast(place, (from, to), (begin, end)) {
            return Some(Use::Address(address, end));
        }
        // A function that gets a structure by reference may access more than its bytes.
        let is_argument = before.trim_end().ends_with(['(', ',']);
        let is_whole = of_structures && !is_argument;
        let is_understood = !own || is_whole || member_of(&place.masked[begin..end]).is_some();
        let is_element = is_understood && !is_operand(before);
        return is_element.then_some(Use::Element(begin, end));
    }
    if own {
        return None;
    }
    let steps = ["++", "--"];
    let rest = &place.masked[after..to];
    let step = steps
        .iter()
        .find(|s| rest.starts_with(**s))
        .map_or(0, |s| s.len());
    let end = after + step;
    let next = place.masked[end..to].trim_start();
    if before.trim_end().ends_with('*') && is_operand(before) {
        let is_element = next.starts_with(['[', '(', '.']) || next.starts_with("->");
        let star = from + before.trim_end().len() - 1;
        return (!is_element && !is_operand(&place.masked[from..star]))
            .then_some(Use::Pointed(star, end));
    }
    let is_step = step > 0 || steps.iter().any(|s| before.trim_end().ends_with(s));
    let is_added = next.starts_with("+=") || next.starts_with("-=");
    let is_alone = next.starts_with([',', ';', ')']) || next.is_empty();
    (is_added || is_step && is_alone).then_some(Use::Moved(end))
}

/// `((T *)a)[i]`, `reinterpret_cast<T *>(a)[i]` or `reinterpret_cast<T *>(&a[0])[i]` of the
/// name in this span.
fn cast_element(
    place: &Text,
    (from, to): (usize, usize),
    (begin, after): (usize, usize),
) -> Option<(usize, usize)> {
    let open = place.open_before(begin).filter(|open| *open >= from)?;
    let close = place.closing(open).filter(|close| *close < to)?;
    let before = place.masked[open + 1..begin].trim();
    let (before, after) = match before.strip_suffix('&') {
        // The first is what the address itself is of.
        Some(_) if place.masked[close + 1..].starts_with("[0]") => return None,
        Some(outside) => (outside.trim_end(), members(place, after, close)),
        None => (before, after),
    };
    let is_alone = place.masked[after..close].trim().is_empty();
    let outside = &place.masked[from..open];
    let cast = outside.rfind("reinterpret_cast<").filter(|at| {
        before.is_empty() && outside.ends_with('>') && outside[*at..].matches('>').count() == 1
    });
    let is_c_cast = before.starts_with('(') && before.ends_with(')') && before.contains('*');
    let start = match cast {
        Some(at) => from + at,
        None => is_c_cast.then_some(open)?,
    };
    let end = members(place, close + 1, to);
    (is_alone && place.masked[close + 1..].starts_with('[')).then_some((start, end))
}

/// The address of the atomic operation that the name at `at` is a part of: its first
/// argument.
fn atomic_address(place: &Text, at: usize) -> Option<(usize, usize)> {
    let open = place.open_before(at)?;
    place
        .called(open)
        .filter(|(_, name)| name.starts_with("atomic"))?;
    let (from, to) = *arguments(place, open)?.first()?;
    let argument = &place.masked[from..to];
    let from = to - argument.trim_start().len();
    (from..to)
        .contains(&at)
        .then_some((from, from + argument.trim().len()))
}

/// The position of the `&` in `*reinterpret_cast<T *>(&a[i])`, `*(T *)&a[i]` and the
/// like, for the element in this span: the access begins at that element.
fn under_a_cast(
    place: &Text,
    (from, to): (usize, usize),
    (begin, end): (usize, usize),
) -> Option<usize> {
    let before = place.masked[from..begin].trim_end().strip_suffix('&')?;
    let address = from + before.len();
    let (mut before, mut after) = (before.trim_end(), place.masked[end..to].trim_start());
    if let Some(outside) = before.strip_suffix('(') {
        (before, after) = (outside.trim_end(), after.strip_prefix(')')?.trim_start());
    }
    let begins = if before.ends_with('>') {
        CASTS.iter().filter_map(|cast| before.rfind(cast)).max()?
    } else {
        let kind = before.strip_suffix(')')?.trim_end();
        let open = place.open_before(from + kind.len())?.checked_sub(from)?;
        kind.ends_with('*').then_some(open)?
    };
    let mut before = before[..begins].trim_end();
    while let Some(outside) = before.strip_suffix('(')
        && let Some(rest) = after.strip_prefix(')')
        && !outside.trim_end().ends_with(is_word)
    {
        (before, after) = (outside.trim_end(), rest.trim_start());
    }
    let is_read = before.ends_with('*') && is_operand(before) && !after.starts_with('[');
    (is_read || after.starts_with("[0]")).then_some(address)
}
#[cfg(test)]
mod tests;
