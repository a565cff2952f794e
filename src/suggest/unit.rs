//! Files that take part in one kernel, as one text: a helper in a header, and the kernel
//! that calls it.

use super::SourceLine;
use super::change::LineChange;
use super::files::split;
use super::scan::Text;

/// The file of a helper, then those of its callers.
pub(super) struct Unit {
    pub place: Text,
    /// The files, each with the number of its first line in the text.
    files: Vec<(u32, String)>,
}

impl Unit {
    /// That of the helpers in `file`, which `lines` access.
    pub fn of(file: &str, lines: &[LineChange], text: &mut SourceLine) -> Self {
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
            let own = Text::of_file(&name, text).text;
            files.push((first, name));
            first += own.matches('\n').count() as u32 + 1;
            all += &own;
            all.push('\n');
        }
        Unit {
            place: Text::new(all),
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

    /// Its lines under the name of its first file, and other files as they are.
    pub fn line(&self, place: &str, text: &mut SourceLine) -> Option<String> {
        let (file, line) = split(place)?;
        if file != self.files[0].1 {
            return text(place);
        }
        let start = self.place.start_of_line(line)?;
        Some(self.place.text[start..self.place.line_end(start)].to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_their_place_in_the_text_and_in_their_file() {
        let mut text = |place: &str| {
            let (file, line) = split(place)?;
            let own = if file == "h.h" { "a\nb\n" } else { "c\nd\n" };
            own.lines().nth(line as usize - 1).map(str::to_owned)
        };
        let line = LineChange {
            source: Some("h.h:2".to_owned()),
            inlined_at: vec!["h.h:1".to_owned(), "k.cu:2".to_owned()],
            ..LineChange::default()
        };
        let unit = Unit::of("h.h", &[line], &mut text);
        assert_eq!(unit.place.text, "a\nb\nc\nd\n");
        for (number, source) in [(1, "h.h:1"), (2, "h.h:2"), (3, "k.cu:1"), (4, "k.cu:2")] {
            assert_eq!(unit.number(source), Some(number));
            assert_eq!(unit.source(number), source);
        }
        assert_eq!(unit.line("h.h:4", &mut text).as_deref(), Some("d"));
        assert_eq!(unit.line("k.cu:2", &mut text).as_deref(), Some("d"));
    }
}
