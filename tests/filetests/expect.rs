//! Expected words, and what is said at the end of lines.

use crate::Failure;
use crate::file::{Directive, TestFile};
use spadkit::ptx::Module;
use std::collections::BTreeMap;

/// What begins an annotation at the end of a line.
const MARK: &str = "//~ ";

/// What parts the PTX from its machine code in an annotation.
pub const MACHINE_CODE: &str = " | ";

/// The words that a directive `NAME[5] =`, `NAME[0..32] =` or
/// `NAME[0..32 by 2] =` gives: index and value. Behind the `=` is a list, or a
/// constant expression of PTX with `i` for the index.
pub fn words(directive: &Directive, name: &str) -> Result<Vec<(usize, u32)>, Failure> {
    let form = || directive.wrong("NAME[FIRST..END by STEP] = VALUES");
    let text = format!("{} {}", directive.key, directive.value);
    let (range, values) = text.split_once('=').ok_or_else(form)?;
    let range = range.trim().strip_prefix(name).ok_or_else(form)?;
    let range = range.strip_prefix('[').and_then(|r| r.strip_suffix(']'));
    let indices = indices(range.ok_or_else(form)?).ok_or_else(form)?;
    let values: Vec<&str> = values.split(',').map(str::trim).collect();
    let texts: Vec<String> = match values[..] {
        [one] => indices.iter().map(|&i| with_index(one, i)).collect(),
        _ if values.len() == indices.len() => values.iter().map(|v| (*v).to_owned()).collect(),
        _ => {
            let what = format!("{} words and {} values", indices.len(), values.len());
            return Err(Failure::new(directive.line, what));
        }
    };
    let values = evaluate(&texts).map_err(|what| Failure::new(directive.line, what))?;
    Ok(indices.into_iter().zip(values).collect())
}

fn indices(text: &str) -> Option<Vec<usize>> {
    let number = |text: &str| text.trim().parse::<usize>().ok();
    let (range, step) = match text.split_once(" by ") {
        Some((range, step)) => (range, number(step)?),
        None => (text, 1),
    };
    Some(match range.split_once("..") {
        Some((first, end)) => (number(first)?..number(end)?).step_by(step).collect(),
        None => vec![number(range)?],
    })
}

/// The text with the index for every word `i`.
fn with_index(text: &str, index: usize) -> String {
    let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut result = String::new();
    let mut before = None;
    for (at, c) in text.char_indices() {
        if c == 'i' && !is_part(before) && !is_part(text[at + 1..].chars().next()) {
            result += &index.to_string();
        } else {
            result.push(c);
        }
        before = Some(c);
    }
    result
}

/// Values of constant expressions of PTX, as words: `0f...` are the bits of a
/// number, integers are cut to 32 bits.
fn evaluate(texts: &[String]) -> Result<Vec<u32>, String> {
    let bits = |text: &String| text.replacen("0f", "0x", usize::from(text.starts_with("0f")));
    let list: Vec<String> = texts.iter().map(bits).collect();
    let module = format!(
        ".version 8.6 .target sm_90a .address_size 64 .global .u64 words[] = {{{}}};",
        list.join(", ")
    );
    let module = Module::parse(&module, "expected").map_err(|e| e.to_string())?;
    let initial = module.variables[0].initial.as_ref();
    let word = |c: &[u8]| u32::from_le_bytes([c[0], c[1], c[2], c[3]]);
    Ok(initial.unwrap().bytes.chunks(8).map(word).collect())
}

/// What is found at the lines of a file, 1-based; several at one line in their
/// order.
pub type Found = BTreeMap<usize, Vec<String>>;

fn annotation(texts: &[String]) -> String {
    texts.join("; ")
}

/// Whether the ends of the lines say what is found.
pub fn annotations(file: &TestFile, found: &Found) -> Result<(), Failure> {
    compared(file, found, str::to_owned)
}

/// The same but for what they say of the machine code.
pub fn annotations_of_ptx(file: &TestFile, found: &Found) -> Result<(), Failure> {
    compared(file, found, |said| {
        let of_ptx = said.split("; ").map(|s| s.split(MACHINE_CODE).next());
        of_ptx.flatten().collect::<Vec<_>>().join("; ")
    })
}

fn compared(file: &TestFile, found: &Found, meant: impl Fn(&str) -> String) -> Result<(), Failure> {
    let nothing = Vec::new();
    for (at, line) in file.lines.iter().enumerate() {
        let said = meant(line.split_once(MARK).map_or("", |l| l.1.trim()));
        let found = annotation(found.get(&(at + 1)).unwrap_or(&nothing));
        if said != found {
            let what = format!("expected `{said}`, found `{found}`");
            return Err(Failure::new(at + 1, what));
        }
    }
    Ok(())
}

/// The file's lines with what is found at their ends.
pub fn annotated(file: &TestFile, found: &Found) -> Vec<String> {
    let line = |(at, line): (usize, &String)| {
        let code = line.split(MARK).next().unwrap_or("").trim_end();
        match found.get(&(at + 1)) {
            Some(texts) => format!("{code}  {MARK}{}", annotation(texts)),
            None => code.to_owned(),
        }
    };
    file.lines.iter().enumerate().map(line).collect()
}
