//! Finds the source that PTX names by the path on the machine that compiled it.

use crate::paths::clean;
use std::path::{Path, PathBuf};

/// The paths at which to look for a file that PTX in `folder` names, the likeliest first.
///
/// The PTX may come from another checkout of the repository that `folder` is in, which
/// may be here, too, with another version of the file: the same path in this checkout
/// comes before one outside of it.
pub fn source_places(file: &str, folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let named = Path::new(file);
    let beside = named.file_name().map(|name| folder.join(name));
    let here = here(named, folder);
    here.into_iter().chain([named.to_owned()]).chain(beside)
}

/// The file in the checkout of `folder`, if PTX names it by a path outside of that:
/// the longest end of the path that is a file there.
fn here(named: &Path, folder: &Path) -> Option<PathBuf> {
    let named = named.is_absolute().then(|| clean(named))?;
    let folder = clean(folder);
    let root = folder
        .ancestors()
        .find(|above| above.join(".git").exists())?;
    if named.starts_with(root) {
        return None;
    }
    let parts: Vec<_> = named.components().skip(1).collect();
    let ends = (0..parts.len()).map(|first| parts[first..].iter().collect::<PathBuf>());
    // A bare name could be any file, so it must be in the folder of the PTX.
    let places = ends.filter(|end| end.components().count() > 1 || folder == root);
    places
        .map(|end| root.join(end))
        .find(|place| place.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_another_checkout_are_found_in_this_one() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for checkout in ["one", "two"] {
            for file in ["include/tile.cuh", "kernels/a/a.cu", "kernels/a/tile.cuh"] {
                let path = at(checkout).join(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, "text").unwrap();
            }
            std::fs::create_dir(at(checkout).join(".git")).unwrap();
        }
        let first = |file: &str, folder: &str| {
            let file = at(file).display().to_string();
            source_places(&file, &at(folder)).find(|place| place.is_file())
        };
        let header = "one/kernels/a/../../include/tile.cuh";
        assert_eq!(
            first(header, "two/kernels/a"),
            Some(at("two/include/tile.cuh"))
        );
        assert_eq!(
            first("gone/include/tile.cuh", "two/kernels/a"),
            Some(at("two/include/tile.cuh"))
        );
        assert_eq!(
            first("one/kernels/a/a.cu", "two/kernels/a"),
            Some(at("two/kernels/a/a.cu"))
        );
        // In its own checkout, and if this one has no such path, the named path itself.
        assert_eq!(first(header, "one/kernels/a"), Some(at(header)));
        std::fs::remove_file(at("two/include/tile.cuh")).unwrap();
        assert_eq!(first(header, "two/kernels/a"), Some(at(header)));
        // Without a repository, the folder of the PTX.
        assert_eq!(
            first("gone/x/a.cu", "one/kernels/a"),
            Some(at("one/kernels/a/a.cu"))
        );
    }
}
