//! Whether a folder can become one that the kit writes.

use super::owned_list::OWNED_LIST;
use crate::error::{Error, Result};
use crate::quote::shown_path;
use std::path::Path;

const FORCE: &str = "name a new or empty folder, or use --force";

/// Refuses a root, a home folder, and a folder that others have filled. The
/// latter has no list of the kit, and holds more than files of these names (the
/// writer reports those one by one), hidden files, and folders of the kit.
pub(super) fn check(dir: &Path, names: &[&str]) -> Result<()> {
    let Ok(place) = dir.canonicalize() else {
        return Ok(());
    };
    let refuse = |what: String| Err(Error::usage(format!("{} {what}", shown_path(dir)), FORCE));
    if place.parent().is_none() {
        return refuse("is the root of the file system".to_owned());
    }
    let home = std::env::var_os("HOME").and_then(|home| Path::new(&home).canonicalize().ok());
    let is_home = home.is_some_and(|home| home == place)
        || place.parent() == Some(Path::new("/home"))
        || ["/home", "/root"]
            .iter()
            .any(|home| place == Path::new(home));
    if is_home {
        return refuse("is a home folder".to_owned());
    }
    if place.join(OWNED_LIST).exists() {
        return Ok(());
    }
    let tops: Vec<&str> = names.iter().filter_map(|n| n.split('/').next()).collect();
    for entry in std::fs::read_dir(&place).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // A new file system has a folder of its own.
        let ours = name == "lost+found" || entry.path().join(OWNED_LIST).exists();
        if !name.starts_with('.') && !tops.contains(&name.as_str()) && !ours {
            return refuse(format!(
                "contains files that spadkit did not write, such as {name}"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(dir: &Path) -> String {
        check(dir, &["a.v", "tb/a.v"]).map_or_else(|e| e.to_string(), |()| String::new())
    }

    #[test]
    fn a_folder_of_others_a_root_and_a_home_are_refused() {
        assert!(reason(Path::new("/")).ends_with("is the root of the file system"));
        assert!(reason(Path::new("/..")).ends_with("is the root of the file system"));
        if let Some(home) = std::env::var_os("HOME").filter(|h| Path::new(h).is_dir()) {
            assert!(!reason(Path::new(&home)).is_empty());
        }
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path();
        assert_eq!(reason(&dir.join("new")), "");
        assert_eq!(reason(dir), "");
        std::fs::create_dir_all(dir.join("rtl")).unwrap();
        std::fs::write(dir.join("rtl").join(OWNED_LIST), "").unwrap();
        for mine in ["a.v", "tb", ".gitignore"] {
            std::fs::write(dir.join(mine), "").unwrap();
        }
        assert_eq!(reason(dir), "");
        std::fs::write(dir.join("thesis.tex"), "").unwrap();
        assert!(
            reason(dir).contains("such as thesis.tex"),
            "{}",
            reason(dir)
        );
        std::fs::write(dir.join(OWNED_LIST), "").unwrap();
        assert_eq!(reason(dir), "");
    }
}
