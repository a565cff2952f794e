//! One error type for the whole kit.
//!
//! Errors are part of the product: each says what was wrong, where, what was
//! expected and what to do. The kind decides the exit status of the command
//! line ([`Error::exit_status`]).

use crate::quote::{shown, shown_lines, shown_path};
use miette::{Diagnostic, MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Shorthand for results with the kit's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong, grouped by what the user can do about it.
#[derive(Debug, Error, Diagnostic)]
pub enum Error {
    /// A value on the command line or handed to the library is not acceptable.
    #[error("{}", shown(what))]
    Usage {
        /// What was wrong, with the offending value.
        what: String,
        /// What was expected, and what to do.
        #[help]
        help: Option<String>,
    },

    /// The content of an input file is wrong, at a known line and column.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Input(Box<InputError>),

    /// A file could not be read or written.
    #[error("cannot {action} {path}: {source}", path = shown_path(path))]
    Io {
        /// `read`, `write`, `create`, ...
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },

    /// A check of the kit found a difference: mismatch, disproof, drift.
    #[error("{}", shown(what))]
    CheckFailed {
        /// What differed, and where.
        what: String,
        /// Where to look next.
        #[help]
        help: Option<String>,
    },

    /// The user wanted the program to stop (Ctrl-C, SIGTERM).
    #[error("{what} was interrupted")]
    Interrupted {
        /// What was not done.
        what: String,
    },

    /// The kit contradicts itself. Whatever the input was, this should not be.
    #[error("{}", shown(what))]
    #[diagnostic(help(
        "this is a defect of spadkit, not of the input: please report it, with the command and \
         its input"
    ))]
    Defect {
        /// What was found, and where.
        what: String,
    },

    /// An external tool is not installed.
    #[error("this needs {tool}, which was not found")]
    ToolMissing {
        /// The program's name.
        tool: String,
        /// How to install it.
        #[help]
        help: String,
    },

    /// An external tool failed, crashed or hung.
    #[error("{tool} {}", shown(what))]
    ToolFailed {
        /// The program's name.
        tool: String,
        /// What happened: exit status, signal or time-out.
        what: String,
        /// The same, for the caller.
        failure: Failure,
        /// The last lines that it printed, and what to try.
        #[help]
        help: Option<String>,
    },
}

/// The way in which an external tool did not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It could not be started, or is not one that the kit can use.
    Unusable,
    /// It ended with an error status, after it had printed `log`.
    Status {
        /// Standard output, then standard error.
        log: String,
    },
    /// A signal ended it.
    Crashed,
    /// It was stopped when its time was up.
    TimedOut,
    /// It was stopped for another reason: it printed too much, or the user interrupted it.
    Stopped,
    /// It ended well, but did not give what it should.
    Output,
}

/// An error in the content of an input file, with its line and column.
#[derive(Debug, Error, Diagnostic)]
#[error("{what} at {path}:{line}:{column}", path = shown_path(path))]
pub struct InputError {
    /// Description of the error.
    pub what: String,
    /// The file.
    pub path: PathBuf,
    /// 1-based line.
    pub line: usize,
    /// 1-based column, in bytes.
    pub column: usize,
    /// Values that were expected.
    #[help]
    pub help: Option<String>,
    /// The part of the line around the error, for the report.
    #[source_code]
    window: Window,
    /// The position of the error in `window`.
    #[label("here")]
    span: SourceSpan,
}

/// A part of one line of a file, which knows where in the file it is.
#[derive(Debug)]
struct Window {
    name: String,
    text: String,
    /// 0-based.
    line: usize,
    /// 0-based, of the error.
    column: usize,
}

impl SourceCode for Window {
    /// The whole window, whatever the span: it is one line at most.
    fn read_span<'a>(
        &'a self,
        _span: &SourceSpan,
        _lines_before: usize,
        _lines_after: usize,
    ) -> std::result::Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let (data, all) = (self.text.as_bytes(), (0, self.text.len()).into());
        let name = self.name.clone();
        let contents = MietteSpanContents::new_named(name, data, all, self.line, self.column, 1);
        Ok(Box::new(contents))
    }
}

impl Error {
    /// A bad value, with what was expected instead.
    pub fn usage(what: impl Into<String>, help: impl Into<String>) -> Self {
        Error::Usage {
            what: what.into(),
            help: Some(shown_lines(&help.into()).into_owned()),
        }
    }

    /// A difference that a check of the kit found, with where to look next.
    pub fn check(what: impl Into<String>, help: impl Into<String>) -> Self {
        Error::CheckFailed {
            what: what.into(),
            help: Some(shown_lines(&help.into()).into_owned()),
        }
    }

    /// The error with `more` added to what was expected.
    pub fn also_expected(self, more: &str) -> Self {
        match self {
            Error::Usage {
                what,
                help: Some(help),
            } => Error::usage(what, format!("{help}; or {more}")),
            other => other,
        }
    }

    /// An internal error, independent of the input.
    pub fn defect(what: impl Into<String>) -> Self {
        Error::Defect { what: what.into() }
    }

    /// An operating-system failure on `path`.
    pub fn io(action: &'static str, path: &Path, source: std::io::Error) -> Self {
        Error::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }

    /// Bad content of `path` at byte `offset` of `text`.
    pub fn input(
        what: impl Into<String>,
        help: Option<String>,
        path: &Path,
        text: &str,
        offset: usize,
    ) -> Self {
        let offset = floor_char_boundary(text, offset.min(text.len()));
        let before = &text[..offset];
        let number = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        let end = text[offset..].find('\n').map_or(text.len(), |i| offset + i);
        Self::input_line(what, help, path, number, &text[start..end], offset - start)
    }

    /// Bad content of `path` at a line and a byte in it, both from 1, as parsers of JSON
    /// have them.
    pub fn input_at(
        what: impl Into<String>,
        help: Option<String>,
        path: &Path,
        text: &str,
        (line, column): (usize, usize),
    ) -> Self {
        let before = text.split_inclusive('\n').take(line.saturating_sub(1));
        let offset = before.map(str::len).sum::<usize>() + column.saturating_sub(1);
        Self::input(what, help, path, text, offset)
    }

    /// Bad content of `path` at byte `column` (from 0) of its line `number`
    /// (from 1), which reads `line`: for files that are not in memory.
    pub fn input_line(
        what: impl Into<String>,
        help: Option<String>,
        path: &Path,
        number: usize,
        line: &str,
        column: usize,
    ) -> Self {
        let column = floor_char_boundary(line, column.min(line.len()));
        // Only a window of the line: traces are often one line of megabytes.
        let from = floor_char_boundary(line, column.saturating_sub(40));
        let to = floor_char_boundary(line, line.len().min(column + 40));
        // A file must not steer the terminal that its error is shown on.
        let (left, right) = (shown(&line[from..column]), shown(&line[column..to]));
        // A character that is shown as several is pointed at as a whole.
        let width = line[column..to]
            .chars()
            .next()
            .map_or(0, |c| shown(c.encode_utf8(&mut [0; 4])).len());
        Error::Input(Box::new(InputError {
            what: shown(&what.into()).into_owned(),
            path: path.to_owned(),
            line: number,
            column: column + 1,
            help: help.map(|help| shown_lines(&help).into_owned()),
            window: Window {
                name: shown_path(path),
                text: format!("{left}{right}"),
                line: number - 1,
                column,
            },
            span: SourceSpan::from((left.len(), width)),
        }))
    }

    /// Values that were expected, or a step to take.
    pub fn advice(&self) -> Option<String> {
        Diagnostic::help(self).map(|help| help.to_string())
    }

    /// Exit status of the command line: 1 a check failed, 2 bad usage or bad
    /// input, 3 an external tool is missing or failed, 4 a defect of the kit,
    /// 130 interrupted (after SIGTERM the program ends with 143:
    /// `spadkit::cli::main`).
    pub fn exit_status(&self) -> u8 {
        match self {
            Error::Interrupted { .. } => 130,
            Error::CheckFailed { .. } => 1,
            Error::Usage { .. } | Error::Input(_) | Error::Io { .. } => 2,
            Error::ToolMissing { .. } | Error::ToolFailed { .. } => 3,
            Error::Defect { .. } => 4,
        }
    }
}

/// Largest character boundary of `text` that is not above `index`.
fn floor_char_boundary(text: &str, mut index: usize) -> usize {
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_errors_point_at_line_and_column() {
        let text = "{\n  \"a\": é!\n}";
        let offset = text.find('!').unwrap();
        let error = Error::input("bad", None, Path::new("t.json"), text, offset);
        assert_eq!(error.to_string(), "bad at t.json:2:10");
        assert_eq!(error.exit_status(), 2);
    }

    #[test]
    fn a_defect_is_told_from_bad_input() {
        let error = Error::defect("two\nowners");
        assert_eq!(
            (error.to_string().as_str(), error.exit_status()),
            ("two\\nowners", 4)
        );
        let help = miette::Diagnostic::help(&error).unwrap().to_string();
        assert!(help.contains("report it"), "{help}");
    }

    #[test]
    fn names_with_control_characters_are_shown_escaped() {
        let name = "a\u{1b}[2K\nerror: b";
        let errors = [
            Error::usage(name, name),
            Error::io("read", Path::new(name), std::io::ErrorKind::NotFound.into()),
            Error::input(name, Some(name.to_owned()), Path::new(name), "x", 0),
        ];
        for error in errors {
            let text = error.to_string();
            assert!(text.contains("a\\x1b[2K\\nerror: b"), "{text}");
            assert!(!text.chars().any(char::is_control), "{text}");
            let help = miette::Diagnostic::help(&error).map(|h| h.to_string());
            assert!(!help.unwrap_or_default().contains('\u{1b}'));
        }
    }

    #[test]
    fn what_a_file_says_cannot_steer_the_terminal() {
        let text = "\u{1b}[31m\u{9b}x\t";
        let Error::Input(error) = Error::input("bad", None, Path::new("t"), text, 6) else {
            panic!("an input error");
        };
        assert_eq!(error.window.text, "\\x1b[31m\\u{9b}x\\t");
    }
}
