//! `points.jsonl`: what has been computed, a line per point.

use super::point::{Numbers, Point};
use crate::points::{Lines, Points};
use serde_json::Value;
use spadkit_base::claims;
use spadkit_base::error::{Error, Result};
use std::collections::BTreeSet;
use std::path::Path;

/// The points of a folder, or of this run alone.
pub struct Store(Points);

impl Store {
    /// Points that are kept in memory alone.
    pub fn in_memory() -> Self {
        Store(Points::default())
    }

    /// The points of `DIR/points.jsonl`, which is made if it is not there. The
    /// last line may be broken: a run was interrupted in it.
    pub fn open(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir).map_err(|e| Error::io("create", dir, e))?;
        Points::open(&dir.join("points.jsonl")).map(Store)
    }

    /// The points of a file, which is not written.
    pub fn load(file: &Path) -> Result<Self> {
        Points::load(file).map(Store)
    }

    /// The digests of all points.
    pub fn digests(&self) -> Vec<String> {
        self.0.lines().into_keys().collect()
    }

    /// The points of `digests` as a file of their numbers alone, of those that
    /// `keys` name.
    pub fn compact(&self, digests: &BTreeSet<String>, keys: &BTreeSet<&str>) -> String {
        let lines = self.0.lines();
        let wanted = lines.iter().filter(|l| digests.contains(l.0));
        wanted.map(|(_, line)| compact(line, keys)).collect()
    }

    /// The numbers of a point.
    pub fn get(&self, digest: &str) -> Option<Numbers> {
        serde_json::from_value(self.0.line(digest)?).ok()
    }

    /// Adds a point.
    pub fn add(&self, point: &Point, numbers: Numbers) -> Result<()> {
        self.0.add_line(&point.digest, point.json(&numbers))
    }

    /// Takes the points of another folder, which has to have some, all whole.
    pub fn merge(&self, dir: &Path) -> Result<()> {
        let file = dir.join("points.jsonl");
        claims::reads(&file)?;
        self.0.put(whole(&file)?, dir)
    }

    /// Takes the points of `merged`, which were read from shards already.
    pub fn take(&self, merged: Store) -> Result<()> {
        let place = self.0.file().unwrap_or(Path::new("memory"));
        self.0.put(merged.0.into_lines(), place)
    }

    /// Puts the lines in the order of their digests: the file depends on the
    /// points alone, not on the order in which they were computed. More points
    /// may follow.
    pub fn finish(&self) -> Result<()> {
        self.0.finish()
    }
}

/// A line with digest, numbers, and the other keys that are present.
fn compact(line: &Value, keys: &BTreeSet<&str>) -> String {
    let mut short = serde_json::Map::new();
    for name in ["digest", "hash", "reason", "values"] {
        let value = match (name, line.get(name)) {
            (_, None | Some(Value::Null)) => continue,
            ("values", Some(Value::Object(values))) => {
                let kept = values.iter().filter(|v| keys.contains(v.0.as_str()));
                Value::Object(kept.map(|(k, v)| (k.clone(), v.clone())).collect())
            }
            (_, Some(value)) => value.clone(),
        };
        short.insert(name.to_owned(), value);
    }
    format!("{}\n", Value::Object(short))
}

/// The points of a shard that ran to its end: at least one, and no line broken.
fn whole(file: &Path) -> Result<Lines> {
    let refuse = |what: String| {
        let help = "expected what `reproduce --shard I/N -o DIR` writes when it ends; run the \
                    shard again";
        Err(Error::usage(format!("{}: {what}", file.display()), help))
    };
    let text = std::fs::read_to_string(file).map_err(|e| Error::io("read", file, e))?;
    if text.is_empty() {
        return refuse("there are no points".to_owned());
    }
    if !text.ends_with('\n') {
        return refuse("the last line is broken".to_owned());
    }
    let lines = Points::load(file)?.into_lines();
    let hexadecimal = |digest: &str| digest.bytes().all(|b| b.is_ascii_hexdigit());
    for (digest, line) in &lines {
        let numbers = serde_json::from_value::<Numbers>(line.clone());
        let known = line["workload"].is_object() && line["configuration"].is_object();
        if numbers.is_err() || !known || digest.is_empty() || !hexadecimal(digest) {
            return refuse(format!("'{digest}' is not a point of the kit"));
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::figure::{Configuration, Workload};

    fn point(digest: &str) -> Point {
        Point {
            figure: "elastic.f7".to_owned(),
            workload: "a".to_owned(),
            configuration: "b".to_owned(),
            work: Workload::default(),
            with: Configuration::default(),
            machine: None,
            digest: digest.to_owned(),
        }
    }

    /// A file that is no shard is refused, and the stored points are kept.
    #[test]
    fn garbage_and_empty_shards_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let shard = |name: &str, text: &str| {
            let shard = dir.path().join(name);
            std::fs::create_dir(&shard).unwrap();
            std::fs::write(shard.join("points.jsonl"), text).unwrap();
            shard
        };
        let line = point("2").json(&Numbers::default()).to_string();
        let merged = Store::open(&dir.path().join("all")).unwrap();
        merged.merge(&shard("good", &format!("{line}\n"))).unwrap();
        let cases = [
            ("empty", String::new(), "there are no points"),
            ("cut", line.clone(), "the last line is broken"),
            ("text", "garbage\n".to_owned(), "line 1: no point"),
            (
                "other",
                "{\"digest\":\"3\"}\n".to_owned(),
                "'3' is not a point",
            ),
            (
                "digest",
                line.replace("\"2\"", "\"x y\"") + "\n",
                "'x y' is not a point",
            ),
        ];
        for (name, text, reason) in cases {
            let error = merged.merge(&shard(name, &text)).unwrap_err();
            assert!(error.to_string().contains(reason), "{name}: {error}");
            assert_eq!(error.exit_status(), 2);
        }
        assert!(merged.get("2").is_some() && merged.get("3").is_none());
    }

    #[test]
    fn a_compact_file_has_the_numbers_that_are_named_and_reads_back() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::in_memory();
        let mut numbers = Numbers::default();
        numbers.values.insert("cycles".to_owned(), 7.25);
        numbers.values.insert("stalls".to_owned(), 1.0);
        store.add(&point("1"), numbers.clone()).unwrap();
        store.add(&point("2"), numbers).unwrap();
        let text = store.compact(&["1".to_owned()].into(), &["cycles"].into());
        assert_eq!(text, "{\"digest\":\"1\",\"values\":{\"cycles\":7.25}}\n");
        let file = dir.path().join("points.jsonl");
        std::fs::write(&file, &text).unwrap();
        let again = Store::load(&file).unwrap();
        assert_eq!(again.digests(), ["1"]);
        assert_eq!(again.get("1").unwrap().values["cycles"], 7.25);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }

    /// As with `--sensitivity`, whose points come after those of the figures.
    #[test]
    fn points_after_the_file_is_ordered_are_kept_by_an_interrupted_run() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        store.add(&point("2"), Numbers::default()).unwrap();
        store.add(&point("1"), Numbers::default()).unwrap();
        store.finish().unwrap();
        store.add(&point("3"), Numbers::default()).unwrap();
        drop(store); // interrupted: nothing is finished again
        let again = Store::open(dir.path()).unwrap();
        for digest in ["1", "2", "3"] {
            assert!(again.get(digest).is_some(), "{digest}");
        }
    }
}
