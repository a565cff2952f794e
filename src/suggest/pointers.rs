//! Lines whose accesses all go through pointers into the array that their function
//! declares: `float *re = s, *im = s + n;`.

use super::SourceLine;
use super::calls::window_with;
use super::edits::{self, CallChange, Edit};
use super::files::split;
use super::scan::{Text, is_word, last_name, word};
use super::types::{Kept, member_of};

/// Casts of a name, which stay the same address.
const CASTS: [&str; 2] = ["reinterpret_cast<", "static_cast<"];

/// The line with the address of every element under `function`. `None` where a pointer
/// is used in another way, or may point elsewhere; where a mapping may take apart an
/// object; or where the line names elements of the array itself.
pub(super) fn pointers_change(
    source: &str,
    kept: Kept,
    array: &str,
    function: &str,
    text: &mut SourceLine,
) -> Option<CallChange> {
    let (_, number) = split(source)?;
    let (place, line) = window_with(source, array, text)?;
    let end = place.line_end(line);
    let mut names = pointers(&place, line, array)?;
    if word(&place.masked[line..end], array).is_some() {
        // Of its own elements, members are mapped one by one.
        names.push(array.to_owned());
    }
    let wrap = Wrap {
        names: &names,
        own: Some(array),
        start: array,
        function,
    };
    let edits = wrap.edits(&place, (line, end), (kept, number))?;
    edits::change(source.to_owned(), &place, (line, end), &edits)
}

/// Elements that are put under a function.
pub(super) struct Wrap<'a> {
    /// Pointers into the array.
    pub names: &'a [String],
    /// The one of them that is the array itself: of that, members of elements alone are
    /// understood.
    pub own: Option<&'a str>,
    /// What the function counts from.
    pub start: &'a str,
    pub function: &'a str,
}

impl Wrap<'_> {
    /// What changes in a part of line `number`: each `name[...]` is under the function.
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
                return (!edits.is_empty()).then_some(edits);
            };
            let end = members(place, after, to);
            if end == after || is_operand(&place.masked[from..begin]) {
                return None;
            }
            let element = &place.masked[begin..end];
            let inside = &place.masked[after..end];
            let is_own = self.own == Some(&place.masked[begin..after]);
            let is_used_otherwise = self.names.iter().any(|n| word(inside, n).is_some())
                || place.masked[end..].starts_with('(')
                || is_own && member_of(element).is_none()
                || kept.tears(number, element);
            if is_used_otherwise {
                return None;
            }
            let opened = format!("(*{}_at({}, &", self.function, self.start);
            edits.push(Edit::insert(begin, opened));
            edits.push(Edit::insert(end, "))"));
            at = end;
        }
    }
}

/// Whether what follows `before` is the operand of `&` or `*`, which have no other
/// before them.
fn is_operand(before: &str) -> bool {
    let before = before.trim_end();
    let Some(left) = before.strip_suffix(['&', '*']) else {
        return false;
    };
    let left = left.trim_end();
    !left.ends_with(|c: char| is_word(c) || matches!(c, ')' | ']')) || last_name(left) == "return"
}

/// Where the brackets and members end that follow a name.
fn members(place: &Text, at: usize, to: usize) -> usize {
    let mut end = at;
    while let Some(c) = place.masked[end..to].chars().next() {
        let length = match c {
            '[' => place.closing(end).map_or(0, |close| close + 1 - end),
            '.' => 1 + place.masked[end + 1..].find(|c| !is_word(c)).unwrap_or(0),
            '-' if place.masked[end..].starts_with("->") => {
                2 + place.masked[end + 2..].find(|c| !is_word(c)).unwrap_or(0)
            }
            _ => 0,
        };
        if length == 0 || end + length > to {
            break;
        }
        end += length;
    }
    end
}

/// The pointers into `array` that the function around `at` declares, if they point
/// nowhere else.
pub(super) fn pointers(place: &Text, at: usize, array: &str) -> Option<Vec<String>> {
    let body = place.function_around(at)?.body;
    let body = Text::new(place.text[body..place.block_end(body)].to_owned());
    let mut names = vec![array.to_owned()];
    let mut from = 0;
    while let Some(found) = body.masked[from..].find('=') {
        let equals = from + found;
        from = equals + 1;
        let before = body.masked[..equals].trim_end();
        let name = declared_pointer(before);
        if let Some(name) = name.filter(|_| points_into(value(&body, equals), &names)) {
            names.push(name.to_owned());
        }
    }
    names.remove(0);
    let all: Vec<&str> = names.iter().map(String::as_str).chain([array]).collect();
    let stays = names.iter().all(|name| stays_inside(&body, name, &all));
    stays.then_some(names)
}

/// The name at the end of a declaration, if it is that of a pointer.
pub(super) fn declared_pointer(declaration: &str) -> Option<&str> {
    let name = last_name(declaration);
    let kind = declaration[..declaration.len() - name.len()].trim_end();
    let kind = kind.strip_suffix("__restrict__").unwrap_or(kind);
    (!name.is_empty() && kind.trim_end().ends_with('*')).then_some(name)
}

/// Whether every assignment of `name` is an address in the array.
fn stays_inside(body: &Text, name: &str, names: &[&str]) -> bool {
    let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
    let mut from = 0;
    while let Some(found) = word(&body.masked[from..], name) {
        from += found + name.len();
        let after = body.masked[from..].trim_start();
        let is_assigned = after.starts_with('=') && !after.starts_with("==");
        let equals = body.masked.len() - after.len();
        if is_assigned && !points_into(value(body, equals), &names) {
            return false;
        }
    }
    true
}

/// What follows the `=` at `equals`.
fn value(body: &Text, equals: usize) -> &str {
    let end = body.masked[equals..]
        .find(';')
        .map_or(body.masked.len(), |end| equals + end);
    let first = body.split(equals + 1, end, ',').first().copied();
    first.map_or("", |(from, to)| body.masked[from..to].trim())
}

/// Whether an expression is one of `names`, `name + ...` or `&name[...]`, casts apart.
pub(super) fn points_into(expression: &str, names: &[String]) -> bool {
    let mut address = expression;
    loop {
        let cast = CASTS.iter().find(|cast| address.starts_with(**cast));
        let opened = address
            .starts_with('(')
            .then(|| address.split_once(')'))
            .flatten();
        address = match (cast, opened) {
            (Some(_), _) => address.split_once(">(").map_or("", |(_, rest)| rest),
            (None, Some((kind, rest))) if kind.ends_with('*') => rest,
            _ => break,
        }
        .trim_start();
    }
    let element = address.strip_prefix('&');
    let named = element.unwrap_or(address);
    let length = named.find(|c| !is_word(c)).unwrap_or(named.len());
    let (name, rest) = named.split_at(length);
    let is_element = rest.starts_with('[');
    let is_plain = rest.is_empty() || rest.trim_start().starts_with(['+', '-', ')']);
    names.iter().any(|n| n == name)
        && !rest.contains('?')
        && (is_element == element.is_some())
        && (is_element || is_plain)
}

#[cfg(test)]
mod tests {
    use super::super::files::lines_of;
    use super::super::types::Types;
    use super::*;

    /// The change of a line after these statements.
    fn change(before: &str, line: &str) -> Option<String> {
        let source = format!("void f() {{\n__shared__ float s[64];\n{before}\n{line}\nlast();\n}}");
        let number = source.lines().count() - 2;
        let mut text = lines_of(&source);
        let types = Types::of("k.cu", &mut text);
        let kept = types.kept("s", Some(4));
        let found = pointers_change(&format!("k.cu:{number}"), kept, "s", "at", &mut text);
        found.map(|c| {
            assert_eq!(c.text, line);
            c.changed_text
        })
    }

    #[test]
    fn every_element_of_a_pointer_into_the_array_is_wrapped() {
        let two = "float *re = s, *__restrict__ im = re + n;";
        for (before, line, changed) in [
            (
                two,
                "float a = re[i], b = im[i] * x[i];",
                "float a = (*at_at(s, &re[i])), b = (*at_at(s, &im[i])) * x[i];",
            ),
            (
                two,
                "re[j] += im[2 * i];",
                "(*at_at(s, &re[j])) += (*at_at(s, &im[2 * i]));",
            ),
            (
                "Pair *p = reinterpret_cast<Pair *>(&s[4]);\np = (Pair *)s;",
                "x = p[i].v[1] - 1;",
                "x = (*at_at(s, &p[i].v[1])) - 1;",
            ),
            (
                "Pair *p = (Pair *)s;",
                "x = p->v[1] + s[2].x;",
                "x = (*at_at(s, &p->v[1])) + (*at_at(s, &s[2].x));",
            ),
            (
                two,
                "x = a * re[i] * im[j] & im[k];",
                "x = a * (*at_at(s, &re[i])) * (*at_at(s, &im[j])) & (*at_at(s, &im[k]));",
            ),
        ] {
            assert_eq!(change(before, line).as_deref(), Some(changed), "{line}");
        }
    }

    #[test]
    fn pointers_that_may_be_elsewhere_are_left_to_a_person() {
        for (before, line) in [
            ("float *re = s;", "x = *re + re[1];"),
            ("float *re = s;", "use(&re[1]);"),
            ("float *re = s;", "use(x, *re[1]);"),
            ("float *re = s;", "return *re[1];"),
            // The mapping keeps 4 bytes together.
            ("float2 *re = (float2 *)s;", "x = re[1];"),
            ("float *re = s;", "x = re[re[1]];"),
            ("float *re = s;", "x = re[1] + s[2];"),
            ("float *re = s;", "x = re[1].get();"),
            ("float *re = s;", "use(re);"),
            ("float *re = s; re = out;", "x = re[1] + re[2];"),
            ("float *re = c ? s : out;", "x = re[1] + re[2];"),
            ("float *re = rows[s[1]];", "x = re[1] + re[2];"),
            ("float *re = s[1];", "x = re[1] + re[2];"),
            ("float re = s;", "x = re[1] + re[2];"),
            ("", "x = out[1];"),
        ] {
            assert_eq!(change(before, line), None, "{before} {line}");
        }
    }
}
