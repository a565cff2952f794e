//! Functions that are handed a pointer into the array, which they do not see:
//! they get its start as one more parameter, so that each element can be mapped.

use super::SourceLine;
use super::calls::declaration_at;
use super::change::LineChange;
use super::edits::{self, CallChange, Edit};
use super::files::split;
use super::pointers::{Wrap, declared_pointer, pointers, points_into};
use super::scan::{Function, Text, arguments, word};
use super::types::{Kept, Types};
use std::collections::{BTreeMap, BTreeSet};

/// Changes the lines that are not changed yet, with the head of their function and
/// its calls. A function whose lines cannot all be changed stays as it is.
/// `is_one`: an access of a line has one element; `unit`: bytes that every mapping keeps
/// together.
pub(super) fn change(
    lines: &mut Vec<LineChange>,
    is_one: impl Fn(&LineChange) -> bool,
    (array, unit): (&str, u32),
    function: &str,
    text: &mut SourceLine,
) {
    let is_open = |l: &&LineChange| l.statement().is_none();
    let open = lines.iter().filter(is_open);
    let open: BTreeSet<String> = open.filter_map(|l| l.source.clone()).collect();
    let mut seen = BTreeSet::new();
    for source in &open {
        let Some((file, line)) = split(source) else {
            continue;
        };
        let place = Text::of_file(file, text);
        let at = place.start_of_line(line);
        let Some(callee) = at.and_then(|at| place.function_around(at)) else {
            continue;
        };
        if !seen.insert((file.to_owned(), callee.body)) {
            continue;
        }
        let types = Types::of(file, text);
        let kept = types.kept(array, Some(unit));
        let changed = changed_lines((file, &place), &callee, kept, array, function);
        let Some(changed) = changed else {
            continue;
        };
        let is_free = |l: &LineChange| l.statement().is_none() && is_one(l);
        let mut known = lines
            .iter()
            .filter(|l| changed.contains_key(&number(l, file)));
        if known.all(is_free) {
            apply(lines, file, &changed);
        }
    }
}

/// Puts the changes of a file into its lines, and adds those without an access.
fn apply(lines: &mut Vec<LineChange>, file: &str, changed: &BTreeMap<u32, CallChange>) {
    let mut others: BTreeSet<u32> = changed.keys().copied().collect();
    for line in lines.iter_mut() {
        let number = number(line, file);
        if let Some(change) = changed.get(&number) {
            line.call = Some(change.clone());
            others.remove(&number);
        }
    }
    lines.extend(others.iter().map(|number| LineChange {
        // The head of the function, a call, or a line that this run does not reach.
        source: Some(changed[number].source.clone()),
        text: Some(changed[number].text.clone()),
        call: Some(changed[number].clone()),
        ..LineChange::default()
    }));
}

/// The number of a line of the file; 0, which none has, of another one.
fn number(line: &LineChange, file: &str) -> u32 {
    let place = line.source.as_deref().and_then(split);
    place
        .filter(|(own, _)| *own == file)
        .map_or(0, |(_, number)| number)
}

/// All lines of `file` that change with a function, by their number. `None` if a call
/// may hand over another address, or a line uses the pointer in another way than for
/// its elements.
fn changed_lines(
    (file, place): (&str, &Text),
    callee: &Function,
    kept: Kept,
    array: &str,
    function: &str,
) -> Option<BTreeMap<u32, CallChange>> {
    let end = place.block_end(callee.body);
    let start = format!("spad_{array}");
    let sees_it = declaration_at(place, callee.body, array).is_some();
    if sees_it || word(&place.masked[callee.open..end], &start).is_some() {
        return None;
    }
    let calls = calls(place, callee)?;
    let mut handed = calls.iter().map(|open| handed(place, callee, *open, array));
    let names = handed.next()??;
    if names.is_empty() || !handed.all(|other| other.as_ref() == Some(&names)) {
        return None;
    }
    let mut changed = BTreeMap::new();
    let mut insert = |line: usize, edits: &[Edit]| {
        let (from, to) = (place.line_start(line), place.line_end(line));
        let number = place.line_of(line);
        let change = edits::change(format!("{file}:{number}"), place, (from, to), edits)?;
        changed.insert(number, change).is_none().then_some(())
    };
    let parameter = format!(", const void *{start}");
    insert(callee.close, &[Edit::insert(callee.close, parameter)])?;
    for open in &calls {
        let close = place.closing(*open)?;
        insert(close, &[Edit::insert(close, format!(", {array}"))])?;
    }
    let wrap = Wrap {
        names: &names,
        // A parameter of the array's name is a pointer.
        own: None,
        start: &start,
        function,
    };
    let mut line = callee.body;
    while line < end {
        let to = place.line_end(line).min(end);
        let is_named = |n: &String| word(&place.masked[line..to], n).is_some();
        if names.iter().any(is_named) {
            insert(
                line,
                &wrap.edits(place, (line, to), (kept, place.line_of(line)))?,
            )?;
        }
        line = to + 1;
    }
    Some(changed)
}

/// The parameters of a function that a call gives addresses in the array; `None` if
/// the array is not seen from the call, or is volatile.
fn handed(place: &Text, callee: &Function, call: usize, array: &str) -> Option<Vec<String>> {
    let declaration = declaration_at(place, call, array)?;
    if word(&declaration, "volatile").is_some() {
        return None;
    }
    let mut own = pointers(place, call, array).unwrap_or_default();
    own.push(array.to_owned());
    let given = arguments(place, call)?;
    let parameters = arguments(place, callee.open)?;
    let mut names = Vec::new();
    for (parameter, given) in parameters.into_iter().zip(given) {
        if points_into(place.masked[given.0..given.1].trim(), &own) {
            names.push(pointer(&place.masked[parameter.0..parameter.1])?.to_owned());
        }
    }
    Some(names)
}

/// The name of a parameter that is a pointer.
pub(super) fn pointer(parameter: &str) -> Option<&str> {
    declared_pointer(parameter.split('=').next()?.trim_end())
}

/// The parentheses of all calls of a function of the file. `None` if it is named in
/// another way: declared before, overloaded, recursive, in a macro.
fn calls(place: &Text, callee: &Function) -> Option<Vec<usize>> {
    let mut calls = Vec::new();
    let mut from = 0;
    while let Some(found) = word(&place.masked[from..], &callee.name) {
        let at = from + found;
        from = at + callee.name.len();
        let open = place.call(&callee.name, at).filter(|(name, _)| *name == at);
        let (_, open) = open?;
        if open == callee.open {
            continue;
        }
        let caller = place.function_around(at)?;
        let is_macro = place.masked[place.line_start(at)..at]
            .trim_start()
            .starts_with('#');
        if caller.body == callee.body || is_macro {
            return None;
        }
        calls.push(open);
    }
    (!calls.is_empty()).then_some(calls)
}

#[cfg(test)]
mod tests {
    use super::super::files::lines_of;
    use super::*;

    const KERNEL: &str = "__global__ void kernel(float *out) {\n\
        __shared__ float tile[64];\n\
        float *row = tile + 8 * t;\n\
        CALL\n\
        }";

    /// The changed lines of a file with that function, whose first line is handed to.
    fn changed(callee: &str, call: &str) -> Option<Vec<String>> {
        let source = format!("{callee}\n{}", KERNEL.replace("CALL", call));
        let place = Text::new(source);
        let body = place.text.find('{').unwrap() + 1;
        let callee = place.function_around(body).unwrap();
        let types = Types::of("k.cu", &mut lines_of(&place.text));
        let kept = types.kept("tile", Some(4));
        let lines = changed_lines(("k.cu", &place), &callee, kept, "tile", "at")?;
        Some(lines.into_values().map(|line| line.changed_text).collect())
    }

    const SUM: &str = "template <int N> __device__ float sum(float *data, int n) {\n\
        float s = data[0] + data[n];\n\
        if (n > 4)\n\
        data[2 * n] = s;\n\
        return s;\n\
        }";

    #[test]
    fn a_function_gets_the_start_of_the_array() {
        let expected = [
            "template <int N> __device__ float sum(float *data, int n, const void *spad_tile) {",
            "float s = (*at_at(spad_tile, &data[0])) + (*at_at(spad_tile, &data[n]));",
            "(*at_at(spad_tile, &data[2 * n])) = s;",
            "out[t] = sum<4>(row + 1, n, tile);",
        ];
        assert_eq!(
            changed(SUM, "out[t] = sum<4>(row + 1, n);").unwrap(),
            expected
        );
        // The parameter may have the name of the array.
        let same = changed(&SUM.replace("data", "tile"), "sum<4>(tile, n);").unwrap();
        assert_eq!(same[2], "(*at_at(spad_tile, &tile[2 * n])) = s;");
        let twice = "sum<4>(tile, n);\nsum<2>(&tile[4], 1);";
        assert_eq!(changed(SUM, twice).unwrap().len(), 5);
    }

    #[test]
    fn what_may_be_another_address_is_left_to_a_person() {
        for call in [
            "sum<4>(out, n);",
            "sum<4>(tile, n);\nsum<4>(out, n);",
            "sum<4>(tile, n) + sum<2>(tile, n);",
            "other(sum<4>, tile);",
        ] {
            assert_eq!(changed(SUM, call), None, "{call}");
        }
        for (from, to) in [
            ("data[n]", "*(data + n)"),
            ("return s", "data = out; return s"),
            ("return s", "return sum<N>(data, n)"),
            ("float s", "float spad_tile, s"),
            ("float *data", "float (&data)[64]"),
            ("template", "float sum(float *data, int n);\ntemplate"),
        ] {
            let callee = SUM.replace(from, to);
            assert_eq!(changed(&callee, "sum<4>(tile, n);"), None, "{callee}");
        }
    }
}
