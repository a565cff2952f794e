//! Lines of a given width, without breaking a word.

use unicode_width::UnicodeWidthStr;

/// Columns that `text` takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Words up to this stay whole, whatever is in them.
const WORD: usize = 24;

/// The words of `text`, each with the space after it.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let blank = rest.find(' ').unwrap_or(rest.len());
        let end = rest[blank..]
            .find(|c| c != ' ')
            .map_or(rest.len(), |n| blank + n);
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}

/// The parts of `text` that stay whole in a cell: words; long ones end after a
/// comma, a semicolon or a slash inside them.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    for word in words(text) {
        if word.trim_end().chars().count() > WORD {
            parts(word, &mut pieces)
        } else {
            pieces.push(word)
        }
    }
    pieces
}

/// A long word in parts that end where it can be read on.
fn parts<'a>(word: &'a str, pieces: &mut Vec<&'a str>) {
    let mut start = 0;
    let mut characters = word.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map(|(_, next)| *next);
        if matches!(c, ',' | ';' | '/') && next.is_some_and(|next| next != ' ' && next != '/') {
            pieces.push(&word[start..=at]);
            start = at + 1;
        }
    }
    pieces.push(&word[start..]);
}

/// The widest part that stays whole.
pub(super) fn widest_piece(text: &str) -> usize {
    let lines = text.lines().flat_map(pieces);
    lines.map(|p| width(p.trim_end())).max().unwrap_or(0)
}

/// `text` in lines of at most `columns`, where its words let it; the lines after
/// the first begin with `indent` spaces.
pub(super) fn wrapped(text: &str, columns: usize, indent: usize) -> Vec<String> {
    lines_of(text, words, columns, indent)
}

/// `text` in lines of at most `columns`, for a cell of a table, in which long words end
/// in the middle.
pub(super) fn folded(text: &str, columns: usize) -> Vec<String> {
    lines_of(text, pieces, columns, 0)
}

fn lines_of(
    text: &str,
    pieces: impl Fn(&str) -> Vec<&str>,
    columns: usize,
    indent: usize,
) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        let mut is_empty = true;
        for piece in pieces(paragraph) {
            let fits = width(&line) + width(piece.trim_end()) <= columns;
            if !is_empty && !fits {
                let full = std::mem::replace(&mut line, " ".repeat(indent));
                lines.push(full.trim_end().to_owned());
            }
            line += piece;
            is_empty = false;
        }
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// A command in lines of at most `columns`, where its words let it: each but the
/// last ends with a backslash, so that the whole can be pasted. A word in quotes
/// stays whole.
pub(super) fn command_lines(command: &str, columns: usize, indent: usize) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let (mut quoted, mut escaped) = (false, false);
    for c in command.chars() {
        quoted ^= c == '\'' && !escaped;
        escaped = c == '\\' && !quoted && !escaped;
        match c {
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("there is a word").push(c),
        }
    }
    let begin = |indent: usize| " ".repeat(indent);
    let mut lines = Vec::new();
    let mut line = begin(indent) + &words[0];
    for word in &words[1..] {
        // The backslash takes two columns.
        if width(&line) + 1 + width(word) + 2 <= columns {
            line = format!("{line} {word}");
        } else {
            lines.push(format!("{line} \\"));
            line = begin(indent + 2) + word;
        }
    }
    lines.push(line);
    lines
}

/// `text` in `columns`, its middle left out if it is wider.
pub(super) fn elided(text: &str, columns: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    if width(text) <= columns || columns < 3 {
        return text.to_owned();
    }
    let kept = columns - 1;
    let (front, back) = (kept.div_ceil(2), kept / 2);
    let front: String = all[..front.min(all.len())].iter().collect();
    let back: String = all[all.len().saturating_sub(back)..].iter().collect();
    format!("{front}…{back}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_unless_they_are_long() {
        let text = "one two  three swizzle:3,1,4 bitwise-xor:0,0^4,0^5,1^6,2^7 end";
        let lines = lines_of(text, pieces, 18, 2);
        let expected = [
            "one two  three",
            "  swizzle:3,1,4",
            "  bitwise-xor:0,",
            "  0^4,0^5,1^6,2^7",
            "  end",
        ];
        assert_eq!(lines, expected);
        // Paths in a sentence can be copied.
        assert_eq!(
            wrapped("report: /home/somebody/results/report.html", 20, 0),
            ["report:", "/home/somebody/results/report.html"]
        );
        assert_eq!(wrapped("a\n\nb", 5, 2), ["a", "", "b"]);
        assert_eq!(widest_piece("ab cdefg,hi"), 8);
        assert_eq!(widest_piece("/usr/share/technology/library.lib"), 11);
    }

    #[test]
    fn a_wrapped_command_is_one_command() {
        let command = "spadkit tune 'my file.toml' --software --preset sm80";
        let lines = command_lines(command, 32, 2);
        assert_eq!(
            lines,
            [
                "  spadkit tune 'my file.toml' \\",
                "    --software --preset sm80"
            ]
        );
        // A quote within quotes, as a shell wants it.
        let quoted = "cosim --rtl '/tmp/it'\\''s; touch hit' --cycles 50";
        let lines_of_quoted = command_lines(quoted, 20, 0);
        assert!(
            lines_of_quoted
                .iter()
                .any(|l| l.contains("it'\\''s; touch hit'"))
        );
        let joined = lines.join("\n").replace("\\\n", "");
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(words(&joined), words(command));
    }

    #[test]
    fn the_middle_is_left_out() {
        assert_eq!(elided("abcdefghij", 7), "abc…hij");
        assert_eq!(elided("abc", 7), "abc");
    }
}
