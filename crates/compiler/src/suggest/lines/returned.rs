//! Elements that a function chooses: `at(tile, i, j) = 1`, where `at` returns a
//! reference into the array that it is handed.

use super::calls::window_with;
use super::types::Kept;
use crate::suggest::SourceFiles;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::edits::{self, CallChange, Edit};
use crate::suggest::source::files::split;
use crate::suggest::source::pointers::pointer;
use crate::suggest::source::scan::{Text, arguments};
use crate::suggest::source::words::{first_name, word};

/// The line with every such call under `function`. `None` where the line names the
/// array in another way.
pub(in crate::suggest) fn returned_change(
    source: &str,
    kept: Kept,
    mapped: Mapped,
    sources: &mut SourceFiles,
) -> Option<CallChange> {
    let array = mapped.array;
    let (place, line) = window_with(source, array, sources)?;
    let (file, own) = split(source)?;
    let file = sources.text(file);
    let end = place.line_end(line);
    let (mut edits, mut at) = (Vec::new(), line);
    while let Some(found) = word(&place.masked[at..end], array) {
        let named = at + found;
        let (begin, after, number) = call_with(&place, named, named + array.len())?;
        let name = place.masked[begin..].split(['<', '(']).next()?;
        let once = word(&place.masked[named + array.len()..after], array).is_none();
        let is_object = kept.has_objects(own);
        if begin < at
            || after > end
            || !once
            || is_object
            || !returns_an_element(&file, name, number)
        {
            return None;
        }
        edits.push(Edit::insert(begin, format!("(*{}&", mapped.at())));
        edits.push(Edit::insert(after, "))"));
        at = after;
    }
    let change = || edits::change(source.to_owned(), &place, (line, end), &edits);
    (at > line).then(change)?
}

/// The line with every element that a method of the object `array` returns under
/// `function`: `tile.at(i, j)`, `tile(i, j)`. A method that returns no reference does not
/// compile then.
pub(in crate::suggest) fn method_change(
    source: &str,
    mapped: Mapped,
    sources: &mut SourceFiles,
) -> Option<CallChange> {
    let array = mapped.array;
    let (place, line) = window_with(source, array, sources)?;
    let end = place.line_end(line);
    let spans = method_calls(&place, (line, end), array)?;
    let edits = under_function(&spans, &mapped.at());
    let change = || edits::change(source.to_owned(), &place, (line, end), &edits);
    (!edits.is_empty()).then(change)?
}

/// Begin and end of each call of a method of the object `name` between two places. `None` if it
/// is named in another way there, or by an argument of such a call.
pub(super) fn method_calls(
    place: &Text,
    (from, to): (usize, usize),
    name: &str,
) -> Option<Vec<(usize, usize)>> {
    let (mut spans, mut at) = (Vec::new(), from);
    while let Some(found) = word(&place.masked[at..to], name) {
        let begin = at + found;
        let after = begin + name.len();
        let rest = &place.masked[after..to];
        let method = rest
            .strip_prefix('.')
            .map_or(0, |rest| 1 + first_name(rest).len());
        let is_call = rest[method..].starts_with('(');
        let end = place.closing(after + method).filter(|_| is_call)? + 1;
        let is_once = word(&place.masked[after..end], name).is_none();
        (is_once && end <= to).then_some(())?;
        spans.push((begin, end));
        at = end;
    }
    Some(spans)
}

/// The edits that put what these calls return under a function, whose call begins with `at`.
pub(super) fn under_function(calls: &[(usize, usize)], at: &str) -> Vec<Edit> {
    let edits = |&(begin, end): &(usize, usize)| {
        [
            Edit::insert(begin, format!("(*{at}&")),
            Edit::insert(end, "))"),
        ]
    };
    calls.iter().flat_map(edits).collect()
}

/// Begin and end of the call that has the name in this span as an argument, and the
/// number of the argument.
fn call_with(place: &Text, from: usize, to: usize) -> Option<(usize, usize, usize)> {
    let open = place.open_before(from)?;
    let close = place.closing(open)?;
    let arguments = place.split(open + 1, close, ',').into_iter();
    let mut own = arguments.enumerate();
    let (number, (a, b)) = own.find(|(_, (a, b))| *a <= from && to <= *b)?;
    let is_whole = place.masked[a..b].trim().len() == to - from;
    let (begin, _) = place.called(open)?;
    let is_member = place.masked[..begin].ends_with(['.', '>', ':']);
    (is_whole && !is_member).then_some((begin, close + 1, number))
}

/// Whether a function of the file, which has one definition, returns a reference to an
/// element of its parameter of that number, and does nothing else.
fn returns_an_element(file: &Text, name: &str, number: usize) -> bool {
    let mut definitions = Vec::new();
    let mut from = 0;
    while let Some(found) = word(&file.masked[from..], name) {
        let at = from + found;
        from = at + name.len();
        let open = file.masked[from..].starts_with('(').then_some(from);
        let close = open.and_then(|open| file.closing(open));
        let body = close.and_then(|close| {
            let after = &file.masked[close + 1..];
            let body = after.trim_start().strip_prefix('{')?;
            Some(file.masked.len() - body.len())
        });
        definitions.extend(body.map(|body| (at, from, body)));
    }
    let [(at, open, body)] = definitions[..] else {
        return false;
    };
    let parameters = arguments(file, open).unwrap_or_default();
    let parameter = parameters.get(number);
    let parameter = parameter.and_then(|(from, to)| referred(&file.masked[*from..*to]));
    let block = file.masked[body..file.block_end(body)].trim();
    let value = block.strip_prefix("return").map_or("", str::trim_start);
    let element = parameter.and_then(|name| value.strip_prefix(name));
    let is_element = element.is_some_and(|rest| rest.starts_with('['));
    is_element && value.matches(';').count() == 1 && file.masked[..at].trim_end().ends_with('&')
}

/// The name of a parameter that is a pointer or a reference to an array.
fn referred(parameter: &str) -> Option<&str> {
    let reference = parameter
        .split_once("(&")
        .and_then(|(_, rest)| rest.split_once(')'));
    reference
        .map(|(name, _)| name.trim())
        .or_else(|| pointer(parameter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::lines::types::Types;
    use crate::suggest::source::files::given;

    const AT: &str = "template <int L> float &at(float (&m)[8][8], int i, int j)\n\
                      {\nreturn m[i][j ^ i];\n}";

    fn change(definition: &str, line: &str) -> Option<String> {
        let source =
            format!("{definition}\nvoid f() {{\n__shared__ float a[8][8], b[8][8];\n{line}\n}}");
        let number = source.lines().count() - 1;
        let mut text = given(&source);
        let types = Types::of("k.cu", &mut text);
        let kept = types.kept("b", Some(4));
        let found = returned_change(
            &format!("k.cu:{number}"),
            kept,
            Mapped::words("b", "place"),
            &mut text,
        );
        found.map(|c| c.changed_text)
    }

    #[test]
    fn the_element_that_a_function_returns_is_mapped() {
        assert_eq!(
            change(AT, "at<0>(b, j, i) = at<0>(a, i, j) + at<1>(b, 0, 0);").unwrap(),
            "(*place_at(b, &at<0>(b, j, i))) = at<0>(a, i, j) + (*place_at(b, &at<1>(b, 0, 0)));"
        );
    }

    #[test]
    fn what_may_be_no_element_is_left_to_a_person() {
        for line in [
            "use(b, j, i);",
            "x.at(b, j, i);",
            "at<0>(b + 1, j, i);",
            "at<0>(b, b[0][0], i);",
            "b[1][0] = at<0>(b, 0, 0);",
            "x = y;",
        ] {
            assert_eq!(change(AT, line), None, "{line}");
        }
        for (from, to) in [
            ("float &at", "float at"),
            ("return m", "m[0][0] = 1; return m"),
            ("return m", "return other"),
            (
                "template",
                "float &at(float (&m)[9], int i) { return m[i]; }\ntemplate",
            ),
        ] {
            let definition = AT.replace(from, to);
            assert_eq!(
                change(&definition, "at<0>(b, j, i) = 1;"),
                None,
                "{definition}"
            );
        }
    }

    #[test]
    fn what_a_method_of_an_object_returns_is_mapped() {
        let change = |line: &str| {
            let source = format!("void k()\n{{\n__shared__ Tile<32> t;\n{line}\n}}");
            let mut text = crate::suggest::source::files::given(&source);
            method_change("k.cu:4", Mapped::words("t", "f"), &mut text).map(|c| c.changed_text)
        };
        assert_eq!(
            change("t.at(j, i) = x[t(i, j)];").unwrap(),
            "(*f_at(t, &t.at(j, i))) = x[(*f_at(t, &t(i, j)))];"
        );
        for other in ["t.load(t.x);", "u = t;", "t.x = 1;", "p = &t;"] {
            assert_eq!(change(other), None, "{other}");
        }
    }
}
