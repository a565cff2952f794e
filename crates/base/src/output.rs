//! Writes files atomically, and folders without losing the user's files.

mod owned_folder;
mod owned_list;
mod place;
mod scratch;

pub use owned_folder::{OwnedFile, OwnedFolder};
pub use owned_list::OWNED_LIST;
pub use scratch::Scratch;

use crate::claims;
use crate::error::{Error, Result};
use crate::interrupt::Unfinished;
use std::fs::{File, Permissions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Writes `content` to `path` as a [`NewFile`].
pub fn write_file(path: &Path, content: &[u8]) -> Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(content)
        .map_err(|e| Error::io("write", path, e))?;
    file.finish()
}

/// What the name of a result ends in whose work was stopped before its end.
pub const PARTIAL: &str = ".partial";

/// Writes a result that goes to `path`. If the work was stopped before its end,
/// the partial result goes to `path` with `.partial`, and a whole file of an
/// earlier run stays; the next whole result removes it. Returns the path of what was
/// written.
pub fn write_result(path: &Path, content: &[u8], whole: bool) -> Result<PathBuf> {
    let mut name = path.as_os_str().to_owned();
    if !whole && path.metadata().map_or(true, |meta| meta.is_file()) {
        name.push(PARTIAL);
    }
    let written = PathBuf::from(name);
    write_file(&written, content)?;
    if whole {
        remove_partial(path);
    }
    Ok(written)
}

/// Removes the partial result that an interrupted run left beside the whole one,
/// unless this command has read it.
fn remove_partial(path: &Path) {
    let mut name = path.as_os_str().to_owned();
    name.push(PARTIAL);
    let partial = PathBuf::from(name);
    let is_file = partial.symlink_metadata().is_ok_and(|meta| meta.is_file());
    if is_file && claims::written(&partial).is_ok() {
        let _ = std::fs::remove_file(&partial);
    }
}

/// A file that is written under a temporary name and renamed when it is
/// complete: a reader sees either the old file or all of the new one, never a
/// part. A symbolic link is followed. A device or a pipe is written to, not
/// replaced.
pub struct NewFile {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    Beside {
        /// Gone with the file, also where a signal ends the program.
        unfinished: Unfinished,
        file: NamedTempFile,
        target: PathBuf,
        /// The mode of the replaced file; a new file gets its mode from the umask.
        mode: Option<Permissions>,
        made: MadeDirs,
    },
    Device(File),
}

impl NewFile {
    /// Begins a file that is to be at `path`; makes the folders above it.
    pub fn create(path: &Path) -> Result<Self> {
        let fail = |e| Error::io("write", path, e);
        refuse_dash(path)?;
        claims::written(path)?;
        // By its own name: a link may lead to a pipe, which has no path.
        let sink = match std::fs::metadata(path) {
            Ok(old) if old.is_dir() => return Err(fail(ErrorKind::IsADirectory.into())),
            Ok(old) if !old.is_file() => {
                let device = File::options().write(true).open(path);
                Sink::Device(device.map_err(fail)?)
            }
            old => {
                let target = followed(path);
                let parent = parent_of(&target);
                let (made, file) = MadeDirs::with(parent, || scratch::file_in(parent))?;
                let file = file.map_err(fail)?;
                Sink::Beside {
                    unfinished: Unfinished::new(file.path()),
                    file,
                    made,
                    mode: old.ok().map(|old| old.permissions()),
                    target,
                }
            }
        };
        Ok(NewFile {
            path: path.to_owned(),
            sink,
        })
    }

    /// Renames the complete file to its final name.
    pub fn finish(self) -> Result<()> {
        self.put(|_| {}).map(drop)
    }

    /// Finishes as [`NewFile::finish`] does, and returns the file for more to be
    /// written. Nobody else can lock it before it has its name.
    pub fn finish_locked(self) -> Result<File> {
        self.put(scratch::lock_for_writing)
    }

    fn put(self, before: fn(&File)) -> Result<File> {
        let fail = |e| Error::io("write", &self.path, e);
        match self.sink {
            Sink::Device(mut device) => {
                device.flush().map_err(fail)?;
                Ok(device)
            }
            // Dropped from the last to the first: the file before its folders.
            Sink::Beside {
                made,
                file,
                unfinished,
                target,
                mode,
            } => {
                file.as_file().sync_all().map_err(fail)?;
                if let Some(mode) = mode {
                    file.as_file().set_permissions(mode).map_err(fail)?;
                }
                before(file.as_file());
                let file = file.persist(&target).map_err(|e| fail(e.error))?;
                drop(unfinished);
                made.keep();
                Ok(file)
            }
        }
    }
}

/// The file that `path` names: what a link points to is replaced, not the link, also
/// where that is not there yet.
fn followed(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    // Linux follows as many links.
    for _ in 0..40 {
        match std::fs::read_link(&target) {
            Ok(next) => target = parent_of(&target).join(next),
            Err(_) => break,
        }
    }
    std::fs::canonicalize(&target).unwrap_or(target)
}

/// Past the temporary file's own errors, which name it.
impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.sink {
            Sink::Beside { file, .. } => file.as_file_mut().write(bytes),
            Sink::Device(device) => device.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.sink {
            Sink::Beside { file, .. } => file.as_file_mut().flush(),
            Sink::Device(device) => device.flush(),
        }
    }
}

/// Refuses what [`write_file`] would fail on, before the work whose result
/// goes to `path`; leaves nothing behind. A command asks once for each of its
/// results: two for one file are refused, and so is a file that the command reads.
pub fn check_writable(path: &Path) -> Result<()> {
    let fail = |e| Error::io("write", path, e);
    refuse_dash(path)?;
    claims::output(path)?;
    match std::fs::metadata(path) {
        Ok(old) if old.is_dir() => return Err(fail(ErrorKind::IsADirectory.into())),
        Ok(old) if !old.is_file() => return Ok(()),
        _ => {}
    }
    let parent = parent_of(path);
    let (_made, probed) = MadeDirs::with(parent, || scratch::probe(parent))?;
    probed.map_err(fail)
}

/// Makes the folders above a file that is to be at `path`, as [`NewFile::create`] does.
pub fn make_folder_of(path: &Path) -> Result<()> {
    MadeDirs::all(parent_of(&followed(path))).map(MadeDirs::keep)
}

/// `-` is an input; as an output it would be a file of that name.
fn refuse_dash(path: &Path) -> Result<()> {
    if path.as_os_str() == "-" {
        Err(Error::usage(
            "'-' is not an output",
            "name a file or folder; /dev/stdout is standard output, ./- is called like that",
        ))
    } else {
        Ok(())
    }
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Directories made for a file, which go again unless the file gets there.
pub(crate) struct MadeDirs(Vec<PathBuf>);

/// Times that a folder is made again which another run removed before it was entered.
const TRIES: u32 = 100;

impl MadeDirs {
    /// Makes `dir` and what is missing above it.
    pub(crate) fn all(dir: &Path) -> Result<Self> {
        Self::with(dir, || Ok(())).map(|(made, _)| made)
    }

    /// Makes `dir` and what is missing above it, and puts something into it: until
    /// then, another run that made the same folders may remove them again.
    pub(crate) fn with<T>(
        dir: &Path,
        enter: impl Fn() -> std::io::Result<T>,
    ) -> Result<(Self, std::io::Result<T>)> {
        let mut made = MadeDirs(Vec::new());
        let mut tries = 0..TRIES;
        loop {
            let missing = dir
                .ancestors()
                .take_while(|d| !d.as_os_str().is_empty() && !d.exists());
            let missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
            if missing.len() > made.0.len() {
                made.0 = missing;
            }
            let there = std::fs::create_dir_all(dir);
            let is_there = there.is_ok();
            let entered = there.and_then(|()| enter());
            // "Exists" is said of a folder that another run made and has removed since.
            let is_gone = |e: &std::io::Error| {
                matches!(e.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists)
            };
            if entered.as_ref().is_err_and(is_gone) && tries.next().is_some() {
                std::thread::yield_now();
                continue;
            }
            return match entered {
                Err(e) if !is_there => Err(Error::io("create", dir, e)),
                entered => Ok((made, entered)),
            };
        }
    }

    pub(crate) fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for MadeDirs {
    fn drop(&mut self) {
        // The innermost comes first; one that somebody else uses by now stays.
        for dir in &self.0 {
            let _ = std::fs::remove_dir(dir);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_go_if_the_file_does_not_get_there() {
        let scratch = tempfile::tempdir().unwrap();
        let there = scratch.path().join("a");
        check_writable(&there.join("b/c/file")).unwrap();
        assert!(!there.exists());
        write_file(&there.join("b/file"), b"1").unwrap();
        assert!(write_file(&there.join("b/file/c"), b"2").is_err());
        assert!(check_writable(&there.join("b")).is_err());
        assert_eq!(std::fs::read(there.join("b/file")).unwrap(), b"1");
        assert_eq!(std::fs::read_dir(there.join("b")).unwrap().count(), 1);
    }

    /// What another run removes before it is used is made again.
    #[test]
    fn folders_are_made_by_several_at_once() {
        let scratch = tempfile::tempdir().unwrap();
        let round = |i: usize| {
            let top = scratch.path().join(format!("top{i}"));
            std::thread::scope(|scope| {
                for name in ["a", "b", "c", "d"] {
                    let path = top.join("x/y").join(name);
                    scope.spawn(move || {
                        for _ in 0..4 {
                            check_writable(&path).unwrap();
                        }
                        write_file(&path, b"1").unwrap();
                    });
                }
            });
            assert_eq!(std::fs::read_dir(top.join("x/y")).unwrap().count(), 4);
        };
        (0..100).for_each(round);
    }

    #[test]
    fn a_whole_result_removes_a_partial_one() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("t.csv");
        let partial = scratch.path().join("t.csv.partial");
        assert_eq!(write_result(&file, b"1", false).unwrap(), partial);
        assert!(partial.exists() && !file.exists());
        assert_eq!(write_result(&file, b"2", true).unwrap(), file);
        assert!(file.exists() && !partial.exists());
    }

    #[test]
    fn links_are_followed_modes_kept_and_devices_not_replaced() {
        use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
        let scratch = tempfile::tempdir().unwrap();
        let (file, link) = (scratch.path().join("file"), scratch.path().join("link"));
        write_file(&file, b"1").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        write_file(&link, b"2").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"2");
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        // A link to what is not there yet, from another folder.
        let (far, new) = (scratch.path().join("far"), scratch.path().join("new"));
        std::fs::create_dir(&far).unwrap();
        symlink("../new", far.join("link")).unwrap();
        write_file(&far.join("link"), b"4").unwrap();
        assert_eq!(std::fs::read(&new).unwrap(), b"4");
        assert!(far.join("link").is_symlink());
        // A new file has the mode that any other program gives it here.
        File::create(scratch.path().join("plain")).unwrap();
        let mode = |name| std::fs::metadata(scratch.path().join(name)).unwrap().mode();
        assert_eq!(mode("new"), mode("plain"));
        let full = Path::new("/dev/full");
        if full.exists() {
            assert!(write_file(full, b"3").is_err());
            let kind = std::fs::metadata(full).unwrap().file_type();
            assert!(kind.is_char_device());
        }
    }
}
