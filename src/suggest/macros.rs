//! Macros of one `asm` statement.

use super::SourceLine;
use super::asm::{ASM, Passed, address_operand, position};
use super::scan::{MOST_LINES, Text};
use std::path::Path;

/// Files that include each other.
const MOST_FILES: usize = 16;

/// `#define LDMATRIX(to, address) asm volatile(...)`
pub(super) struct Macro {
    name: String,
    parameters: Vec<String>,
    body: Text,
}

impl Macro {
    /// The definition in `file`, or in a file that it includes by `"..."`.
    pub fn named(name: &str, file: &str, text: &mut SourceLine) -> Option<Self> {
        let mut files = vec![file.to_owned()];
        let mut read = 0;
        while let Some(file) = files.get(read).cloned() {
            read += 1;
            let mut number = 0;
            while number < MOST_LINES {
                number += 1;
                let Some(line) = text(&format!("{file}:{number}")) else {
                    break;
                };
                if let Some(included) = included(&line, &file)
                    && files.len() < MOST_FILES
                    && !files.contains(&included)
                {
                    files.push(included);
                }
                let Some(after) = defines(&line, name) else {
                    continue;
                };
                let mut definition = after.to_owned();
                while definition.ends_with('\\') {
                    definition.pop();
                    number += 1;
                    definition += &text(&format!("{file}:{number}")).unwrap_or_default();
                }
                return Self::parsed(name, &definition);
            }
        }
        None
    }

    fn parsed(name: &str, definition: &str) -> Option<Self> {
        let (parameters, body) = definition.strip_prefix('(')?.split_once(')')?;
        Some(Macro {
            name: name.to_owned(),
            parameters: parameters.split(',').map(|p| p.trim().to_owned()).collect(),
            body: Text::new(format!("{body}\n")),
        })
    }

    /// The parameter that is the address of its `asm` statement.
    pub fn address(&self) -> Option<Passed> {
        let body = &self.body;
        let asm = ASM.iter().find_map(|name| body.statement(name, 0))?;
        let (from, to) = address_operand(body, asm)?;
        let number = position(&self.parameters, &body.text[from..to], &body.text[..asm.0])?;
        let function = self.name.clone();
        Some(Passed { function, number })
    }
}

/// What follows the name of the macro that `line` defines.
fn defines<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let definition = line.trim_start().strip_prefix('#')?.trim_start();
    let named = definition.strip_prefix("define")?.trim_start();
    named
        .strip_prefix(name)
        .filter(|rest| rest.starts_with('('))
}

/// The file that `line` of `file` includes.
fn included(line: &str, file: &str) -> Option<String> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start();
    let name = directive
        .strip_prefix("include")?
        .trim()
        .strip_prefix('"')?;
    let folder = Path::new(file).parent()?;
    let path = folder.join(name.split('"').next()?);
    Some(path.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_macro_is_found_in_an_included_file() {
        let kernel = "#include \"ptx/load.h\"\nLOAD(a, b, c)";
        let header = "#pragma once\n#  define LOADED(x) x\n#define LOAD(R0, R1, ADDRESS) \\\n\
                      do { unsigned at = (unsigned)(ADDRESS); \\\n\
                      asm volatile(\"ldmatrix.x2.shared.b16 {%0, %1}, [%2];\" \\\n\
                      : \"=r\"(R0), \"=r\"(R1) : \"r\"(at)); } while (0)\n";
        let mut text = |place: &str| {
            let (file, line) = super::super::files::split(place)?;
            let text = match file {
                "k/a.cu" => kernel,
                "k/ptx/load.h" => header,
                _ => return None,
            };
            text.lines().nth(line as usize - 1).map(str::to_owned)
        };
        let address = Macro::named("LOAD", "k/a.cu", &mut text).and_then(|m| m.address());
        assert_eq!(address.map(|a| a.number), Some(2));
        let none = Macro::named("LOADED", "k/a.cu", &mut text).and_then(|m| m.address());
        assert!(none.is_none());
        assert!(Macro::named("STORE", "k/a.cu", &mut text).is_none());
    }
}
