//! Lines that name an array without an access of their own: the compiler has put it
//! into that of another line, or knows the value.

use super::change::LineChange;
use super::statements::{Split, change_elements};
use crate::suggest::SourceFiles;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::declarations::Declarations;
use crate::suggest::source::files::split;
use crate::suggest::source::hidden::is_hidden;
use crate::suggest::source::pointers::{hands_over, points_into, value};
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::word;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Lines without an access of their own that name the array which the lines of
/// `known` access.
pub(in crate::suggest) fn lines(
    known: &[LineChange],
    mapped: Mapped,
    declarations: &Declarations,
    sources: &mut SourceFiles,
) -> Vec<LineChange> {
    let array = mapped.array;
    let mut by_file: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for (file, line) in known.iter().filter_map(|l| split(l.place()?)) {
        by_file.entry(file).or_default().insert(line);
    }
    let mut found = Vec::new();
    for (file, own) in by_file {
        let place = sources.text(file);
        let lines_of = |line: u32| Split::at(&place, line).map_or(line..=line, |s| s.lines(&place));
        let mut done: BTreeSet<u32> = own.iter().flat_map(|line| lines_of(*line)).collect();
        done.extend(declarations.lines_of(file, &place));
        for line in own {
            let Some(scope) = scope(file, line, &place, declarations, sources) else {
                continue;
            };
            let declared = declarations.last_seen(file, line, sources);
            let from = declared
                .and_then(|line| place.start_of_line(line))
                .unwrap_or(0);
            let named = |line: &u32| {
                is_named(&place, from, *line, array) && !is_pointed(&place, *line, array)
            };
            for line in scope.filter(named).filter(|line| done.insert(*line)) {
                let own = change((file, line), mapped, declarations, sources);
                // An inner block may have an array of the same name.
                let own = own.filter(|_| declarations.last_seen(file, line, sources) == declared);
                let is_new = |l: &LineChange| found.iter().all(|f: &LineChange| f.call != l.call);
                found.extend(own.filter(|l| l.call.is_none() || is_new(l)));
            }
        }
    }
    found
}

/// Whether a line names the array that is declared at `from`, outside comments.
fn is_named(place: &Text, from: usize, line: u32, array: &str) -> bool {
    let named = place.start_of_line(line).and_then(|start| {
        let own = &place.masked[start..place.line_end(start)];
        Some(start + word(own, array)?)
    });
    named.is_some_and(|at| at < from || !is_hidden(place, (from, at), array))
}

/// Whether a line assigns the address of an element to a pointer, or passes it to a
/// function of the source. The address is unchanged; each access through it changes.
fn is_pointed(place: &Text, line: u32, array: &str) -> bool {
    let Some(from) = place.start_of_line(line) else {
        return false;
    };
    let to = place.line_end(from);
    let mut assigned = place.masked[from..to].match_indices('=');
    if assigned.any(|(at, _)| points_into(value(place, from + at), &[array.to_owned()])) {
        return true;
    }
    let mut at = from;
    while let Some(found) = word(&place.masked[at..to], array) {
        let begin = at + found;
        at = begin + array.len();
        if hands_over(place, begin) {
            return true;
        }
    }
    false
}

/// A line of the array that no access names.
fn change(
    (file, line): (&str, u32),
    mapped: Mapped,
    declarations: &Declarations,
    sources: &mut SourceFiles,
) -> Option<LineChange> {
    let array = mapped.array;
    let source = format!("{file}:{line}");
    let old = sources
        .line(&source)
        .filter(|old| word(old, array).is_some())?;
    let seen = declarations.seen_from(&source, sources)?;
    let mut line = LineChange {
        source: Some(source),
        text: Some(old),
        ..LineChange::default()
    };
    change_elements(&mut line, seen, mapped, sources);
    (!line.is_by_hand()).then_some(line)
}

/// The lines in which the array of `line` has its name: the block of its declaration,
/// or the function around the line, where the declaration is outside.
fn scope(
    file: &str,
    line: u32,
    place: &Text,
    declarations: &Declarations,
    sources: &mut SourceFiles,
) -> Option<RangeInclusive<u32>> {
    let declared = place.start_of_line(declarations.last_seen(file, line, sources)?)?;
    let declared = declared + place.masked[declared..].find("__shared__")?;
    let (from, to) = match place.function_around(declared) {
        Some(_) => (declared, place.block_end(declared)),
        None => {
            let function = place.outermost_function(place.start_of_line(line)?)?;
            (function.body, place.block_end(function.body))
        }
    };
    Some(place.line_of(from)..=place.line_of(to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::source::declarations::Named;
    use crate::suggest::source::files::given;

    /// The changed lines that have no access, where the line `known` has one.
    fn changed(source: &str, known: u32) -> Vec<(u32, String)> {
        let mut text = given(source);
        let array = Named {
            name: "tile",
            variable: "",
        };
        let place = format!("k.cu:{known}");
        let declarations = Declarations::of([place.as_str()].into_iter(), array, 4, &mut text);
        let own = change(
            ("k.cu", known),
            Mapped::words("tile", "f"),
            &declarations,
            &mut text,
        )
        .unwrap();
        let found = lines(&[own], Mapped::words("tile", "f"), &declarations, &mut text);
        let line = |l: &LineChange| split(l.source.as_deref()?).map(|(_, line)| line);
        let pair = |l: LineChange| Some((line(&l)?, l.changed_text?));
        found.into_iter().filter_map(pair).collect()
    }

    #[test]
    fn lines_of_the_block_change_before_and_after_the_accesses() {
        let source = "__global__ void f() {\n\
                      __shared__ float other[4],\n\
                      tile[4];\n\
                      tile[0] = 1;\n\
                      if (x) {\n\
                      tile[t] = 2;\n\
                      __shared__ float tile[9];\n\
                      tile[1] = 3;\n\
                      }\n\
                      x = tile[t];\n\
                      // tile[2] = x;\n\
                      }\n\
                      void g(float *tile) { tile[5] = 0; }";
        let expected = [(4, "tile[f(0)] = 1;"), (10, "x = tile[f(t)];")];
        let expected = expected.map(|(line, text)| (line, text.to_owned()));
        assert_eq!(changed(source, 6), expected);
    }

    #[test]
    fn variables_that_hide_the_array_stay() {
        let source = "void f() {\n\
                      __shared__ float tile[4];\n\
                      tile[t] = 2;\n\
                      { float tile[4];\n\
                      for (int i = 0; i < 4; i++)\n\
                      tile[i] = 1;\n\
                      }\n\
                      auto g = [](float *tile) {\n\
                      return tile[1]; };\n\
                      tile[3] = 1;\n\
                      }";
        assert_eq!(changed(source, 3), [(10, "tile[f(3)] = 1;".to_owned())]);
    }

    /// The accesses through the pointers change, and the address would be mapped twice.
    #[test]
    fn pointers_to_elements_stay() {
        let source = "void f() {\n\
                      __shared__ float tile[4][8];\n\
                      float4 *row = (float4 *)&tile[t][0], *next = 0;\n\
                      const float *one = reinterpret_cast<float *>(&tile[t][4]);\n\
                      one = &tile[t][4];\n\
                      x = *(float4 *)&tile[t][0] + *reinterpret_cast<float *>(&tile[0][0]);\n\
                      sum(&tile[t][0]);\n\
                      atomicAdd(&tile[t][0], 1);\n\
                      tile[1][t] = 1;\n\
                      }";
        let lines: Vec<u32> = changed(source, 9).into_iter().map(|(n, _)| n).collect();
        assert_eq!(lines, [6, 8]);
    }

    #[test]
    fn an_array_of_the_file_changes_in_one_function() {
        let source = "extern __shared__ float tile[];\n\
                      void f() { tile[0] = 1; }\n\
                      void g() {\n\
                      { tile[1] = 1; }\n\
                      tile[2] = 1;\n\
                      }\n\
                      void h() { tile[3] = 1; }";
        assert_eq!(changed(source, 5), [(4, "{ tile[f(1)] = 1; }".to_owned())]);
    }
}
