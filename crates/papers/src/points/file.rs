//! The file of points: its lock, and its lines with their checks.
//!
//! A file is replaced as a whole when its points are put in order. So a lock holds
//! only if the locked file is still the one at the path, and the new file is locked
//! before it gets there.

use super::{Lines, PartOf};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde_json::{Value, json};
use spadkit_base::digest::sha256_hex;
use spadkit_base::error::{Error, Result};
use spadkit_base::output::{NewFile, make_folder_of};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// What stands between the content of a line and the digits of its check.
const CHECK: &str = ",\"check\":\"";
const DIGITS: usize = 16;

/// A line as it is in a file: with the digest of the rest of its text at the end.
pub(super) fn add_check(line: &Value) -> String {
    let text = line.to_string();
    match text.strip_suffix('}') {
        Some(open) => format!("{open}{CHECK}{}\"}}\n", check_of(&text)),
        None => format!("{text}\n"),
    }
}

fn check_of(text: impl AsRef<[u8]>) -> String {
    sha256_hex(text).chars().take(DIGITS).collect()
}

/// Whether the text of a line is as it was written. One of another version has no check.
fn is_undamaged(line: &[u8], check: &Value) -> bool {
    let Some(check) = check.as_str() else {
        return check.is_null();
    };
    let end = format!("{CHECK}{check}\"}}");
    let content = line.trim_ascii_end().strip_suffix(end.as_bytes());
    content.is_some_and(|open| check_of([open, b"}"].concat()) == check)
}

/// Replaces the file: the new one, locked, to which points can be added.
pub(super) fn write(file: &Path, part: Option<&PartOf>, lines: &Lines) -> Result<File> {
    let part = part.map(|part| json!(part));
    let text: String = part.iter().chain(lines.values()).map(add_check).collect();
    let mut new = NewFile::create(file)?;
    new.write_all(text.as_bytes())
        .map_err(|e| Error::io("write", file, e))?;
    new.finish_locked()
}

/// Whether a run was interrupted in the last line.
pub(super) fn is_cut(file: &Path) -> Result<bool> {
    let bytes = std::fs::read(file).map_err(|e| Error::io("read", file, e))?;
    Ok(bytes.last().is_some_and(|last| *last != b'\n'))
}

/// The bytes without the zeros at their end: after a loss of power, a file system may have
/// given a file its length before its last bytes.
fn without_unwritten(bytes: &[u8]) -> &[u8] {
    match bytes.iter().rposition(|b| *b != 0) {
        Some(last) => &bytes[..=last],
        None => bytes,
    }
}

/// Whether a run was interrupted in this line: it begins as one that is written here.
fn is_broken(line: &[u8]) -> bool {
    const BEGINS: [&[u8]; 2] = [b"{\"digest\":\"", b"{\"shard\":\""];
    let begins = |begin: &&[u8]| line.starts_with(begin) || begin.starts_with(line);
    !line.ends_with(b"\n") && BEGINS.iter().any(begins)
}

/// The locked file, which is made if it is not there.
pub(super) fn lock(file: &Path) -> Result<File> {
    // Points are read before more of them are written: a pipe would wait for itself.
    if std::fs::metadata(file).is_ok_and(|there| !there.is_file()) {
        return Err(Error::usage(
            format!("{} is not a regular file", file.display()),
            "expected a file that keeps the points",
        ));
    }
    make_folder_of(file)?;
    let fail = |e| Error::io("write", file, e);
    // A tool that this process is about to start holds a copy of each open file until
    // it runs, so that a lock outlives its file by a moment.
    for _ in 0..20 {
        let opened = OpenOptions::new().append(true).create(true).open(file);
        let opened = opened.map_err(fail)?;
        let locked = flock(&opened, FlockOperation::NonBlockingLockExclusive);
        if locked == Err(Errno::WOULDBLOCK) {
            std::thread::sleep(Duration::from_millis(20));
            continue;
        }
        // A file system without locks gives none. Another process may have replaced
        // the file since it was opened.
        let own = opened.metadata().map_err(fail)?;
        let is_there =
            |there: std::fs::Metadata| (there.dev(), there.ino()) == (own.dev(), own.ino());
        if std::fs::metadata(file).is_ok_and(is_there) {
            return Ok(opened);
        }
    }
    Err(Error::usage(
        format!("{}: another process adds points to it", file.display()),
        "expected a file of its own for each shard",
    ))
}

/// The campaign that the points of a file are a part of, and the points.
pub(super) fn read(file: &Path) -> Result<(Option<PartOf>, Lines)> {
    let bytes = std::fs::read(file).map_err(|e| Error::io("read", file, e))?;
    let (mut part, mut lines) = (None, Lines::new());
    // The last line may be cut, also inside a character.
    let whole = without_unwritten(&bytes).split_inclusive(|b| *b == b'\n');
    for (i, line) in whole.enumerate() {
        let refuse = |what| {
            Err(Error::usage(
                format!("{}, line {}: {what}", file.display(), i + 1),
                "expected a JSON object with a digest; remove the file to compute all again",
            ))
        };
        let mut value: Option<Value> = serde_json::from_slice(line).ok();
        let object = value.as_mut().and_then(Value::as_object_mut);
        let check = object.and_then(|fields| fields.remove("check"));
        if !is_undamaged(line, &check.unwrap_or_default()) {
            return refuse("damaged: its text has another digest than its check says");
        }
        let digest = value
            .as_ref()
            .and_then(|v| v["digest"].as_str())
            .map(str::to_owned);
        match (digest, value) {
            (Some(digest), Some(value)) => {
                lines.insert(digest, value);
            }
            (None, Some(value)) if i == 0 && value.get("shard").is_some() => {
                part = serde_json::from_value(value).ok();
            }
            _ if is_broken(line) => {}
            _ => return refuse("no point"),
        }
    }
    Ok((part, lines))
}
