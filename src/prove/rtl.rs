//! Where the Verilog under proof comes from.

use crate::error::{Error, Result};
use crate::rtl::{Design, SourceFile};
use std::path::{Path, PathBuf};

/// Where the Verilog under proof comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RtlSource {
    /// As the kit emits it.
    Emitted,
    /// From files `MODULE.v` of a directory.
    Directory(PathBuf),
}

impl RtlSource {
    /// The files with the modules that `design` emits, or what stands in
    /// their place. A hand-edited block may have other submodules.
    pub(super) fn files(&self, design: &Design) -> Result<Vec<SourceFile>> {
        match self {
            RtlSource::Emitted => Ok(design.files.clone()),
            RtlSource::Directory(dir) => {
                let files = verilog_files(dir)?;
                for unit in &design.units {
                    let name = format!("{}.v", unit.name);
                    if !files.iter().any(|f| f.name == name) {
                        let missing = std::io::ErrorKind::NotFound.into();
                        return Err(Error::io("read", &dir.join(name), missing));
                    }
                }
                Ok(files)
            }
        }
    }
}

/// Every `.v` file of a directory, by name.
fn verilog_files(dir: &Path) -> Result<Vec<SourceFile>> {
    let fail = |e| Error::io("read", dir, e);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let name = path.file_name().and_then(|n| n.to_str());
        if let Some(name) = name.filter(|n| n.ends_with(".v"))
            && path.is_file()
        {
            let text = std::fs::read_to_string(&path).map_err(|e| Error::io("read", &path, e))?;
            let name = name.to_owned();
            files.push(SourceFile { name, text });
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}
