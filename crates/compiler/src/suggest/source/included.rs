//! A file with the files that it includes.

use super::files::{Included, SourceFiles};
use super::macros::included;
use super::scan::Text;
use std::rc::Rc;

/// Files that include each other.
const MOST_FILES: usize = 16;

impl SourceFiles {
    /// `file` together with the files that it includes.
    pub(in crate::suggest) fn with_included(&mut self, file: &str) -> Rc<Included> {
        if let Some(known) = self.included.get(file) {
            return known.clone();
        }
        let own = self.text(file);
        let all = Rc::new(self.included_in(file, &own));
        self.included.insert(file.to_owned(), all.clone());
        all
    }

    /// The file with what it includes, where `file` has another text.
    pub(in crate::suggest) fn included_in(&mut self, file: &str, own: &Text) -> Included {
        let mut files = vec![file.to_owned()];
        let mut lines: Vec<String> = own.text.lines().map(str::to_owned).collect();
        let (mut read, mut seen) = (0, 0);
        let mut first = Vec::new();
        while let Some(file) = files.get(read).cloned() {
            first.push(if read == 0 { 1 } else { lines.len() as u32 + 1 });
            if read > 0 {
                let text = self.text(&file);
                lines.extend(text.text.lines().map(str::to_owned));
            }
            for line in &lines[seen..] {
                if let Some(included) = included(line, &file)
                    && files.len() < MOST_FILES
                    && !files.contains(&included)
                {
                    files.push(included);
                }
            }
            (read, seen) = (read + 1, lines.len());
        }
        let text = Rc::new(Text::new(lines.join("\n")));
        let files = first.into_iter().zip(files).collect();
        Included { lines, text, files }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::source::files::given_files;

    #[test]
    fn a_file_and_what_it_includes_are_read_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        for (name, text) in [
            ("k.cu", "#include \"a.h\"\n  kernel\n#include <c.h>"),
            ("a.h", "#include \"b.h\"\n#include \"k.cu\"\na"),
            ("b.h", "b"),
            ("c.h", "c"),
        ] {
            std::fs::write(path(name), text).unwrap();
        }
        let mut files = SourceFiles::beside(&dir.path().join("k.toml"));
        let all = files.with_included(&path("k.cu"));
        let own = ["#include \"a.h\"", "kernel", "#include <c.h>"];
        let included = ["#include \"b.h\"", "#include \"k.cu\"", "a", "b"];
        assert_eq!(all.lines, [&own[..], &included].concat());
        assert_eq!(all.text.text, all.lines.join("\n"));
        let places = [1, 3, 4, 6, 7].map(|line| all.place_of(line).unwrap());
        let of = |place: &str| {
            let (file, line) = place.rsplit_once(':').unwrap();
            format!("{}:{line}", file.rsplit('/').next().unwrap())
        };
        let expected = ["k.cu:1", "k.cu:3", "a.h:1", "a.h:3", "b.h:1"];
        assert_eq!(places.map(|place| of(&place)), expected);
        std::fs::remove_dir_all(dir.path()).unwrap();
        assert!(Rc::ptr_eq(&all, &files.with_included(&path("k.cu"))));
        assert!(Rc::ptr_eq(
            &files.text(&path("b.h")),
            &files.text(&path("b.h"))
        ));
        assert_eq!(files.text(&path("b.h")).text, "b");
    }

    #[test]
    fn another_text_of_a_file_has_its_own_includes() {
        let mut files = given_files([("k.cu", "k"), ("a.h", "a")]);
        let own = Text::new("#include \"a.h\"\nother".to_owned());
        let lines = files.included_in("k.cu", &own).lines;
        assert_eq!(lines, ["#include \"a.h\"", "other", "a"]);
        assert_eq!(files.with_included("k.cu").lines, ["k"]);
    }
}
