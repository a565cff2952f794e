//! Names that others chose, where they are shown, and where they become part
//! of a command or of a script.
//!
//! The kit does not rely on a tool to refuse a name:
//!
//! - A name in a Yosys, ABC, Tcl or Verilog text is a [plain name](is_plain), or
//!   the input is refused ([`require_plain`](crate::input::require_plain)).
//! - Commands that the kit prints are quoted for a shell ([`shell`]).
//! - Text that is shown has its control characters [escaped](shown).

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A location by the file's name alone, as Nsight Compute shows it.
pub fn without_folder(place: &str) -> &str {
    place.rsplit(['/', '\\']).next().unwrap_or(place)
}

/// A name in one line of text: control characters (and those that turn the
/// direction of writing, which make a line read as another) are escaped,
/// line ends and tabs, too: `\n`, `\x1b`, `\u{202e}`.
pub fn shown(text: &str) -> Cow<'_, str> {
    escape(text, steers)
}

/// [`shown`] for texts of many lines: line ends and tabs stay.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| steers(c) && c != '\n' && c != '\t')
}

/// [`shown`] for a path; bytes that are not UTF-8 are replaced.
pub fn shown_path(path: &Path) -> String {
    shown(&path.to_string_lossy()).into_owned()
}

fn escape(text: &str, unsafe_char: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(&unsafe_char) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if !unsafe_char(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_ascii() => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
        }
    }
    Cow::Owned(out)
}

/// Whether a character does something to a terminal instead of being shown.
fn steers(c: char) -> bool {
    let directions = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}'];
    c.is_control()
        || directions.contains(&c)
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

/// A word of a command, quoted for a POSIX shell: pasted, it is this word again,
/// whatever it contains. Control characters and bytes that are not UTF-8 are
/// written in `$'...'`, so that the quoted word can be displayed.
pub fn shell(word: impl AsRef<OsStr>) -> String {
    let bytes = word.as_ref().as_bytes();
    let text = std::str::from_utf8(bytes);
    let harmless = |c: char| c.is_ascii_alphanumeric() || "_-./:,=+@%^".contains(c);
    match text {
        // `=word` is a path in zsh.
        Ok(text) if !text.is_empty() && !text.starts_with('=') && text.chars().all(harmless) => {
            text.to_owned()
        }
        Ok(text) if !text.chars().any(steers) => format!("'{}'", text.replace('\'', "'\\''")),
        _ => escaped_word(bytes),
    }
}

/// A command line of words, each quoted by [`shell`].
pub fn shell_line<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> String {
    let words: Vec<String> = words.into_iter().map(shell).collect();
    words.join(" ")
}

/// `$'...'`: three octal digits, which end there whatever follows.
fn escaped_word(bytes: &[u8]) -> String {
    let mut out = String::from("$'");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\'' | '\\' => {
                    out.push('\\');
                    out.push(c);
                }
                c if steers(c) => octal(&mut out, c.encode_utf8(&mut [0; 4]).as_bytes()),
                c => out.push(c),
            }
        }
        octal(&mut out, chunk.invalid());
    }
    out + "'"
}

fn octal(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(out, "\\{byte:03o}");
    }
}

/// The name among `known` that `name` was probably meant to be. At most a third
/// of it differs, counted in characters that are changed, added, left out or
/// exchanged with their neighbour.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = (name.chars().count() / 3).max(1);
    let known = known.into_iter().map(|k| (distance(name, k), k));
    let near = known.filter(|(far, _)| *far <= most);
    near.min_by_key(|(far, _)| *far).map(|(_, k)| k)
}

/// `; did you mean NAME?`, where one is [near](nearest).
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or(String::new(), |near| format!("; did you mean '{near}'?"))
}

/// The distance of Damerau and Levenshtein (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before = vec![0; b.len() + 1];
    let mut row: Vec<usize> = (0..=b.len()).collect();
    let mut last = None;
    for (i, x) in a.chars().enumerate() {
        let above = std::mem::replace(&mut row, vec![i + 1; b.len() + 1]);
        for (j, &y) in b.iter().enumerate() {
            let changed = above[j] + usize::from(x != y);
            row[j + 1] = changed.min(above[j + 1] + 1).min(row[j] + 1);
            if j > 0 && last == Some(y) && x == b[j - 1] {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        (before, last) = (above, Some(x));
    }
    row[b.len()]
}

/// Whether a name means itself, and nothing else, in every text that the kit
/// writes for a tool: ASCII letters, digits, `_`, `-` and `.`, neither `-` nor
/// `.` in front. No separator, quote or substitution of Tcl, Yosys, ABC or a
/// shell is among them.
pub fn is_plain(name: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    !name.is_empty() && !name.starts_with(['.', '-']) && name.chars().all(fine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn what_steers_a_terminal_is_escaped_and_the_rest_is_not() {
        assert_eq!(
            shown("a\u{1b}[31m\nb\t\u{9b}\u{202e}é"),
            "a\\x1b[31m\\nb\\t\\u{9b}\\u{202e}é"
        );
        assert_eq!(shown_lines("a\n\tb\r\0"), "a\n\tb\\r\\x00");
        assert!(matches!(shown("plain µm² ✓"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_shell_reads_each_word_back() {
        let words: [&[u8]; 12] = [
            b"kernel:fwt",
            b"matrix:0x21,0x42",
            b"",
            b"a b",
            b"it's",
            b"$(touch x);`id`",
            b"\"[$HOME]\"",
            b"-rf",
            b"~",
            b"two\nlines\\",
            b"\x1b[31m'1\xff2",
            "\u{202e}0".as_bytes(),
        ];
        for word in words {
            let word = OsString::from_vec(word.to_vec());
            let quoted = shell(&word);
            assert!(!quoted.chars().any(steers), "{quoted}");
            let script = format!("printf %s {quoted}");
            let bash = std::process::Command::new("bash")
                .args(["-c", &script])
                .output();
            let Ok(output) = bash else {
                println!("skipped: there is no bash");
                return;
            };
            assert_eq!(output.stdout, word.as_bytes(), "{quoted}");
        }
        assert_eq!(shell("kernel:fwt"), "kernel:fwt");
        assert_eq!(shell_line(["spadkit", "tune", "a b"]), "spadkit tune 'a b'");
    }

    #[test]
    fn a_slip_of_the_pen_finds_its_name() {
        let near = |name| nearest(name, ["fermi", "gt200", "sharing-48k", "sharing-64k"]);
        assert_eq!(near("fremi"), Some("fermi"));
        assert_eq!(near("gt20"), Some("gt200"));
        assert_eq!(near("sharing64k"), Some("sharing-64k"));
        assert_eq!(near("h100"), None);
        assert_eq!(near(""), None);
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn names_for_scripts_have_nothing_but_letters_digits_and_three_signs() {
        for plain in ["INV_X1", "spad_hash.v", "74AC-00"] {
            assert!(is_plain(plain), "{plain}");
        }
        for bad in [
            "", ".", "-o", "a b", "a;b", "a$b", "a[b]", "a{b}", "a\"b", "a'b", "a\\b", "a\nb",
            "a#b", "a/b", "é",
        ] {
            assert!(!is_plain(bad), "{bad}");
            assert_eq!(
                crate::input::require_plain("cell", bad)
                    .unwrap_err()
                    .exit_status(),
                2
            );
        }
    }
}
