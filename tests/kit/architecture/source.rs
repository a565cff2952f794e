//! The text of a crate as a tree of modules with their imports.
//!
//! This is a reading of Rust that suffices for one question, who names whom:
//! comments, strings and test code are left out; what remains are `mod`, `use`
//! and paths with `::`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

/// Names from the root of the crate to a module; empty for the root.
pub type ModulePath = Vec<String>;

/// A path in the text, as it stands there.
pub struct Mention {
    pub path: Vec<String>,
    pub line: usize,
    /// What kind of mention it is.
    pub how: How,
}

#[derive(Clone, PartialEq, Debug)]
pub enum How {
    /// A path in an expression or a type.
    Path,
    /// `use path as alias`.
    Use { alias: String, public: bool },
    /// `use path::*`.
    Glob { public: bool },
}

/// What one module says.
#[derive(Default)]
pub struct Module {
    /// The file, relative to the crate's source folder.
    pub file: String,
    pub mentions: Vec<Mention>,
    /// Functions, types, constants and macros that it defines.
    pub items: BTreeSet<String>,
}

/// All modules of a crate outside test code.
#[derive(Default)]
pub struct Crate {
    pub modules: BTreeMap<ModulePath, Module>,
}

impl Crate {
    /// The crate whose `lib.rs` lies in `folder`.
    pub fn read(folder: &Path) -> Self {
        let mut files = Vec::new();
        collect(folder, folder, &mut files);
        Self::of(&files)
    }

    /// The crate of these files: name relative to the source folder, and text.
    pub fn of(files: &[(String, String)]) -> Self {
        let mut all = Crate::default();
        let mut tests = Vec::new();
        for (file, text) in files.iter().filter(|(file, _)| file != "main.rs") {
            let mut scan = Scan {
                tokens: tokens(text),
                file,
                modules: &mut all.modules,
                tests: &mut tests,
            };
            scan.file(&module_of(file));
        }
        let is_test = |module: &ModulePath| tests.iter().any(|test| module.starts_with(test));
        all.modules.retain(|module, _| !is_test(module));
        all
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            files.push((name.to_owned(), std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// `a/mod.rs` and `a.rs` are `a`; `lib.rs` is the root.
fn module_of(file: &str) -> ModulePath {
    let name = file.strip_suffix(".rs").unwrap_or(file);
    let name = name.strip_suffix("/mod").unwrap_or(name);
    match name {
        "lib" => Vec::new(),
        name => name.split('/').map(str::to_owned).collect(),
    }
}

struct Token {
    text: String,
    line: usize,
}

/// Words, `::` and single characters; no comments; a string is one `"`.
fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut i, mut line, mut out) = (0, 1, Vec::new());
    while i < chars.len() {
        let start = i;
        let mut word = String::new();
        match at(i) {
            c if c.is_whitespace() => i += 1,
            '/' if at(i + 1) == '/' => {
                while i < chars.len() && at(i) != '\n' {
                    i += 1;
                }
            }
            '/' if at(i + 1) == '*' => i = end_of_comment(&chars, i),
            '"' => {
                i = end_of_string(&chars, i);
                word.push('"');
            }
            'r' | 'b' | 'c' if raw_hashes(&chars, i).is_some() => {
                i = end_of_raw(&chars, i);
                word.push('"');
            }
            '\'' if at(i + 1) == '\\' => {
                i += 3; // the character after the backslash may be a quote
                while i < chars.len() && at(i) != '\'' {
                    i += 1;
                }
                i += 1;
            }
            '\'' if at(i + 2) == '\'' => i += 3,
            c if is_word(c) => {
                while is_word(at(i)) {
                    word.push(at(i));
                    i += 1;
                }
            }
            ':' if at(i + 1) == ':' => {
                word.push_str("::");
                i += 2;
            }
            c => {
                word.push(c);
                i += 1;
            }
        }
        if !word.is_empty() {
            out.push(Token { text: word, line });
        }
        line += chars[start..i.min(chars.len())]
            .iter()
            .filter(|c| **c == '\n')
            .count();
    }
    out
}

fn end_of_comment(chars: &[char], mut i: usize) -> usize {
    let mut depth = 0;
    while i < chars.len() {
        match chars[i..] {
            ['/', '*', ..] => (depth, i) = (depth + 1, i + 2),
            ['*', '/', ..] => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            break;
        }
    }
    i
}

fn end_of_string(chars: &[char], mut i: usize) -> usize {
    i += 1;
    while i < chars.len() && chars[i] != '"' {
        i += 1 + usize::from(chars[i] == '\\');
    }
    i + 1
}

/// The number of `#` of a raw string that begins here, `r##"`, and where its
/// text begins.
fn raw_hashes(chars: &[char], start: usize) -> Option<(usize, usize)> {
    let r = start + usize::from(chars[start] != 'r');
    if chars.get(r) != Some(&'r') || (start > 0 && chars[start - 1].is_alphanumeric()) {
        return None;
    }
    let hashes = chars[r + 1..].iter().take_while(|c| **c == '#').count();
    let quote = r + 1 + hashes;
    (chars.get(quote) == Some(&'"')).then_some((hashes, quote + 1))
}

fn end_of_raw(chars: &[char], start: usize) -> usize {
    let (hashes, mut i) = raw_hashes(chars, start).expect("asked before");
    while i < chars.len() {
        let closes = |c: &[char]| c.len() == hashes && c.iter().all(|c| *c == '#');
        let end = (i + 1 + hashes).min(chars.len());
        if chars[i] == '"' && closes(&chars[i + 1..end]) {
            return end;
        }
        i += 1;
    }
    i
}

struct Scan<'a> {
    tokens: Vec<Token>,
    file: &'a str,
    modules: &'a mut BTreeMap<ModulePath, Module>,
    /// Modules that are compiled for tests only.
    tests: &'a mut Vec<ModulePath>,
}

impl Scan<'_> {
    fn text(&self, i: usize) -> &str {
        self.tokens.get(i).map_or("", |t| &t.text)
    }

    fn is(&self, i: usize, texts: &[&str]) -> bool {
        (0..texts.len()).all(|k| self.text(i + k) == texts[k])
    }

    fn file(&mut self, module: &ModulePath) {
        // The module and the brace depth at which it ends.
        let mut inside = vec![(Rc::new(module.clone()), 0)];
        self.open(module);
        let (mut i, mut depth) = (0, 0);
        while i < self.tokens.len() {
            let here = Rc::clone(&inside.last().expect("the file's own stays").0);
            if self.is(i, &["#", "[", "cfg", "(", "test", ")", "]"]) {
                i = self.skip_item(i + 7, &here);
                continue;
            }
            match self.text(i) {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if inside.len() > 1 && inside.last().is_some_and(|m| m.1 == depth) {
                        inside.pop();
                    }
                }
                "mod" if self.text(i + 2) == "{" => {
                    let inner = child(&here, self.text(i + 1));
                    self.open(&inner);
                    inside.push((Rc::new(inner), depth));
                    i += 1;
                }
                "use" if self.text(i + 1) != "<" => {
                    i = self.use_item(i, &here);
                    continue;
                }
                "struct" | "enum" | "trait" | "type" | "const" | "static" | "fn" | "union" => {
                    let name = self.text(i + 1).to_owned();
                    self.here(&here).items.insert(name);
                }
                "macro_rules" => {
                    let name = self.text(i + 2).to_owned();
                    self.here(&here).items.insert(name);
                }
                "::" => {}
                _ if self.text(i + 1) == "::" => {
                    i = self.path(i, &here);
                    continue;
                }
                _ => {}
            }
            i += 1;
        }
    }

    fn open(&mut self, module: &ModulePath) {
        self.here(module).file = self.file.to_owned();
    }

    fn here(&mut self, module: &ModulePath) -> &mut Module {
        self.modules.entry(module.clone()).or_default()
    }

    /// Past an item of test code: to its `;`, or over its braces.
    fn skip_item(&mut self, mut i: usize, here: &ModulePath) -> usize {
        if self.text(i) == "mod" {
            self.tests.push(child(here, self.text(i + 1)));
        }
        let public = match (self.text(i), self.text(i + 1)) {
            ("pub", "(") => 4, // pub ( crate )
            ("pub", _) => 1,
            _ => 0,
        };
        let import = self.text(i + public) == "use";
        let mut depth = 0;
        while i < self.tokens.len() {
            match self.text(i) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" => depth -= 1,
                "}" => {
                    depth -= 1;
                    if depth == 0 && !import {
                        return i + 1;
                    }
                }
                ";" if depth == 0 => return i + 1,
                _ => {}
            }
            i += 1;
        }
        i
    }

    /// A path outside `use`, from its first word on.
    fn path(&mut self, start: usize, here: &ModulePath) -> usize {
        let line = self.tokens[start].line;
        let mut path = vec![self.text(start).to_owned()];
        let mut i = start + 1;
        while self.text(i) == "::" && is_name(self.text(i + 1)) {
            path.push(self.text(i + 1).to_owned());
            i += 2;
        }
        // `<T>::name` and `a.b::<T>()` begin at no module; `pub(in path)` only
        // says who may see.
        let before = start.checked_sub(1).map_or("", |b| self.text(b));
        let visible = before == "in" && start >= 2 && self.text(start - 2) == "(";
        if is_name(&path[0]) && before != "." && !visible {
            let how = How::Path;
            self.here(here).mentions.push(Mention { path, line, how });
        }
        i
    }

    fn use_item(&mut self, start: usize, here: &ModulePath) -> usize {
        let before = start.checked_sub(1).map_or("", |b| self.text(b));
        let public = before == "pub" || before == ")";
        let end = (start..self.tokens.len()).find(|i| self.text(*i) == ";");
        let end = end.unwrap_or(self.tokens.len());
        let mut found = Vec::new();
        self.use_tree(start + 1, &[], public, &mut found);
        self.here(here).mentions.extend(found);
        end + 1
    }

    /// One tree of a `use` behind `prefix`; returns where it ends.
    fn use_tree(
        &self,
        mut i: usize,
        prefix: &[String],
        public: bool,
        found: &mut Vec<Mention>,
    ) -> usize {
        let mut path = prefix.to_vec();
        let line = self.tokens[i].line;
        loop {
            match self.text(i) {
                "::" => i += 1,
                "{" => {
                    i += 1;
                    while !matches!(self.text(i), "}" | "") {
                        i = self.use_tree(i, &path, public, found);
                        i += usize::from(self.text(i) == ",");
                    }
                    return i + 1;
                }
                "*" => {
                    let how = How::Glob { public };
                    found.push(Mention { path, line, how });
                    return i + 1;
                }
                "self" if !prefix.is_empty() => i += 1,
                name if is_name(name) && name != "as" => {
                    path.push(name.to_owned());
                    i += 1;
                }
                _ => break,
            }
        }
        let mut alias = path.last().cloned().unwrap_or_default();
        if self.text(i) == "as" {
            alias = self.text(i + 1).to_owned();
            i += 2;
        }
        let how = How::Use { alias, public };
        found.push(Mention { path, line, how });
        i
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

pub fn child(module: &[String], name: &str) -> ModulePath {
    let mut path = module.to_vec();
    path.push(name.to_owned());
    path
}
