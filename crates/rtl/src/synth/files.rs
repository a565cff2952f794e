//! Files in the folder that a tool works in.

use super::technology::Technology;
use crate::error::{Error, Result};
use std::path::Path;

/// Runs `f` with the library as `cells.lib` in `work`; it does not stay.
pub(super) fn with_liberty<T>(
    work: &Path,
    technology: &Technology,
    f: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let path = work.join("cells.lib");
    put(&path, &technology.liberty.text)?;
    let result = f();
    std::fs::remove_file(&path).map_err(|e| Error::io("remove", &path, e))?;
    result
}

pub(super) fn put(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).map_err(|e| Error::io("write", path, e))
}

pub(super) fn get(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))
}
