//! Finds positions inside a JSON text: that of a value, for error messages, and
//! that of a duplicate key of an object. Serde accepts such a key silently if
//! it keeps the fields of other tools.

use std::borrow::Cow;
use std::collections::HashSet;

/// One step from a JSON value to one of its children.
pub(super) enum Step<'a> {
    /// Member of an object.
    Key(&'a str),
    /// Element of an array.
    Index(usize),
}

/// Byte offset of the value at `path` in `text`, which must be valid JSON;
/// the offset of the deepest ancestor if the value is not there.
pub(super) fn offset_of(text: &str, path: &[Step]) -> usize {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        at: 0,
    };
    scanner.space();
    for step in path {
        let here = scanner.at;
        if !scanner.enter(step) {
            return here;
        }
    }
    scanner.at
}

/// The first key of `text`, which must be valid JSON, that its object already
/// has, with its byte offset. Not recursive: nesting costs memory only.
pub(super) fn duplicate_key(text: &str) -> Option<(usize, Cow<'_, str>)> {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        at: 0,
    };
    // The keys of each object around, `None` for arrays.
    let mut around: Vec<Option<HashSet<Cow<str>>>> = Vec::new();
    loop {
        match scanner.peek() {
            0 => return None,
            b'{' => around.push(Some(HashSet::new())),
            b'[' => around.push(None),
            b'}' | b']' => drop(around.pop()),
            b'"' => {
                let start = scanner.at;
                scanner.skip_string();
                let string = text.get(start..scanner.at)?;
                scanner.space();
                if scanner.peek() == b':'
                    && let Some(Some(keys)) = around.last_mut()
                {
                    let key = unquoted(string);
                    if !keys.insert(key.clone()) {
                        return Some((start, key));
                    }
                }
                continue;
            }
            _ => {}
        }
        scanner.at += 1;
    }
}

/// The value of a JSON string; equal keys may be escaped differently.
fn unquoted(string: &str) -> Cow<'_, str> {
    if string.contains('\\') {
        Cow::Owned(serde_json::from_str(string).unwrap_or_else(|_| string.to_owned()))
    } else {
        Cow::Borrowed(string.trim_matches('"'))
    }
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while self.peek().is_ascii_whitespace() {
            self.at += 1;
        }
    }

    /// Moves to the child named by `step`; false if there is none.
    fn enter(&mut self, step: &Step) -> bool {
        let opening = self.peek();
        self.at += 1;
        self.space();
        let mut index = 0;
        while !matches!(self.peek(), b']' | b'}' | 0) {
            let found = match (opening, step) {
                (b'{', Step::Key(name)) => {
                    let start = self.at;
                    self.skip_string();
                    let key = &self.bytes[start + 1..self.at - 1];
                    self.space();
                    self.at += 1; // the colon
                    self.space();
                    key == name.as_bytes()
                }
                (b'[', Step::Index(wanted)) => index == *wanted,
                _ => return false,
            };
            if found {
                return true;
            }
            self.skip_value();
            self.space();
            if self.peek() == b',' {
                self.at += 1;
                self.space();
            }
            index += 1;
        }
        false
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while !matches!(self.peek(), b'"' | 0) {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
    }

    fn skip_value(&mut self) {
        let mut depth = 0;
        loop {
            match self.peek() {
                b'"' => self.skip_string(),
                b'[' | b'{' => {
                    depth += 1;
                    self.at += 1;
                }
                b']' | b'}' | b',' if depth == 0 => return,
                b']' | b'}' => {
                    depth -= 1;
                    self.at += 1;
                }
                0 => return,
                _ => self.at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_values_behind_nested_ones() {
        let text = r#"{ "a": [1, {"x": "],"}], "b": [[2], [3, 4]] }"#;
        let at = offset_of(text, &[Step::Key("b"), Step::Index(1), Step::Index(1)]);
        assert_eq!(&text[at..at + 1], "4");
        let escaped = r#"{"a": "a", "\u0062": [{"a": 1}, {"a": "]"}], "b": 1}"#;
        assert_eq!(
            duplicate_key(escaped),
            escaped.rfind("\"b\"").map(|i| (i, "b".into()))
        );
        assert_eq!(duplicate_key(text), None);
        let missing = offset_of(text, &[Step::Key("b"), Step::Index(7)]);
        assert_eq!(&text[missing..missing + 2], "[[");
    }
}
