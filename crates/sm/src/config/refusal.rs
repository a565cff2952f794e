//! Why a machine is refused, and which keys are to blame.

use spadkit_base::error::Error;
use spadkit_base::input::section::Source;
use spadkit_base::quote::shown_path;

/// A machine that cannot be.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The keys that do not go together; one, where one alone is wrong.
    keys: Vec<&'static str>,
    what: String,
    help: String,
}

impl Refusal {
    /// The value of `key` is wrong, whatever the others are.
    pub fn of(key: &'static str, what: String, help: impl Into<String>) -> Self {
        Self::between(&[key], what, help)
    }

    /// A refusal of keys that contradict each other.
    pub fn between(keys: &[&'static str], what: String, help: impl Into<String>) -> Self {
        Refusal {
            keys: keys.to_vec(),
            what,
            help: help.into(),
        }
    }

    /// The error where no file sets the keys.
    pub fn usage(self) -> Error {
        Error::usage(self.what, self.help)
    }

    /// The error at byte `offset` of a file.
    pub fn at(self, source: &Source, offset: usize) -> Error {
        source.error(self.what, self.help, offset)
    }

    /// The error in a file, at the value of the first key that the file sets;
    /// `place` returns its offset. The other keys come from the base.
    pub fn in_file(self, place: impl Fn(&str) -> Option<usize>, source: &Source) -> Error {
        match self.keys.iter().find_map(|key| place(key)) {
            Some(offset) => self.at(source, offset),
            None => {
                let path = shown_path(&source.path);
                Error::usage(format!("{path}: {}", self.what), self.help)
            }
        }
    }
}
