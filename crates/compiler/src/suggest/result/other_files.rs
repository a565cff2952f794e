//! Users of what changes in other files: of a macro or a function of a header.

use crate::suggest::lines::change::LineChange;
use crate::suggest::source::files::{Neighbour, SourceFiles, split};
use crate::suggest::source::scan::Text;
use crate::suggest::source::words::word;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The extensions of source files.
const EXTENSIONS: [&str; 9] = ["cu", "cuh", "h", "hh", "hpp", "inl", "cc", "cpp", "cxx"];

/// Files of a folder that are read.
const MOST_FILES: usize = 256;

/// Fills in the files that use what each of the lines defines.
pub(in crate::suggest) fn find_users(lines: &mut [LineChange], files: &mut SourceFiles) {
    if lines.iter().all(|line| defined(line).is_none()) {
        return;
    }
    let places = lines.iter().flat_map(LineChange::places);
    let names: BTreeSet<String> = places
        .filter_map(|p| Some(split(p)?.0.to_owned()))
        .collect();
    let own: BTreeSet<PathBuf> = names.iter().filter_map(|name| files.path(name)).collect();
    let folders: BTreeSet<&Path> = own.iter().filter_map(|path| path.parent()).collect();
    let all: Vec<_> = folders.into_iter().map(|f| files.neighbours(f)).collect();
    let all: Vec<&Neighbour> = all.iter().flat_map(|folder| folder.iter()).collect();
    for line in lines {
        let Some((name, file)) = defined(line) else {
            continue;
        };
        let with_it = including(file, &all);
        let uses = |other: &&&Neighbour| {
            !own.contains(&other.path) && word(&other.text.masked, name).is_some()
        };
        let used_in = with_it.iter().filter(uses);
        line.used_in = used_in.map(|o| o.path.display().to_string()).collect();
    }
}

/// The name that a line defines, and the file's own name.
fn defined(line: &LineChange) -> Option<(&str, &str)> {
    let call = line.call.as_ref()?;
    let file = Path::new(split(&call.source)?.0).file_name()?;
    Some((call.defines.as_deref()?, file.to_str()?))
}

/// The files that include one of that name, or one that does.
fn including<'a>(file: &'a str, all: &[&'a Neighbour]) -> Vec<&'a Neighbour> {
    let mut names = BTreeSet::from([file]);
    let mut found: Vec<&Neighbour> = Vec::new();
    let mut left = all.to_vec();
    loop {
        let is_new = |n: &&Neighbour| n.includes.iter().any(|name| names.contains(&**name));
        let (new, others): (Vec<&Neighbour>, Vec<&Neighbour>) = left.into_iter().partition(is_new);
        if new.is_empty() {
            found.sort_by(|a, b| a.path.cmp(&b.path));
            return found;
        }
        names.extend(new.iter().filter_map(|n| n.path.file_name()?.to_str()));
        found.extend(new);
        left = others;
    }
}

/// The own name of the file that a line includes.
fn included_by(line: &str) -> Option<String> {
    let directive = line.trim_start().strip_prefix('#')?.trim_start();
    let named = directive.strip_prefix("include")?.trim();
    let path = named.split(['"', '<', '>']).nth(1)?;
    Some(path.rsplit('/').next()?.to_owned())
}

impl SourceFiles {
    /// The files of source in `folder`, read once.
    fn neighbours(&mut self, folder: &Path) -> Rc<[Neighbour]> {
        let known = self.neighbours.entry(folder.to_owned());
        known.or_insert_with(|| read_all(folder)).clone()
    }
}

fn read_all(folder: &Path) -> Rc<[Neighbour]> {
    let read = |path: PathBuf| {
        let text = Text::new(std::fs::read_to_string(&path).ok()?);
        let includes = text.text.lines().filter_map(included_by).collect();
        Some(Neighbour {
            path,
            text,
            includes,
        })
    };
    sources_in(folder).into_iter().filter_map(read).collect()
}

fn sources_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_source = |path: &PathBuf| {
        let extension = path.extension().and_then(|e| e.to_str());
        extension.is_some_and(|e| EXTENSIONS.contains(&e)) && path.is_file()
    };
    let mut found: Vec<PathBuf> = entries.map(|e| e.path()).filter(is_source).collect();
    found.sort();
    found.truncate(MOST_FILES);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::source::edits::CallChange;

    #[test]
    fn files_that_include_a_header_and_use_its_macro_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        for (name, text) in [
            ("tile.cuh", "#define AT(i) tile[i]"),
            ("own.cu", "#include \"tile.cuh\"\nAT(1)"),
            ("user.cu", "#  include <lib/tile.cuh>\nAT(1)"),
            ("comment.cu", "#include \"tile.cuh\"\n// AT(1)"),
            ("namesake.cu", "#define AT(i) other[i]\nAT(1)"),
            ("middle.h", "#include \"tile.cuh\" // and more"),
            ("around.h", "#include \"middle.h\"\n#include \"loop.h\""),
            ("loop.h", "#include \"around.h\""),
            ("far.cu", "#include \"around.h\"\nAT(1)"),
            ("notes.txt", "#include \"tile.cuh\"\nAT(1)"),
        ] {
            std::fs::write(path(name), text).unwrap();
        }
        let line = |file: &str, defines: Option<&str>| LineChange {
            source: Some(path(file) + ":1"),
            call: Some(CallChange {
                source: path(file) + ":1",
                text: String::new(),
                changed_text: String::new(),
                edits: Vec::new(),
                maps: crate::suggest::source::edits::Maps::Indices,
                defines: defines.map(str::to_owned),
            }),
            ..LineChange::default()
        };
        let mut lines = [line("own.cu", None), line("tile.cuh", Some("AT"))];
        let mut files = SourceFiles::beside(&dir.path().join("k.toml"));
        find_users(&mut lines, &mut files);
        assert!(lines[0].used_in.is_empty());
        let users = [path("far.cu"), path("user.cu")];
        assert_eq!(lines[1].used_in, users);
        // For the next array, the folder is not read again.
        std::fs::remove_file(path("user.cu")).unwrap();
        lines[1].used_in.clear();
        find_users(&mut lines, &mut files);
        assert_eq!(lines[1].used_in, users);
    }
}
