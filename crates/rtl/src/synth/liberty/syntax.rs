//! The syntax of Liberty files: groups, simple and complex attributes.

use crate::error::{Error, Result};
use std::path::Path;

/// Deeper nesting than any library has.
const MAX_DEPTH: usize = 32;

/// `name (args) { ... }`.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub name: &'a str,
    pub args: Vec<&'a str>,
    /// `name : value ;`
    pub simple: Vec<(&'a str, &'a str)>,
    /// `name (values) ;`
    pub complex: Vec<(&'a str, Vec<&'a str>)>,
    pub groups: Vec<Group<'a>>,
    /// Byte offset of the group.
    pub offset: usize,
}

impl<'a> Group<'a> {
    /// The value of a simple attribute.
    pub fn get(&self, name: &str) -> Option<&'a str> {
        self.simple
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, v)| *v)
    }

    /// The values of a complex attribute.
    pub fn get_complex(&self, name: &str) -> Option<&[&'a str]> {
        let found = self.complex.iter().find(|(n, _)| *n == name);
        found.map(|(_, v)| v.as_slice())
    }

    /// The groups of this name.
    pub fn groups(&self, name: &str) -> impl Iterator<Item = &Group<'a>> {
        self.groups.iter().filter(move |g| g.name == name)
    }

    /// The first argument.
    pub fn label(&self) -> &'a str {
        self.args.first().copied().unwrap_or_default()
    }
}

/// Parses a whole file: one `library` group.
pub(super) fn parse<'a>(text: &'a str, path: &'a Path) -> Result<Group<'a>> {
    let mut parser = Parser { text, path, at: 0 };
    parser.skip_blank()?;
    let start = parser.at;
    let not_liberty = || {
        let what = "this is not a Liberty file: no 'library' group";
        let help = "expected a cell library that begins with: library (NAME) {";
        Error::input(what, Some(help.to_owned()), path, text, start)
    };
    if parser.word() != Some("library") {
        return Err(not_liberty());
    }
    let mut file = Group::new("", Vec::new(), start);
    parser.statement("library", start, &mut file, 0)?;
    let library = file.groups.pop().ok_or_else(not_liberty)?;
    parser.skip_blank()?;
    if parser.rest().is_empty() {
        Ok(library)
    } else {
        Err(parser.error("unexpected text after the library group"))
    }
}

struct Parser<'a> {
    text: &'a str,
    path: &'a Path,
    at: usize,
}

impl<'a> Group<'a> {
    fn new(name: &'a str, args: Vec<&'a str>, offset: usize) -> Self {
        Group {
            name,
            args,
            simple: Vec::new(),
            complex: Vec::new(),
            groups: Vec::new(),
            offset,
        }
    }
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn error(&self, what: impl Into<String>) -> Error {
        let help = "Liberty has groups 'name (args) { ... }' and attributes 'name : value;' and 'name (values);'";
        Error::input(what, Some(help.to_owned()), self.path, self.text, self.at)
    }

    /// Skips white space, comments, line continuations and stray semicolons.
    fn skip_blank(&mut self) -> Result<()> {
        loop {
            let rest = self.rest();
            let blank = |c: char| c.is_whitespace() || c == '\\' || c == ';';
            self.at += rest.len() - rest.trim_start_matches(blank).len();
            let rest = self.rest();
            if let Some(comment) = rest.strip_prefix("/*") {
                match comment.find("*/") {
                    Some(end) => self.at += end + 4,
                    None => return Err(self.error("this comment does not end")),
                }
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                return Ok(());
            }
        }
    }

    /// White space and line continuations only: a newline ends nothing here.
    fn skip_space(&mut self) {
        let rest = self.rest();
        let space = |c: char| c.is_whitespace() || c == '\\';
        self.at += rest.len() - rest.trim_start_matches(space).len();
    }

    fn word(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let word = &rest[..rest.find(|c| !in_word(c)).unwrap_or(rest.len())];
        self.at += word.len();
        (!word.is_empty()).then_some(word)
    }

    /// Takes `c` if it comes next.
    fn take(&mut self, c: char) -> bool {
        let here = self.rest().starts_with(c);
        if here {
            self.at += c.len_utf8();
        }
        here
    }

    /// Parses what follows a name: an attribute of `group`, or a group in it.
    fn statement(
        &mut self,
        name: &'a str,
        offset: usize,
        group: &mut Group<'a>,
        depth: usize,
    ) -> Result<()> {
        self.skip_space();
        if self.take(':') {
            let value = self.simple_value()?;
            group.simple.push((name, value));
            return Ok(());
        }
        if !self.take('(') {
            return Err(self.error(format!("expected ':' or '(' after '{name}'")));
        }
        let args = self.arguments()?;
        let after_args = self.at;
        self.skip_space();
        if !self.take('{') {
            self.at = after_args;
            group.complex.push((name, args));
            return Ok(());
        }
        if depth >= MAX_DEPTH {
            return Err(self.error("groups are nested too deeply"));
        }
        let mut inner = Group::new(name, args, offset);
        self.body(&mut inner, depth + 1)?;
        group.groups.push(inner);
        Ok(())
    }

    /// The statements up to the closing brace.
    fn body(&mut self, group: &mut Group<'a>, depth: usize) -> Result<()> {
        loop {
            self.skip_blank()?;
            if self.take('}') {
                return Ok(());
            }
            let offset = self.at;
            match self.word() {
                Some(name) => self.statement(name, offset, group, depth)?,
                None if self.rest().is_empty() => {
                    let (name, label) = (group.name, group.label());
                    let what = format!("the file ends inside {name} ({label}): it is cut off");
                    return Err(self.error(what));
                }
                None => return Err(self.error("expected a name or '}'")),
            }
        }
    }

    fn simple_value(&mut self) -> Result<&'a str> {
        self.skip_space();
        if self.rest().starts_with('"') {
            return self.quoted();
        }
        let rest = self.rest();
        let end = rest.find([';', '\n', '}', '{']).unwrap_or(rest.len());
        self.at += end;
        Ok(rest[..end].trim())
    }

    fn arguments(&mut self) -> Result<Vec<&'a str>> {
        let mut args = Vec::new();
        loop {
            self.skip_blank()?;
            if self.take(')') {
                return Ok(args);
            }
            if self.take(',') {
                continue;
            }
            if self.rest().starts_with('"') {
                args.push(self.quoted()?);
                continue;
            }
            let rest = self.rest();
            let end = rest.find([',', ')', '"', '{', '}', ';', '\n']);
            let arg = rest[..end.unwrap_or(rest.len())].trim_end_matches([' ', '\t', '\\', '\r']);
            if arg.is_empty() {
                return Err(self.error("expected ',' or ')'"));
            }
            self.at += arg.len();
            args.push(arg);
        }
    }

    /// A string; the quotes are taken off, continuations stay in.
    fn quoted(&mut self) -> Result<&'a str> {
        let inside = &self.rest()[1..];
        match inside.find('"') {
            Some(end) => {
                self.at += end + 2;
                Ok(&inside[..end])
            }
            None => Err(self.error("this string does not end")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Group<'_>> {
        super::parse(text, Path::new("x.lib"))
    }

    fn message(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn reads_groups_and_both_kinds_of_attribute() {
        let text = "/* c */ library(\"a b\") { // d
            x : 1.5 ; y : \"q;r\"\n z : w\n caps (1, pf);
            cell (C) { pin (A) { values ( \\\n \"1, 2\", \\\n \"3, 4\"); } }; }\n";
        let library = parse(text).unwrap();
        assert_eq!(library.label(), "a b");
        assert_eq!(library.get("x"), Some("1.5"));
        assert_eq!(library.get("y"), Some("q;r"));
        assert_eq!(library.get("z"), Some("w"));
        assert_eq!(library.get_complex("caps").unwrap(), ["1", "pf"]);
        let pin = &library.groups("cell").next().unwrap().groups[0];
        assert_eq!(pin.get_complex("values").unwrap(), ["1, 2", "3, 4"]);
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        let no_library = "not a Liberty file";
        for text in [
            "",
            "module m; endmodule",
            "{\"a\": 1}",
            "\u{0}\u{1}ELF",
            "library",
        ] {
            let text = message(text);
            assert!(
                text.contains(no_library) || text.contains("':' or '('"),
                "{text}"
            );
        }
        let cut = message("library (l) {\n cell (c) {\n area : 1;\n");
        assert!(cut.contains("ends inside cell (c)"), "{cut}");
        assert!(cut.contains("x.lib:4:1"), "{cut}");
        assert!(message("library (l) { a : \"b }").contains("string does not end"));
        assert!(message("library (l) { /* a }").contains("comment does not end"));
        assert!(message("library (l) { a b; }").contains("after 'a'"));
        assert!(message("library (l) { a (b; }").contains("expected"));
        assert!(message("library (l) { ] }").contains("expected a name"));
        assert!(message("library (l) { } x").contains("after the library"));
        let deep = format!("library (l) {{ {}", "g () {".repeat(100_000));
        assert!(message(&deep).contains("nested too deeply"));
    }
}
