//! Macros of one `asm` statement.

use super::asm::{ASM, Passed, address_operand, position};
use super::scan::Text;
use super::words::{first_name, names, word};
use crate::suggest::SourceFiles;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// `#define LDMATRIX(to, address) asm volatile(...)`
pub(in crate::suggest) struct Macro {
    name: String,
    parameters: Vec<String>,
    body: Text,
}

impl Macro {
    /// The definition in `file`, or in a file that it includes by `"..."`.
    pub fn named(name: &str, file: &str, sources: &mut SourceFiles) -> Option<Self> {
        let unit = sources.with_included(file);
        let with_parameters = |definition: String| {
            let (defined, rest) = defined(&definition)?;
            (defined == name && rest.starts_with('(')).then(|| rest.to_owned())
        };
        let definition = definitions(&unit.lines).find_map(with_parameters)?;
        Self::parsed(name, &definition)
    }

    fn parsed(name: &str, definition: &str) -> Option<Self> {
        let (parameters, body) = parameters_and_body(definition)?;
        Some(Macro {
            name: name.to_owned(),
            parameters: parameters.split(',').map(|p| p.trim().to_owned()).collect(),
            body: Text::new(format!("{body}\n")),
        })
    }

    /// Whether it takes the address of its only argument, and is what a cast to another
    /// type reads or writes there.
    pub fn is_a_vector(&self) -> bool {
        let [parameter] = &self.parameters[..] else {
            return false;
        };
        let body = self.body.masked.replace(char::is_whitespace, "");
        let is_cast = body.contains("_cast<") || body.contains("*)");
        let addresses = [format!("&({parameter})"), format!("&{parameter}")];
        let is_address = addresses.iter().any(|address| body.contains(address));
        let is_once = word(&self.body.masked, parameter)
            .is_some_and(|at| word(&self.body.masked[at + parameter.len()..], parameter).is_none());
        let inside = body.trim_start_matches('(').trim_end_matches(')');
        let is_read = inside.ends_with("[0]") || inside.starts_with('*') && !body.contains('[');
        is_cast && is_address && is_once && is_read
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

/// The definitions among lines, each on one.
fn definitions(lines: &[String]) -> impl Iterator<Item = String> {
    let starts = lines.iter().enumerate();
    let starts = starts.filter(|(_, line)| line.trim_start().starts_with('#'));
    starts.map(|(at, line)| {
        let mut definition = line.clone();
        let mut more = lines[at + 1..].iter();
        while definition.ends_with('\\') {
            definition.pop();
            definition += more.next().map_or("", String::as_str);
        }
        definition
    })
}

/// The macros of a file: what each stands for.
pub(in crate::suggest) struct Macros(BTreeMap<String, String>);

impl Macros {
    /// The macros of `file` and of the files that it includes by `"..."`.
    pub fn of(file: &str, sources: &mut SourceFiles) -> Self {
        let unit = sources.with_included(file);
        let mut bodies: BTreeMap<String, String> = BTreeMap::new();
        for definition in definitions(&unit.lines) {
            if let Some((name, rest)) = defined(&definition)
                && let Some(body) = body(rest)
            {
                // A preprocessor may select any of the definitions.
                let known = bodies.entry(name.to_owned()).or_default();
                *known += body;
                known.push('\n');
            }
        }
        Macros(bodies)
    }

    /// Whether a part of `code`, or of the macros that it uses, is what `found` looks
    /// for; `None` where it uses one that is not known.
    pub fn any(&self, code: &str, found: &dyn Fn(&str) -> bool) -> Option<bool> {
        let (mut open, mut seen) = (vec![code.to_owned()], BTreeSet::new());
        while let Some(part) = open.pop() {
            if found(&part) {
                return Some(true);
            }
            let masked = Text::new(part).masked;
            for (name, after) in names(&masked) {
                match self.0.get(name) {
                    Some(body) if seen.insert(name.to_owned()) => open.push(body.clone()),
                    None if is_call_of_a_macro(name, after) => return None,
                    _ => {}
                }
            }
        }
        Some(false)
    }
}

/// Whether a name is written as macros with arguments are: `LOAD(x)`.
fn is_call_of_a_macro(name: &str, after: &str) -> bool {
    let is_upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let begins = name.starts_with(|c: char| c.is_ascii_uppercase());
    begins && name.chars().all(is_upper) && after.trim_start().starts_with('(')
}

/// Whether the name of a macro is a use of it before `after`.
pub(in crate::suggest) fn is_use(has_parameters: bool, after: &str) -> bool {
    !has_parameters || after.trim_start().starts_with('(')
}

/// The macro that `line` defines, and what follows its name.
pub(in crate::suggest) fn defined(line: &str) -> Option<(&str, &str)> {
    let definition = line.trim_start().strip_prefix('#')?.trim_start();
    let named = definition.strip_prefix("define")?.trim_start();
    let (name, rest) = named.split_at(first_name(named).len());
    (!name.is_empty()).then_some((name, rest))
}

/// Whether `definition` is that of a macro which `line` names.
pub fn defines_what_is_in(definition: &str, line: &str) -> bool {
    defined(definition).is_some_and(|(name, _)| word(line, name).is_some())
}

/// The parameters of a macro that has some, and its body.
pub(in crate::suggest) fn parameters_and_body(rest: &str) -> Option<(&str, &str)> {
    rest.strip_prefix('(')?.split_once(')')
}

fn body(rest: &str) -> Option<&str> {
    if rest.starts_with('(') {
        return parameters_and_body(rest).map(|(_, body)| body);
    }
    Some(rest)
}

/// The file that `line` of `file` includes.
pub(in crate::suggest) fn included(line: &str, file: &str) -> Option<String> {
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
    fn macros_stand_for_what_they_expand_to() {
        let source = "#define WIDE float4\n#define CAST(x) reinterpret_cast<WIDE *>(x)\n\
                      #define AT(i, \\\n j) (i * 32 + j)\n#define LOOP LOOP + 1\n";
        let macros = Macros::of("k.cu", &mut crate::suggest::source::files::given(source));
        let wide = |code: &str| macros.any(code, &|part| part.contains("float4"));
        assert_eq!(wide("CAST(s)[AT(i, j)] = x;"), Some(true));
        assert_eq!(wide("WIDE x = s[1];"), Some(true));
        assert_eq!(wide("s[AT(i, j)] = sqrt(LOOP);"), Some(false));
        assert_eq!(wide("s[OFFSET(i, j)] = x;"), None);
        assert_eq!(wide("s[N] = Float(x); // CAST(x)"), Some(false));
    }

    #[test]
    fn a_macro_is_found_in_an_included_file() {
        let kernel = "#include \"ptx/load.h\"\nLOAD(a, b, c)";
        let header = "#pragma once\n#  define LOADED(x) x\n#define LOAD(R0, R1, ADDRESS) \\\n\
                      do { unsigned at = (unsigned)(ADDRESS); \\\n\
                      asm volatile(\"ldmatrix.x2.shared.b16 {%0, %1}, [%2];\" \\\n\
                      : \"=r\"(R0), \"=r\"(R1) : \"r\"(at)); } while (0)\n";
        let texts = [("k/a.cu", kernel), ("k/ptx/load.h", header)];
        let mut text = crate::suggest::source::files::given_files(texts);
        let address = Macro::named("LOAD", "k/a.cu", &mut text).and_then(|m| m.address());
        assert_eq!(address.map(|a| a.number), Some(2));
        let none = Macro::named("LOADED", "k/a.cu", &mut text).and_then(|m| m.address());
        assert!(none.is_none());
        assert!(Macro::named("STORE", "k/a.cu", &mut text).is_none());
    }
}
