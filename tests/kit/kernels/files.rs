//! The files of kernels/, for all tests that go through them.

use std::path::{Path, PathBuf};

/// The folder kernels/.
pub fn kernels_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels")
}

/// Files of kernels/ with this ending in their order, without those that are
/// to fail.
pub fn files(extension: &str) -> Vec<PathBuf> {
    let families = std::fs::read_dir(kernels_folder())
        .unwrap()
        .map(|f| f.unwrap().path());
    let mut files: Vec<PathBuf> = families
        .filter(|f| f.is_dir() && !f.ends_with("faults"))
        .flat_map(|f| std::fs::read_dir(f).unwrap().map(|f| f.unwrap().path()))
        .filter(|f| f.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    files
}
