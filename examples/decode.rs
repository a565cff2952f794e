//! Which entries of PTX texts the executor accepts, and why it refuses the
//! others: a line for each entry, and the reasons by number of entries.
//!
//! ```text
//! cargo run --release --example decode -- FILE.ptx...
//! ```

use spadkit::launch::read_module;
use spadkit::ptx::exec::Program;
use std::collections::BTreeMap;
use std::path::Path;

fn main() {
    print!("{}", report(std::env::args().skip(1)));
}

/// The lines of the files, then what is refused, most frequent first.
pub fn report(files: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    let (mut decoded, mut entries) = (0, 0);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        let program = read_module(Path::new(&file)).and_then(|module| Program::new(&module));
        let program = match program {
            Ok(program) => program,
            Err(error) => {
                text += &format!("unreadable {file}: {}\n", one_line(&error.to_string()));
                continue;
            }
        };
        for entry in program.entries() {
            entries += 1;
            match program.check(entry) {
                Ok(()) => {
                    decoded += 1;
                    text += &format!("decodes {file} {entry}\n");
                }
                Err(error) => {
                    let own = refused(&error.advice().unwrap_or_default());
                    text += &format!("refused {file} {entry}: {}\n", own.join("; "));
                    let mut own: Vec<String> = own.iter().map(|r| reason(r)).collect();
                    own.sort();
                    own.dedup();
                    own.into_iter()
                        .for_each(|r| *reasons.entry(r).or_default() += 1);
                }
            }
        }
    }
    let mut reasons: Vec<(usize, String)> = reasons.into_iter().map(|(r, n)| (n, r)).collect();
    reasons.sort_by_key(|r| std::cmp::Reverse(r.0));
    for (count, reason) in reasons {
        text += &format!("{count} {reason}\n");
    }
    text + &format!("{decoded} of {entries} entries decode\n")
}

/// The lines of a refusal that are of the entry itself.
fn refused(help: &str) -> Vec<String> {
    let lines = help.lines().skip(1).take_while(|l| l.starts_with("  "));
    lines.map(one_line).collect()
}

/// The content of the last parentheses, which may be nested: the reason. The
/// instruction before them may have its own parentheses.
fn reason(line: &str) -> String {
    let Some(inside) = line.strip_suffix(')') else {
        return line.to_owned();
    };
    let mut open = 1;
    let begin = inside.char_indices().rev().find(|(_, c)| {
        open += i32::from(*c == ')') - i32::from(*c == '(');
        open == 0
    });
    inside[begin.map_or(0, |(at, _)| at + 1)..].to_owned()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
