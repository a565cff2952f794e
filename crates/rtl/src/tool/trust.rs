//! Whether a folder is the user's alone.
//!
//! The cache's content is loaded into the process and executed, so only the
//! user (and root) may be able to put files there. This applies to the folder
//! and to its parent folders, in which somebody could move another folder to
//! its name.

use crate::error::{Error, Result};
use crate::quote::{shell, shown_path};
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Permission bits with which others than the owner may write.
const OTHERS_WRITE: u32 = 0o022;
/// Bit of a folder in which users may rename and delete only their own files.
const STICKY: u32 = 0o1000;
/// Number of symbolic links that are followed: as many as the system does.
const MAX_LINKS: u32 = 40;

/// The folder `root` without symbolic links, if it is the user's alone. It
/// belongs to the user, and nobody else may write in it. Only the user and the
/// system's owner can replace it. Links on the way must belong to these two,
/// also.
pub(super) fn check_root(root: &Path) -> Result<PathBuf> {
    let fail = |e| Error::io("find", root, e);
    let whole = std::path::absolute(root).map_err(fail)?;
    let mut here = PathBuf::from("/");
    let system = here.symlink_metadata().map_err(fail)?.uid();
    let trusted = |owner: u32| owner == 0 || owner == system || owner == user();
    let mut todo = parts(&whole);
    let mut links = 0;
    while let Some(part) = todo.pop() {
        if part == ".." {
            here.pop();
            continue;
        }
        let next = here.join(&part);
        let there = next.symlink_metadata().map_err(fail)?;
        if !trusted(there.uid()) {
            return Err(foreign(&next, there.uid(), root));
        }
        if there.is_symlink() {
            links += 1;
            if links > MAX_LINKS {
                return Err(fail(std::io::ErrorKind::NotADirectory.into()));
            }
            let target = std::fs::read_link(&next).map_err(fail)?;
            if target.is_absolute() {
                here = PathBuf::from("/");
            }
            todo.extend(parts(&target));
            continue;
        }
        if !there.is_dir() {
            return Err(fail(std::io::ErrorKind::NotADirectory.into()));
        }
        if others_write(&there) && there.mode() & STICKY == 0 {
            return Err(writable(&next, &there, root));
        }
        here = next;
    }
    check_own(&here, root)?;
    Ok(here)
}

/// The names of a path, last first; links and `..` are for the caller.
fn parts(path: &Path) -> Vec<OsString> {
    let name = |part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(name).collect()
}

/// Everything at and below `entry` belongs to the user, and nobody else may
/// write to it. It consists of files and folders only, because a link would
/// lead out of what has been checked.
pub(super) fn check_tree(entry: &Path, root: &Path) -> Result<()> {
    let mut open = vec![entry.to_owned()];
    while let Some(path) = open.pop() {
        let fail = |e| Error::io("read", &path, e);
        let there = check_own(&path, root)?;
        if there.is_dir() {
            for item in std::fs::read_dir(&path).map_err(fail)? {
                open.push(item.map_err(fail)?.path());
            }
        } else if !there.is_file() {
            return Err(Error::usage(
                format!(
                    "{} in the cache is not a file of the kit",
                    shown_path(&path)
                ),
                format!(
                    "the cache is executed: remove it with: rm -r {}",
                    shell(root)
                ),
            ));
        }
    }
    Ok(())
}

/// `path` belongs to the user, and nobody else may write to it.
pub(super) fn check_own(path: &Path, root: &Path) -> Result<Metadata> {
    let there = path
        .symlink_metadata()
        .map_err(|e| Error::io("read", path, e))?;
    if there.uid() != user() {
        return Err(foreign(path, there.uid(), root));
    }
    // The permissions of a link say nothing.
    if !there.is_symlink() && others_write(&there) {
        return Err(writable(path, &there, root));
    }
    Ok(there)
}

/// Takes from others the right to write that a lax umask gave them.
pub(super) fn tighten(entry: &Path) -> std::io::Result<()> {
    let mut open = vec![entry.to_owned()];
    while let Some(path) = open.pop() {
        let there = path.symlink_metadata()?;
        if !there.is_symlink() && others_write(&there) {
            let mut mode = there.permissions();
            std::os::unix::fs::PermissionsExt::set_mode(&mut mode, there.mode() & !OTHERS_WRITE);
            std::fs::set_permissions(&path, mode)?;
        }
        if there.is_dir() {
            for item in std::fs::read_dir(&path)? {
                open.push(item?.path());
            }
        }
    }
    Ok(())
}

fn others_write(there: &Metadata) -> bool {
    there.mode() & OTHERS_WRITE != 0
}

fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn foreign(path: &Path, owner: u32, root: &Path) -> Error {
    refused(
        path,
        root,
        &format!("belongs to user {owner}, not to you (user {})", user()),
        "",
    )
}

fn writable(path: &Path, there: &Metadata, root: &Path) -> Error {
    let mode = there.mode() & 0o7777;
    // A folder that all may write to, such as /tmp, is meant to be so.
    let remedy = match mode & STICKY {
        0 => format!(
            "remove the permission with: chmod -R go-w {}; or ",
            shell(path)
        ),
        _ => String::new(),
    };
    refused(
        path,
        root,
        &format!("is writable by others (mode {mode:03o})"),
        &remedy,
    )
}

fn refused(path: &Path, root: &Path, why: &str, remedy: &str) -> Error {
    let (what, root) = (shown_path(path), shown_path(root));
    Error::usage(
        format!("the cache {root} is not used: {what} {why}"),
        format!(
            "what is in the cache is executed, so it must be yours alone; {remedy}\
             name a folder of your own with SPADKIT_CACHE"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn folder(path: PathBuf, mode: u32) -> PathBuf {
        std::fs::create_dir(&path).unwrap();
        set(&path, mode);
        path
    }

    fn set(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_folder_that_others_can_write_is_refused_wherever_it_stands() {
        let scratch = tempfile::tempdir().unwrap();
        let above = folder(scratch.path().join("above"), 0o755);
        let root = folder(above.join("root"), 0o755);
        assert_eq!(check_root(&root).unwrap(), root.canonicalize().unwrap());
        for (path, mode, good) in [
            (&root, 0o777, false),
            (&root, 0o775, false),
            // Sticky or not, others may put things into it.
            (&root, 0o1777, false),
            (&root, 0o700, true),
            (&above, 0o777, false),
            (&above, 0o775, false),
            (&above, 0o1777, true),
        ] {
            set(path, mode);
            let checked = check_root(&root);
            assert_eq!(checked.is_ok(), good, "{mode:o} {}", path.display());
            if let Err(error) = checked {
                let text = error.to_string();
                let name = path.display().to_string();
                assert!(
                    text.contains(&name) && text.contains(&format!("{mode:o}")),
                    "{text}"
                );
                let help = miette::Diagnostic::help(&error).unwrap().to_string();
                // The help does not tell a user to close a folder that all share.
                let closes = help.contains("chmod -R go-w");
                assert_eq!(closes, mode & STICKY == 0, "{help}");
                assert!(help.contains("SPADKIT_CACHE"), "{help}");
                assert_eq!(error.exit_status(), 2);
            }
        }
    }

    #[test]
    fn links_are_followed_into_what_is_checked_and_no_further() {
        let scratch = tempfile::tempdir().unwrap();
        let open = folder(scratch.path().join("open"), 0o777);
        let inside = folder(open.join("inside"), 0o700);
        let safe = folder(scratch.path().join("safe"), 0o700);
        let link = |name: &str, to: &Path| {
            let path = scratch.path().join(name);
            symlink(to, &path).unwrap();
            path
        };
        let good = check_root(&link("good", &safe)).unwrap();
        assert_eq!(good, safe.canonicalize().unwrap());
        assert!(check_root(&link("relative", Path::new("safe/../safe"))).is_ok());
        assert!(check_root(&link("bad", &inside)).is_err());
        assert!(check_root(&link("loop", Path::new("loop"))).is_err());
        std::fs::write(safe.join("file"), "").unwrap();
        assert!(check_root(&safe.join("file")).is_err());
        assert!(check_root(&safe.join("none")).is_err());
    }

    #[test]
    fn what_belongs_to_another_user_is_refused() {
        if user() != 0 {
            println!("skipped: only root can make folders of others");
            return;
        }
        let scratch = tempfile::tempdir().unwrap();
        let root = folder(scratch.path().join("root"), 0o700);
        let give = |path: &Path| {
            let (user, group) = (Some(12345), Some(12345));
            std::os::unix::fs::lchown(path, user, group).unwrap();
        };
        let mine = folder(root.join("mine"), 0o700);
        std::fs::write(mine.join("file"), "").unwrap();
        check_tree(&mine, &root).unwrap();
        give(&mine.join("file"));
        assert!(check_tree(&mine, &root).is_err());
        let link = scratch.path().join("link");
        symlink(&root, &link).unwrap();
        check_root(&link).unwrap();
        give(&link);
        assert!(check_root(&link).is_err(), "a link of somebody else's");
        give(&root);
        let error = check_root(&root).unwrap_err().to_string();
        assert!(error.contains("belongs to user 12345"), "{error}");
        assert!(
            check_root(&mine).is_err(),
            "below a folder of somebody else's"
        );
    }

    #[test]
    fn entries_are_files_and_folders_that_nobody_else_writes() {
        let scratch = tempfile::tempdir().unwrap();
        let entry = folder(scratch.path().join("entry"), 0o700);
        let sub = folder(entry.join("sub"), 0o700);
        let file = sub.join("unit.so");
        std::fs::write(&file, "").unwrap();
        check_tree(&entry, scratch.path()).unwrap();
        for path in [&file, &sub] {
            let mode = path.metadata().unwrap().mode();
            set(path, mode | 0o020);
            assert!(check_tree(&entry, scratch.path()).is_err());
            tighten(&entry).unwrap();
            check_tree(&entry, scratch.path()).unwrap();
        }
        symlink(&file, sub.join("link")).unwrap();
        assert!(check_tree(&entry, scratch.path()).is_err());
    }
}
