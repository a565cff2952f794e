//! Folders that hold exactly the files of the last command, and never lose the
//! user's files.
//!
//! A folder that the kit wrote carries a list of its files with their digests
//! ([`OWNED_LIST`]). A file that still is as the kit wrote it is replaced, or
//! removed where the new content of the folder does not have it. A file in the
//! way (changed since, or not the kit's but under a name that is to be written)
//! is named and kept, and nothing is written. Other files are
//! ignored.
//!
//! A run that is killed leaves a folder that the next run understands: before
//! the first file changes, the list names the old and the new content of all.

use super::owned_list::{OWNED_LIST, OwnedList};
use super::{MadeDirs, place, refuse_dash, scratch};
use crate::claims;
use crate::digest::sha256_hex;
use crate::error::{Error, Result};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The folder in which files are written before they are moved to their final path.
const STAGING: &str = ".spadkit-new";

/// A folder for what a command writes.
#[derive(Clone, Debug)]
pub struct OwnedFolder {
    dir: PathBuf,
    force: bool,
}

/// One file of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedFile {
    /// Name below the folder, `a.v` or `tb/a.v`.
    pub name: String,
    /// The bytes.
    pub content: Vec<u8>,
}

impl OwnedFile {
    /// A file of text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        OwnedFile {
            name: name.into(),
            content: text.into().into_bytes(),
        }
    }

    fn known(&self) -> (&str, Option<&[u8]>) {
        (&self.name, Some(&self.content))
    }
}

/// A folder that is locked. What was made of it goes before the lock does.
struct Entered {
    made: MadeDirs,
    _lock: File,
}

/// What becomes of the kit's files that are not written again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    Go,
    Stay,
}

/// The changes that a write makes.
#[derive(Default)]
struct Plan {
    /// Files to be written, by index.
    write: Vec<usize>,
    /// Files to be removed.
    remove: Vec<String>,
    /// Files in the way, each with the reason.
    in_the_way: Vec<String>,
    /// Folders in the way of files, which are never removed.
    folders: Vec<String>,
}

/// The kind of what exists at the path of a file to be written.
enum Existing {
    Nothing,
    Folder,
    /// A file with its content, or a link or device.
    File(Vec<u8>, Metadata),
}

/// Why a file is kept.
const EDITED: &str = "has changed since spadkit wrote it";
const NOT_OURS: &str = "was not written by spadkit";
const READ_ONLY: &str = "is read-only";
const NO_FILE: &str = "is a link or a device, not a file that spadkit wrote";

impl OwnedFolder {
    /// The folder at `dir`, which need not be there. With `force`, files in
    /// the way are replaced and removed like the others.
    pub fn new(dir: impl Into<PathBuf>, force: bool) -> Self {
        OwnedFolder {
            dir: dir.into(),
            force,
        }
    }

    /// The path of the folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Refuses what [`OwnedFolder::write`] would refuse for files of these
    /// names, before the work that fills them; leaves nothing behind.
    pub fn check(&self, names: &[&str]) -> Result<()> {
        self.check_for(names.iter().map(|name| (*name, None)).collect())
    }

    /// Checks files as [`OwnedFolder::check`] does, whose content is already known.
    pub fn check_files(&self, files: &[OwnedFile]) -> Result<()> {
        self.check_for(files.iter().map(OwnedFile::known).collect())
    }

    fn check_for(&self, files: Vec<(&str, Option<&[u8]>)>) -> Result<()> {
        let names: Vec<&str> = files.iter().map(|file| file.0).collect();
        self.check_place()?;
        let _entered = self.enter()?;
        self.check_owner(&names)?;
        let probed = scratch::probe(&self.dir);
        probed.map_err(|e| Error::io("write into", &self.dir, e))?;
        self.refuse(&self.plan(&self.list()?, files, Others::Go)?)
    }

    /// Makes `files` the kit's files of this folder: all of them, or if
    /// something is in the way, nothing.
    pub fn write(&self, files: &[OwnedFile]) -> Result<()> {
        self.write_in_steps(files, Others::Go, &mut || {})
    }

    /// Adds `files` to the kit's files of this folder, of which the others stay.
    pub fn add(&self, files: &[OwnedFile]) -> Result<()> {
        self.write_in_steps(files, Others::Stay, &mut || {})
    }

    /// Calls `step` between any two changes that others can see.
    fn write_in_steps(
        &self,
        files: &[OwnedFile],
        others: Others,
        step: &mut dyn FnMut(),
    ) -> Result<()> {
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        self.check_place()?;
        let entered = self.enter()?;
        self.check_owner(&names)?;
        let old = self.list()?;
        let known = files.iter().map(OwnedFile::known).collect();
        let plan = self.plan(&old, known, others)?;
        self.refuse(&plan)?;
        let mut new = OwnedList::default();
        for file in files {
            new.add(&file.name, sha256_hex(&file.content));
        }
        if others == Others::Stay {
            let written = |name: &str| files.iter().any(|file| file.name == name);
            new.add_all(&old.without(&written));
        }
        step();
        let staging = Staging::new(&self.dir)?;
        step();
        for &i in &plan.write {
            claims::written(&self.dir.join(&files[i].name))?;
        }
        for &i in &plan.write {
            staging.put(i, &files[i].content, &self.dir.join(&files[i].name))?;
            step();
        }
        // A killed run's list may hold more than this folder now needs.
        let mut both = old.clone();
        both.add_all(&new);
        self.put_list(&staging, &both, step)?;
        for &i in &plan.write {
            staging.place(i, &self.dir.join(&files[i].name))?;
            step();
        }
        for name in &plan.remove {
            self.remove(name)?;
            step();
        }
        self.put_list(&staging, &new, step)?;
        drop(staging);
        entered.made.keep();
        Ok(())
    }

    /// Refuses a path that cannot be a folder.
    fn check_place(&self) -> Result<()> {
        refuse_dash(&self.dir)?;
        if self.dir.exists() && !self.dir.is_dir() {
            let reason = ErrorKind::NotADirectory.into();
            return Err(Error::io("write into", &self.dir, reason));
        }
        Ok(())
    }

    /// Refuses a folder that is not for files of these names. Needs the lock:
    /// while another run writes, its files can be there before its list.
    fn check_owner(&self, names: &[&str]) -> Result<()> {
        if self.force {
            Ok(())
        } else {
            place::check(&self.dir, names)
        }
    }

    /// Makes the folder where it is missing, and locks it: two runs that write into one
    /// folder do so one after the other.
    fn enter(&self) -> Result<Entered> {
        let (made, lock) = MadeDirs::with(&self.dir, || self.lock())?;
        let lock = lock.map_err(|e| Error::io("open", &self.dir, e))?;
        Ok(Entered { made, _lock: lock })
    }

    /// The locked folder. It is gone if another run removed it while this one waited.
    fn lock(&self) -> std::io::Result<File> {
        let dir = File::open(&self.dir)?;
        // Without support for locks, there is no lock.
        let _ = rustix::io::retry_on_intr(|| flock(&dir, FlockOperation::LockExclusive));
        let (own, there) = (dir.metadata()?, fs::metadata(&self.dir)?);
        if (own.dev(), own.ino()) == (there.dev(), there.ino()) {
            Ok(dir)
        } else {
            Err(ErrorKind::NotFound.into())
        }
    }

    /// The list in the folder; empty if there is none.
    fn list(&self) -> Result<OwnedList> {
        let path = self.dir.join(OWNED_LIST);
        let read = || {
            if fs::metadata(&path)?.is_file() {
                fs::read(&path)
            } else {
                Err(ErrorKind::InvalidInput.into())
            }
        };
        let text = match read() {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(OwnedList::default()),
            text => text.map_err(|e| Error::io("read", &path, e))?,
        };
        let text = String::from_utf8_lossy(&text);
        if self.force {
            Ok(OwnedList::readable_part(&text))
        } else {
            OwnedList::parse(&text, &path)
        }
    }

    /// Compares the folder with what is to be written. A content of `None` is not known yet.
    fn plan(
        &self,
        old: &OwnedList,
        files: Vec<(&str, Option<&[u8]>)>,
        others: Others,
    ) -> Result<Plan> {
        let mut plan = Plan::default();
        for (i, (name, content)) in files.iter().enumerate() {
            let (there, meta) = match self.look(name)? {
                Existing::File(there, meta) => (there, meta),
                Existing::Folder => {
                    plan.folders.push(format!("{name}: is a directory"));
                    continue;
                }
                Existing::Nothing => {
                    plan.write.push(i);
                    continue;
                }
            };
            if meta.is_file() && *content == Some(&there[..]) {
                continue;
            }
            plan.write.push(i);
            let reason = match () {
                _ if !meta.is_file() => NO_FILE,
                _ if !old.has(name) => NOT_OURS,
                _ if !old.has_content(name, &there) => EDITED,
                _ if meta.permissions().readonly() => READ_ONLY,
                _ => continue,
            };
            plan.in_the_way.push(format!("{name} {reason}"));
        }
        for name in old.names() {
            if others == Others::Stay || files.iter().any(|(n, _)| *n == name) {
                continue;
            }
            let Ok(Existing::File(there, meta)) = self.look(name) else {
                continue; // removed, or a folder by now
            };
            plan.remove.push(name.to_owned());
            let reason = match () {
                _ if !meta.is_file() => NO_FILE,
                _ if !old.has_content(name, &there) => EDITED,
                _ if meta.permissions().readonly() => READ_ONLY,
                _ => continue,
            };
            plan.in_the_way.push(format!("{name} {reason}"));
        }
        Ok(plan)
    }

    /// The kind of what exists under `name`. Fails if a parent folder of it is not a
    /// directory.
    fn look(&self, name: &str) -> Result<Existing> {
        let place = self.dir.join(name);
        for folder in Path::new(name).ancestors().skip(1) {
            let folder = self.dir.join(folder);
            let meta = if folder == self.dir {
                fs::metadata(&folder)
            } else {
                fs::symlink_metadata(&folder)
            };
            match meta {
                Ok(meta) if meta.is_dir() => {}
                Ok(_) => return Err(Error::io("write", &place, ErrorKind::NotADirectory.into())),
                Err(_) => return Ok(Existing::Nothing),
            }
        }
        let meta = match fs::symlink_metadata(&place) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Existing::Nothing),
            meta => meta.map_err(|e| Error::io("read", &place, e))?,
        };
        if meta.is_dir() {
            return Ok(Existing::Folder);
        }
        let content = if meta.is_file() {
            fs::read(&place).map_err(|e| Error::io("read", &place, e))?
        } else {
            Vec::new()
        };
        Ok(Existing::File(content, meta))
    }

    fn refuse(&self, plan: &Plan) -> Result<()> {
        let files: &[String] = if self.force { &[] } else { &plan.in_the_way };
        let forced = match (files, &plan.folders[..]) {
            ([], []) => return Ok(()),
            ([], _) => "",
            (_, []) => "; --force replaces or removes it",
            _ => "; --force replaces or removes files, not folders",
        };
        let dir = self.dir.display();
        let list: String = files.iter().map(|file| format!("{file}\n")).collect();
        let folders: String = plan.folders.iter().map(|f| format!("; {f}")).collect();
        Err(Error::usage(
            format!("{dir} contains conflicting files; nothing was written{folders}"),
            format!("{list}move them away or choose another folder{forced}"),
        ))
    }

    fn put_list(&self, staging: &Staging, list: &OwnedList, step: &mut dyn FnMut()) -> Result<()> {
        let (text, place) = (list.text(), self.dir.join(OWNED_LIST));
        // A link is replaced, too: the list is the folder's own.
        let is_file = fs::symlink_metadata(&place).is_ok_and(|m| m.is_file());
        if is_file && fs::read(&place).is_ok_and(|there| there == text.as_bytes()) {
            return Ok(());
        }
        staging.put(usize::MAX, text.as_bytes(), &place)?;
        step();
        staging.place(usize::MAX, &place)?;
        step();
        Ok(())
    }

    /// Removes a file, and its folder below this one if it was the last there.
    fn remove(&self, name: &str) -> Result<()> {
        let place = self.dir.join(name);
        fs::remove_file(&place).map_err(|e| Error::io("remove", &place, e))?;
        for folder in Path::new(name).ancestors().skip(1) {
            if !folder.as_os_str().is_empty() && fs::remove_dir(self.dir.join(folder)).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Files that are written but not yet moved, in a hidden folder inside the
/// folder. The folder may be a mount point, and a rename cannot cross file
/// systems.
struct Staging(PathBuf);

impl Staging {
    fn new(dir: &Path) -> Result<Self> {
        let path = dir.join(STAGING);
        // Removes leftovers of a killed run.
        let _ = fs::remove_file(&path);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).map_err(|e| Error::io("write into", dir, e))?;
        Ok(Staging(path))
    }

    fn at(&self, index: usize) -> PathBuf {
        self.0.join(index.to_string())
    }

    /// Writes the content that will be moved to `place`.
    fn put(&self, index: usize, content: &[u8], place: &Path) -> Result<()> {
        let written = File::create(self.at(index)).and_then(|mut file| {
            file.write_all(content)?;
            if let Ok(old) = fs::symlink_metadata(place)
                && old.is_file()
            {
                let writable = old.permissions().mode() | 0o200;
                file.set_permissions(fs::Permissions::from_mode(writable))?;
            }
            // No sync: for hundreds of files it takes longer than making them, and they
            // can be made again.
            Ok(())
        });
        written.map_err(|e| Error::io("write", place, e))
    }

    /// Moves it there.
    fn place(&self, index: usize, place: &Path) -> Result<()> {
        let parent = place.parent().map_or(Ok(()), fs::create_dir_all);
        let moved = parent.and_then(|()| fs::rename(self.at(index), place));
        moved.map_err(|e| Error::io("write", place, e))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests;
