//! What the source itself says: the declaration of an array, and lines that
//! index it.

use super::SourceLine;
use std::collections::BTreeSet;

/// Lines of a file that are read at most.
const MOST_LINES: usize = 100_000;

/// `__shared__ float tile[16][16]`
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Declaration {
    /// `float`
    pub element: String,
    /// `16` and `16`.
    pub dimensions: Vec<String>,
}

/// Element types whose size the name says.
const TYPES: [(&str, u32); 22] = [
    ("float", 4),
    ("double", 8),
    ("int", 4),
    ("unsigned", 4),
    ("unsigned int", 4),
    ("uint", 4),
    ("int32_t", 4),
    ("uint32_t", 4),
    ("short", 2),
    ("unsigned short", 2),
    ("half", 2),
    ("__half", 2),
    ("__nv_bfloat16", 2),
    ("int16_t", 2),
    ("uint16_t", 2),
    ("char", 1),
    ("unsigned char", 1),
    ("int8_t", 1),
    ("uint8_t", 1),
    ("float2", 8),
    ("float4", 16),
    ("int64_t", 8),
];

/// The declaration of the shared array `name` in the files of `places`, if they
/// have just one and its elements have `bytes` bytes.
pub(super) fn declaration<'a>(
    places: impl Iterator<Item = &'a str>,
    name: &str,
    bytes: u32,
    text: &mut SourceLine,
) -> Option<Declaration> {
    let files: BTreeSet<&str> = places.filter_map(|p| Some(p.rsplit_once(':')?.0)).collect();
    let mut found: BTreeSet<Option<Declaration>> = BTreeSet::new();
    for file in files {
        let lines = (1..MOST_LINES).map_while(|line| text(&format!("{file}:{line}")));
        let declares = lines.filter(|l| l.contains("__shared__") && index_of(l, name).is_some());
        found.extend(declares.map(|line| parsed(&line, name, bytes)));
    }
    // Two arrays of one name, or one that is not understood: none is sure.
    let mut found = found.into_iter();
    found.next().filter(|_| found.next().is_none())?
}

fn parsed(line: &str, name: &str, bytes: u32) -> Option<Declaration> {
    let line = line.trim();
    let line = line.strip_prefix("extern ").unwrap_or(line).trim_start();
    let own = line.strip_prefix("__shared__")?;
    let at = index_of(own, name)?;
    let element = own[..at].trim().trim_start_matches("volatile ").trim();
    TYPES.iter().find(|t| **t == (element, bytes))?;
    let (dimensions, end) = brackets(&own[at + name.len()..]);
    let behind = own[at + name.len() + end..].trim_start();
    behind.starts_with([';', ',']).then(|| Declaration {
        element: element.to_owned(),
        dimensions: dimensions.iter().map(|d| (*d).to_owned()).collect(),
    })
}

impl Declaration {
    /// A line with every element of the array that it names under `function`;
    /// none where it names the array in another way.
    pub fn changed(&self, line: &str, array: &str, function: &str) -> Option<String> {
        let mut rest = line;
        let mut text = String::new();
        let mut any = false;
        while let Some(at) = word(rest, array) {
            let (indices, end) = brackets(&rest[at + array.len()..]);
            if indices.len() != self.dimensions.len() {
                return None;
            }
            // An index may name the array itself.
            let inner: Vec<String> = (indices.iter())
                .map(|i| match word(i, array) {
                    None => Some((*i).to_owned()),
                    Some(_) => self.changed(i, array, function),
                })
                .collect::<Option<_>>()?;
            text += &rest[..at];
            text += &self.element(&inner, array, function);
            rest = &rest[at + array.len() + end..];
            any = true;
        }
        text += rest;
        any.then_some(text)
    }

    fn element(&self, indices: &[String], array: &str, function: &str) -> String {
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

/// What may stand beside a `*` as it is, and the rest in parentheses.
fn in_parentheses(text: &str) -> String {
    let text = text.trim();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    if text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

/// Where `name` stands as a word of its own.
fn word(text: &str, name: &str) -> Option<usize> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let alone = |at: &usize| {
        let (before, after) = (&text[..*at], &text[at + name.len()..]);
        let member = before.ends_with('.') || before.ends_with("->");
        !before.ends_with(is_word) && !after.starts_with(is_word) && !member
    };
    let mut found = text.match_indices(name).map(|(at, _)| at);
    found.find(alone)
}

/// The same where a bracket follows.
fn index_of(text: &str, name: &str) -> Option<usize> {
    word(text, name).filter(|at| text[at + name.len()..].trim_start().starts_with('['))
}

/// The contents of the pairs of brackets that `text` begins with, and where
/// they end.
fn brackets(text: &str) -> (Vec<&str>, usize) {
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

    fn tile() -> Declaration {
        parsed("__shared__ float tile[TILE][TILE + PAD];", "tile", 4).unwrap()
    }

    #[test]
    fn declarations_are_read_where_they_are_plain() {
        assert_eq!(tile().dimensions, ["TILE", "TILE + PAD"]);
        let one = parsed("__shared__ volatile unsigned int a[N], b[N];", "a", 4);
        assert_eq!(one.unwrap().element, "unsigned int");
        let dynamic = parsed("extern __shared__ float data[];", "data", 4).unwrap();
        let changed = dynamic.changed("x = data[i2] + data[2 * i];", "data", "f");
        assert_eq!(changed.unwrap(), "x = data[f(i2)] + data[f(2 * i)];");
        for other in [
            "__shared__ float a[4], tile[4];",
            "__shared__ Matrix<float> tile[4];",
            "extern float tile[];",
            "float tile[4];",
            "__shared__ double tile[4];",
        ] {
            assert_eq!(parsed(other, "tile", 4), None, "{other}");
        }
    }

    #[test]
    fn lines_are_changed_element_by_element() {
        let changed = |line: &str| tile().changed(line, "tile", "f");
        assert_eq!(
            changed("tile[ty + j][tx] = 2 * tile[tx][a[1]];").unwrap(),
            "(&tile[0][0])[f((ty + j) * (TILE + PAD) + tx)] = \
             2 * (&tile[0][0])[f(tx * (TILE + PAD) + (a[1]))];"
        );
        let one = parsed("__shared__ int a[64];", "a", 4).unwrap();
        let line = "a[a[t]] += data[t] + s.a[1];";
        assert_eq!(
            one.changed(line, "a", "f").unwrap(),
            "a[f(a[f(t)])] += data[t] + s.a[1];"
        );
        for other in ["x = y;", "use(tile);", "tile[i] = 0;", "tile[i"] {
            assert_eq!(changed(other), None, "{other}");
        }
    }
}
