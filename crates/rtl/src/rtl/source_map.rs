//! Source maps, version 3: for each line of Verilog the line of the description in
//! Rust that wrote it.

use super::design::SourceFile;
use serde::Serialize;
use spadkit_hdl::Origin;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_format() {
        let numbers = [0, 1, -1, 15, 16, -16, 511, 512, 1000].map(vlq);
        assert_eq!(
            numbers,
            ["A", "C", "D", "e", "gB", "hB", "+f", "ggB", "w+B"]
        );
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
