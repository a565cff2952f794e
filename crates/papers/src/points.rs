//! Points of a campaign: what has been computed, a line of JSON each, named by
//! the digest of everything that it depends on.
//!
//! An interrupted campaign continues where it ended, and the files of parts that ran
//! on several machines are read together.

mod file;

use file::{add_check, is_cut, lock, read, write};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use spadkit_base::claims;
use spadkit_base::error::{Error, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Raised when the models count differently, so that old points are not taken
/// for new ones.
pub const MODEL: u32 = 2;

/// Lines by digest.
pub type Lines = BTreeMap<String, Value>;

/// The campaign that the points of a shard belong to: the first line of its file.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PartOf {
    /// `2/5`: the second of five shards.
    pub shard: String,
    /// Points of this shard.
    pub points: usize,
    /// Points of all shards.
    pub all: usize,
    /// The identity of the campaign: its command, its units or inputs, and the options.
    pub campaign: String,
}

/// The result of a merge.
pub struct Merge {
    /// Points that there are.
    pub points: usize,
    /// The missing points, as a clause; none if nothing is known to be missing.
    pub missing: Option<String>,
}

/// Points in a file, or in memory alone.
#[derive(Default)]
pub struct Points {
    file: Option<PathBuf>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    lines: Lines,
    /// Set if the run is a shard.
    part: Option<PartOf>,
    /// Takes lines as points are done, so that an interrupted run keeps them.
    journal: Option<File>,
}

impl Points {
    /// The points of a file, which is made if it is not there. The last line may
    /// be broken: a run was interrupted in it. No other process may write to it.
    pub fn open(file: &Path) -> Result<Self> {
        let held = lock(file)?;
        // A continued run states its campaign again.
        let (_, lines) = read(file)?;
        let journal = Some(write(file, None, &lines)?);
        drop(held);
        let inner = Inner {
            lines,
            part: None,
            journal,
        };
        Ok(Points {
            file: Some(file.to_owned()),
            inner: Mutex::new(inner),
        })
    }

    /// Says what the points to come are a part of.
    pub fn begin(&self, part: PartOf) -> Result<()> {
        self.inner().part = Some(part);
        self.finish()
    }

    /// The points of several files: the first is [opened](Self::open) and takes
    /// the new ones, the others are read. Without a file, in memory alone.
    pub fn of(files: &[PathBuf]) -> Result<Self> {
        let Some((own, others)) = files.split_first() else {
            return Ok(Self::default());
        };
        // Bad input leaves nothing behind: it is read before anything is written.
        let mut read = Vec::new();
        for file in others {
            claims::reads(file)?;
            read.push((Self::load(file)?.into_lines(), file));
        }
        claims::output(own)?;
        let points = Self::open(own)?;
        for (lines, file) in read {
            points.put(lines, file)?;
        }
        Ok(points)
    }

    /// Writes the points of `files`, which ran to their ends, as one run has them, to
    /// `out`. Shards that are missing are refused unless `partial`.
    pub fn merged(files: &[PathBuf], out: &Path, partial: bool) -> Result<Merge> {
        let all = Self::default();
        let mut parts: Vec<(PartOf, usize)> = Vec::new();
        for file in files {
            claims::reads(file)?;
            if is_cut(file)? {
                return Err(Error::usage(
                    format!("{}: the last line is broken", file.display()),
                    "expected the points of a shard that ran to its end; run it again",
                ));
            }
            let (part, lines) = read(file)?;
            if let Some(part) = part {
                same_campaign(&parts, &part, file)?;
                parts.push((part, lines.len()));
            }
            all.put(lines, file)?;
        }
        let lines = all.into_lines();
        if lines.is_empty() {
            let named: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
            return Err(Error::usage(
                format!("no points in {}", named.join(", ")),
                "expected the points of at least one shard",
            ));
        }
        let missing = missing(&parts, lines.len());
        if let Some(missing) = missing.as_ref().filter(|_| !partial) {
            return Err(Error::usage(
                format!("this is not the whole campaign: {missing}"),
                "run what is missing with the same --points, or write what is there with --partial",
            ));
        }
        write(out, None, &lines)?;
        Ok(Merge {
            points: lines.len(),
            missing,
        })
    }

    /// The points of a file, which is not written.
    pub fn load(file: &Path) -> Result<Self> {
        let inner = Inner {
            lines: read(file)?.1,
            ..Inner::default()
        };
        Ok(Points {
            file: None,
            inner: Mutex::new(inner),
        })
    }

    /// File of the points, if they have one.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lines of all points, in the order of their digests.
    pub fn lines(&self) -> Lines {
        self.inner().lines.clone()
    }

    /// The lines, as [`lines`](Self::lines); consumes the points.
    pub fn into_lines(self) -> Lines {
        let inner = self.inner.into_inner();
        inner.unwrap_or_else(PoisonError::into_inner).lines
    }

    /// The line of a point.
    pub fn line(&self, digest: &str) -> Option<Value> {
        self.inner().lines.get(digest).cloned()
    }

    /// Adds a line, which has the digest.
    pub fn add_line(&self, digest: &str, line: Value) -> Result<()> {
        let mut inner = self.inner();
        if let (Some(journal), Some(file)) = (&mut inner.journal, &self.file) {
            let text = add_check(&line);
            if let Err(e) = journal.write_all(text.as_bytes()) {
                // Part of the line may be there; another one would be glued to it.
                inner.journal = None;
                return Err(Error::io("write", file, e));
            }
        }
        inner.lines.insert(digest.to_owned(), line);
        Ok(())
    }

    /// The result of a point, if it was computed.
    pub fn get<T: DeserializeOwned>(&self, digest: &str) -> Option<T> {
        let result = self.line(digest)?.get("result").cloned()?;
        serde_json::from_value(result).ok()
    }

    /// Adds the result of a point; `what` describes the point to a reader.
    pub fn add<T: Serialize>(&self, digest: &str, what: &str, result: &T) -> Result<()> {
        let line = json!({ "digest": digest, "point": what, "result": result });
        self.add_line(digest, line)
    }

    /// Adds lines. An error about a contradicting line names `place`.
    pub fn put(&self, lines: Lines, place: &Path) -> Result<()> {
        let mut inner = self.inner();
        for (digest, line) in lines {
            match inner.lines.get(&digest) {
                Some(known) if is_same(known, &line) => {}
                Some(_) => {
                    return Err(Error::usage(
                        format!(
                            "{}: point {digest} has other numbers than elsewhere",
                            place.display()
                        ),
                        "expected points computed by one version of spadkit",
                    ));
                }
                None => {
                    inner.lines.insert(digest, line);
                }
            }
        }
        Ok(())
    }

    /// Puts the lines in the order of their digests: the file depends on the
    /// points alone, not on the order in which they were computed. More points
    /// may follow.
    pub fn finish(&self) -> Result<()> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let mut inner = self.inner();
        // The file is another one now, and locked before the old one is let go.
        inner.journal = Some(write(file, inner.part.as_ref(), &inner.lines)?);
        Ok(())
    }
}

/// Whether two runs of a point have the same result. The time of a run, and the
/// progress of a search in that time, are not part of it.
fn is_same(one: &Value, other: &Value) -> bool {
    const EFFORT: [&str; 3] = ["evaluated", "lower_bound", "seconds"];
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| {
                    let same = |other| EFFORT.contains(&key.as_str()) || is_same(value, other);
                    other.get(key).is_some_and(same)
                })
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| is_same(a, b))
        }
        _ => one == other,
    }
}

/// Refuses a shard of another campaign than that of `parts`.
fn same_campaign(parts: &[(PartOf, usize)], part: &PartOf, file: &Path) -> Result<()> {
    match parts.first() {
        Some((first, _)) if first.campaign != part.campaign => Err(Error::usage(
            format!(
                "{}: a shard of another campaign than the first file",
                file.display()
            ),
            "expected shards of one command, with the same inputs and options",
        )),
        _ => Ok(()),
    }
}

/// The points that the shards lack; `points` is the number that they have together.
fn missing(parts: &[(PartOf, usize)], points: usize) -> Option<String> {
    let (first, _) = parts.first()?;
    let (_, count) = first.shard.split_once('/')?;
    let mut clauses = Vec::new();
    if points < first.all {
        clauses.push(format!("it has {points} of {} points", first.all));
    }
    for (part, there) in parts.iter().filter(|(part, there)| *there < part.points) {
        clauses.push(format!(
            "shard {} has {there} of its {}",
            part.shard, part.points
        ));
    }
    // Shards of another number overlap with these: then only the points count.
    if parts
        .iter()
        .all(|(part, _)| part.shard.ends_with(&format!("/{count}")))
    {
        let is_there = |i: &usize| {
            let shard = format!("{i}/{count}");
            parts.iter().any(|(part, _)| part.shard == shard)
        };
        let gone = (1..=count.parse().ok()?).filter(|i| !is_there(i));
        let gone: Vec<String> = gone.map(|i| format!("{i}/{count}")).collect();
        // A shard without work may be left out.
        if !gone.is_empty() && points < first.all {
            clauses.push(format!("no file is shard {}", gone.join(", ")));
        }
    }
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

#[cfg(test)]
mod tests;
