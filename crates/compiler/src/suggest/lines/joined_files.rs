//! Files that take part in one kernel, as one text: a helper in a header, and the kernel
//! that calls it.

use super::change::LineChange;
use crate::suggest::SourceFiles;
use crate::suggest::source::files::split;
use crate::suggest::source::scan::Text;

/// The file of a helper, then those of its callers.
pub(in crate::suggest) struct JoinedFiles {
    pub text: Text,
    /// The files, each with the number of its first line in the text.
    files: Vec<(u32, String)>,
}

impl JoinedFiles {
    /// The files of the helpers in `file`, which `lines` access.
    pub fn of(file: &str, lines: &[LineChange], sources: &mut SourceFiles) -> Self {
        let mut names = vec![file.to_owned()];
        let is_own =
            |l: &&LineChange| l.source.as_deref().and_then(split).map(|p| p.0) == Some(file);
        let callers = lines.iter().filter(is_own).flat_map(|l| &l.inlined_at);
        for (caller, _) in callers.filter_map(|place| split(place)) {
            if names.iter().all(|name| name != caller) {
                names.push(caller.to_owned());
            }
        }
        let (mut all, mut files, mut first) = (String::new(), Vec::new(), 1);
        for name in names {
            let own = sources.text(&name);
            files.push((first, name));
            first += own.text.matches('\n').count() as u32 + 1;
            all += &own.text;
            all.push('\n');
        }
        JoinedFiles {
            text: Text::new(all),
            files,
        }
    }

    /// The number in the text of a `file:line`.
    pub fn number(&self, source: &str) -> Option<u32> {
        let (file, line) = split(source)?;
        let (first, _) = self.files.iter().find(|(_, name)| name == file)?;
        Some(first + line - 1)
    }

    /// The `file:line` of a number in the text.
    pub fn source(&self, number: u32) -> String {
        let mut before = self.files.iter().filter(|(first, _)| *first <= number);
        let (first, file) = before.next_back().unwrap_or(&self.files[0]);
        format!("{file}:{}", number - first + 1)
    }

    /// The name of its first file.
    pub fn first(&self) -> &str {
        &self.files[0].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::source::files::given_files;

    #[test]
    fn lines_have_their_place_in_the_text_and_in_their_file() {
        let mut text = given_files([("h.h", "a\nb\n"), ("k.cu", "c\nd\n")]);
        let line = LineChange {
            source: Some("h.h:2".to_owned()),
            inlined_at: vec!["h.h:1".to_owned(), "k.cu:2".to_owned()],
            ..LineChange::default()
        };
        let files = JoinedFiles::of("h.h", &[line], &mut text);
        assert_eq!(files.text.text, "a\nb\nc\nd\n");
        for (number, source) in [(1, "h.h:1"), (2, "h.h:2"), (3, "k.cu:1"), (4, "k.cu:2")] {
            assert_eq!(files.number(source), Some(number));
            assert_eq!(files.source(number), source);
        }
    }
}
