//! The access trace, version 1: every shared-memory access of one thread block.

use super::executed::Executed;
use super::json_place::duplicate_key;
use crate::geometry::WORD_BYTES;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use spadkit_base::error::{Error, Result};
use spadkit_base::input::{self, Limit};
use std::path::Path;

/// The operation of a warp access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Op {
    /// A load.
    Load,
    /// A store.
    Store,
    /// An atomic read-modify-write.
    Atomic,
}

impl Op {
    /// Name of the operation in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// One access of one warp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// Warp of the block.
    pub warp: u32,
    /// Static access site, numbered in source order.
    pub pc: u32,
    /// Operation of the access.
    pub op: Op,
    /// Word address per thread of the warp; `None` for inactive threads. For
    /// accesses wider than a word, the word of the first byte.
    pub addrs: Vec<Option<u32>>,
    /// Bytes per thread: 1, 2, 4, 8 or 16.
    #[serde(default = "word", skip_serializing_if = "is_word")]
    pub bytes: u32,
    /// An atomic adds one, and nobody reads its result: GPUs from sm_80 on count
    /// the lanes of each word and add once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub increment: bool,
    /// Whether the lanes all have one address, so that on GPUs one lane does the
    /// atomic for all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aggregated: bool,
    /// Fields of other tools, kept and ignored.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Access {
    /// Words per thread, at least one.
    pub fn words(&self) -> u32 {
        (self.bytes / WORD_BYTES).max(1)
    }
}

fn word() -> u32 {
    4
}

fn is_word(bytes: &u32) -> bool {
    *bytes == 4
}

/// Every shared-memory access of one thread block, in program order per warp.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccessTrace {
    /// Name of the kernel.
    pub name: String,
    /// The origin of the trace.
    pub source: String,
    /// Threads of the block in x, y, z.
    pub block_dim: [u32; 3],
    /// Shared memory of the block in bytes.
    pub shared_bytes: u32,
    /// Threads of a warp: the length of every `addrs`.
    pub warp_size: u32,
    /// Indices i with a block-wide barrier before `accesses[i]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub barriers: Vec<u32>,
    /// The accesses.
    pub accesses: Vec<Access>,
    /// The instructions that the warps have executed, where they are known.
    #[serde(skip)]
    pub executed: Executed,
    /// Fields of other tools, kept and ignored.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Something larger than this is not a trace, but a device, for example.
const LIMIT: Limit = Limit {
    bytes: 1 << 30,
    expected: "an access trace, version 1: a JSON object",
};

impl AccessTrace {
    /// Words of the block's shared memory.
    pub fn words(&self) -> u32 {
        self.shared_bytes.div_ceil(WORD_BYTES)
    }

    /// Threads of the block.
    pub fn threads(&self) -> u64 {
        let dims = self.block_dim.iter().map(|&d| u64::from(d));
        dims.fold(1, u64::saturating_mul)
    }

    /// Reads an access trace from a JSON file, or from standard input (`-`).
    pub fn load(path: &Path) -> Result<Self> {
        let text = LIMIT.read_text(path)?;
        Self::from_json(&text, input::name_of(path))
    }

    /// The [target](AccessTrace::target) of the trace in a JSON file, or of standard input
    /// (`-`), without its accesses; none if there is none or it cannot be read.
    pub fn target_of(path: &Path) -> Option<String> {
        #[derive(Deserialize)]
        struct Head {
            #[serde(default)]
            target: Value,
        }
        let text = LIMIT.read_text(path).ok()?;
        let head: Head = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok()?;
        head.target.as_str().map(str::to_owned)
    }

    /// Parses and checks an access trace; `path` is for messages.
    pub fn from_json(text: &str, path: &Path) -> Result<Self> {
        // Some editors put a byte order mark in front.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let trace: AccessTrace =
            serde_json::from_str(text).map_err(|e| json_error(&e, text, path))?;
        if let Some((offset, key)) = duplicate_key(text) {
            let what = format!("duplicate field `{key}`");
            let help = "expected each field of an object once".to_owned();
            return Err(Error::input(what, Some(help), path, text, offset));
        }
        match trace.problem() {
            None => Ok(trace),
            Some(problem) => Err(problem.at(text, path)),
        }
    }

    /// The trace as JSON, one access a line.
    pub fn to_json(&self) -> String {
        let mut head = serde_json::to_value(self).expect("a trace has string keys only");
        let object = head.as_object_mut().expect("a trace is an object");
        object.remove("accesses");
        let head = head.to_string();
        let accesses: Vec<_> = self
            .accesses
            .iter()
            .map(|a| serde_json::to_string(a).expect("an access has string keys only"))
            .collect();
        format!(
            "{},\"accesses\":[\n{}\n]}}\n",
            &head[..head.len() - 1],
            accesses.join(",\n")
        )
    }
}

/// A JSON or type error, with the line and column that serde_json reports.
fn json_error(error: &serde_json::Error, text: &str, path: &Path) -> Error {
    let message = error.to_string();
    // The error carries line and column itself.
    let what = match message.rfind(" at line ") {
        Some(end) => message[..end].to_owned(),
        None => message,
    };
    let help = match error.classify() {
        serde_json::error::Category::Eof if text.trim().is_empty() => "the file is empty",
        serde_json::error::Category::Eof => "the file is truncated",
        serde_json::error::Category::Syntax => "expected JSON (which has no NaN, no comments)",
        _ => "see docs/reference/formats.md for the access trace, version 1",
    };
    let place = (error.line(), error.column());
    Error::input_at(what, Some(help.to_owned()), path, text, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"name":"t","source":"s","block_dim":[4,1,1],"shared_bytes":64,
"warp_size":4,"note":[1],"accesses":[
{"warp":0,"pc":1,"op":"load","addrs":[0,1,null,15]},
{"warp":0,"pc":2,"op":"atomic","addrs":[0,0,0,0],"bytes":8,"mark":true}]}"#;

    fn error(text: &str) -> String {
        AccessTrace::from_json(text, Path::new("t.json"))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_trace_survives_a_round_trip_with_foreign_fields() {
        let trace = AccessTrace::from_json(GOOD, Path::new("t.json")).unwrap();
        assert_eq!(trace.accesses[0].addrs[3], Some(15));
        assert_eq!(trace.accesses[1].bytes, 8);
        let again = AccessTrace::from_json(&trace.to_json(), Path::new("t.json")).unwrap();
        assert_eq!(again, trace);
        assert!(again.extra.contains_key("note"));
        assert!(again.accesses[1].extra.contains_key("mark"));
    }

    #[test]
    fn bad_traces_are_refused_with_the_place() {
        for (from, to, expected) in [
            (
                "15",
                "16",
                "accesses[0].addrs[3] = 16 is out of range at t.json:3:48",
            ),
            (
                "null,15",
                "15",
                "accesses[0] has 3 addrs in a warp of 4 at t.json:3:38",
            ),
            (
                "15",
                "-1",
                "invalid value: integer `-1`, expected u32 at t.json:3:",
            ),
            (
                "15",
                "1.5",
                "invalid type: floating point `1.5`, expected u32 at t.json:3:",
            ),
            ("15", "NaN", "t.json:3:48"),
            (
                "15",
                "99999999999",
                "integer `99999999999`, expected u32 at t.json:3:",
            ),
            ("15", "1e999", "number out of range at t.json:3:"),
            ("\"load\"", "\"read\"", "unknown variant `read`"),
            ("\"pc\":1", "\"pc\":1,\"pc\":1", "duplicate field `pc`"),
            (
                "\"bytes\":8",
                "\"bytes\":3",
                "accesses[1] is 3 bytes wide at t.json:4:",
            ),
            (
                "\"warp_size\":4",
                "\"warp_size\":0",
                "warp_size 0 is not supported at t.json:2:13",
            ),
            (
                "\"note\":[1]",
                "\"version\":2",
                "version 2 is not supported at t.json:2:25",
            ),
            (
                "\"note\":[1]",
                "\"barriers\":[3]",
                "barriers[0] = 3 is out of range",
            ),
            ("\"note\":[1],", "", ""),
            (
                "\"note\":[1]",
                "\"note\":1,\"note\":2",
                "duplicate field `note` at t.json:2:24",
            ),
            (
                "\"mark\":true",
                "\"mark\":{\"a\":1,\"\\u0061\":2}",
                "duplicate field `a`",
            ),
        ] {
            let text = GOOD.replacen(from, to, 1);
            if expected.is_empty() {
                AccessTrace::from_json(&text, Path::new("t.json")).unwrap();
            } else {
                assert!(error(&text).contains(expected), "{to}: {}", error(&text));
            }
        }
        assert!(error("").contains("t.json:1:1"));
        assert!(error(&GOOD[..60]).contains("EOF"));
    }
}
