//! Temporary files, and those left behind by killed runs.
//!
//! Such a file says in its name whose it is, `.spadkit-PID-...`, and is locked
//! while it is in use. A run that is killed leaves it; the next one that works
//! in the folder removes what belongs to no process that runs.

use crate::error::{Error, Result};
use crate::interrupt::Unfinished;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

const PREFIX: &str = ".spadkit-";

fn prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}

/// A new file in `folder`, with the mode of the umask. Errors are those of the system:
/// they do not name the file, which the user has never heard of.
pub(super) fn file_in(folder: &Path) -> std::io::Result<NamedTempFile> {
    clear(folder);
    let open = |path: &Path| {
        let mut options = File::options();
        options.read(true).write(true).create_new(true).open(path)
    };
    let file = tempfile::Builder::new()
        .prefix(&prefix())
        .make_in(folder, open)?;
    lock(file.as_file());
    Ok(file)
}

/// Whether [`file_in`] makes a file; leaves nothing.
pub(super) fn probe(folder: &Path) -> std::io::Result<()> {
    let file = file_in(folder)?;
    let _unfinished = Unfinished::new(file.path());
    drop(file);
    Ok(())
}

/// A folder of its own below the system's for temporary files; it goes with
/// this, and where a signal ends the program.
pub struct Scratch {
    dir: PathBuf,
    _lock: Option<File>,
    _unfinished: Unfinished,
}

impl Scratch {
    /// Makes the folder.
    pub fn new() -> Result<Self> {
        let all = std::env::temp_dir();
        clear(&all);
        let make = |path: &Path| DirBuilder::new().mode(0o700).create(path);
        let dir = tempfile::Builder::new()
            .prefix(&prefix())
            .make_in(&all, make);
        let dir = dir.map_err(|e| Error::io("create a folder in", &all, e))?;
        let dir = dir
            .into_temp_path()
            .keep()
            .map_err(|e| Error::io("create a folder in", &all, e.error))?;
        let open = File::open(&dir).ok();
        open.iter().for_each(lock);
        Ok(Scratch {
            _lock: open,
            _unfinished: Unfinished::new(&dir),
            dir,
        })
    }

    /// Its path.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// Locks the file. Without support for locks, there is no lock, and nothing is
/// removed.
fn lock(file: &File) {
    let _ = flock(file, FlockOperation::NonBlockingLockShared);
}

/// Locks a file that only its writer may have. Others that lock it are refused, or wait.
pub(super) fn lock_for_writing(file: &File) {
    let _ = flock(file, FlockOperation::NonBlockingLockExclusive);
}

/// Removes what killed runs of this user left in `folder`.
fn clear(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_left(&entry.file_name().to_string_lossy(), &entry.path()) {
            let path = entry.path();
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
        }
    }
}

fn is_left(name: &str, path: &Path) -> bool {
    let owner = name.strip_prefix(PREFIX).and_then(|n| n.split_once('-'));
    let Some(owner) = owner.and_then(|(pid, _)| pid.parse::<u32>().ok()) else {
        return false;
    };
    let own = fs::symlink_metadata(path).is_ok_and(|m| {
        m.uid() == rustix::process::geteuid().as_raw() && (m.is_file() || m.is_dir())
    });
    if !own || Path::new(&format!("/proc/{owner}")).exists() {
        return false;
    }
    // A process of another container has no number here, but its lock.
    let free = |file: File| flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
    File::open(path).is_ok_and(free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_run_left_is_cleared_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        // No process has such a number.
        let left = at(".spadkit-4294967294-aaaaaa");
        let held = at(".spadkit-4294967294-bbbbbb");
        let running = at(&format!("{}cccccc", prefix()));
        let other = at(".spadkit-new");
        for path in [&left, &held, &running, &other] {
            fs::write(path, "").unwrap();
        }
        fs::create_dir(at(".spadkit-4294967294-dir")).unwrap();
        fs::write(at(".spadkit-4294967294-dir/k.spt"), "").unwrap();
        let lock = File::open(&held).unwrap();
        super::lock(&lock);
        drop(file_in(folder.path()).unwrap());
        assert!(!left.exists() && !at(".spadkit-4294967294-dir").exists());
        assert!(held.exists() && running.exists() && other.exists());
    }
}
