//! Claims of files: a command reads some and writes others, none may be both, and
//! no two results may go to one file.
//!
//! Code that reads a user's file [notes](reads) it. Code that will write one
//! [claims](output) it before the work, so a mistake is reported at once and
//! nothing is lost. [`written`] checks once more when the finished file is moved to
//! its name. Only a program that is one command keeps such lists: [`keep`].

use crate::error::{Error, Result};
use crate::quote::shown_path;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The identity of a file, whatever path names it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    /// An existing file: its device and inode.
    There(u64, u64),
    /// A path at which a file will be created.
    New(PathBuf),
}

#[derive(Default)]
struct Claims {
    read: Vec<(Identity, PathBuf)>,
    written: Vec<(Identity, PathBuf)>,
}

static CLAIMS: OnceLock<Mutex<Claims>> = OnceLock::new();

/// Keeps claims from now on: the files of this process are those of one command.
pub fn keep() {
    CLAIMS.get_or_init(Mutex::default);
}

/// The lists, where they are kept, and what a file is; devices and pipes are
/// read and written at will.
fn known<T>(path: &Path, ask: impl FnOnce(&mut Claims, Identity) -> Result<T>) -> Result<()> {
    if let (Some(claims), Some(identity)) = (CLAIMS.get(), identity(path)) {
        let mut claims = claims.lock().unwrap_or_else(PoisonError::into_inner);
        let Claims { read, written } = &mut *claims;
        read.retain(|noted| is_current(noted, &identity));
        written.retain(|noted| is_current(noted, &identity));
        ask(&mut claims, identity)?;
    }
    Ok(())
}

/// A file that is gone leaves its number to another, which is not it.
fn is_current((noted, path): &(Identity, PathBuf), now: &Identity) -> bool {
    noted != now || identity(path).as_ref() == Some(noted)
}

fn identity(path: &Path) -> Option<Identity> {
    let there = |meta: Metadata| Identity::There(meta.dev(), meta.ino());
    match std::fs::metadata(path) {
        Ok(meta) => meta.is_file().then(|| there(meta)),
        Err(_) => {
            let (parent, name) = (path.parent()?, path.file_name()?);
            let parent = if parent.as_os_str().is_empty() {
                Path::new(".")
            } else {
                parent
            };
            let parent = std::fs::canonicalize(parent).or_else(|_| std::path::absolute(parent));
            Some(Identity::New(parent.ok()?.join(name)))
        }
    }
}

/// Notes a file that is read. Fails where it is to be written.
pub fn reads(path: &Path) -> Result<()> {
    known(path, |claims, identity| {
        let is_output = claims.written.iter().any(|(i, _)| *i == identity);
        // Of an output, too: a command that goes on after the error must not write it.
        if !claims.read.iter().any(|(i, _)| *i == identity) {
            claims.read.push((identity, path.to_owned()));
        }
        if is_output { Err(both(path)) } else { Ok(()) }
    })
}

/// Claims a file for a result. Fails where it has been read, or is to have
/// another result.
pub fn output(path: &Path) -> Result<()> {
    known(path, |claims, identity| {
        refuse_read(claims, &identity, path)?;
        if claims.written.iter().any(|(i, _)| *i == identity) {
            return Err(Error::usage(
                format!("two results would be written to {}", shown_path(path)),
                "expected a file for each",
            ));
        }
        claims.written.push((identity, path.to_owned()));
        Ok(())
    })
}

/// Fails where a file that is written now has been read.
pub fn written(path: &Path) -> Result<()> {
    known(path, |claims, identity| {
        refuse_read(claims, &identity, path)
    })
}

fn refuse_read(claims: &Claims, identity: &Identity, path: &Path) -> Result<()> {
    if claims.read.iter().any(|(i, _)| i == identity) {
        Err(both(path))
    } else {
        Ok(())
    }
}

fn both(path: &Path) -> Error {
    Error::usage(
        format!(
            "{} is an input of this command, and would be overwritten",
            shown_path(path)
        ),
        "name another file for the result",
    )
}
