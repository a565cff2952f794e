//! The files that a run read, with digests, to repeat it.

use super::source::SourceFiles;
use crate::capture::Selected;
use crate::launch::LaunchFile;
use crate::report::InputFile;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// The input, the PTX that a launch file names, and the sources that were found.
pub(super) fn inputs(input: &str, sources: &SourceFiles) -> Vec<InputFile> {
    let path = Path::new(input);
    let mut files: Vec<PathBuf> = Vec::new();
    match Selected::of(path) {
        Some(selected) => {
            files.push(selected.file.clone());
            files.extend(ptx_of(input));
        }
        None => files.push(path.to_owned()),
    }
    files.extend(sources.found());
    let mut known: Vec<InputFile> = Vec::new();
    for file in files {
        let name = file.display().to_string();
        if known.iter().any(|k| k.file == name) {
            continue;
        }
        // What is not a file has no digest: standard input, a generated kernel.
        if let Ok(content) = std::fs::read(&file) {
            let digest = Sha256::digest(&content);
            let sha256 = digest.iter().map(|b| format!("{b:02x}")).collect();
            known.push(InputFile { file: name, sha256 });
        }
    }
    known
}

/// The PTX that a launch file names.
pub(super) fn ptx_of(input: &str) -> Option<PathBuf> {
    let selected = Selected::of(Path::new(input))?;
    let file = LaunchFile::load(&selected.file).ok()?;
    Some(file.ptx.value)
}
