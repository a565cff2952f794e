//! The source lines that a trace names, if the files are found.

use crate::input::Limit;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Larger files are not hand-written source.
const LIMIT: Limit = Limit {
    bytes: 4 << 20,
    expected: "a source file in UTF-8",
};

/// Source files, each read once.
pub(super) struct SourceText {
    /// Where a file is looked for that is not where the PTX says.
    folder: PathBuf,
    /// By name; none if a file is missing or is not text.
    files: HashMap<String, Option<Source>>,
}

struct Source {
    path: PathBuf,
    lines: Vec<String>,
}

impl SourceText {
    /// Files are looked for where the PTX names them, then beside `input`.
    pub fn beside(input: &Path) -> Self {
        let folder = input.parent().unwrap_or(Path::new(""));
        SourceText {
            folder: folder.to_owned(),
            files: HashMap::new(),
        }
    }

    /// The text of `file:line` without the white space around it; none where
    /// it is not to be had.
    pub fn line(&mut self, place: &str) -> Option<String> {
        self.untrimmed(place).map(|line| line.trim().to_owned())
    }

    /// The same with the white space.
    pub fn untrimmed(&mut self, place: &str) -> Option<String> {
        let (file, line) = place.rsplit_once(':')?;
        let line: usize = line.parse().ok()?;
        let source = self.file(file)?;
        source.lines.get(line.checked_sub(1)?).cloned()
    }

    /// Where the file is that the PTX calls `file`.
    pub fn path(&mut self, file: &str) -> Option<PathBuf> {
        self.file(file).map(|source| source.path.clone())
    }

    fn file(&mut self, file: &str) -> Option<&Source> {
        let folder = &self.folder;
        let source = self.files.entry(file.to_owned()).or_insert_with(|| {
            let named = Path::new(file);
            let beside = folder.join(named.file_name()?);
            let found = [named, &beside].into_iter().find(|path| path.is_file())?;
            let text = LIMIT.read_text(found).ok()?;
            Some(Source {
                path: found.to_owned(),
                lines: text.lines().map(str::to_owned).collect(),
            })
        });
        source.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_file_beside_the_input() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("k.cu"), "one\n  two;\n").unwrap();
        let input = dir.path().join("k.toml");
        let mut text = SourceText::beside(&input);
        assert_eq!(text.line("/gone/k.cu:2").as_deref(), Some("two;"));
        for none in ["/gone/k.cu:3", "/gone/k.cu:0", "other.cu:1", "k.cu"] {
            assert_eq!(text.line(none), None, "{none}");
        }
    }
}
