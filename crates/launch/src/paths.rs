//! Names of files that do not depend on how they are written.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// `path` relative to `folder`, without `.` and with `..` only at the start: one
/// name, however the command line names the file.
pub fn from_folder(folder: &Path, path: &Path) -> PathBuf {
    let (folder, path) = (clean(folder), clean(path));
    let common = folder.components().zip(path.components());
    let common = common.take_while(|(a, b)| a == b).count();
    let up = folder
        .components()
        .skip(common)
        .map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}

/// The path with symbolic links resolved, as far as it exists.
pub fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| clean(path))
}

/// The absolute path without `.` and `..`; links are not resolved.
pub fn clean(path: &Path) -> PathBuf {
    // The folder of a name without one.
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

/// Each path by its end that tells it from the others, in whole names of folders.
pub fn distinct_ends<'a>(paths: impl IntoIterator<Item = &'a str>) -> BTreeMap<&'a str, String> {
    let paths: Vec<&str> = paths.into_iter().collect();
    let end = |path: &str, names: usize| {
        let parts: Vec<&str> = path.rsplitn(names + 1, '/').take(names).collect();
        parts.into_iter().rev().collect::<Vec<_>>().join("/")
    };
    let shortest = |path: &str| {
        let is_own = |names: &usize| {
            let same = |other: &&&str| end(other, *names) == end(path, *names);
            paths.iter().filter(same).count() == 1
        };
        let most = path.split('/').count();
        let names = (1..=most).find(is_own);
        names.map_or_else(|| path.to_owned(), |names| end(path, names))
    };
    paths.iter().map(|path| (*path, shortest(path))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_name_from_a_folder() {
        let from = |folder: &str, path: &str| {
            let path = from_folder(Path::new(folder), Path::new(path));
            path.display().to_string()
        };
        for path in ["k/a.toml", "./k/a.toml", "k/../k/./a.toml"] {
            assert_eq!(from("", path), "k/a.toml");
        }
        let here = std::env::current_dir().unwrap().join("k/a.toml");
        assert_eq!(from(".", here.to_str().unwrap()), "k/a.toml");
        assert_eq!(from("ci", "k/a.toml"), "../k/a.toml");
        assert_eq!(from("/x/y", "/x/k.toml:1"), "../k.toml:1");
    }

    #[test]
    fn names_are_as_long_as_needed() {
        let of = |paths: &[&str]| {
            let names = distinct_ends(paths.iter().copied());
            paths
                .iter()
                .map(|path| names[path].as_str())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(of(&["a/k.toml", "b/l.toml"]), "k.toml l.toml");
        assert_eq!(
            of(&["x/a/k.toml", "x/b/k.toml", "c/l.toml"]),
            "a/k.toml b/k.toml l.toml"
        );
        assert_eq!(of(&["k.toml", "a/k.toml"]), "k.toml a/k.toml");
        assert_eq!(of(&["k.toml", "k.toml"]), "k.toml k.toml");
    }
}
