//! The source of the Verilog under proof.

use crate::error::{Error, Result};
use crate::quote::shown_path;
use crate::rtl::{Design, Reset, SourceFile, read_foreign};
use std::path::{Path, PathBuf};

/// The source of the Verilog under proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RtlSource {
    /// Verilog as the kit emits it.
    Emitted,
    /// Files `MODULE.v` of a directory, checked by
    /// [`check_foreign`](crate::rtl::check_foreign).
    Directory(PathBuf),
    /// Files of a directory, unchecked.
    Trusted(PathBuf),
}

impl RtlSource {
    /// The files with the modules that `design` emits, or the user's files that
    /// replace them. A hand-edited block may have other submodules.
    pub(super) fn files(&self, design: &Design) -> Result<Vec<SourceFile>> {
        match self {
            RtlSource::Emitted => Ok(design.files.clone()),
            RtlSource::Directory(dir) | RtlSource::Trusted(dir) => {
                let trusted = matches!(self, RtlSource::Trusted(_));
                let files = read_foreign(&verilog_names(dir)?, dir, trusted)?;
                for unit in &design.units {
                    let name = format!("{}.v", unit.name);
                    if !files.iter().any(|f| f.name == name) {
                        let dir = shown_path(dir);
                        return Err(Error::usage(
                            format!(
                                "{dir} has no {name}, which the proof of {} needs",
                                unit.name
                            ),
                            format!(
                                "expected the folder to have been written by spadkit emit {}",
                                unit.name
                            ),
                        ));
                    }
                }
                refuse_other_resets(design, &files, dir)?;
                Ok(files)
            }
        }
    }
}

/// Circuits and solver know the synchronous, active-high reset only.
fn refuse_other_resets(design: &Design, files: &[SourceFile], dir: &Path) -> Result<()> {
    let emitted = |file: &&SourceFile| design.files.iter().any(|f| f.name == file.name);
    let texts = files.iter().filter(emitted).map(|file| file.text.as_str());
    let style = match Reset::of(texts) {
        Reset::Sync => return Ok(()),
        Reset::Async => "asynchronous",
        Reset::SyncLow => "active low",
        Reset::AsyncLow => "asynchronous and active low",
    };
    let dir = shown_path(dir);
    Err(Error::usage(
        format!("the reset in {dir} is {style}; proofs are about a synchronous one, active high"),
        "emit the unit without --reset and --active-low, and edit that: the styles differ only in \
         event lists, level and name of the reset",
    ))
}

/// Every `.v` file of a directory, sorted.
fn verilog_names(dir: &Path) -> Result<Vec<String>> {
    let fail = |e| Error::io("read", dir, e);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let name = path.file_name().map(|n| n.to_string_lossy());
        if let Some(name) = name.filter(|n| n.ends_with(".v"))
            && path.is_file()
        {
            names.push(name.into_owned());
        }
    }
    names.sort();
    Ok(names)
}
