//! Functions that are handed a pointer into the array, which they do not see:
//! they get its start as one more parameter, so that each element can be mapped.

use super::beside_calls::beside_calls;
use super::callees::Handed;
use super::calls::declaration_at;
use super::change::LineChange;
use super::joined_files::JoinedFiles;
use super::other_kernels::{other_kernel, unreached_kernel};
use super::types::{Kept, Types};
use super::wrapped::Wrap;
use crate::suggest::SourceFiles;
use crate::suggest::array::target::Target;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::edits::{self, CallChange, Edit, Maps};
use crate::suggest::source::files::split;
use crate::suggest::source::scan::{Function, Text};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Changes the lines that are still open, along with the head of their function
/// and its calls. A function whose lines cannot all be changed is left unchanged.
pub(in crate::suggest) fn change(
    lines: &mut Vec<LineChange>,
    target: &Target,
    mapped: Mapped,
    sources: &mut SourceFiles,
) {
    let open = lines.iter().filter(|l| l.is_by_hand());
    let open: BTreeSet<String> = open.filter_map(|l| l.source.clone()).collect();
    let mut seen = BTreeSet::new();
    for source in &open {
        let Some((file, _)) = split(source) else {
            continue;
        };
        let files = JoinedFiles::of(file, lines, sources);
        let callee = files.number(source).and_then(|number| {
            let at = files.text.start_of_line(number)?;
            function_of_line(&files.text, at)
        });
        if let Some(callee) = callee
            && seen.insert((file.to_owned(), callee.body))
        {
            change_function(lines, (&files, &callee), target, mapped, sources);
        }
    }
}

/// Changes the lines of a function that gets the pointer, or says which other kernel calls
/// it.
fn change_function(
    lines: &mut Vec<LineChange>,
    (files, callee): (&JoinedFiles, &Function),
    target: &Target,
    mapped: Mapped,
    sources: &mut SourceFiles,
) {
    let (text, array) = (&files.text, mapped.array);
    let number = |line: &LineChange| {
        let own = line.source.as_deref();
        own.and_then(|s| files.number(s)).unwrap_or(0)
    };
    let places = lines.iter().flat_map(LineChange::places);
    let own: Vec<u32> = places.filter_map(|p| files.number(p)).collect();
    let is_reached = |caller: &Function, body: RangeInclusive<u32>| {
        target.is_of_kernel(&caller.name) || own.iter().any(|n| body.contains(n))
    };
    let all = Handed::all(text, callee, array);
    let other = match &all {
        Some(all) => other_kernel(text, all, array, &is_reached),
        None => unreached_kernel(text, callee, &is_reached),
    };
    if let Some(other) = other {
        let body = text.line_of(callee.body)..=text.line_of(text.block_end(callee.body));
        for line in lines.iter_mut() {
            if line.is_by_hand() && body.contains(&number(line)) {
                line.called_by = Some(other.clone());
            }
        }
        return;
    }
    let Some(all) = all else {
        return;
    };
    let types = Types::of_files(files, sources);
    let kept = types.kept(array, Some(mapped.unit));
    let Some(mut changed) = changed_lines(text, &all, kept, mapped) else {
        return;
    };
    for (number, own) in &mut changed {
        own.change.source = files.source(*number);
    }
    let is_of_them = |l: &&LineChange| changed_with(&changed, number(l)).is_some();
    if lines.iter().filter(is_of_them).all(LineChange::is_by_hand) {
        apply(lines, &number, &changed);
    }
}

/// The function around the line at `at`, or on it.
pub(super) fn function_of_line(text: &Text, at: usize) -> Option<Function> {
    let body = text.masked[at..text.line_end(at)]
        .find('{')
        .map(|open| at + open + 1);
    let on_it = body.and_then(|body| text.function_around(body).filter(|f| f.body == body));
    on_it.or_else(|| text.function_around(at))
}

/// A line that changes, or lines of one statement.
struct Changed {
    last: u32,
    change: CallChange,
}

/// The change that has a line.
fn changed_with(changed: &BTreeMap<u32, Changed>, line: u32) -> Option<(u32, &CallChange)> {
    let (first, own) = changed.range(..=line).next_back()?;
    (line <= own.last).then_some((*first, &own.change))
}

/// Puts the changes of a file into its lines, and adds those without an access.
fn apply(
    lines: &mut Vec<LineChange>,
    number: &dyn Fn(&LineChange) -> u32,
    changed: &BTreeMap<u32, Changed>,
) {
    let mut others: BTreeSet<u32> = changed.keys().copied().collect();
    for line in lines.iter_mut() {
        if let Some((first, change)) = changed_with(changed, number(line)) {
            line.call = Some(change.clone());
            others.remove(&first);
        }
    }
    let others = others.iter().map(|number| &changed[number].change);
    lines.extend(others.map(|change| LineChange {
        // The head of the function, a call, or a line that this run does not reach.
        source: Some(change.source.clone()),
        text: Some(change.text.clone()),
        call: Some(change.clone()),
        ..LineChange::default()
    }));
}

/// The lines that change with a function, by their number, including those of the
/// functions that pass the pointer on to it. `None` if a call may pass another
/// address, or if a line uses the pointer for more than its elements.
fn changed_lines(
    text: &Text,
    all: &[Handed],
    kept: Kept,
    mapped: Mapped,
) -> Option<BTreeMap<u32, Changed>> {
    let edits = edits_of(text, all, kept, mapped)?;
    let change = |(number, own): (&u32, &Edits)| {
        let (from, last) = (text.start_of_line(*number)?, text.start_of_line(own.last)?);
        let lines = (from, text.line_end(last));
        let change = edits::change(String::new(), text, lines, &own.edits)?;
        let numbers = *number..=own.last;
        let defined = all
            .iter()
            .find(|f| numbers.contains(&text.line_of(f.close)));
        let change = CallChange {
            maps: Maps::Pointers,
            defines: defined.map(|f| f.name.clone()),
            ..change
        };
        let last = own.last;
        Some((*number, Changed { last, change }))
    };
    edits.iter().map(change).collect()
}

/// The edits in the lines of functions and of their calls, by line number.
fn edits_of(
    text: &Text,
    all: &[Handed],
    kept: Kept,
    mapped: Mapped,
) -> Option<BTreeMap<u32, Edits>> {
    let Mapped {
        array, function, ..
    } = mapped;
    let start = format!("spad_{array}");
    let calls: Vec<usize> = all.iter().flat_map(|f| f.calls.iter().copied()).collect();
    let passed = calls.iter().map(|open| Some((*open, text.closing(*open)?)));
    let passed: Vec<(usize, usize)> = passed.collect::<Option<_>>()?;
    let mut edits: BTreeMap<u32, Edits> = BTreeMap::new();
    let mut insert = |at: usize, last: u32, new: Vec<Edit>| {
        let own = edits.entry(text.line_of(at)).or_default();
        own.last = own.last.max(last);
        own.edits.extend(new);
    };
    let mut lines = BTreeSet::new();
    for (open, close) in &passed {
        let seen = declaration_at(text, *close, array).is_some();
        // A body that gets the pointer changes as a whole, below.
        if seen && lines.insert(text.line_of(*open)) {
            let own = beside_calls(text, (*open, *close), &passed, kept, mapped)?;
            insert(*open, text.line_of(*close), own);
        }
        let given = if seen { array } else { &start };
        let edit = Edit::insert(*close, format!(", {given}"));
        insert(*close, text.line_of(*close), vec![edit]);
    }
    for f in all {
        let parameter = format!(", const void *{start}");
        let edit = Edit::insert(f.close, parameter);
        insert(f.close, text.line_of(f.close), vec![edit]);
        let wrap = Wrap {
            names: &f.names,
            rows: &f.rows(text),
            // A parameter of the array's name is a pointer.
            own: None,
            of_structures: false,
            walking: &[],
            start: &start,
            function,
            passed: &passed,
        };
        for (from, to, own) in edits_of_body(text, f.body, &wrap, kept)? {
            insert(from, text.line_of(to), own);
        }
    }
    edits.retain(|_, edits| !edits.edits.is_empty());
    let mut reached = 0;
    let are_apart = edits.iter().all(|(first, own)| {
        let before = std::mem::replace(&mut reached, own.last);
        *first > before
    });
    are_apart.then_some(edits)
}

/// The edits in a body, by the span of each statement's lines.
fn edits_of_body(
    text: &Text,
    body: usize,
    wrap: &Wrap,
    kept: Kept,
) -> Option<Vec<(usize, usize, Vec<Edit>)>> {
    let end = text.block_end(body);
    let mut all = Vec::new();
    let mut line = body;
    // The position of a bracket that opens in an unchanged line.
    let mut opened: Option<usize> = None;
    while line < end {
        let of_part = |from: usize, to: usize| {
            let number = text.line_of(from);
            Some((from, to, wrap.edits(text, (from, to), (kept, number))?))
        };
        let own = || parts(text, line, end).find_map(|to| of_part(line, to));
        // A line may be understood with the one in which its bracket opens.
        let with_opened = || {
            let from = opened?;
            let found = parts(text, from, end).filter_map(|to| of_part(from, to));
            found.into_iter().find(|(_, _, edits)| !edits.is_empty())
        };
        let found = own().or_else(with_opened)?;
        let is_open = parts(text, found.0, end).any(|to| to > found.1);
        opened = opened
            .or(Some(found.0))
            .filter(|_| found.2.is_empty() && is_open);
        line = found.1 + 1;
        all.push(found);
    }
    Some(all)
}

/// The end of the line at `line`, then of the following lines while a bracket is open.
fn parts(text: &Text, line: usize, end: usize) -> impl Iterator<Item = usize> {
    let first = Some(text.line_end(line).min(end));
    std::iter::successors(first, move |to| {
        let part = &text.masked[line..*to];
        let count = |brackets: [char; 2]| part.matches(brackets).count();
        let goes_on = text.masked[*to..end].trim_start().starts_with('[');
        let is_open = goes_on || count(['(', '[']) > count([')', ']']);
        (is_open && *to < end).then(|| text.line_end(to + 1).min(end))
    })
}

/// The edits in a line, or in the lines of one statement.
#[derive(Default)]
struct Edits {
    last: u32,
    edits: Vec<Edit>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::source::files::given;

    const KERNEL: &str = "__global__ void kernel(float *out) {\n\
        __shared__ float tile[64];\n\
        float *row = tile + 8 * t;\n\
        CALL\n\
        }";

    /// The changed lines of a file with that function, whose first line is handed to.
    fn changed(callee: &str, call: &str) -> Option<Vec<String>> {
        changed_of(callee, &KERNEL.replace("CALL", call), 4)
    }

    /// The same with that kernel, whose mapping keeps `unit` bytes together.
    fn changed_of(callee: &str, kernel: &str, unit: u32) -> Option<Vec<String>> {
        let text = Text::new(format!("{callee}\n{kernel}"));
        let body = text.text.find('{').unwrap() + 1;
        let callee = text.function_around(body).unwrap();
        let types = Types::of("k.cu", &mut given(&text.text));
        let kept = types.kept("tile", Some(unit));
        let all = Handed::all(&text, &callee, "tile")?;
        let lines = changed_lines(&text, &all, kept, Mapped::words("tile", "at"))?;
        let texts = lines.into_values().map(|line| line.change.changed_text);
        Some(texts.collect())
    }

    const SUM: &str = "template <int N> __device__ float sum(float *data, int n) {\n\
        float s = data[0] + data[n];\n\
        if (n > 4)\n\
        data[2 * n] = s;\n\
        return s;\n\
        }";

    /// The line of a call may access the array itself.
    #[test]
    fn what_is_beside_a_call_is_wrapped_too() {
        let found = changed(SUM, "row[t] = sum<4>(row + 1, n) + row[0];").unwrap();
        let expected = "(*at_at(tile, &row[t])) = sum<4>(row + 1, n, tile) + \
                        (*at_at(tile, &row[0]));";
        assert_eq!(found.last().map(String::as_str), Some(expected));
        for by_hand in [
            "tile[t] = sum<4>(row + 1, n);",
            "out[t] = sum<4>(row + 1, row[2]);",
        ] {
            assert_eq!(changed(SUM, by_hand), None, "{by_hand}");
        }
    }

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
        let both = changed(SUM, "sum<4>(tile, n) + sum<2>(tile, n);").unwrap();
        assert_eq!(both[3], "sum<4>(tile, n, tile) + sum<2>(tile, n, tile);");
    }

    #[test]
    fn an_element_may_take_several_lines() {
        let sum = SUM.replace("data[n]", "data[n +\n4 *\nn]");
        let lines = changed(&sum, "sum<4>(tile, n);").unwrap();
        let element =
            "float s = (*at_at(spad_tile, &data[0])) + (*at_at(spad_tile, &data[n + 4 * n]));";
        assert_eq!(lines[1], element);
    }

    #[test]
    fn an_array_as_a_parameter_has_elements_of_all_its_brackets() {
        let kernel = "__global__ void k() {\n__shared__ float tile[8][32];\nCALL\n}\n";
        let helper = "void put(float to[8]\n[32], float x)\n{\nto[t]\n[0] = x;\n\
                      *reinterpret_cast<int4 *>(\n&to[t]\n[4]) =\nx;\n}";
        let lines =
            |helper: &str, call: &str| changed_of(helper, &kernel.replace("CALL", call), 16);
        let expected = [
            "[32], float x, const void *spad_tile)",
            "(*at_at(spad_tile, &to[t] [0])) = x;",
            "*reinterpret_cast<int4 *>( at_at(spad_tile, &to[t] [4])) =",
            "put(tile, 1, tile);",
        ];
        assert_eq!(lines(helper, "put(tile, 1);").unwrap(), expected);
        // A row of the array is the address of its first element.
        let row = "void put(float to[32], float x)\n{\nto[t] = x;\n}";
        assert_eq!(
            lines(row, "put(tile[t], 1);").unwrap()[2],
            "put(tile[t], 1, tile);"
        );
        let by_reference =
            "template <typename T>\nT got(const T (&of)[8][32], int r) { return of[r][t]; }";
        let expected = [
            "T got(const T (&of)[8][32], int r, const void *spad_tile) { return \
             (*at_at(spad_tile, &of[r][t])); }",
            "x = got(tile, 1, tile);",
        ];
        assert_eq!(lines(by_reference, "x = got(tile, 1);").unwrap(), expected);
        for (helper, call) in [
            (helper, "put(tile[1], 1);".to_owned()),
            (row, "put(tile[t][1], 1);".to_owned()),
            (
                &helper.replace("[t]\n[0]", "[t]"),
                "put(tile, 1);".to_owned(),
            ),
        ] {
            let found = lines(helper, &call);
            assert!(
                found.is_none_or(|l| l.len() == 4 && call.contains("tile[1]")),
                "{call}"
            );
        }
    }

    #[test]
    fn functions_that_hand_it_on_change_too() {
        let two = "void one(float *to, int i) { atomicAdd(to + i, 1); }\n\
            void all(volatile float *warp, int i)\n{\none(warp, i);\none(&warp[8], i);\n}";
        assert_eq!(
            changed(two, "all(row + 2, n);").unwrap(),
            [
                "void one(float *to, int i, const void *spad_tile) { \
                 atomicAdd(at_at(spad_tile, to + i), 1); }",
                "void all(volatile float *warp, int i, const void *spad_tile)",
                "one(warp, i, spad_tile);",
                "one(&warp[8], i, spad_tile);",
                "all(row + 2, n, tile);",
            ]
        );
        assert_eq!(changed(two, "all(row, n);\none(out, n);"), None);
        assert_eq!(
            changed(&two.replace("one(warp", "one(out"), "all(row, n);"),
            None
        );
    }

    #[test]
    fn what_may_be_another_address_is_left_to_a_person() {
        for call in [
            "sum<4>(out, n);",
            "sum<4>(tile, n);\nsum<4>(out, n);",
            "other(sum<4>, tile);",
        ] {
            assert_eq!(changed(SUM, call), None, "{call}");
        }
        for (from, to) in [
            ("data[n]", "*(data + n)"),
            ("return s", "data = out; return s"),
            ("return s", "return sum<N>(data, n)"),
            ("float s", "float spad_tile, s"),
            ("float *data", "float (*data)[64]"),
            ("template", "float sum(float *data, int n);\ntemplate"),
        ] {
            let callee = SUM.replace(from, to);
            assert_eq!(changed(&callee, "sum<4>(tile, n);"), None, "{callee}");
        }
    }
}
