//! The lines of a trace file, compressed or not, numbered.

use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use spadkit_base::claims;
use spadkit_base::error::{Error, Result};
use spadkit_base::input::require_file;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// A line is never longer: 32 addresses take 700 bytes.
const MAX_LINE: u64 = 1 << 16;

/// The file name without the ending that names the compression.
pub(super) fn without_compression(name: &str) -> &str {
    let plain = name.strip_suffix(".xz").or(name.strip_suffix(".gz"));
    plain.unwrap_or(name)
}

/// An error at a byte of the present line.
pub(super) struct Bad {
    pub(super) what: String,
    pub(super) help: String,
    /// 0-based byte of the line.
    pub(super) at: usize,
}

impl Bad {
    pub(super) fn new(what: impl Into<String>, help: impl Into<String>, at: usize) -> Self {
        Bad {
            what: what.into(),
            help: help.into(),
            at,
        }
    }
}

/// Reads a file line by line.
pub(super) struct Lines {
    path: PathBuf,
    input: Box<dyn BufRead + Send>,
    line: String,
    /// 1-based number of `line`; 0 before the first.
    number: usize,
}

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self> {
        require_file(path)?;
        claims::reads(path)?;
        let file = File::open(path).map_err(|e| Error::io("read", path, e))?;
        let name = path.extension().and_then(|e| e.to_str());
        let input: Box<dyn BufRead + Send> = match name {
            Some("xz") => Box::new(BufReader::new(XzReader::new(BufReader::new(file), true))),
            Some("gz") => Box::new(BufReader::new(MultiGzDecoder::new(BufReader::new(file)))),
            _ => Box::new(BufReader::new(file)),
        };
        Ok(Lines::of(input, path))
    }

    /// Reads from `input`; `path` is for messages.
    pub(super) fn of(input: Box<dyn BufRead + Send>, path: &Path) -> Self {
        Lines {
            path: path.to_owned(),
            input,
            line: String::new(),
            number: 0,
        }
    }

    /// Goes to the next line; false at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool> {
        let mut bytes = std::mem::take(&mut self.line).into_bytes();
        bytes.clear();
        self.number += 1;
        let read = (&mut self.input)
            .take(MAX_LINE)
            .read_until(b'\n', &mut bytes);
        let read = read.map_err(|e| Error::io("read", &self.path, e))? as u64;
        if read == MAX_LINE {
            let bad = Bad::new("this line is too long", "expected an Accel-Sim trace", 0);
            return Err(self.error(bad));
        }
        while bytes.last().is_some_and(|b| b"\r\n".contains(b)) {
            bytes.pop();
        }
        match String::from_utf8(bytes) {
            Ok(line) => self.line = line,
            Err(e) => {
                let at = e.utf8_error().valid_up_to();
                self.line = String::from_utf8_lossy(e.as_bytes()).into_owned();
                let bad = Bad::new("this is not UTF-8 text", "expected an Accel-Sim trace", at);
                return Err(self.error(bad));
            }
        }
        Ok(read > 0)
    }

    /// The present line, without its end.
    pub(super) fn line(&self) -> &str {
        &self.line
    }

    /// The error `bad` with its line and column in the file.
    pub(super) fn error(&self, bad: Bad) -> Error {
        let help = Some(bad.help);
        Error::input_line(bad.what, help, &self.path, self.number, &self.line, bad.at)
    }
}

/// The words of a line, one after the other.
pub(super) struct Words<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Words { line, at: 0 }
    }

    /// The next word; `None` at the end of the line.
    pub(super) fn next_word(&mut self) -> Option<&'a str> {
        let rest = &self.line[self.at..];
        let start = self.at + (rest.len() - rest.trim_start().len());
        let word = self.line[start..].split_ascii_whitespace().next()?;
        self.at = start + word.len();
        Some(word)
    }

    /// The next word; an error that names `expected` if there is none.
    pub(super) fn word(&mut self, expected: &str) -> Result<&'a str, Bad> {
        let end = self.line.len();
        let what = || {
            Bad::new(
                "the line ends too early",
                format!("expected {expected}"),
                end,
            )
        };
        self.next_word().ok_or_else(what)
    }

    /// The next word as a decimal number.
    pub(super) fn decimal<T: std::str::FromStr>(&mut self, expected: &str) -> Result<T, Bad> {
        let word = self.word(expected)?;
        word.parse().map_err(|_| self.wrong(word, expected))
    }

    /// The next word as a hexadecimal number, with or without 0x.
    pub(super) fn hexadecimal(&mut self, expected: &str) -> Result<u64, Bad> {
        let word = self.word(expected)?;
        let digits = word.strip_prefix("0x").unwrap_or(word);
        u64::from_str_radix(digits, 16).map_err(|_| self.wrong(word, expected))
    }

    /// The error for `word`, which was read last and should be `expected`.
    pub(super) fn wrong(&self, word: &str, expected: &str) -> Bad {
        let what = format!("'{word}' is not {expected}");
        Bad::new(what, format!("expected {expected}"), self.at - word.len())
    }
}
