//! Types of the source: how many bytes an object has that a statement accesses.
//! A mapping takes apart what is larger than the words that it keeps together.

use crate::suggest::SourceFiles;
use crate::suggest::source::elements::{aliases, bytes_of_type};
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::{first_name, is_word, last_name};

use super::joined_files::JoinedFiles;
use std::rc::Rc;

/// Names that are defined by each other.
const MOST_STEPS: u32 = 8;
/// Words before a name that are no part of its type.
const QUALIFIERS: [&str; 13] = [
    "const",
    "constexpr",
    "volatile",
    "static",
    "extern",
    "register",
    "struct",
    "class",
    "union",
    "__restrict__",
    "__restrict",
    "__shared__",
    "typename",
];
/// Words that begin a statement, and are no type.
const STATEMENTS: [&str; 7] = ["return", "else", "case", "new", "delete", "goto", "do"];
/// Types of CUDA's vectors, and their bytes.
const VECTORS: [(&str, u32); 12] = [
    ("char", 1),
    ("uchar", 1),
    ("short", 2),
    ("ushort", 2),
    ("int", 4),
    ("uint", 4),
    ("float", 4),
    ("long", 8),
    ("ulong", 8),
    ("longlong", 8),
    ("ulonglong", 8),
    ("double", 8),
];

/// The object that an expression names, as far as the source shows its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Object {
    Unknown,
    Bytes(u32),
    /// Members that are not all understood.
    Structure,
}

/// The types of a file and of those that it includes.
pub(in crate::suggest) struct Types {
    /// The file, then what it includes.
    text: Rc<Text>,
}

/// The objects of one array, and what its mappings keep together.
#[derive(Clone, Copy)]
pub(in crate::suggest) struct Kept<'a> {
    types: &'a Types,
    array: &'a str,
    /// Bytes; `None` if it does not matter.
    unit: Option<u32>,
}

impl Kept<'_> {
    /// Whether a mapping may take apart the object at `address`, as line `line` of the
    /// file writes it: `p`, `&s[i]`, `&p[i].x`, `(int4 *)p + 1`.
    pub fn tears(&self, line: u32, address: &str) -> bool {
        let bytes = self.bytes(line, address);
        bytes
            .zip(self.unit)
            .is_some_and(|(bytes, unit)| bytes > unit)
    }

    /// Bytes of the object at `address`, written likewise; `u32::MAX` of a structure whose
    /// members are not all understood.
    pub fn bytes(&self, line: u32, address: &str) -> Option<u32> {
        let types = self.types;
        let at = types.text.line_end(types.text.start_of_line(line)?);
        let object = match types.of_address(at, address, MOST_STEPS) {
            Object::Unknown => types.of_name(at, self.array, MOST_STEPS),
            known => known,
        };
        match object {
            Object::Unknown => None,
            Object::Bytes(bytes) => Some(bytes),
            Object::Structure => Some(u32::MAX),
        }
    }

    /// Whether the elements of the array are objects that a mapping may take apart.
    pub fn has_objects(&self, line: u32) -> bool {
        self.tears(line, self.array)
    }
}

impl Types {
    /// The types that `file` and the files it includes declare.
    pub fn of(file: &str, sources: &mut SourceFiles) -> Self {
        Types {
            text: sources.with_included(file).text.clone(),
        }
    }

    /// The types that `files` declare together, under the name of the first.
    pub fn of_files(files: &JoinedFiles, sources: &mut SourceFiles) -> Self {
        let included = sources.included_in(files.first(), &files.text);
        Types {
            text: included.text,
        }
    }

    /// The objects of an array whose mappings all keep `unit` bytes together; any number
    /// if not given.
    pub fn kept<'a>(&'a self, array: &'a str, unit: Option<u32>) -> Kept<'a> {
        Kept {
            types: self,
            array,
            unit,
        }
    }

    fn of_address(&self, at: usize, address: &str, steps: u32) -> Object {
        let address = address.trim().trim_start_matches(['&', ' ']);
        if let Some(cast) = cast_of(address) {
            return self.of_type(cast, steps);
        }
        if let Some(member) = member_of(address) {
            return self.of_member(member, steps);
        }
        let address = address.trim_start_matches(['(', '&', '*', ' ']);
        let name = first_name(address);
        self.of_name(at, name, steps)
    }

    /// The object of the variable, array or pointer `name`, as declared before `at`: in
    /// the function around, else anywhere.
    fn of_name(&self, at: usize, name: &str, steps: u32) -> Object {
        let Some(steps) = steps.checked_sub(1).filter(|_| !name.is_empty()) else {
            return Object::Unknown;
        };
        let function = self.text.outermost_function(at);
        let scopes = function.map(|f| (f.open, at)).into_iter().chain([(0, at)]);
        let mut objects = scopes.map(|(from, to)| self.declared(from, to, name, steps));
        let known = objects.find(|object| *object != Object::Unknown);
        known.unwrap_or(Object::Unknown)
    }

    /// The object of members of that name, in any structure.
    fn of_member(&self, name: &str, steps: u32) -> Object {
        match steps.checked_sub(1) {
            Some(steps) => self.declared(0, self.text.masked.len(), name, steps),
            None => Object::Unknown,
        }
    }

    /// The largest type that declarations of `name` in this span state.
    fn declared(&self, from: usize, to: usize, name: &str, steps: u32) -> Object {
        let part = &self.text.masked[from..to];
        let all = part.match_indices(name).map(|(at, _)| from + at);
        let alone = all.filter(|at| {
            let (before, after) = (
                &self.text.masked[..*at],
                &self.text.masked[at + name.len()..],
            );
            !before.ends_with(is_word) && !after.starts_with(is_word)
        });
        let object = |at: usize| self.of_declaration(from, at, name.len(), steps);
        alone.map(object).max().unwrap_or(Object::Unknown)
    }

    /// The type that the name at `at` is declared with there, if it is a declaration.
    fn of_declaration(&self, from: usize, at: usize, length: usize, steps: u32) -> Object {
        let before = &self.text.masked[from..at];
        let boundary = |c: char| !is_word(c) && !c.is_whitespace() && !":<>*&".contains(c);
        let begin = before.rfind(boundary).map_or(0, |end| end + 1);
        let separator = before[..begin].chars().next_back();
        let own = type_in(&before[begin..]);
        // `float *re = s, *im = s + n`: of the first of the statement.
        let own = match (own, separator) {
            (None, Some(',')) => {
                let start = self.text.statement_start(from + begin).max(from);
                let head = &self.text.masked[start..from + begin];
                // An argument of a call declares nothing.
                if head.matches('(').count() != head.matches(')').count() {
                    return Object::Unknown;
                }
                let end = head.find(['=', '[', '(', ',']).unwrap_or(head.len());
                let first = head[..end].trim_end();
                type_in(first.strip_suffix(last_name(first)).unwrap_or(first))
            }
            (own, _) => own,
        };
        match own.as_deref() {
            None => Object::Unknown,
            Some("auto") => {
                let value = self.text.masked[at + length..].trim_start();
                let value = value.strip_prefix('=').map(|v| v.split(';').next());
                let value = value.flatten().unwrap_or_default();
                self.of_address(at, value, steps)
            }
            Some(own) => self.of_type(own, steps),
        }
    }

    fn of_type(&self, named: &str, steps: u32) -> Object {
        let Some(named) = type_in(named) else {
            return Object::Unknown;
        };
        let known = bytes_of_type(&named).or_else(|| bytes_of_vector(&named));
        if let Some(bytes) = known {
            return Object::Bytes(bytes);
        }
        let Some(steps) = steps.checked_sub(1) else {
            return Object::Unknown;
        };
        let bare = named.split('<').next().unwrap_or(&named);
        let name = bare.rsplit(':').next().unwrap_or(bare).trim();
        if let Some(alias) = aliases(&self.text.masked, name).next() {
            return self.of_type(alias, steps);
        }
        match self.members(name) {
            Some(_) if named.contains('<') => Object::Structure,
            Some(members) => self.sum(members, steps),
            None => Object::Unknown,
        }
    }

    /// The members of the structure `name`.
    fn members(&self, name: &str) -> Option<&str> {
        let masked = &self.text.masked;
        let kinds = ["struct", "class", "union"].into_iter();
        let mut heads = kinds.flat_map(|kind| masked.match_indices(kind));
        heads.find_map(|(at, kind)| {
            let open = at + masked[at..].find(['{', ';', '(', ')'])?;
            let close = self.text.closing(open)?;
            masked[open..].starts_with('{').then_some(())?;
            let head = masked[at + kind.len()..open].split(':').next()?;
            let after = masked[close + 1..].split(';').next()?;
            let is_typedef = masked[..at].trim_end().ends_with("typedef");
            let named_after = is_typedef && after.split(',').any(|n| n.trim() == name);
            (last_name(head.trim_end()) == name || named_after).then(|| &masked[open + 1..close])
        })
    }

    /// The bytes of all members, without what is between them.
    fn sum(&self, members: &str, steps: u32) -> Object {
        let mut sum: u32 = 0;
        for member in members.split(';').map(str::trim).filter(|m| !m.is_empty()) {
            if member.contains(['(', '{', '}', '=', '*', '&']) {
                return Object::Structure;
            }
            let mut declarators = member.split(',');
            let Some(first) = declarators.next() else {
                continue;
            };
            let head = first.split('[').next().unwrap_or(first).trim_end();
            let element = head.strip_suffix(last_name(head)).unwrap_or(head);
            let Object::Bytes(bytes) = self.of_type(element, steps) else {
                return Object::Structure;
            };
            for declarator in std::iter::once(first).chain(declarators) {
                let dimensions = declarator.split('[').skip(1);
                let lengths = dimensions.map(|d| d.trim_end().trim_end_matches(']').trim().parse());
                let Ok(all) = lengths.collect::<Result<Vec<u32>, _>>() else {
                    return Object::Structure;
                };
                let own = all.iter().fold(bytes, |all, n| all.saturating_mul(*n));
                sum = own.saturating_add(sum);
            }
        }
        Object::Bytes(sum)
    }
}

/// The type that a declaration has before the name, without qualifiers and `*`.
fn type_in(head: &str) -> Option<String> {
    let head = head.replace(['*', '&'], " ");
    let words = head.split_whitespace().filter(|w| !QUALIFIERS.contains(w));
    let words: Vec<&str> = words.collect();
    let is_type = words.first().is_some_and(|first| {
        let is_number = first.starts_with(|c: char| c.is_ascii_digit());
        !is_number && !STATEMENTS.contains(first)
    });
    is_type.then(|| words.join(" "))
}

/// `float4` of `(float4 *)p` and of `reinterpret_cast<float4 *>(p)`.
fn cast_of(address: &str) -> Option<&str> {
    let inside = address.trim_start_matches('(').trim_start();
    for cast in ["reinterpret_cast<", "static_cast<"] {
        if let Some(rest) = inside.strip_prefix(cast) {
            return rest.split_once('>').map(|(kind, _)| kind);
        }
    }
    let (kind, _) = inside.split_once(')')?;
    let is_cast = address.starts_with('(') && kind.trim_end().ends_with('*');
    (is_cast && !kind.contains(['[', '(', '+'])).then_some(kind)
}

/// The last member that an address names: `v` of `p[i].a.v[1]`.
pub(in crate::suggest) fn member_of(address: &str) -> Option<&str> {
    let mut end = address.trim_end();
    while end.ends_with(']') {
        let mut depth = 0;
        let open = end.char_indices().rev().find(|(_, c)| {
            depth += i32::from(*c == ']') - i32::from(*c == '[');
            depth == 0
        })?;
        end = end[..open.0].trim_end();
    }
    let name = last_name(end);
    let before = end[..end.len() - name.len()].trim_end();
    (!name.is_empty() && (before.ends_with('.') || before.ends_with("->"))).then_some(name)
}

/// The bytes of `float3` and the like.
fn bytes_of_vector(name: &str) -> Option<u32> {
    let count = name.chars().next_back()?.to_digit(10)?;
    let scalar = &name[..name.len() - 1];
    let (_, bytes) = VECTORS.iter().find(|(known, _)| *known == scalar)?;
    (1..=4).contains(&count).then_some(bytes * count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str =
        "struct Far { float a[2], b; }; struct Huge { float a[4000000000], b[4000000000]; };";
    const SOURCE: &str = "#include \"far.h\"
struct P { float x, y; float3 pos; };
typedef struct { float re, im; } Complex;
using Real = float;
using Body = P;
struct Odd { float x; P *next; };
__device__ void other(P *v) { v[0].x = 1; }
__device__ void helper(const float *v, int n) {
    v[n];
}
template <typename T> __global__ void k(float *out) {
    __shared__ P s[64];
    P *p = s, *q = s + 1;
    auto *a = &s[4], *b = (float4 *)s;
    Real *r = (Real *)s;
    Complex *c = reinterpret_cast<Complex *>(p);
    const Body *d = s;
    Far *f; Odd *o; T *t; double *w; Huge *h;
    use();
}
";

    fn tears(unit: u32, line: u32, address: &str) -> bool {
        let mut text =
            crate::suggest::source::files::given_files([("k.cu", SOURCE), ("far.h", HEADER)]);
        let types = Types::of("k.cu", &mut text);
        types.kept("s", Some(unit)).tears(line, address)
    }

    #[test]
    fn objects_that_are_larger_than_a_unit_are_torn() {
        for (address, bytes) in [
            ("p", 20),
            ("q", 20),
            ("&s[7 - t]", 20),
            ("a", 20),
            ("r + 1", 4),
            ("c", 8),
            ("&d[i]", 20),
            ("&d[i].x", 4),
            ("&d[f[i].a].pos", 12),
            ("f", 12),
            ("w", 8),
            ("(int4 *)p + 1", 16),
            ("reinterpret_cast<float2 *>(p)", 8),
            // With an unknown type, the array's element size applies.
            ("t", 20),
        ] {
            assert!(tears(bytes - 1, 18, address), "{address}");
            assert!(!tears(bytes, 18, address), "{address}");
        }
        assert!(tears(1 << 20, 18, "o"), "a pointer is among the members");
        assert!(
            tears(1 << 20, 18, "h"),
            "more bytes than there are addresses"
        );
    }

    #[test]
    fn a_name_is_that_of_its_own_function() {
        assert!(!tears(4, 9, "&v[n]"));
        assert!(tears(4, 7, "v"));
    }
}
