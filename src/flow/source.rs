//! The source files that a trace names, as far as they are found.

use crate::input::Limit;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Larger files are not hand-written source.
const LIMIT: Limit = Limit {
    bytes: 4 << 20,
    expected: "a source file in UTF-8",
};

/// Source files, each read once.
pub(super) struct SourceFiles {
    /// Where a file is looked for that is not where the PTX says.
    folder: PathBuf,
    /// By the name in the PTX: where it is, and its lines; none if it is missing
    /// or is not text.
    files: HashMap<String, Option<(PathBuf, Vec<String>)>>,
}

impl SourceFiles {
    /// Files are looked for where the PTX names them, then beside `input`.
    pub fn beside(input: &Path) -> Self {
        let folder = input.parent().unwrap_or(Path::new(""));
        SourceFiles {
            folder: folder.to_owned(),
            files: HashMap::new(),
        }
    }

    /// All lines of a file.
    pub fn lines(&mut self, file: &str) -> Option<&[String]> {
        let known = self.files.entry(file.to_owned()).or_insert_with(|| {
            let named = Path::new(file);
            let beside = self.folder.join(named.file_name()?);
            let found = [named, &beside].into_iter().find(|path| path.is_file())?;
            let text = LIMIT.read_text(found).ok()?;
            let lines = text.lines().map(str::to_owned).collect();
            Some((found.to_owned(), lines))
        });
        known.as_ref().map(|(_, lines)| &lines[..])
    }

    /// The text of `file:line` without the white space around it; none where it
    /// is not to be had.
    pub fn line(&mut self, place: &str) -> Option<String> {
        let (file, line) = split(place)?;
        let lines = self.lines(file)?;
        let text = lines.get((line as usize).checked_sub(1)?)?;
        Some(text.trim().to_owned())
    }

    /// Where the files that were found are.
    pub fn found(&self) -> Vec<PathBuf> {
        let paths = self.files.values().flatten().map(|(path, _)| path.clone());
        let mut paths: Vec<PathBuf> = paths.collect();
        paths.sort();
        paths
    }
}

/// `file:line` as its parts.
pub(super) fn split(place: &str) -> Option<(&str, u32)> {
    let (file, line) = place.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}
