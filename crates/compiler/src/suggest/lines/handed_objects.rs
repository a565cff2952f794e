//! Functions that get the object by reference, as `column_sum(tile, c)` does where it is
//! defined as `T column_sum(Tile &t, int c)`: there the object has the name of the parameter.

use super::callees::calls;
use super::calls::declaration_at;
use super::change::{LineChange, Parts};
use super::pointer_parameters::function_of_line;
use super::returned::{method_calls, under_function};
use crate::suggest::SourceFiles;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::edits::{self, CallChange, Edit, Maps};
use crate::suggest::source::files::split;
use crate::suggest::source::pointers::is_operand;
use crate::suggest::source::scan::{Function, Text, arguments};
use crate::suggest::source::words::last_name;
use std::collections::{BTreeMap, BTreeSet};

/// Changes the lines that are still open in such functions, if all their calls pass the object:
/// every element that a method of the parameter returns is put under the function.
pub(in crate::suggest) fn change(
    lines: &mut Vec<LineChange>,
    mapped: Mapped,
    sources: &mut SourceFiles,
) {
    let open = lines
        .iter()
        .filter(|l| l.is_by_hand() && l.parts == Parts::Elements);
    let open: BTreeSet<String> = open.filter_map(|l| l.source.clone()).collect();
    let mut seen = BTreeSet::new();
    for source in &open {
        let Some((file, number)) = split(source) else {
            continue;
        };
        let place = sources.text(file);
        let at = place.start_of_line(number);
        let Some(callee) = at.and_then(|at| function_of_line(&place, at)) else {
            continue;
        };
        if !seen.insert((file.to_owned(), callee.body)) {
            continue;
        }
        if let Some(changed) = changed_lines(&place, &callee, file, mapped) {
            apply(lines, changed);
        }
    }
}

/// Puts the changes into the lines, and adds those without an access.
fn apply(lines: &mut Vec<LineChange>, mut changed: BTreeMap<String, CallChange>) {
    let of = |line: &LineChange| line.source.clone().unwrap_or_default();
    let mut own = lines.iter().filter(|line| changed.contains_key(&of(line)));
    if !own.all(LineChange::is_by_hand) {
        return;
    }
    let mut used = BTreeSet::new();
    for line in lines.iter_mut() {
        if let Some(change) = changed.get(&of(line)) {
            line.call = Some(change.clone());
            used.insert(of(line));
        }
    }
    changed.retain(|source, _| !used.contains(source));
    lines.extend(changed.into_iter().map(|(source, change)| LineChange {
        source: Some(source),
        text: Some(change.text.clone()),
        call: Some(change),
        ..LineChange::default()
    }));
}

/// The lines of a function that name its reference to the object, by `file:line`. `None` if
/// a call may pass another object, or if a line uses it for more than what a method returns.
fn changed_lines(
    place: &Text,
    callee: &Function,
    file: &str,
    mapped: Mapped,
) -> Option<BTreeMap<String, CallChange>> {
    let name = reference(place, callee, mapped.array)?;
    let end = place.block_end(callee.body);
    let mut changed = BTreeMap::new();
    let mut from = callee.body;
    while from < end {
        let to = place.line_end(from).min(end);
        let edits = edits_between(place, (from, to), &name, mapped.function)?;
        if !edits.is_empty() {
            let source = format!("{file}:{}", place.line_of(from));
            let whole = (place.line_start(from), place.line_end(from));
            let change = edits::change(source.clone(), place, whole, &edits)?;
            let change = CallChange {
                maps: Maps::Element,
                defines: Some(callee.name.clone()),
                ..change
            };
            changed.insert(source, change);
        }
        from = to + 1;
    }
    (!changed.is_empty()).then_some(changed)
}

/// The parameter that is a reference to the object, if all calls of the function pass it.
fn reference(place: &Text, callee: &Function, array: &str) -> Option<String> {
    let mut number = None;
    for call in calls(place, callee)? {
        declaration_at(place, call, array)?;
        let given = arguments(place, call)?;
        let mut own = given.iter().enumerate();
        let is_array = |part: &(usize, usize)| place.masked[part.0..part.1].trim() == array;
        let (at, _) = own.find(|(_, part)| is_array(part))?;
        let is_only = !own.any(|(_, part)| is_array(part));
        (is_only && number.is_none_or(|known| known == at)).then_some(())?;
        number = Some(at);
    }
    let (from, to) = *arguments(place, callee.open)?.get(number?)?;
    let parameter = place.masked[from..to].trim_end();
    let name = last_name(parameter);
    let kind = parameter[..parameter.len() - name.len()].trim_end();
    (kind.ends_with('&') && !name.is_empty()).then(|| name.to_owned())
}

/// The edits in a part of a line; `None` if it uses the object for more than the elements that
/// methods return.
fn edits_between(
    place: &Text,
    (from, to): (usize, usize),
    name: &str,
    function: &str,
) -> Option<Vec<Edit>> {
    let calls = method_calls(place, (from, to), name)?;
    let is_address = |(begin, _): &(usize, usize)| is_operand(&place.masked[from..*begin]);
    let is_open = calls.iter().any(is_address);
    (!is_open).then(|| under_function(&calls, &format!("{function}_at(&{name}, ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::lines::change::AccessChange;
    use crate::suggest::source::files::given;

    /// The changed lines of a function that gets `tile` as `t`.
    fn changed(body: &str, kernel: &str) -> Vec<String> {
        let source = format!(
            "template <typename T, int N>\n__device__ T sum(const Tile<T, N> &t, int c)\n{{\n\
             T s = 0;\n{body}\nreturn s;\n}}\n\
             __global__ void k()\n{{\n__shared__ Tile<float, 8> tile;\nfloat x = {kernel};\n}}"
        );
        let mut text = given(&source);
        let mut lines = vec![LineChange {
            source: Some("k.cu:5".to_owned()),
            text: Some(body.to_owned()),
            accesses: vec![AccessChange::default()],
            ..LineChange::default()
        }];
        change(&mut lines, Mapped::words("tile", "f"), &mut text);
        let calls = lines.into_iter().filter_map(|line| line.call);
        calls.map(|call| call.changed_text).collect()
    }

    #[test]
    fn a_reference_is_mapped_under_its_own_name() {
        let found = changed("s += t.at(c, 0) * t(0, c);", "sum(tile, 1)");
        assert_eq!(
            found,
            ["s += (*f_at(&t, &t.at(c, 0))) * (*f_at(&t, &t(0, c)));"]
        );
    }

    #[test]
    fn what_may_be_another_object_is_left_to_a_person() {
        for (body, kernel) in [
            ("s += t.at(c, 0);", "sum(tile, 1) + sum(other, 2)"),
            ("s += t.at(c, 0) + more(t);", "sum(tile, 1)"),
            ("s += t.data[c][0];", "sum(tile, 1)"),
            ("use(&t.at(c, 0));", "sum(tile, 1)"),
            ("s += t.at(c, t.at(0, 0));", "sum(tile, 1)"),
        ] {
            assert_eq!(changed(body, kernel), [""; 0], "{body} {kernel}");
        }
    }
}
