//! The form of a file: what is said in its head, and its PTX.

use crate::Failure;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// What a head says in one line.
#[derive(Clone)]
pub struct Directive {
    /// 1-based.
    pub line: usize,
    /// The first word, without the `:` behind it.
    pub key: String,
    /// All behind it.
    pub value: String,
}

/// One test of a file.
#[derive(Clone)]
pub struct Case {
    /// Empty where the file has but one.
    pub name: String,
    /// The common directives, then its own.
    pub directives: Vec<Directive>,
    /// 0-based lines of its own directives: where new ones go is the end.
    pub lines: std::ops::Range<usize>,
}

/// A file of tests.
#[derive(Clone)]
pub struct TestFile {
    /// All lines.
    pub lines: Vec<String>,
    /// `run`, `refuse`, `analyse` or `bits`.
    pub command: String,
    /// 1-based line of the command.
    pub command_line: usize,
    /// At least one.
    pub cases: Vec<Case>,
    /// 0-based line behind the head.
    pub head: usize,
}

const HEAD: &str = ".version 8.6 .target sm_90a .address_size 64 ";
const ENTRY: &str = ".visible .entry k(.param .u64 p) { \
    .reg .b64 %out, %base, %rd<20>; .reg .b32 %t, %r<40>; .reg .pred %p<10>; \
    .reg .f32 %f<10>; .reg .b16 %h<10>; .reg .f64 %d<10>; \
    ld.param.u64 %base, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %out, %t, 4, %base; ";

impl TestFile {
    /// Reads the head.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Failure> {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let is_head = |l: &String| l.starts_with("//") || l.trim().is_empty();
        let head = lines.iter().take_while(|l| is_head(l)).count();
        let command = lines[..head].iter().position(|l| l.starts_with("// test "));
        let Some(at) = command else {
            let what = format!("{} has no line `// test COMMAND`", path.display());
            return Err(Failure::new(1, what));
        };
        let mut file = TestFile {
            command: lines[at]["// test ".len()..].trim().to_owned(),
            command_line: at + 1,
            cases: Vec::new(),
            lines,
            head,
        };
        file.read_cases(at + 1)?;
        Ok(file)
    }

    fn read_cases(&mut self, start: usize) -> Result<(), Failure> {
        let mut common: Vec<Directive> = Vec::new();
        let mut end = start;
        for at in start..self.head {
            let Some(directive) = directive(at + 1, &self.lines[at])? else {
                continue;
            };
            end = at + 1;
            if directive.key == "case" {
                self.cases.push(Case {
                    name: directive.value,
                    directives: common.clone(),
                    lines: end..end,
                });
            } else if let Some(case) = self.cases.last_mut() {
                case.directives.push(directive);
                case.lines.end = end;
            } else {
                common.push(directive);
            }
        }
        if self.cases.is_empty() {
            self.cases.push(Case {
                name: String::new(),
                directives: common,
                lines: start..end,
            });
        }
        Ok(())
    }

    /// The module, on the lines that the file has: what a file leaves out is
    /// put before its first line.
    pub fn module(&self, replaced: &[(String, String)]) -> String {
        let mut text = self.lines.join("\n") + "\n";
        for (name, value) in replaced {
            text = text.replace(&format!("${{{name}}}"), value);
        }
        let code: String = self.lines[self.head..].join("\n");
        let text = if code.contains(".version") {
            text
        } else if code.contains(".entry") {
            format!("{HEAD}{text}")
        } else {
            format!("{HEAD}{ENTRY}{text}}}\n")
        };
        keep(&text);
        text
    }
}

/// With `PTX_OUT=DIR`, keeps a module there: `make fuzz` starts from them.
fn keep(text: &str) {
    let Some(dir) = std::env::var_os("PTX_OUT") else {
        return;
    };
    let mut hash = DefaultHasher::new();
    text.hash(&mut hash);
    let file = Path::new(&dir).join(format!("{:016x}.ptx", hash.finish()));
    std::fs::write(file, text).expect("PTX_OUT is a folder");
}

/// What a line of the head says; prose starts with `// #`.
fn directive(line: usize, text: &str) -> Result<Option<Directive>, Failure> {
    let text = text.trim_start_matches('/').trim();
    if text.is_empty() || text.starts_with('#') {
        return Ok(None);
    }
    let known = |key: &str| {
        let keys = [
            "block",
            "grid",
            "words",
            "races",
            "limit",
            "cluster",
            "cooperative",
            "orders",
            "blank",
            "case",
            "let",
            "finds",
            "executes",
        ];
        keys.contains(&key) || key.starts_with("out[") || key.starts_with("start[")
    };
    let (key, value) = text.split_once(' ').unwrap_or((text, ""));
    let key = key.trim_end_matches(':').to_owned();
    if !known(&key) {
        let what = format!("there is no directive `{key}`; prose starts with `// #`");
        return Err(Failure::new(line, what));
    }
    let value = value.trim().to_owned();
    Ok(Some(Directive { line, key, value }))
}

impl Case {
    /// The directives with that key.
    pub fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a Directive> {
        self.directives.iter().filter(move |d| d.key == key)
    }

    /// The last directive with that key.
    pub fn last<'a>(&'a self, key: &'a str) -> Option<&'a Directive> {
        self.all(key).last()
    }

    /// Three numbers, of which those that are missing are 1.
    pub fn size(&self, key: &str) -> Result<Option<[u32; 3]>, Failure> {
        let Some(directive) = self.last(key) else {
            return Ok(None);
        };
        let mut size = [1; 3];
        for (at, number) in directive.value.split(',').enumerate() {
            let number = number.trim().parse().ok();
            match (size.get_mut(at), number) {
                (Some(place), Some(number)) => *place = number,
                _ => return Err(directive.wrong("up to three numbers")),
            }
        }
        Ok(Some(size))
    }

    /// A number.
    pub fn number(&self, key: &str) -> Result<Option<u64>, Failure> {
        let parse = |d: &Directive| d.value.parse().map_err(|_| d.wrong("a number"));
        self.last(key).map(parse).transpose()
    }

    /// The modules that the `let` lines make, each with its replacements. A
    /// line of the case overrides a common one of the same name.
    pub fn variants(&self) -> Result<Vec<Vec<(String, String)>>, Failure> {
        let mut variants: Vec<Vec<(String, String)>> = vec![Vec::new()];
        let mut seen: Vec<&str> = Vec::new();
        for directive in self.directives.iter().rev().filter(|d| d.key == "let") {
            let Some((name, values)) = directive.value.split_once('=') else {
                return Err(directive.wrong("NAME = TEXT or NAME = TEXT || TEXT"));
            };
            let name = name.trim();
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            let with = |value: &str| {
                let pair = (name.to_owned(), value.trim().to_owned());
                let add = |v: &Vec<_>| [&v[..], std::slice::from_ref(&pair)].concat();
                variants.iter().map(add).collect::<Vec<_>>()
            };
            variants = values.split("||").flat_map(with).collect();
        }
        Ok(variants)
    }
}

impl Directive {
    /// A directive that cannot be read.
    pub fn wrong(&self, expected: &str) -> Failure {
        Failure::new(self.line, format!("`{}`: expected {expected}", self.key))
    }
}
