//! Writing files so that nothing half-written stays.

use crate::error::{Error, Result};
use std::io::Write;
use std::path::Path;

/// Writes `content` beside `path`, then renames: either the old file or the
/// whole new one is there, never half of it.
pub fn write_file(path: &Path, content: &[u8]) -> Result<()> {
    let fail = |e| Error::io("write", path, e);
    let parent = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    if path.is_dir() {
        return Err(fail(std::io::ErrorKind::IsADirectory.into()));
    }
    std::fs::create_dir_all(parent).map_err(|e| Error::io("create", parent, e))?;
    let mut file = tempfile::NamedTempFile::new_in(parent).map_err(fail)?;
    file.write_all(content).map_err(fail)?;
    file.as_file().sync_all().map_err(fail)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::Permissions::from_mode(0o644);
        file.as_file().set_permissions(mode).map_err(fail)?;
    }
    file.persist(path).map_err(|e| fail(e.error))?;
    Ok(())
}
