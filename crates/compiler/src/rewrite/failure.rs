//! The reasons for which a kernel cannot be rewritten.

use spadkit_base::error::Error;
use std::fmt;

/// Why a kernel cannot be rewritten under a mapping, although the request is
/// right: what the kernel is, or that there is no room for the mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Impossible {
    what: String,
    help: &'static str,
}

impl Impossible {
    pub(super) fn new(what: String, help: &'static str) -> Self {
        Impossible { what, help }
    }

    /// The error if there is no other mapping to try.
    pub fn into_error(self) -> Error {
        Error::usage(self.what, self.help)
    }
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.what)
    }
}

/// Why there is no result: another mapping may have one after `Impossible`,
/// none has after `Error`.
#[derive(Debug)]
pub(super) enum Failure {
    Impossible(Impossible),
    Error(Error),
}

impl From<Impossible> for Failure {
    fn from(impossible: Impossible) -> Self {
        Failure::Impossible(impossible)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Error(error)
    }
}

/// Shorthand for the steps of the pass.
pub(super) type Result<T> = std::result::Result<T, Failure>;
