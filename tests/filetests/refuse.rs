//! `test refuse`: what the parser or the executor does not take.

use crate::Failure;
use crate::expect::Found;
use crate::file::TestFile;
use spadkit::error::Error;
use spadkit::ptx::Module;

/// Why the lines of the file are refused. An error of the parser has its
/// column, and what was expected.
pub fn found(file: &TestFile) -> Result<Found, Failure> {
    let text = file.module(&[]);
    let mut found = Found::new();
    let module = match Module::parse(&text, "the file") {
        Ok(module) => module,
        Err(Error::Input(e)) => {
            let help = e.help.clone().unwrap_or_default();
            let text = format!("column {}: {}; {help}", e.column, e.what);
            found.insert(e.line, vec![text]);
            return Ok(found);
        }
        Err(other) => return Err(Failure::new(1, other.to_string())),
    };
    let help = match module.check_supported("k") {
        Ok(()) => return Err(Failure::new(file.command_line, "nothing is refused")),
        Err(Error::Input(e)) => e.help.clone().unwrap_or_default(),
        Err(other) => return Err(Failure::new(1, other.to_string())),
    };
    let mut elsewhere = "";
    for line in help.lines() {
        if line.starts_with("elsewhere") {
            elsewhere = "elsewhere: ";
        }
        let Some((number, reason)) = place_and_reason(line) else {
            continue;
        };
        let text = format!("{elsewhere}{reason}");
        found.entry(number).or_default().push(text);
    }
    Ok(found)
}

/// Parts of `  line 5: mov.u32 %r1, 0; (reason)`.
fn place_and_reason(line: &str) -> Option<(usize, &str)> {
    let (number, rest) = line.trim().strip_prefix("line ")?.split_once(": ")?;
    let (_, reason) = rest.split_once(" (")?;
    Some((number.parse().ok()?, reason.strip_suffix(')')?))
}
