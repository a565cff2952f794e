//! Source maps, version 3: for each line of Verilog the line of the description in
//! Rust that wrote it.

use super::design::SourceFile;
use crate::error::Error;
use serde::Serialize;
use spadkit_hdl::Origin;
use std::collections::BTreeSet;

/// The fields of the format, in its order.
#[derive(Serialize)]
struct SourceMap<'a> {
    version: u8,
    file: &'a str,
    sources: Vec<&'a str>,
    names: [&'a str; 0],
    mappings: String,
}

/// The source map of `file` as JSON; `None` if it does not come from a description.
/// Paths of sources are relative to the kit's repository.
pub(super) fn source_map(file: &SourceFile) -> Option<String> {
    let mut sources: Vec<&str> = file.origins.iter().flatten().map(|at| at.file).collect();
    sources.sort_unstable();
    sources.dedup();
    if sources.is_empty() {
        return None;
    }
    let map = SourceMap {
        version: 3,
        file: &file.name,
        mappings: mappings(&file.origins, &sources),
        sources,
        names: [],
    };
    Some(serde_json::to_string(&map).expect("a JSON value") + "\n")
}

/// A segment for the whole of each line: its column, the source, its line and
/// column; all but the first as the difference from the segment before.
fn mappings(origins: &[Option<Origin>], sources: &[&str]) -> String {
    let (mut source, mut line) = (0, 0);
    let segment = |origin: &Option<Origin>| {
        let Some(at) = origin else {
            return String::new();
        };
        let next = sources.binary_search(&at.file).expect("it is listed") as i64;
        let next = (next, i64::from(at.line) - 1);
        let text = [0, next.0 - source, next.1 - line, 0].map(vlq).concat();
        (source, line) = next;
        text
    };
    origins.iter().map(segment).collect::<Vec<_>>().join(";")
}

/// A number in base 64: five bits a digit, the lowest first, the sign in the lowest
/// bit, and a sixth bit where another digit follows.
fn vlq(value: i64) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut rest = value.unsigned_abs() << 1 | u64::from(value < 0);
    let mut out = String::new();
    loop {
        let more = rest >= 32;
        let digit = rest % 32 + if more { 32 } else { 0 };
        out.push(char::from(DIGITS[digit as usize]));
        rest /= 32;
        if !more {
            return out;
        }
    }
}

/// The lines, as messages name them.
pub fn named(lines: &[Origin]) -> String {
    let lines: Vec<String> = lines.iter().map(Origin::to_string).collect();
    lines.join(", ")
}

/// `error`; where it names lines of `files`, its help also has the lines of the
/// description that wrote them.
pub(crate) fn with_origins(mut error: Error, files: &[SourceFile]) -> Error {
    if let Error::ToolFailed { what, help, .. } | Error::CheckFailed { what, help } = &mut error {
        let log = format!("{what}\n{}", help.as_deref().unwrap_or_default());
        let lines = files.iter().flat_map(|file| written_by(file, &log));
        let all = help.take().into_iter().chain(lines).collect::<Vec<_>>();
        *help = (!all.is_empty()).then(|| all.join("\n"));
    }
    error
}

/// The description lines of those lines of `file` that `log` names as `FILE:LINE`, each once.
fn written_by(file: &SourceFile, log: &str) -> BTreeSet<String> {
    let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let written = |(at, name): (usize, &str)| {
        let rest = log[at + name.len()..].strip_prefix(':')?;
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let line: usize = rest[..digits].parse().ok()?;
        let origin = file.origins.get(line.checked_sub(1)?)?.as_ref()?;
        let whole = !log[..at].ends_with(in_name);
        whole.then(|| format!("{name}:{line} is written by {origin}"))
    };
    let named = log.match_indices(file.name.as_str());
    named.filter_map(written).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Failure;

    #[test]
    fn numbers_are_those_of_the_format() {
        let numbers = [0, 1, -1, 15, 16, -16, 511, 512, 1000].map(vlq);
        assert_eq!(
            numbers,
            ["A", "C", "D", "e", "gB", "hB", "+f", "ggB", "w+B"]
        );
    }

    #[test]
    fn a_log_leads_to_the_description() {
        let origins = [None, Some(3), Some(4), Some(5)];
        let origins = origins.map(|line| {
            Some(Origin {
                file: "hdl/src/m.rs",
                line: line?,
            })
        });
        let file = SourceFile {
            name: "m.v".into(),
            text: String::new(),
            origins: origins.into(),
        };
        let written = |log: &str| {
            let error = Error::ToolFailed {
                tool: "t".into(),
                what: "failed".into(),
                failure: Failure::Crashed,
                help: Some(log.into()),
            };
            let Error::ToolFailed { help, .. } = with_origins(error, std::slice::from_ref(&file))
            else {
                panic!("it is another error")
            };
            help.unwrap()[log.len()..].to_owned()
        };
        let expected = "\nm.v:2 is written by hdl/src/m.rs:3\nm.v:4 is written by hdl/src/m.rs:5";
        assert_eq!(
            written("%Error: m.v:2:5: x\nrtl/m.v:4: y; m.v:4, m.v:1 m.v:5"),
            expected
        );
        // A line of another file, of none, and a number that is no line.
        for log in [
            "am.v:2: x",
            "m.v: 2",
            "m.v:0",
            "m.v:",
            "m.v:99999999999999999999",
        ] {
            assert_eq!(written(log), "", "{log}");
        }
    }

    #[test]
    fn a_line_has_its_source_or_none() {
        let at = |file, line| Some(Origin { file, line });
        let origins = vec![None, at("b", 3), at("a", 1), None, at("a", 1)];
        let file = |origins| SourceFile {
            name: "m.v".into(),
            text: String::new(),
            origins,
        };
        let expected = "{\"version\":3,\"file\":\"m.v\",\"sources\":[\"a\",\"b\"],\"names\":[],\
                        \"mappings\":\";ACEA;ADFA;;AAAA\"}\n";
        assert_eq!(source_map(&file(origins)).as_deref(), Some(expected));
        assert_eq!(source_map(&file(vec![None])), None);
    }
}
