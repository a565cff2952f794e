//! The source files that a trace names, if they are found.

use super::region::Region;
use super::scan::{MOST_LINES, Text};
use spadkit_base::input::Limit;
use spadkit_launch::launch::source_places;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Larger files are not hand-written source.
const LIMIT: Limit = Limit {
    bytes: 4 << 20,
    expected: "a source file in UTF-8",
};

/// The most sibling folders of a file's folder that are searched for its headers.
const MOST_FOLDERS: usize = 64;

/// Source files: each is read once, and its includes are found once.
#[derive(Default)]
pub struct SourceFiles {
    /// The folder to look in for a file that is not at the path in the PTX.
    folder: PathBuf,
    /// Files by the name in the PTX; none if the file is missing or is not text.
    files: HashMap<String, Option<SourceFile>>,
    /// Folders of headers that a compiler finds by its options.
    headers: BTreeSet<PathBuf>,
    /// Texts in which pointers to parts of dynamic shared memory are seen as arrays.
    pub(super) views: BTreeMap<String, Rc<Text>>,
    /// The pointer of each such part, by the name of the part.
    pub(super) pointers: BTreeMap<String, String>,
    /// Files with the files that they include, by the name of the first.
    pub(in crate::suggest) included: HashMap<String, Rc<Included>>,
    /// By folder, the files of source in it.
    pub(in crate::suggest) neighbours: HashMap<PathBuf, Rc<[Neighbour]>>,
}

struct SourceFile {
    path: PathBuf,
    lines: Vec<String>,
    /// The lines without white space around them.
    text: OnceCell<Rc<Text>>,
}

/// The lines of a file, then those of the files that it includes by `"..."`.
pub(in crate::suggest) struct Included {
    pub lines: Vec<String>,
    /// The lines as one text.
    pub text: Rc<Text>,
    /// The files, each with the number of its first line there.
    pub files: Vec<(u32, String)>,
}

impl Included {
    /// `file:line` of a line of the text; lines count from 1.
    pub fn place_of(&self, line: u32) -> Option<String> {
        let (first, file) = self.files.iter().rfind(|(first, _)| *first <= line)?;
        Some(format!("{file}:{}", line - first + 1))
    }
}

/// A file in a folder of source.
pub(in crate::suggest) struct Neighbour {
    pub path: PathBuf,
    pub text: Text,
    /// The own names of the files that it includes.
    pub includes: Vec<String>,
}

impl SourceFile {
    fn new(path: PathBuf, text: &str) -> Self {
        SourceFile {
            path,
            lines: text.lines().map(str::to_owned).collect(),
            text: OnceCell::new(),
        }
    }
}

impl SourceFiles {
    /// Looks for files where the PTX names them, then in the folder of `input`.
    pub fn beside(input: &Path) -> Self {
        let folder = input.parent().unwrap_or(Path::new(""));
        SourceFiles {
            folder: folder.to_owned(),
            ..SourceFiles::default()
        }
    }

    /// The pointer that the source has for a part of dynamic shared memory.
    pub(in crate::suggest) fn pointer_to_part(&self, part: &str) -> Option<&str> {
        self.pointers.get(part).map(String::as_str)
    }

    /// A file as one text, of lines without white space around them; empty if it is
    /// missing.
    pub(in crate::suggest) fn text(&mut self, file: &str) -> Rc<Text> {
        if let Some(view) = self.views.get(file) {
            return view.clone();
        }
        let Some(found) = self.file(file) else {
            return Rc::new(Text::new(String::new()));
        };
        let text = || {
            let lines = found.lines.iter().take(MOST_LINES).map(|line| line.trim());
            Rc::new(Text::new(lines.collect::<Vec<_>>().join("\n")))
        };
        found.text.get_or_init(text).clone()
    }

    /// The lines of a file.
    pub fn lines(&mut self, file: &str) -> Option<&[String]> {
        self.file(file).map(|found| &found.lines[..])
    }

    /// The text of `file:line` without the white space around it; `None` if the
    /// file or the line is missing.
    pub fn line(&mut self, place: &str) -> Option<String> {
        self.untrimmed(place).map(|line| line.trim().to_owned())
    }

    /// The text of `file:line` with its white space; `None` if the file or the line
    /// is missing.
    pub fn untrimmed(&mut self, place: &str) -> Option<String> {
        let (file, line) = split(place)?;
        let lines = self.lines(file)?;
        lines.get((line as usize).checked_sub(1)?).cloned()
    }

    /// The region of the statement `text` that includes `file:line`.
    pub fn region(&mut self, place: &str, text: &str) -> Option<Region> {
        let (file, line) = split(place)?;
        Region::of(self.lines(file)?, line as usize, text)
    }

    /// The path of the file that the PTX calls `file`.
    pub fn path(&mut self, file: &str) -> Option<PathBuf> {
        self.file(file).map(|found| found.path.clone())
    }

    /// The paths of the files that were found.
    pub fn found(&self) -> Vec<PathBuf> {
        let files = self.files.values().flatten();
        let mut paths: Vec<PathBuf> = files.map(|f| f.path.clone()).collect();
        paths.sort();
        paths
    }

    /// Adds the siblings of the folders of the files that were found:
    /// `src/common` for `src/kernels/a.cu`.
    fn add_folders_of_headers(&mut self) {
        let parents = self.files.values().flatten();
        let parents = parents.filter_map(|f| f.path.parent()?.parent().map(Path::to_owned));
        for parent in parents.collect::<BTreeSet<_>>() {
            if !self.headers.insert(parent.clone()) {
                continue;
            }
            let folders = std::fs::read_dir(&parent).into_iter().flatten().flatten();
            let folders = folders.take(MOST_FOLDERS).map(|entry| entry.path());
            self.headers.extend(folders.filter(|path| path.is_dir()));
        }
    }

    fn file(&mut self, file: &str) -> Option<&SourceFile> {
        if !self.files.contains_key(file) {
            self.add_folders_of_headers();
        }
        let (folder, headers) = (&self.folder, &self.headers);
        let known = self.files.entry(file.to_owned()).or_insert_with(|| {
            let name = Path::new(file).file_name()?;
            let near = headers.iter().map(|folder| folder.join(name));
            let mut candidates = source_places(file, folder).chain(near);
            let found = candidates.find(|path| path.is_file())?;
            let text = LIMIT.read_text(&found).ok()?;
            Some(SourceFile::new(found, &text))
        });
        known.as_ref()
    }
}

/// `file:line` as its parts.
pub fn split(place: &str) -> Option<(&str, u32)> {
    let (file, line) = place.rsplit_once(':')?;
    Some((file, line.parse().ok()?))
}

/// Files that are nowhere but here, by their names.
#[cfg(test)]
pub(in crate::suggest) fn given_files<'a>(
    texts: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> SourceFiles {
    let file = |(name, text): (&str, &str)| {
        let file = SourceFile::new(PathBuf::from(name), text);
        (name.to_owned(), Some(file))
    };
    SourceFiles {
        files: texts.into_iter().map(file).collect(),
        ..SourceFiles::default()
    }
}

/// A text as `k.cu`.
#[cfg(test)]
pub(in crate::suggest) fn given(source: &str) -> SourceFiles {
    given_files([("k.cu", source)])
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
        let (kernels, common) = (dir.path().join("src/mma"), dir.path().join("src/common"));
        for (folder, name) in [(&kernels, "a.cu"), (&common, "ptx.h")] {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join(name), "text").unwrap();
        }
        let mut near = SourceFiles::beside(&kernels.join("a.toml"));
        assert_eq!(near.line("ptx.h:1"), None);
        assert_eq!(near.line("a.cu:1").as_deref(), Some("text"));
        let header = kernels.join("ptx.h").display().to_string();
        assert_eq!(near.path(&header), Some(common.join("ptx.h")));
        assert_eq!(files.found(), [dir.path().join("k.cu")]);
    }
}
