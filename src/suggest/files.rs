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
pub struct SourceFiles {
    /// Where a file is looked for that is not where the PTX says.
    folder: PathBuf,
    /// By the name in the PTX; none if the file is missing or is not text.
    files: HashMap<String, Option<SourceFile>>,
}

struct SourceFile {
    path: PathBuf,
    lines: Vec<String>,
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
        self.file(file).map(|found| &found.lines[..])
    }

    /// The text of `file:line` without the white space around it; `None` if the
    /// file or the line is missing.
    pub fn line(&mut self, place: &str) -> Option<String> {
        self.untrimmed(place).map(|line| line.trim().to_owned())
    }

    /// The same with the white space.
    pub fn untrimmed(&mut self, place: &str) -> Option<String> {
        let (file, line) = split(place)?;
        let lines = self.lines(file)?;
        lines.get((line as usize).checked_sub(1)?).cloned()
    }

    /// Where the file is that the PTX calls `file`.
    pub fn path(&mut self, file: &str) -> Option<PathBuf> {
        self.file(file).map(|found| found.path.clone())
    }

    /// Where the files that were found are.
    pub fn found(&self) -> Vec<PathBuf> {
        let files = self.files.values().flatten();
        let mut paths: Vec<PathBuf> = files.map(|f| f.path.clone()).collect();
        paths.sort();
        paths
    }

    fn file(&mut self, file: &str) -> Option<&SourceFile> {
        let folder = &self.folder;
        let known = self.files.entry(file.to_owned()).or_insert_with(|| {
            let named = Path::new(file);
            let beside = folder.join(named.file_name()?);
            let found = [named, &beside].into_iter().find(|path| path.is_file())?;
            let text = LIMIT.read_text(found).ok()?;
            Some(SourceFile {
                path: found.to_owned(),
                lines: text.lines().map(str::to_owned).collect(),
            })
        });
        known.as_ref()
    }
}

/// `file:line` as its parts.
pub fn split(place: &str) -> Option<(&str, u32)> {
    let (file, line) = place.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_file_beside_the_input() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("k.cu"), "one\n  two;\n").unwrap();
        let input = dir.path().join("k.toml");
        let mut files = SourceFiles::beside(&input);
        assert_eq!(files.line("/gone/k.cu:2").as_deref(), Some("two;"));
        for none in ["/gone/k.cu:3", "/gone/k.cu:0", "other.cu:1", "k.cu"] {
            assert_eq!(files.line(none), None, "{none}");
        }
        assert_eq!(files.found(), [dir.path().join("k.cu")]);
    }
}
