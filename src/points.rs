//! Points of a campaign: what has been computed, a line of JSON each, named by
//! the digest of everything that it depends on.
//!
//! An interrupted campaign continues where it ended, and the files of parts that ran
//! on several machines are read together.

use crate::claims;
use crate::error::{Error, Result};
use crate::output::write_file;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Raised when the models count differently, so that old points are not taken
/// for new ones.
pub const MODEL: u32 = 2;

/// Lines by digest.
pub type Lines = BTreeMap<String, Value>;

/// Points in a file, or in memory alone.
#[derive(Default)]
pub struct Points {
    file: Option<PathBuf>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    lines: Lines,
    /// Takes lines as points are done, so that an interrupted run keeps them.
    journal: Option<File>,
}

impl Points {
    /// The points of a file, which is made if it is not there. The last line may
    /// be broken: a run was interrupted in it. No other process may write to it.
    pub fn open(file: &Path) -> Result<Self> {
        let held = append_to(file)?;
        let lines = read(file)?;
        write(file, &lines)?;
        let journal = Some(append_to(file)?);
        drop(held);
        Ok(Points {
            file: Some(file.to_owned()),
            inner: Mutex::new(Inner { lines, journal }),
        })
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
        let points = Self::open(own)?;
        for (lines, file) in read {
            points.put(lines, file)?;
        }
        Ok(points)
    }

    /// Writes the points of `files`, which ran to their ends, as one run has them, to
    /// `out`: how many there are.
    pub fn merged(files: &[PathBuf], out: &Path) -> Result<usize> {
        let all = Self::default();
        for file in files {
            claims::reads(file)?;
            if is_cut(file)? {
                return Err(Error::usage(
                    format!("{}: the last line is broken", file.display()),
                    "expected the points of a shard that ran to its end; run it again",
                ));
            }
            all.put(read(file)?, file)?;
        }
        let lines = all.into_lines();
        if lines.is_empty() {
            let named: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
            return Err(Error::usage(
                format!("no points in {}", named.join(", ")),
                "expected the points of at least one shard",
            ));
        }
        write(out, &lines)?;
        Ok(lines.len())
    }

    /// The points of a file, which is not written.
    pub fn load(file: &Path) -> Result<Self> {
        let inner = Inner {
            lines: read(file)?,
            journal: None,
        };
        Ok(Points {
            file: None,
            inner: Mutex::new(inner),
        })
    }

    /// Its file, if it has one.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All lines, in the order of their digests.
    pub fn lines(&self) -> Lines {
        self.inner().lines.clone()
    }

    /// The same, without the points.
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
            let text = format!("{line}\n");
            if let Err(e) = journal.write_all(text.as_bytes()) {
                // Part of the line may be there; another one would be glued to it.
                inner.journal = None;
                return Err(Error::io("write", file, e));
            }
        }
        inner.lines.insert(digest.to_owned(), line);
        Ok(())
    }

    /// What a point came to, where it was computed.
    pub fn get<T: DeserializeOwned>(&self, digest: &str) -> Option<T> {
        let result = self.line(digest)?.get("result").cloned()?;
        serde_json::from_value(result).ok()
    }

    /// Adds what a point came to; `what` says to a reader what it is.
    pub fn add<T: Serialize>(&self, digest: &str, what: &str, result: &T) -> Result<()> {
        let line = json!({ "digest": digest, "point": what, "result": result });
        self.add_line(digest, line)
    }

    /// Adds lines. `place` is named where one contradicts a line that is there.
    pub fn put(&self, lines: Lines, place: &Path) -> Result<()> {
        let mut inner = self.inner();
        for (digest, line) in lines {
            match inner.lines.get(&digest) {
                Some(known) if *known != line => {
                    return Err(Error::usage(
                        format!(
                            "{}: point {digest} has other numbers than elsewhere",
                            place.display()
                        ),
                        "expected points computed by one version of spadkit",
                    ));
                }
                _ => inner.lines.insert(digest, line),
            };
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
        write(file, &inner.lines)?;
        // The file is another one now.
        inner.journal = Some(append_to(file)?);
        Ok(())
    }
}

fn write(file: &Path, lines: &Lines) -> Result<()> {
    let text: String = lines.values().map(|line| format!("{line}\n")).collect();
    write_file(file, text.as_bytes())
}

/// Whether a run was interrupted in the last line.
fn is_cut(file: &Path) -> Result<bool> {
    let bytes = std::fs::read(file).map_err(|e| Error::io("read", file, e))?;
    Ok(bytes.last().is_some_and(|last| *last != b'\n'))
}

fn append_to(file: &Path) -> Result<File> {
    let opened = OpenOptions::new().append(true).create(true).open(file);
    let opened = opened.map_err(|e| Error::io("write", file, e))?;
    let mut lock = flock(&opened, FlockOperation::NonBlockingLockExclusive);
    // A tool that this process is about to start holds a copy of each open file until
    // it runs, so that a lock outlives its file by a moment.
    for _ in 0..20 {
        if lock != Err(Errno::WOULDBLOCK) {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
        lock = flock(&opened, FlockOperation::NonBlockingLockExclusive);
    }
    match lock {
        Err(Errno::WOULDBLOCK) => Err(Error::usage(
            format!("{}: another process adds points to it", file.display()),
            "expected a file of its own for each shard",
        )),
        // A file system without locks.
        _ => Ok(opened),
    }
}

fn read(file: &Path) -> Result<Lines> {
    let bytes = std::fs::read(file).map_err(|e| Error::io("read", file, e))?;
    let mut lines = Lines::new();
    // The last line may be cut, also inside a character.
    let whole = bytes.split_inclusive(|b| *b == b'\n');
    for (i, line) in whole.enumerate() {
        let value: Option<Value> = serde_json::from_slice(line).ok();
        let digest = value
            .as_ref()
            .and_then(|v| v["digest"].as_str())
            .map(str::to_owned);
        match (digest, value) {
            (Some(digest), Some(value)) => {
                lines.insert(digest, value);
            }
            _ if !line.ends_with(b"\n") => {}
            _ => {
                return Err(Error::usage(
                    format!("{}, line {}: no point", file.display(), i + 1),
                    "expected a JSON object with a digest; remove the file to compute all again",
                ));
            }
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_run_goes_on_behind_its_last_whole_line() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("points.jsonl");
        let points = Points::open(&file).unwrap();
        points.add("2", "second", &7u32).unwrap();
        points.add("1", "first", &5u32).unwrap();
        drop(points);
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, format!("{text}{{\"digest\":\"3\",\"res")).unwrap();
        let again = Points::open(&file).unwrap();
        assert_eq!(again.get::<u32>("2"), Some(7));
        assert_eq!(again.get::<u32>("3"), None);
        again.add("3", "third", &9u32).unwrap();
        again.finish().unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let digests: Vec<&str> = text.lines().map(|l| &l[11..12]).collect();
        assert_eq!(digests, ["1", "2", "3"], "{text}");
    }

    #[test]
    fn a_line_may_be_cut_inside_a_character() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("points.jsonl");
        let points = Points::open(&file).unwrap();
        points.add("1", "first", &5u32).unwrap();
        points.add("2", "§", &6u32).unwrap();
        drop(points);
        let bytes = std::fs::read(&file).unwrap();
        let inside = bytes.iter().position(|b| *b == 0xc2).unwrap() + 1;
        std::fs::write(&file, &bytes[..inside]).unwrap();
        let again = Points::open(&file).unwrap();
        assert_eq!(
            (again.get::<u32>("1"), again.get::<u32>("2")),
            (Some(5), None)
        );
        again.add("2", "§", &6u32).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), bytes);
        // A whole line with half a character was not written here.
        let mut other = bytes[..inside].to_vec();
        other.extend_from_slice(&bytes[inside + 1..]);
        std::fs::write(&file, other).unwrap();
        let error = Points::load(&file).err().unwrap();
        assert!(error.to_string().contains("line 2: no point"), "{error}");
    }

    #[test]
    fn one_process_at_a_time_adds_to_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("points.jsonl");
        let points = Points::open(&file).unwrap();
        points.add("1", "first", &5u32).unwrap();
        let error = Points::open(&file).err().unwrap();
        assert!(error.to_string().contains("another process"), "{error}");
        assert_eq!(error.exit_status(), 2);
        // Not even the attempt changes what is there.
        points.add("2", "second", &7u32).unwrap();
        drop(points);
        assert_eq!(Points::open(&file).unwrap().lines().len(), 2);
    }

    #[test]
    fn files_that_contradict_each_other_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, result: u32| {
            let file = dir.path().join(name);
            let line = json!({"digest": "1", "point": "a", "result": result});
            std::fs::write(&file, format!("{line}\n")).unwrap();
            file
        };
        let (one, same, other) = (file("one", 1), file("same", 1), file("other", 2));
        assert!(Points::of(&[one.clone(), same]).is_ok());
        let error = Points::of(&[one, other]).err().unwrap();
        assert!(error.to_string().contains("other numbers"), "{error}");
    }
}
