//! Lines whose accesses all go through pointers into the array that their function
//! declares: `float *re = s, *im = s + n;`.

use super::SourceLine;
use super::calls::{CallChange, window_with};
use super::scan::{Text, is_word, last_name, word};

/// Casts of a name, which stay the same address.
const CASTS: [&str; 2] = ["reinterpret_cast<", "static_cast<"];

/// The line with the address of every element under `function`. `None` where a pointer
/// is used in another way, or may point elsewhere.
pub(super) fn pointers_change(
    source: &str,
    array: &str,
    function: &str,
    text: &mut SourceLine,
) -> Option<CallChange> {
    let (place, line) = window_with(source, array, text)?;
    let end = place.line_end(line);
    let names = pointers(&place, line, array)?;
    let is_mixed = word(&place.masked[line..end], array).is_some();
    let changed = (!is_mixed).then(|| wrapped(&place, (line, end), &names, array, function))??;
    Some(CallChange {
        source: source.to_owned(),
        text: place.text[line..end].trim().to_owned(),
        changed_text: changed.trim().to_owned(),
    })
}

/// The part of a line with each `name[...]` under the function.
pub(super) fn wrapped(
    place: &Text,
    (from, to): (usize, usize),
    names: &[String],
    array: &str,
    function: &str,
) -> Option<String> {
    let mut changed = String::new();
    let mut at = from;
    loop {
        let next = names.iter().filter_map(|name| {
            let found = at + word(&place.masked[at..to], name)?;
            Some((found, found + name.len()))
        });
        let Some((begin, after)) = next.min() else {
            let any = at > from;
            return any.then(|| changed + &place.text[at..to]);
        };
        let is_element = place.masked[after..].starts_with('[')
            && !place.masked[from..begin].trim_end().ends_with(['&', '*']);
        let close = place
            .closing(after)
            .filter(|close| is_element && *close < to)?;
        let index = &place.masked[after..close];
        let end = members(place, close + 1, to);
        if names.iter().any(|n| word(index, n).is_some()) || place.masked[end..].starts_with('(') {
            return None;
        }
        changed += &place.text[at..begin];
        changed += &format!("(*{function}_at({array}, &{}))", &place.text[begin..end]);
        at = end;
    }
}

/// Where the brackets and members end that follow an element.
fn members(place: &Text, at: usize, to: usize) -> usize {
    let mut end = at;
    while let Some(c) = place.masked[end..to].chars().next() {
        let length = match c {
            '[' => place.closing(end).map_or(0, |close| close + 1 - end),
            '.' => 1 + place.masked[end + 1..].find(|c| !is_word(c)).unwrap_or(0),
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
    use super::*;

    /// The change of a line after these statements.
    fn change(before: &str, line: &str) -> Option<String> {
        let source = format!("void f() {{\n__shared__ float s[64];\n{before}\n{line}\nlast();\n}}");
        let number = source.lines().count() - 2;
        let mut text = lines_of(&source);
        let found = pointers_change(&format!("k.cu:{number}"), "s", "at", &mut text);
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
        ] {
            assert_eq!(change(before, line).as_deref(), Some(changed), "{line}");
        }
    }

    #[test]
    fn pointers_that_may_be_elsewhere_are_left_to_a_person() {
        for (before, line) in [
            ("float *re = s;", "x = *re + re[1];"),
            ("float *re = s;", "use(&re[1]);"),
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
