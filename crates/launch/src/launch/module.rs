//! Reading a PTX text.

use super::source_places::source_places;
use super::uncompiled::refuse_source;
use spadkit_base::claims;
use spadkit_base::error::Result;
use spadkit_base::input::{Limit, is_stdin, require_file};
use spadkit_ptx::{Module, sm_number};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const LIMIT: Limit = Limit {
    bytes: 64 << 20,
    expected: "PTX in UTF-8",
};

/// Reads and parses a PTX text; `path` may be a pipe.
pub fn read_module(path: &Path) -> Result<Module> {
    PtxFile::new(path).module()
}

/// The value of `cell`, or else of `read`, which is then stored. An error is not
/// stored, so it is raised again the next time.
pub(crate) fn once<T>(cell: &OnceLock<T>, read: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(known) = cell.get() {
        return Ok(known);
    }
    let value = read()?;
    Ok(cell.get_or_init(|| value))
}

/// A file of PTX, which is read once.
#[derive(Clone, Debug)]
pub struct PtxFile {
    path: PathBuf,
    text: OnceLock<String>,
}

impl PtxFile {
    /// The file, which is not read yet.
    pub fn new(path: &Path) -> Self {
        PtxFile {
            path: path.to_owned(),
            text: OnceLock::new(),
        }
    }

    /// Path of the PTX.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn text(&self) -> Result<&str> {
        let read = || {
            refuse_source(&self.path)?;
            LIMIT.read_text(&self.path)
        };
        once(&self.text, read).map(String::as_str)
    }

    /// The PTX, parsed.
    pub fn module(&self) -> Result<Module> {
        let module = Module::parse(self.text()?, &self.path.display().to_string())?;
        self.claim_sources(&module)?;
        Ok(module)
    }

    /// Ensures that no result overwrites a file that the PTX was compiled from.
    fn claim_sources(&self, module: &Module) -> Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        for (_, file) in &module.files {
            if let Some(source) = source_places(file, folder).find(|place| place.is_file()) {
                claims::reads(&source)?;
            }
        }
        Ok(())
    }

    /// 80 of `.target sm_80`; none if the file is not there or has no target. Devices
    /// and other pipes than standard input are left to whoever reads all of it.
    pub fn target(&self) -> Option<u32> {
        if !is_stdin(&self.path) {
            require_file(&self.path).ok()?;
        }
        target(self.text().ok()?)
    }
}

/// The number of the first `sm_` in the `.target` of PTX.
fn target(text: &str) -> Option<u32> {
    let mut lines = text.lines().map(str::trim_start);
    let names = lines.find_map(|line| line.strip_prefix(".target"))?;
    let mut words = names.split(|c: char| c.is_whitespace() || c == ',');
    words.find_map(sm_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_is_that_of_the_directive() {
        assert_eq!(
            target("// .target sm_30\n.version 8.0\n.target sm_80\n"),
            Some(80)
        );
        assert_eq!(target(".target sm_90a, debug"), Some(90));
        assert_eq!(target(".target texmode_unified, sm_52"), Some(52));
        assert_eq!(target(".version 8.0"), None);
        assert_eq!(target(".target sm_"), None);
    }

    #[test]
    fn a_text_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.ptx");
        let file = PtxFile::new(&path);
        assert!(file.target().is_none() && file.module().is_err());
        let text = ".version 7.0\n.target sm_70\n.address_size 64\n";
        std::fs::write(&path, text).unwrap();
        assert_eq!(file.target(), Some(70));
        std::fs::write(&path, "no PTX").unwrap();
        assert_eq!(file.module().unwrap().sm(), Some(70));
        assert_eq!(PtxFile::new(Path::new("/dev/zero")).target(), None);
    }
}
