//! A cache of built things, keyed by content.
//!
//! An entry is a directory that was built once from everything its key covers:
//! sources, command line, tool version. It is built under a temporary name and
//! renamed, so it exists complete or not at all. A lock per key keeps parallel
//! processes and tests from building the same thing twice. Each entry lists the
//! digests of its files; one that does not match is built again. The whole
//! cache may be deleted at any time.
//!
//! Its content is executed, so at each use the cache must belong to the user
//! alone ([`trust`]): any other is refused.

use super::trust;
use crate::digest::{hex, sha256_hex};
use crate::error::{Error, Result};
use rustix::fs::{FlockOperation, flock};
use sha2::{Digest, Sha256};
use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The list of files with their digests, in every entry.
const MANIFEST: &str = "spadkit-entry.json";
/// An entry under construction is in `.new-NAME-...` while `NAME.lock` is held.
const UNFINISHED: &str = ".new-";

/// Names what an entry was built from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key(String);

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Collects what a [`Key`] covers.
pub struct KeyBuilder(Sha256);

impl KeyBuilder {
    /// Starts with what kind of thing is built; two kinds never collide.
    pub fn new(kind: &str) -> Self {
        KeyBuilder(Sha256::new()).add("kind", kind)
    }

    /// Adds one input under a name. Lengths are hashed, too, so that inputs
    /// cannot run into each other.
    pub fn add(mut self, name: &str, content: impl AsRef<[u8]>) -> Self {
        for part in [name.as_bytes(), content.as_ref()] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part);
        }
        self
    }

    /// The key.
    pub fn finish(self) -> Key {
        Key(hex(&self.0.finalize()))
    }
}

/// A directory of entries.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
    /// Keeps a directory of this process alive, where the user has none.
    _own: Option<Arc<tempfile::TempDir>>,
}

impl Cache {
    /// The user's cache: `$SPADKIT_CACHE`, else `$XDG_CACHE_HOME/spadkit`,
    /// else `~/.cache/spadkit`. Where that cannot be written, a temporary
    /// directory that goes when the cache is dropped. Where others could have
    /// written to it, an error. What a killed process left there goes.
    pub fn user() -> Result<Self> {
        let var = |name| std::env::var_os(name).filter(|v| !v.is_empty());
        let root = var("SPADKIT_CACHE")
            .map(PathBuf::from)
            .or_else(|| var("XDG_CACHE_HOME").map(|d| Path::new(&d).join("spadkit")))
            .or_else(|| var("HOME").map(|d| Path::new(&d).join(".cache/spadkit")));
        let Some(root) = root.filter(|root| make(root).is_ok()) else {
            return Self::temporary();
        };
        let root = trust::check_root(&root)?;
        if tempfile::tempfile_in(&root).is_err() {
            return Self::temporary();
        }
        sweep(&root);
        Ok(Cache::at(root))
    }

    /// A cache in `root`, which is made when it is needed.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Cache {
            root: root.into(),
            _own: None,
        }
    }

    /// A cache of this process only.
    pub fn temporary() -> Result<Self> {
        let own = tempfile::Builder::new().prefix("spadkit-cache-").tempdir();
        let own = own.map_err(|e| Error::io("create", &std::env::temp_dir(), e))?;
        Ok(Cache {
            root: own.path().to_owned(),
            _own: Some(Arc::new(own)),
        })
    }

    /// Folder of the entries.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What `read` finds in the entry of `key`, which is built into an empty
    /// directory by `build` if it is not there or damaged. If `build` fails, nothing
    /// stays; neither does what `read` refuses: a tool may end well on a full disk
    /// and have written half of its product.
    pub fn get_or_build<T>(
        &self,
        key: &Key,
        build: impl FnOnce(&Path) -> Result<()>,
        read: impl Fn(&Path) -> Result<T>,
    ) -> Result<T> {
        make(&self.root)?;
        let root = trust::check_root(&self.root)?;
        // 256 directories, as git has, keep each one short.
        let (shelf, name) = key.0.split_at(2);
        let shelf = root.join(shelf);
        make(&shelf)?;
        trust::check_own(&shelf, &root)?;
        let entry = shelf.join(name);
        let _lock = lock(&entry.with_extension("lock"))?;
        if entry.symlink_metadata().is_ok() {
            trust::check_tree(&entry, &root)?;
        }
        if is_intact(&entry)
            && let Ok(found) = read(&entry)
        {
            return Ok(found);
        }
        let fail = |e| Error::io("write", &entry, e);
        let beside = tempfile::Builder::new()
            .prefix(&format!("{UNFINISHED}{name}-"))
            .tempdir_in(&shelf)
            .map_err(fail)?;
        build(beside.path())?;
        read(beside.path())?;
        let manifest = digests(beside.path()).map_err(fail)?;
        let manifest = serde_json::to_vec(&manifest).map_err(|e| fail(e.into()))?;
        std::fs::write(beside.path().join(MANIFEST), manifest).map_err(fail)?;
        trust::tighten(beside.path()).map_err(fail)?;
        trust::check_tree(beside.path(), &root)?;
        if entry.symlink_metadata().is_ok() {
            discard(&entry).map_err(fail)?; // damaged
        }
        std::fs::rename(beside.path(), &entry).map_err(fail)?;
        let _moved = beside.keep(); // nothing is left there to delete
        read(&entry)
    }
}

/// An exclusive lock, held until the file is closed; waits for another
/// process or thread that builds the same entry.
fn lock(path: &Path) -> Result<File> {
    let file = File::options().create(true).append(true).open(path);
    let file = file.map_err(|e| Error::io("create", path, e))?;
    // Without support for locks, work may be done twice, but never wrongly.
    let _ = rustix::io::retry_on_intr(|| flock(&file, FlockOperation::LockExclusive));
    Ok(file)
}

/// Makes a directory for the user alone, and what is missing above it.
fn make(path: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|e| Error::io("create", path, e))
}

/// Removes entries that killed processes left unfinished: entries whose lock is
/// free. An entry that cannot be removed does no harm.
fn sweep(root: &Path) {
    let items = |folder: &Path| {
        let items = std::fs::read_dir(folder).into_iter().flatten();
        items.filter_map(|item| item.ok().map(|i| i.path()))
    };
    for shelf in items(root) {
        for path in items(&shelf) {
            let file = path.file_name().and_then(|n| n.to_str());
            let name = file.and_then(|f| f.strip_prefix(UNFINISHED)?.split_once('-'));
            let Some((name, _)) = name else { continue };
            let lock = File::open(shelf.join(format!("{name}.lock")));
            let free = |lock: File| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
            if lock.is_ok_and(free) {
                let _ = discard(&path);
            }
        }
    }
}

fn is_intact(entry: &Path) -> bool {
    let Ok(text) = std::fs::read(entry.join(MANIFEST)) else {
        return false;
    };
    match (
        serde_json::from_slice::<Vec<(String, String)>>(&text),
        digests(entry),
    ) {
        (Ok(listed), Ok(present)) => listed == present,
        _ => false,
    }
}

/// Relative path and digest of each file below `root` but the manifest,
/// sorted.
fn digests(root: &Path) -> std::io::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for item in std::fs::read_dir(&directory)? {
            let path = item?.path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path.strip_prefix(root).unwrap_or(&path);
            if name != Path::new(MANIFEST) {
                let digest = sha256_hex(std::fs::read(&path)?);
                found.push((name.to_string_lossy().into_owned(), digest));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn discard(path: &Path) -> std::io::Result<()> {
    if path.symlink_metadata()?.is_dir() {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn key(text: &str) -> Key {
        KeyBuilder::new("test").add("text", text).finish()
    }

    fn write(text: &'static str) -> impl Fn(&Path) -> Result<()> {
        move |dir| {
            std::fs::create_dir(dir.join("sub")).unwrap();
            std::fs::write(dir.join("sub/file"), text).unwrap();
            Ok(())
        }
    }

    /// The entry, whatever is in it.
    fn whole(entry: &Path) -> Result<PathBuf> {
        Ok(entry.to_owned())
    }

    /// What cannot be read is not stored, and what was stored and cannot be read any
    /// more is built again.
    #[test]
    fn an_entry_that_cannot_be_read_does_not_stay() {
        let cache = Cache::temporary().unwrap();
        let text = |entry: &Path| {
            let text = std::fs::read_to_string(entry.join("sub/file")).unwrap();
            match text.strip_suffix("end") {
                Some(_) => Ok(text),
                None => Err(Error::usage("cut", "")),
            }
        };
        let cut = cache.get_or_build(&key("x"), write("half"), text);
        assert!(cut.is_err());
        let made = cache.get_or_build(&key("x"), write("1 end"), text);
        assert_eq!(made.unwrap(), "1 end");
        let kept = cache.get_or_build(&key("x"), write("2 end"), text);
        assert_eq!(kept.unwrap(), "1 end");
        cache.get_or_build(&key("y"), write("half"), whole).unwrap();
        let again = cache.get_or_build(&key("y"), write("3 end"), text);
        assert_eq!(again.unwrap(), "3 end");
    }

    #[test]
    fn keys_tell_inputs_apart() {
        let ab = KeyBuilder::new("k").add("a", "b").finish();
        assert_eq!(ab, KeyBuilder::new("k").add("a", "b").finish());
        assert_ne!(ab, KeyBuilder::new("k").add("ab", "").finish());
        assert_ne!(ab, KeyBuilder::new("ka").add("a", "b").finish());
    }

    #[test]
    fn parallel_callers_build_once() {
        let cache = Cache::temporary().unwrap();
        let built = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let build = |dir: &Path| {
                        built.fetch_add(1, Ordering::Relaxed);
                        std::thread::sleep(std::time::Duration::from_millis(20));
                        write("x")(dir)
                    };
                    let entry = cache.get_or_build(&key("x"), build, whole);
                    assert_eq!(
                        std::fs::read(entry.unwrap().join("sub/file")).unwrap(),
                        b"x"
                    );
                });
            }
        });
        assert_eq!(built.into_inner(), 1);
    }

    #[test]
    fn damaged_entries_are_built_again() {
        let cache = Cache::temporary().unwrap();
        let entry = cache.get_or_build(&key("x"), write("good"), whole).unwrap();
        type Damage = fn(&Path);
        let damages: [Damage; 5] = [
            |e| std::fs::write(e.join("sub/file"), "bad").unwrap(),
            |e| std::fs::remove_file(e.join("sub/file")).unwrap(),
            |e| std::fs::write(e.join(MANIFEST), "{").unwrap(),
            |e| std::fs::write(e.join("more"), "").unwrap(),
            |e| {
                std::fs::remove_dir_all(e).unwrap();
                std::fs::write(e, "a file where the directory was").unwrap();
            },
        ];
        for damage in damages {
            damage(&entry);
            let again = cache.get_or_build(&key("x"), write("good"), whole).unwrap();
            assert_eq!(std::fs::read(again.join("sub/file")).unwrap(), b"good");
            assert!(!again.join("more").exists());
        }
    }

    /// Sweeps until the entry is gone, for a second at most: a process that
    /// another test starts holds our locks from its fork to its exec.
    fn swept(cache: &Cache, entry: &Path) -> bool {
        (0..100).any(|_| {
            sweep(cache.root());
            let gone = !entry.exists();
            if !gone {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            gone
        })
    }

    /// Unfinished entries of a killed process are removed; those of a live one are kept.
    #[test]
    fn unfinished_entries_are_swept_unless_somebody_works_on_them() {
        let cache = Cache::temporary().unwrap();
        let [dead, alive] = ["dead", "alive"].map(|name| {
            let folder = cache
                .root()
                .join("ab")
                .join(format!("{UNFINISHED}{name}-1"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("half"), "").unwrap();
            folder
        });
        drop(lock(&dead.with_file_name("dead.lock")).unwrap());
        let held = lock(&alive.with_file_name("alive.lock")).unwrap();
        assert!(swept(&cache, &dead) && alive.join("half").exists());
        drop(held);
        assert!(swept(&cache, &alive));
    }

    #[test]
    fn what_others_could_have_written_is_not_loaded() {
        use std::os::unix::fs::PermissionsExt;
        let cache = Cache::temporary().unwrap();
        let entry = cache.get_or_build(&key("x"), write("good"), whole).unwrap();
        let file = entry.join("sub/file");
        for path in [
            &file,
            &entry,
            &entry.parent().unwrap().to_owned(),
            &cache.root().to_owned(),
        ] {
            let before = path.metadata().unwrap().permissions();
            std::fs::set_permissions(path, PermissionsExt::from_mode(before.mode() | 0o002))
                .unwrap();
            let error = cache
                .get_or_build(&key("x"), write("good"), whole)
                .unwrap_err();
            assert!(
                error.to_string().contains("is writable by others"),
                "{error}"
            );
            std::fs::set_permissions(path, before).unwrap();
            cache.get_or_build(&key("x"), write("good"), whole).unwrap();
        }
        // A link leads out of the cache, whatever it leads to.
        let elsewhere = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(elsewhere.path(), "good").unwrap();
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), &file).unwrap();
        assert!(cache.get_or_build(&key("x"), write("good"), whole).is_err());
    }

    #[test]
    fn a_failed_build_leaves_nothing() {
        let cache = Cache::temporary().unwrap();
        let fails = |dir: &Path| {
            write("half")(dir)?;
            Err(Error::usage("no", "no"))
        };
        let failed = cache.get_or_build(&key("x"), fails, whole);
        assert!(failed.is_err());
        let names = |d: &Path| -> Vec<_> {
            let entries = std::fs::read_dir(d).unwrap();
            entries.map(|e| e.unwrap().path()).collect()
        };
        let shelf = names(cache.root()).remove(0);
        let left = names(&shelf);
        assert!(
            left.iter()
                .all(|p| p.extension().is_some_and(|x| x == "lock")),
            "{left:?}"
        );
        cache
            .get_or_build(&key("x"), write("whole"), whole)
            .unwrap();
    }
}
