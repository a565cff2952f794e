//! Elements that a macro of the file, or of a header that it includes, names:
//! `#define TILE(i, j) tile[(j) * 32 + (i)]`. Its definition changes, and with it every line that uses the macro.

use super::change::LineChange;
use crate::suggest::SourceFiles;
use crate::suggest::mapped::Mapped;
use crate::suggest::source::declarations::{Declaration, Declarations};
use crate::suggest::source::edits::{CallChange, Maps};
use crate::suggest::source::files::split;
use crate::suggest::source::macros::{defined, is_use, parameters_and_body};
use crate::suggest::source::pointers::is_operand;
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::{names, word};
use std::collections::BTreeSet;

/// Changes the lines that name elements by macros; one that uses several macros
/// becomes several lines.
pub(in crate::suggest) fn change(
    lines: &mut Vec<LineChange>,
    mapped: Mapped,
    declarations: &Declarations,
    sources: &mut SourceFiles,
) {
    let mut more = Vec::new();
    for line in lines.iter_mut().filter(|l| l.is_by_hand()) {
        let Some(source) = line.source.clone() else {
            continue;
        };
        let mut changes = changes(&source, mapped, declarations, sources).into_iter();
        line.call = changes.next();
        more.extend(changes.map(|call| LineChange {
            source: Some(source.clone()),
            text: line.text.clone(),
            call: Some(call),
            ..LineChange::default()
        }));
    }
    lines.extend(more);
}

/// The changed definitions of all macros by which the line `source` names elements; none
/// if it, or another line that uses them, may name another array or in another way.
fn changes(
    source: &str,
    mapped: Mapped,
    declarations: &Declarations,
    sources: &mut SourceFiles,
) -> Vec<CallChange> {
    let array = mapped.array;
    let mut found = || {
        let (file, number) = split(source)?;
        // The file's own lines come first, with their numbers.
        let unit = sources.with_included(file);
        let place = unit.text.clone();
        let at = place.start_of_line(number)?;
        let own = &place.masked[at..place.line_end(at)];
        let all = Definition::all(&place);
        let used = used_in(own, &all);
        let has_its_name = used.iter().any(|d| d.name == array);
        let by_macro = |after: &str| has_its_name && after.trim_start().starts_with('(');
        let names_it = |d: &&Definition| elements(&d.body, array).any(|after| !by_macro(after));
        let used: Vec<&Definition> = used.into_iter().filter(names_it).collect();
        let is_named_by_macros = elements(own, array).all(by_macro);
        let declared = declarations.last_seen(file, number, sources)?;
        let seen = declarations.seen_from(source, sources)?.clone();
        let own_lines = sources.lines(file).map_or(0, |lines| lines.len() as u32);
        let mut sees_it = |number| {
            number <= own_lines && declarations.last_seen(file, number, sources) == Some(declared)
        };
        let is_its_own = used
            .iter()
            .all(|d| d.is_used_where(&place, &all, array, &mut sees_it));
        if !is_named_by_macros || !is_its_own {
            return None;
        }
        let changed = |d: &&Definition| d.changed(unit.place_of(d.line)?, &seen, mapped);
        used.iter().map(changed).collect::<Option<Vec<_>>>()
    };
    found().unwrap_or_default()
}

/// The text after each occurrence of `array`.
fn elements<'a>(code: &'a str, array: &'a str) -> impl Iterator<Item = &'a str> {
    names(code)
        .filter(move |(name, _)| *name == array)
        .map(|(_, after)| after)
}

/// The macros that `code` uses, also by others.
fn used_in<'a>(code: &str, all: &'a [Definition]) -> Vec<&'a Definition> {
    let mut used: Vec<&Definition> = Vec::new();
    let mut open = vec![code.to_owned()];
    while let Some(code) = open.pop() {
        for (name, after) in names(&code) {
            let is_new = |d: &&Definition| !used.iter().any(|u| u.line == d.line);
            let uses = |d: &&Definition| d.name == name && is_use(d.parameters.is_some(), after);
            if let Some(new) = all.iter().filter(uses).find(is_new) {
                used.push(new);
                open.push(new.body.clone());
            }
        }
    }
    used
}

/// `#define TILE(i, j) tile[(j) * 32 + (i)]`
struct Definition {
    /// The number of its first line.
    line: u32,
    /// Lines of the definition as one, with the backslashes between them.
    text: String,
    /// Lines of the definition as one, without the backslashes.
    whole: String,
    name: String,
    parameters: Option<String>,
    body: String,
}

impl Definition {
    /// The definitions of a file.
    fn all(place: &Text) -> Vec<Self> {
        let mut lines = (1..).zip(place.text.lines().zip(place.masked.lines()));
        let mut all = Vec::new();
        while let Some((line, (text, masked))) = lines.next() {
            let (mut own, mut is_plain) = (vec![text.trim()], text == masked);
            while own.last().is_some_and(|last| last.ends_with('\\')) {
                let Some((_, (text, masked))) = lines.next() else {
                    break;
                };
                own.push(text.trim());
                is_plain &= text == masked;
            }
            // A comment may hide a part.
            if is_plain {
                all.extend(Self::of(line, &own));
            }
        }
        all
    }

    fn of(line: u32, lines: &[&str]) -> Option<Self> {
        let parts = lines.iter().map(|l| l.trim_end_matches('\\').trim_end());
        let whole = parts.collect::<Vec<_>>().join(" ");
        let (name, rest) = defined(&whole)?;
        let (parameters, body) = if rest.starts_with('(') {
            parameters_and_body(rest).map(|(p, body)| (Some(p.to_owned()), body))?
        } else {
            (None, rest)
        };
        Some(Definition {
            line,
            text: lines.join(" "),
            name: name.to_owned(),
            parameters,
            body: body.to_owned(),
            whole: whole.clone(),
        })
    }

    /// Whether all lines that use it, also by other macros, are those that `sees_it`
    /// takes.
    fn is_used_where(
        &self,
        place: &Text,
        all: &[Definition],
        array: &str,
        sees_it: &mut dyn FnMut(u32) -> bool,
    ) -> bool {
        let Some(users) = self.with_users(place, all) else {
            return false;
        };
        let uses = |name: &str, after: &str| {
            let has_parameters = all.iter().any(|d| d.name == name && d.parameters.is_some());
            users.contains(name) && is_use(has_parameters, after)
        };
        let mut before = "";
        let mut others = (1..)
            .zip(place.masked.lines())
            .filter(|(_, line)| {
                let goes_on = std::mem::replace(&mut before, line).ends_with('\\');
                defined(line).is_none() && !goes_on
            })
            .filter(|(_, line)| names(line).any(|(name, after)| uses(name, after)));
        others.all(|(number, line)| {
            !is_directive(line) && sees_it(number) && !is_parameter(place, number, array)
        })
    }

    /// Name of the macro, and those of the macros that lead to it; none if one of
    /// them has several definitions, or a definition that is not a whole line.
    fn with_users(&self, place: &Text, all: &[Definition]) -> Option<BTreeSet<String>> {
        let definitions = (1..).zip(place.masked.lines());
        let definitions: Vec<(u32, &str)> = definitions
            .filter_map(|(number, line)| defined(line).map(|(name, _)| (number, name)))
            .collect();
        // A definition with a comment is known only by its name.
        let known = |number: u32| all.iter().find(|d| d.line == number);
        let mut found = BTreeSet::new();
        let mut open = vec![self.name.clone()];
        while let Some(name) = open.pop() {
            let mut own = definitions.iter().filter(|d| d.1 == name);
            let only = own.next().filter(|_| own.next().is_none())?;
            known(only.0)?;
            if !found.insert(name.clone()) {
                continue;
            }
            for (number, other) in &definitions {
                let start = place.start_of_line(*number)?;
                let line = &place.masked[start..place.line_end(start)];
                let body = known(*number).map_or(line, |d| &d.body);
                if *other != name && word(body, &name).is_some() {
                    open.push((*other).to_owned());
                }
            }
        }
        Some(found)
    }

    /// The definition with the elements of its body under `function`, on one line.
    fn changed(&self, place: String, seen: &Declaration, mapped: Mapped) -> Option<CallChange> {
        let array = mapped.array;
        let body = indexed(self.with_parentheses(), array);
        let changed = seen.changed(&body, mapped)?;
        let head = &self.whole[..self.whole.len() - self.body.len()];
        Some(CallChange {
            source: place,
            text: self.text.trim().to_owned(),
            changed_text: (head.to_owned() + &changed).trim().to_owned(),
            edits: Vec::new(),
            maps: Maps::Indices,
            defines: Some(self.name.clone()),
        })
    }

    /// The body with parentheses around each index that is a parameter: its argument may
    /// be a sum, next to other operators.
    fn with_parentheses(&self) -> String {
        let parameters = self.parameters.as_deref().unwrap_or_default();
        let mut body = self.body.clone();
        for parameter in parameters.split(',').map(str::trim) {
            let mut from = 0;
            while let Some(found) = word(&body[from..], parameter).filter(|_| !parameter.is_empty())
            {
                let (begin, end) = (from + found, from + found + parameter.len());
                let is_index = body[..begin].trim_end().ends_with('[')
                    && body[end..].trim_start().starts_with(']');
                if is_index {
                    body.replace_range(begin..end, &format!("({parameter})"));
                }
                from = end + 2 * usize::from(is_index);
            }
        }
        body
    }
}

/// A body with `array[i]` for each `*(array + i)`.
fn indexed(mut body: String, array: &str) -> String {
    let element = |body: &str| {
        let text = Text::new(body.to_owned());
        let mut all = body.match_indices(array);
        all.find_map(|(at, _)| {
            let open = text.open_before(at)?;
            let (before, close) = (body[..open].trim_end(), text.closing(open)?);
            let is_alone = body[open + 1..at].trim().is_empty();
            let index = body[at + array.len()..close]
                .trim_start()
                .strip_prefix('+')?;
            (is_alone && before.ends_with('*') && is_operand(before)).then(|| {
                (
                    before.len() - 1,
                    close + 1,
                    format!("{array}[{}]", index.trim()),
                )
            })
        })
    };
    while let Some((from, to, new)) = element(&body) {
        body.replace_range(from..to, &new);
    }
    body
}

fn is_directive(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('#') && !line.trim_start_matches(['#', ' ']).starts_with("undef")
}

/// Whether the function around a line has a parameter of that name.
fn is_parameter(place: &Text, line: u32, name: &str) -> bool {
    let around = place
        .start_of_line(line)
        .and_then(|at| place.outermost_function(place.line_end(at)));
    around.is_some_and(|f| word(&place.masked[f.open..f.close], name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::source::declarations::Named;
    use crate::suggest::source::files::{given, given_files};

    /// The definitions that change for the line with `// here`.
    fn changed(source: &str) -> Vec<String> {
        let number = source.lines().position(|l| l.contains("// here")).unwrap() + 1;
        let (place, mut text) = (format!("k.cu:{number}"), given(source));
        let array = Named {
            name: "tile",
            variable: "",
        };
        let declarations = Declarations::of([place.as_str()].into_iter(), array, 4, &mut text);
        let found = changes(&place, Mapped::words("tile", "f"), &declarations, &mut text);
        found.into_iter().map(|c| c.changed_text).collect()
    }

    #[test]
    fn a_macro_of_a_header_changes_there() {
        let head = "#define N 8\n#define AT(i, j) tile[j][i]\n";
        let change = |header: &str| {
            let source = format!("#include \"at.h\"\n{}", kernel("AT(1, 2) = 3;"));
            let mut text = given_files([("k.cu", source.as_str()), ("at.h", header)]);
            let array = Named {
                name: "tile",
                variable: "",
            };
            let declarations = Declarations::of(["k.cu:4"].into_iter(), array, 4, &mut text);
            changes(
                "k.cu:4",
                Mapped::words("tile", "f"),
                &declarations,
                &mut text,
            )
        };
        let found = change(head);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].source, "at.h:2");
        let expected = "#define AT(i, j) (&tile[0][0])[f((j) * 8 + (i))]";
        assert_eq!(found[0].changed_text, expected);
        // The header uses it for another array.
        let used = format!("{head}__device__ int g(float (*tile)[8]) {{ return AT(0, 0); }}\n");
        assert!(change(&used).is_empty());
    }

    /// A kernel with a line that uses macros.
    fn kernel(line: &str) -> String {
        format!("__global__ void k() {{\n__shared__ float tile[4][8];\n{line} // here\n}}\n")
    }

    #[test]
    fn definitions_change_with_their_parameters_in_parentheses() {
        let head = "#define tile(i, j) tile[j][i]\n#define ROW(i) tile(i, 2)\n";
        let expected = ["#define tile(i, j) (&tile[0][0])[f((j) * 8 + (i))]"];
        for line in ["tile(a + 1, 2) = 3;", "x = ROW(a) + tile(a, b);"] {
            assert_eq!(
                changed(&(head.to_owned() + &kernel(line))),
                expected,
                "{line}"
            );
        }
        // A definition of several lines becomes one line.
        let long = "#define PUT(i, x) \\\n    tile[i] \\\n        [0] = (x)\n#define ONE(i) \\\nPUT(i, 1)\n";
        let found = changed(&(long.to_owned() + &kernel("ONE(t);")));
        assert_eq!(
            found,
            ["#define PUT(i, x) (&tile[0][0])[f((i) * 8 + 0)] = (x)"]
        );
        let two = "#define A(i) tile[0][i]\n#define B(i) tile[1][i + 1]\n";
        let found = changed(&(two.to_owned() + &kernel("A(t) = B(t);")));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.contains(&"#define B(i) (&tile[0][0])[f(1 * 8 + (i + 1))]".to_owned()));
    }

    #[test]
    fn an_element_behind_a_star_changes_as_one_in_brackets() {
        let flat = |line: &str| kernel(line).replace("tile[4][8]", "tile[32]");
        let head = "#define AT(i, j) (*(tile + (i) * 8 + (j)))\n";
        assert_eq!(
            changed(&(head.to_owned() + &flat("AT(1, 2) = 3;"))),
            ["#define AT(i, j) (tile[f((i) * 8 + (j))])"]
        );
        // A row, a product, a vector.
        for (head, own) in [
            (head, kernel("AT(1, 2) = 3;")),
            ("#define AT(i, j) (i *(tile + j))\n", flat("AT(1, 2);")),
            (
                "#define AT(i) (*(float4 *)(tile + i))\n",
                flat("AT(1) = v;"),
            ),
        ] {
            assert_eq!(changed(&(head.to_owned() + &own)), [""; 0], "{head}");
        }
    }

    #[test]
    fn a_macro_of_other_arrays_is_left_to_a_person() {
        let head = "#define AT(i, j) tile[j][i]\n";
        let own = kernel("AT(1, 2) = 3;");
        assert_eq!(changed(&format!("{head}{own}")).len(), 1);
        for other in [
            // Another kernel, a parameter, another line of the same name.
            format!(
                "{head}{own}__global__ void l() {{\n__shared__ float tile[4][8];\nAT(0, 0) = 1;\n}}\n"
            ),
            format!("{head}__device__ void g(float (*tile)[8]) {{ AT(0, 0) = 1; }}\n{own}"),
            format!("{head}#undef AT\n#define AT(i, j) tile[i][j]\n{own}"),
            format!("#define AT(i, j) tile[j] /* a row */ [i]\n{own}"),
            format!("{head}{}", kernel("AT(1, 2) = tile[0][0];")),
            format!("#define AT(i, j) \\\n tile[j] /* a row */ \\\n [i]\n{own}"),
            format!("{head}#define ALL \\\nAT(0, 0)\nint all() {{ return ALL; }}\n{own}"),
            format!("{head}#define ALL AT(0, 0)\nint all() {{ return ALL; }}\n{own}"),
        ] {
            assert_eq!(changed(&other), [""; 0], "{other}");
        }
    }
}
