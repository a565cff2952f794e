//! Parses the source: the declarations of an array.

use super::bindings::Bindings;
use super::constants::Constants;
use super::declarator::Declarator;
use super::elements::bytes_of_type;
use super::files::split;
use super::namespaces::namespaces_of;
use super::scan::Text;
use super::words::{brackets, last_name, word};
use crate::suggest::SourceFiles;
use std::collections::{BTreeMap, BTreeSet};

/// Lines after the first that a declaration may have.
const MOST_OF_A_STATEMENT: usize = 8;
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

/// The position of `name` before a bracket.
fn index_of(text: &str, name: &str) -> Option<usize> {
    word(text, name).filter(|at| text[at + name.len()..].trim_start().starts_with('['))
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
        assert_eq!(dynamic.dimensions, [""]);
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
}
