//! Parses the source: the declaration of an array, and lines that index it.

use super::addresses::{Used, leads_elsewhere, use_of};
use super::bindings::Bindings;
use super::constants::Constants;
use super::declarator::Declarator;
use super::edits::{Edit, applied};
use super::elements::bytes_of_type;
use super::files::split;
use super::namespaces::namespaces_of;
use super::scan::{Text, first_name, is_word, last_name, word};
use crate::suggest::SourceFiles;
use crate::suggest::mapped::Mapped;
use std::collections::{BTreeMap, BTreeSet};

/// Lines after the first that a declaration may have.
const MOST_OF_A_STATEMENT: usize = 8;
/// Operators whose operand is not computed.
const UNEVALUATED: [&str; 5] = ["sizeof", "alignof", "__alignof__", "decltype", "noexcept"];
/// Words before an expression; other words before a name declare it.
const BEFORE_EXPRESSIONS: [&str; 9] = [
    "return", "else", "do", "case", "throw", "sizeof", "and", "or", "not",
];

/// `__shared__ float tile[16][16]`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::suggest) struct Declaration {
    /// `float`
    pub element: String,
    /// `16` and `16`.
    pub dimensions: Vec<String>,
}

/// A shared array.
#[derive(Clone, Copy, Debug)]
pub(in crate::suggest) struct Named<'a> {
    /// Name in the source.
    pub name: &'a str,
    /// Name in the PTX.
    pub variable: &'a str,
}

impl<'a> Named<'a> {
    /// In its declaration: without the namespaces that lines name.
    pub fn declared(self) -> &'a str {
        self.name.rsplit("::").next().unwrap_or(self.name)
    }

    /// Whether a declaration at `at` can be that of the array.
    fn is_at(self, place: &Text, at: usize) -> bool {
        let own = namespaces_of(self.variable);
        own.is_none_or(|own| place.namespaces_at(at) == own)
    }
}

/// The declarations of shared arrays of one name.
pub(in crate::suggest) struct Declarations {
    /// Declarations by file and line; `None` for one that is not understood.
    pub(super) found: BTreeMap<(String, u32), Option<Declaration>>,
}

impl Declarations {
    /// The declarations of `array`, whose elements have `bytes` bytes, in the
    /// files of the lines `places`.
    pub fn of<'a>(
        places: impl Iterator<Item = &'a str>,
        array: Named,
        bytes: u32,
        sources: &mut SourceFiles,
    ) -> Self {
        let name = array.declared();
        let files: BTreeSet<&str> = places.filter_map(|p| Some(split(p)?.0)).collect();
        let mut found = BTreeMap::new();
        for file in files {
            let place = sources.text(file);
            // A declaration in a comment is none.
            let lines: Vec<&str> = place.masked.lines().collect();
            for (line, own) in (1..).zip(&lines) {
                let at = place.start_of_line(line).unwrap_or_default();
                let shared = own.find("__shared__");
                if shared.is_none_or(|shared| !array.is_at(&place, at + shared)) {
                    continue;
                }
                let mut statement = (*own).to_owned();
                for next in lines[line as usize..].iter().take(MOST_OF_A_STATEMENT) {
                    if statement.contains(';') {
                        break;
                    }
                    statement = statement + " " + next;
                }
                if index_of(&statement, name).is_some() {
                    let declared = parsed(&statement, name);
                    let declared = declared.filter(|d| {
                        let bytes_of = || template_bytes(array, d, (file, line), sources);
                        bytes_of_type(&d.element).or_else(bytes_of) == Some(bytes)
                    });
                    found.insert((file.to_owned(), line), declared);
                }
            }
        }
        Declarations { found }
    }

    /// Whether no file of the lines declares such an array.
    pub fn are_unknown(&self) -> bool {
        self.found.is_empty()
    }

    /// The declaration that the line `place` sees: the last before it whose block is still open.
    pub fn seen_from(&self, place: &str, sources: &mut SourceFiles) -> Option<&Declaration> {
        let (file, line) = split(place)?;
        let last = self.last_seen(file, line, sources)?;
        self.found.get(&(file.to_owned(), last))?.as_ref()
    }

    /// The line of the last one before `line` whose block is still open.
    pub fn last_seen(&self, file: &str, line: u32, sources: &mut SourceFiles) -> Option<u32> {
        let mut before = self.before(file, line);
        before.rfind(|from| between(file, *from, line, sources).stays_in_its_block())
    }

    /// The lines of the declarations in a file.
    pub fn lines_of(&self, file: &str, place: &Text) -> Vec<u32> {
        let lines = |from: u32| {
            let start = place.start_of_line(from).unwrap_or(place.text.len());
            from..=place.line_of(place.statement_end(start))
        };
        self.before(file, u32::MAX).flat_map(lines).collect()
    }

    /// The lines with one before `line`.
    fn before(&self, file: &str, line: u32) -> impl DoubleEndedIterator<Item = u32> {
        let before = self
            .found
            .range((file.to_owned(), 0)..(file.to_owned(), line));
        before.map(|((_, from), _)| *from)
    }

    /// The declaration that the line `place` sees, and all others of the same
    /// block: a preprocessor may choose between them.
    pub fn all_seen_from(&self, place: &str, sources: &mut SourceFiles) -> Vec<(String, u32)> {
        let Some((file, line)) = split(place) else {
            return Vec::new();
        };
        let Some(last) = self.last_seen(file, line, sources) else {
            return Vec::new();
        };
        let others = self.before(file, last);
        let others = others.filter(|from| between(file, *from, last, sources).is_balanced());
        let all = others.collect::<Vec<_>>().into_iter().chain([last]);
        all.map(|line| (file.to_owned(), line)).collect()
    }
}

/// The text from the declaration at line `from` to the line before `to`. Its own
/// block may open on the same line.
fn between(file: &str, from: u32, to: u32, sources: &mut SourceFiles) -> Text {
    let place = sources.text(file);
    let end = place.text.len();
    let [start, to] = [from, to].map(|line| place.start_of_line(line).unwrap_or(end));
    let shared = place.masked[start..to].find("__shared__").unwrap_or(0);
    place.part((start + shared, to))
}

/// Bytes of the elements, where their type is a parameter of the template around the
/// declaration at a line, or has another name.
fn template_bytes(
    array: Named,
    declared: &Declaration,
    (file, line): (&str, u32),
    sources: &mut SourceFiles,
) -> Option<u32> {
    let constants = Constants::of(file, sources);
    let at = Declarator::at(constants.place(), line, array.declared())?.name;
    let bound = Bindings::of(array.variable, constants.place(), at);
    constants.bound_to(bound).bytes_of(&declared.element)
}

/// `__shared__ __align__(16) float a[4], tile[16][16];`
pub(in crate::suggest) fn parsed(statement: &str, name: &str) -> Option<Declaration> {
    let (_, own) = statement.split_once("__shared__")?;
    let own = Text::new(own.split(';').next()?.to_owned());
    let parts = own.split(0, own.text.len(), ',');
    let parts: Vec<&str> = parts.iter().map(|&(a, b)| own.text[a..b].trim()).collect();
    let element = element_of(parts.first()?)?;
    let declarator = parts.iter().find_map(|p| Some(&p[index_of(p, name)?..]))?;
    let (dimensions, end) = brackets(&declarator[name.len()..]);
    let is_whole = declarator[name.len() + end..].trim().is_empty();
    is_whole.then(|| Declaration {
        element: element.to_owned(),
        dimensions: dimensions.iter().map(|d| (*d).to_owned()).collect(),
    })
}

/// `unsigned int` of `volatile unsigned int a[N]`.
fn element_of(first: &str) -> Option<&str> {
    let head = first[..first.find('[')?].trim_end();
    let mut element = head.strip_suffix(last_name(head))?.trim();
    loop {
        let rest = match element.strip_prefix("volatile ") {
            Some(rest) => rest,
            None if element.starts_with("__align__") || element.starts_with("alignas") => {
                element.split_once(')')?.1
            }
            None => return Some(element),
        };
        element = rest.trim_start();
    }
}

impl Declaration {
    /// A line with every element of the array that it names under `function`;
    /// none where it names the array in another way.
    pub fn changed(&self, line: &str, mapped: Mapped) -> Option<String> {
        let code = Text::new(line.to_owned());
        applied(line, &self.edits(&code, mapped)?)
    }

    /// Edits of the elements of the array in `code`; none if it names the array in
    /// another way, or not at all. Literals, comments, names of other scopes
    /// (`Other::tile[0]`) and unevaluated operands (`sizeof(tile[0])`) are kept.
    pub fn edits(&self, code: &Text, mapped: Mapped) -> Option<Vec<Edit>> {
        let array = mapped.array;
        let mut edits = Vec::new();
        let mut from = 0;
        while let Some(found) = word(&code.masked[from..], array) {
            let at = from + found;
            from = at + array.len();
            if code.masked[..at].trim_end().ends_with("::") {
                continue;
            }
            let (indices, end) = brackets(&code.masked[from..]);
            let is_element = indices.len() == self.dimensions.len();
            // Another array of this name, or several elements.
            if !is_element || is_declared(code, at) {
                return None;
            }
            let used = use_of(code, (at, from + end));
            let used = used.filter(|used| *used != Used::Exactly && !is_unevaluated(code, at));
            if let Some(other) = used {
                let (own, end) = other.edits(code, at, mapped)?;
                edits.extend(own);
                from = end;
                continue;
            }
            if leads_elsewhere(code, (at, from + end)) {
                return None;
            }
            let inner = self.indices(&code.text[from..from + end], &indices, mapped)?;
            from += end;
            if is_unevaluated(code, at) {
                continue;
            }
            edits.push(Edit {
                from: at,
                to: from,
                new: self.element(&inner, mapped),
            });
        }
        (!edits.is_empty()).then_some(edits)
    }

    /// The text with the indices in its brackets changed: an index may name the array
    /// itself. `masked`: the same without literals and comments.
    fn indices(&self, text: &str, masked: &[&str], mapped: Mapped) -> Option<Vec<String>> {
        let array = mapped.array;
        let mut at = 0;
        let mut all = Vec::new();
        for index in masked {
            at += text[at..].find('[')? + 1;
            let own = text.get(at..at + index.len())?;
            at += index.len() + 1;
            all.push(match word(index, array) {
                None => own.to_owned(),
                Some(_) => self.changed(own, mapped)?,
            });
        }
        Some(all)
    }

    fn element(&self, indices: &[String], mapped: Mapped) -> String {
        let Mapped {
            array, function, ..
        } = mapped;
        let Some((first, others)) = indices.split_first() else {
            return array.to_owned();
        };
        let mut index = first.trim().to_owned();
        for (next, dimension) in others.iter().zip(&self.dimensions[1..]) {
            index = format!(
                "{} * {} + {}",
                in_parentheses(&index),
                in_parentheses(dimension),
                in_parentheses(next)
            );
        }
        if others.is_empty() {
            format!("{array}[{function}({index})]")
        } else {
            let zeros = "[0]".repeat(indices.len());
            format!("(&{array}{zeros})[{function}({index})]")
        }
    }
}

/// Whether the name at `at` is declared there: a type is before it, or the name that the
/// declaration begins with.
pub(in crate::suggest) fn is_declared(code: &Text, at: usize) -> bool {
    let is_type = |name: &str| {
        let is_name = name.starts_with(|c: char| is_word(c) && !c.is_ascii_digit());
        is_name && !BEFORE_EXPRESSIONS.contains(&name)
    };
    let before = code.masked[..at].trim_end();
    if before.ends_with(',') {
        let from = code.open_before(at).map_or(0, |open| open + 1);
        let parts = code.split(from, at, ';');
        let own = parts
            .last()
            .map_or("", |part| code.masked[part.0..part.1].trim());
        let name = first_name(own);
        let rest = own[name.len()..].trim_start();
        return is_type(name) && rest.starts_with(is_word);
    }
    is_type(last_name(before))
}

/// Whether the element at `at` is not computed.
pub(in crate::suggest) fn is_unevaluated(code: &Text, at: usize) -> bool {
    let before = code.masked[..at].trim_end();
    let around = std::iter::successors(code.open_before(at), |open| code.open_before(*open));
    let mut called = around.filter_map(|open| code.called(open));
    UNEVALUATED.contains(&last_name(before)) || called.any(|(_, name)| UNEVALUATED.contains(&name))
}

/// The text as an operand of `*`, in parentheses if needed.
fn in_parentheses(text: &str) -> String {
    let text = text.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let whole = Text::new(text.to_owned());
    let is_in_parentheses = text.starts_with('(') && whole.closing(0) == Some(text.len() - 1);
    if text.chars().all(plain) || is_in_parentheses {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

/// The position of `name` before a bracket.
fn index_of(text: &str, name: &str) -> Option<usize> {
    word(text, name).filter(|at| text[at + name.len()..].trim_start().starts_with('['))
}

/// The contents of the pairs of brackets that `text` begins with, and where
/// they end.
pub(in crate::suggest) fn brackets(text: &str) -> (Vec<&str>, usize) {
    let (mut contents, mut end) = (Vec::new(), 0);
    loop {
        let rest = &text[end..];
        let open = rest.len() - rest.trim_start().len();
        if !rest[open..].starts_with('[') {
            return (contents, end);
        }
        let mut depth = 0;
        let close = rest.char_indices().find(|&(_, c)| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            c == ']' && depth == 0
        });
        let Some((close, _)) = close else {
            return (contents, end);
        };
        contents.push(&rest[open + 1..close]);
        end += close + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::source::files::given;

    fn plain(statement: &str, name: &str, bytes: u32) -> Option<Declaration> {
        parsed(statement, name).filter(|d| bytes_of_type(&d.element) == Some(bytes))
    }

    fn named(name: &str) -> Named<'_> {
        Named { name, variable: "" }
    }

    fn tile() -> Declaration {
        plain("__shared__ float tile[TILE][TILE + PAD];", "tile", 4).unwrap()
    }

    #[test]
    fn declarations_are_read_where_they_are_plain() {
        assert_eq!(tile().dimensions, ["TILE", "TILE + PAD"]);
        let one = plain("__shared__ volatile unsigned int a[N], b[N];", "a", 4);
        assert_eq!(one.unwrap().element, "unsigned int");
        let dynamic = plain("extern __shared__ float data[];", "data", 4).unwrap();
        let changed = dynamic.changed("x = data[i2] + data[2 * i];", Mapped::words("data", "f"));
        assert_eq!(changed.unwrap(), "x = data[f(i2)] + data[f(2 * i)];");
        let second = plain(
            "__shared__ __align__(16) float a[4], tile[4][N];",
            "tile",
            4,
        );
        assert_eq!(second.unwrap().dimensions, ["4", "N"]);
        for other in [
            "__shared__ Matrix<float> tile[4];",
            "extern float tile[];",
            "float tile[4];",
            "__shared__ double tile[4];",
        ] {
            assert_eq!(plain(other, "tile", 4), None, "{other}");
        }
    }

    #[test]
    fn a_line_sees_the_declaration_of_its_own_block() {
        let source = "extern __shared__ int all[];\n\
                      void f() { __shared__ float tile[4][8];\n\
                      tile[0][i] = all[1];\n\
                      }\n\
                      void g() {\n\
                      if (x) {\n\
                      __shared__ float tile[9]; // }\n\
                      tile[i] = 1; }\n\
                      other();\n\
                      }";
        let mut text = given(source);
        let tiles = Declarations::of(["k.cu:3"].into_iter(), named("tile"), 4, &mut text);
        let mut seen = |line: u32| {
            let declared = tiles.seen_from(&format!("k.cu:{line}"), &mut text);
            declared.map(|d| d.dimensions.len())
        };
        assert_eq!([3, 5, 8, 9].map(&mut seen), [Some(2), None, Some(1), None]);
        let all = Declarations::of(["k.cu:3"].into_iter(), named("all"), 4, &mut text);
        assert!(all.seen_from("k.cu:9", &mut text).is_some());
    }

    #[test]
    fn lines_are_changed_element_by_element() {
        let changed = |line: &str| tile().changed(line, Mapped::words("tile", "f"));
        assert_eq!(
            changed("tile[ty + j][tx] = 2 * tile[tx][a[1]];").unwrap(),
            "(&tile[0][0])[f((ty + j) * (TILE + PAD) + tx)] = \
             2 * (&tile[0][0])[f(tx * (TILE + PAD) + (a[1]))];"
        );
        let one = plain("__shared__ int a[64];", "a", 4).unwrap();
        let line = "a[a[t]] += data[t] + s.a[1];";
        assert_eq!(
            one.changed(line, Mapped::words("a", "f")).unwrap(),
            "a[f(a[f(t)])] += data[t] + s.a[1];"
        );
        for other in ["x = y;", "use(tile);", "tile[i] = 0;", "tile[i"] {
            assert_eq!(changed(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_no_element_stays() {
        let one = plain("__shared__ int tile[64];", "tile", 4).unwrap();
        let changed = |line: &str| one.changed(line, Mapped::words("tile", "f"));
        for same in [
            "printf(\"tile[%d]\", 1);",
            "asm volatile(\"st [%0], tile[0];\" :: \"r\"(a));",
            "/* tile[0] first, tile */",
            "x = Other::tile[0];",
            "n = sizeof(tile[0]);",
            "n = sizeof tile[0] + alignof(decltype(tile[0]));",
            "// fill tile",
        ] {
            assert_eq!(changed(same), None, "{same}");
            // The comment of a line may be the last only.
            let (before, after) = if same.starts_with("//") {
                ("", same)
            } else {
                (same, "")
            };
            let line = |element: &str| format!("{before} {element} = 'a' + tile[1]; {after}");
            let expected = line("tile[f(g('[' /* tile */))]").replace("+ tile[1]", "+ tile[f(1)]");
            let found = changed(&line("tile[g('[' /* tile */)]"));
            assert_eq!(found, Some(expected), "{same}");
        }
        for refused in [
            "{ float tile[4]; tile[0] = 1; }",
            "{ const float a[4] = {}, tile[4] = {}; x = tile[0]; }",
            "memset(&tile[0], 0, 64); tile[1] = 2;",
            "x = tile[0] + sum((const int *)&tile[i], n);",
            "float *e = &tile[i];",
            "x = ((float2 *)&tile[0])[i];",
            "x = (&tile[0])[tile[1]];",
            "{ const float &e = tile[0]; x = (&e)[1]; }",
        ] {
            assert_eq!(changed(refused), None, "{refused}");
        }
        for (element, expected) in [
            ("return tile[0];", "return tile[f(0)];"),
            ("float a = 1, b = tile[0];", "float a = 1, b = tile[f(0)];"),
            (
                "g(a, tile[0]), tile[1] = 2;",
                "g(a, tile[f(0)]), tile[f(1)] = 2;",
            ),
            ("atomicAdd(&tile[0], 1);", "atomicAdd(&tile[f(0)], 1);"),
            ("x = LOAD(&tile[0]);", "x = LOAD(&tile[f(0)]);"),
            (
                "{ int &e = tile[0]; e = 1; atomicAdd(&e, 2); }",
                "{ int &e = tile[f(0)]; e = 1; atomicAdd(&e, 2); }",
            ),
            (
                "(&tile[0])[i] = tile[1];",
                "(*f_at(tile, &(&tile[0])[i])) = tile[f(1)];",
            ),
            (
                "x = *(&tile[n] + i) + tile[0];",
                "x = *(f_at(tile, &tile[n] + i)) + tile[f(0)];",
            ),
        ] {
            assert_eq!(changed(element).as_deref(), Some(expected));
        }
    }
}
