//! The files that a run read, with digests, to repeat it.

use crate::digest::sha256_hex;
use crate::report::InputFile;
use crate::suggest::SourceFiles;
use crate::workload::Input;
use std::path::{Path, PathBuf};

/// The input, the PTX that a launch file names, and the sources that were found.
pub(super) fn inputs(input: &Input, sources: &SourceFiles) -> Vec<InputFile> {
    let launch = input
        .launch()
        .map(|launch| launch.selected().file.as_path());
    let mut files: Vec<PathBuf> = vec![launch.unwrap_or(input.name()).to_owned()];
    files.extend(ptx_of(input).map(Path::to_owned));
    files.extend(sources.found());
    let mut known: Vec<InputFile> = Vec::new();
    for file in files {
        let name = file.display().to_string();
        if known.iter().any(|k| k.file == name) {
            continue;
        }
        // Input that is not a file has no digest: standard input, a generated kernel.
        if let Ok(content) = std::fs::read(&file) {
            let sha256 = sha256_hex(content);
            known.push(InputFile { file: name, sha256 });
        }
    }
    known
}

/// The PTX that a launch file names.
pub(super) fn ptx_of(input: &Input) -> Option<&Path> {
    let file = input.launch()?.file().ok()?;
    Some(&file.ptx.value)
}
