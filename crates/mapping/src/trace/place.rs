//! The places of a trace's access sites in the program.

use super::access::AccessTrace;
use serde::Serialize;
use serde_json::{Map, Value, json};
use spadkit_base::quote::without_folder;
use spadkit_base::toolkit::Users;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The line of an access site, as extra fields of its accesses have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// `ptx_line`: 1-based line of the PTX.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx_line: Option<u32>,
    /// `ptx_file`: the PTX that the line is of, where several are linked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptx_file: Option<String>,
    /// `source`: `file:line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// `inlined_at`: the calls through which it came into the kernel, as
    /// `file:line`, the innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inlined_at: Vec<String>,
}

impl Place {
    /// The place as fields of a JSON object; unknown fields are omitted.
    pub fn fields(&self) -> Map<String, Value> {
        match json!(self) {
            Value::Object(fields) => fields,
            other => unreachable!("a struct is an object, not {other}"),
        }
    }

    fn of_fields(fields: &Map<String, Value>) -> Self {
        let line = fields.get("ptx_line").and_then(Value::as_u64);
        let text = |key| fields.get(key).and_then(Value::as_str).map(str::to_owned);
        let calls = fields.get("inlined_at").and_then(Value::as_array);
        let calls = calls.into_iter().flatten();
        Place {
            ptx_line: line.and_then(|l| u32::try_from(l).ok()),
            ptx_file: text("ptx_file"),
            source: text("source"),
            inlined_at: calls
                .filter_map(|c| c.as_str().map(str::to_owned))
                .collect(),
        }
    }

    /// If the line is in a header of the toolkit: the user's line instead, and the
    /// header lines that it leads to.
    pub fn of_user(self) -> (Self, Vec<String>) {
        let own = self.source.as_deref();
        let users = own.map(|source| Users::of(source, &self.inlined_at));
        let Some((users, (header, calls))) = users.and_then(|u| Some((u, u.through?))) else {
            return (self, Vec::new());
        };
        let through = std::iter::once(header.to_owned()).chain(calls.iter().cloned());
        let users = Place {
            source: Some(users.line.to_owned()),
            inlined_at: users.calls.to_vec(),
            ..self.clone()
        };
        (users, through.collect())
    }

    /// The place for people: `PTX 85, fwt.cu:31`, the files without their folders,
    /// and the calls around it.
    pub fn text(&self) -> String {
        let ptx = self.ptx_line;
        let ptx = ptx.map(|line| ptx_text(self.ptx_file.as_deref(), line));
        let parts = [&ptx, &self.source].into_iter().flatten();
        let parts: Vec<&str> = parts.map(|place| without_folder(place)).collect();
        parts.join(", ") + &calls_text(&self.inlined_at)
    }
}

/// The calls around a line, the innermost first: `  in fwt.cu:40`.
pub fn calls_text(calls: &[String]) -> String {
    let call = |call: &String| format!("  in {}", without_folder(call));
    calls.iter().map(call).collect()
}

/// A line of the PTX in a table: `PTX 85`, or `a.ptx:85` where several files
/// are linked.
pub fn ptx_text(file: Option<&str>, line: u32) -> String {
    match file {
        Some(file) => format!("{file}:{line}"),
        None => format!("PTX {line}"),
    }
}

/// A line of the PTX in a sentence: `line 85`, or `line 85 of a.ptx` where
/// several files are linked.
pub fn line_of_file(file: Option<&str>, line: u32) -> String {
    match file {
        Some(file) => format!("line {line} of {file}"),
        None => format!("line {line}"),
    }
}

/// A common cause of access sites: a line of the source, with the calls that
/// were inlined around it.
///
/// Lines of a file are in the order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// `file:line`, and the calls through which it came into the kernel.
    Source(String, Vec<String>),
    /// A line of the PTX, and its file where several are linked.
    Ptx(Option<String>, u32),
    /// An access site without a known line.
    Site(u32),
}

impl Line {
    /// Lines of the source come first, then those of the PTX.
    fn kind(&self) -> u8 {
        match self {
            Line::Source(..) => 0,
            Line::Ptx(..) => 1,
            Line::Site(..) => 2,
        }
    }

    /// The line of site `pc`, whose place is `place`.
    pub fn of(place: &Place, pc: u32) -> Self {
        match (&place.source, place.ptx_line) {
            (Some(source), _) => Line::Source(source.clone(), place.inlined_at.clone()),
            (None, Some(line)) => Line::Ptx(place.ptx_file.clone(), line),
            (None, None) => Line::Site(pc),
        }
    }

    /// The line for people, its file without the folder, and the calls around it.
    pub fn text(&self) -> String {
        match self {
            Line::Source(place, calls) => without_folder(place).to_owned() + &calls_text(calls),
            Line::Ptx(file, line) => ptx_text(file.as_deref(), *line),
            Line::Site(pc) => format!("access site {pc}"),
        }
    }
}

impl Ord for Line {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Line::Source(a, calls), Line::Source(b, others)) => {
                let by_number = key(a).cmp(&key(b));
                let calls_by_number = || {
                    let own = calls.iter().map(|c| key(c));
                    own.cmp(others.iter().map(|c| key(c)))
                };
                // `07` and `7` are different texts.
                by_number
                    .then_with(calls_by_number)
                    .then_with(|| (a, calls).cmp(&(b, others)))
            }
            (Line::Ptx(a, line), Line::Ptx(b, other)) => (a, line).cmp(&(b, other)),
            (Line::Site(a), Line::Site(b)) => a.cmp(b),
            _ => self.kind().cmp(&other.kind()),
        }
    }
}

impl PartialOrd for Line {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The file and the number of `file:line`.
fn key(place: &str) -> (&str, u64) {
    let parts = place.rsplit_once(':');
    let numbered = parts.and_then(|(file, line)| Some((file, line.parse().ok()?)));
    numbered.unwrap_or((place, 0))
}

/// The places of the access sites of a trace, as far as known.
#[derive(Clone, Debug, Default)]
pub struct Places(BTreeMap<u32, Place>);

impl FromIterator<(u32, Place)> for Places {
    fn from_iter<T: IntoIterator<Item = (u32, Place)>>(places: T) -> Self {
        Places(places.into_iter().collect())
    }
}

impl AccessTrace {
    /// The places of the trace's access sites.
    pub fn places(&self) -> Places {
        let mut places = BTreeMap::new();
        for access in self.accesses.iter().filter(|a| !a.extra.is_empty()) {
            let place = || Place::of_fields(&access.extra);
            places.entry(access.pc).or_insert_with(place);
        }
        places.retain(|_, place| *place != Place::default());
        Places(places)
    }
}

impl Places {
    /// No site has one.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The place of site `pc`; empty if it is not known.
    pub fn of(&self, pc: u32) -> Place {
        self.0.get(&pc).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn lines_are_in_the_order_of_their_numbers() {
        let line = |source: &str, call: &str| Line::Source(source.into(), vec![call.into()]);
        let ordered = [
            line("a.cu:9", "a.cu:11"),
            line("a.cu:10", "a.cu:9"),
            line("a.cu:10", "a.cu:20"),
            line("a.cu:10", "b.cu:3"),
            line("b.cu:1", ""),
            Line::Ptx(None, 4),
            Line::Ptx(None, 12),
            Line::Site(1),
        ];
        assert!(ordered.is_sorted());
        assert!(ordered.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn sites_have_the_lines_that_their_accesses_have() {
        let text = r#"{"name":"t","source":"s","block_dim":[1,1,1],"shared_bytes":64,"warp_size":1,
"accesses":[{"warp":0,"pc":0,"op":"load","addrs":[0],"ptx_line":7,"source":"a/b.cu:3"},
{"warp":0,"pc":1,"op":"load","addrs":[0],"ptx_line":-7,"source":[]},
{"warp":0,"pc":2,"op":"load","addrs":[0]}]}"#;
        let trace = AccessTrace::from_json(text, Path::new("t.json")).unwrap();
        let places = trace.places();
        assert_eq!(places.of(0).text(), "PTX 7, b.cu:3");
        let calls = ["a/b.cu:8".to_owned(), "c.cu:9".to_owned()];
        let called = Place {
            inlined_at: calls.to_vec(),
            ..places.of(0)
        };
        assert_eq!(called.text(), "PTX 7, b.cu:3  in b.cu:8  in c.cu:9");
        assert_eq!((places.of(1), places.0.len()), (Place::default(), 1));
        let fields = json!({"ptx_line": 7, "source": "a/b.cu:3"});
        assert_eq!(json!(places.of(0)), fields);
    }
}
