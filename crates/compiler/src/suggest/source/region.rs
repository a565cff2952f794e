//! The region of a statement in its file.

use super::masked::without_line_comments;
use super::words::is_word;

/// The most lines before a line at which its statement may begin.
const MOST_LINES: usize = 16;

/// Characters of a file, from `start` to before `end`. Lines and columns count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Region {
    /// Line and column of the first character.
    pub start: (usize, usize),
    /// Line and column after the last character.
    pub end: (usize, usize),
}

impl Region {
    /// The statement `text` at line `at` of a file. The white space between its words may
    /// differ, so it may be on several lines, of which `at` is any; its text may be without
    /// the comments at their ends.
    pub(in crate::suggest) fn of(lines: &[String], at: usize, text: &str) -> Option<Region> {
        Self::with_comments(lines, at, text).or_else(|| {
            let code = without_line_comments(&lines.join("\n"));
            let code: Vec<String> = code.split('\n').map(str::to_owned).collect();
            Self::with_comments(&code, at, text)
        })
    }

    fn with_comments(lines: &[String], at: usize, text: &str) -> Option<Region> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let first = at.saturating_sub(MOST_LINES).max(1);
        let found = (first..=at).rev().filter_map(|n| in_line(lines, n, &words));
        let mut through = found.filter(|region| region.end.0 >= at);
        through.next()
    }

    /// Whether a character is in both.
    pub fn overlaps(&self, other: &Region) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// The words, the first of them in line `number`.
fn in_line(lines: &[String], number: usize, words: &[&str]) -> Option<Region> {
    let line = lines.get(number - 1)?;
    let first = words.first()?;
    line.match_indices(first).find_map(|(at, _)| {
        let inside_a_name = line[..at].ends_with(is_word);
        let end = (!inside_a_name).then(|| end_of(lines, (number, at), words))??;
        Some(Region {
            start: (number, column(line, at)),
            end: (end.0, column(&lines[end.0 - 1], end.1)),
        })
    })
}

/// Line and byte after the last of the words, if the text from `start` on has them.
fn end_of(lines: &[String], start: (usize, usize), words: &[&str]) -> Option<(usize, usize)> {
    let (mut number, mut at) = start;
    for (n, word) in words.iter().enumerate() {
        let mut space = n == 0;
        loop {
            let rest = &lines.get(number - 1)?[at..];
            let trimmed = rest.trim_start();
            space |= trimmed.len() < rest.len();
            if !trimmed.is_empty() {
                at += rest.len() - trimmed.len();
                break;
            }
            (number, at, space) = (number + 1, 0, true);
        }
        let rest = &lines[number - 1][at..];
        if !space || !rest.starts_with(word) {
            return None;
        }
        at += word.len();
    }
    Some((number, at))
}

/// The column of a byte.
fn column(line: &str, byte: usize) -> usize {
    line[..byte].chars().count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(source: &str, at: usize, text: &str) -> Option<[(usize, usize); 2]> {
        let lines: Vec<String> = source.lines().map(str::to_owned).collect();
        let found = Region::of(&lines, at, text);
        found.map(|r| [r.start, r.end])
    }

    #[test]
    fn statements_of_one_line_and_of_several() {
        let source =
            "/* ä */ s[i] = 1; t[i] = 2;\nxs[i] = 3;\ns[i] =\n\n  f(a,\n    b);\ns[i] = 1;\n";
        assert_eq!(region(source, 1, "s[i] = 1;"), Some([(1, 9), (1, 18)]));
        assert_eq!(region(source, 1, "t[i] = 2;"), Some([(1, 19), (1, 28)]));
        // Part of a name is none.
        assert_eq!(region(source, 2, "s[i] = 3;"), None);
        for line in 3..=6 {
            let found = region(source, line, "s[i] = f(a, b);");
            assert_eq!(found, Some([(3, 1), (6, 8)]), "{line}");
        }
        // The statement at the line, not the same one above.
        assert_eq!(region(source, 7, "s[i] = 1;"), Some([(7, 1), (7, 10)]));
        assert_eq!(region(source, 2, "s[i] = 1;"), None);
        assert_eq!(region(source, 9, "s[i] = 1;"), None);
        assert_eq!(region(source, 1, ""), None);
    }
}
