//! Parameters of a spec: every error quotes the whole spec.

use spadkit_base::error::{Error, Result};

/// Parses the parameters of one spec.
#[derive(Clone, Copy)]
pub struct Parser<'a> {
    text: &'a str,
    /// The expected notation, for errors.
    expected: fn() -> String,
}

impl<'a> Parser<'a> {
    /// The parameters of the spec `text`.
    pub(in crate::hash) fn new(text: &'a str, expected: fn() -> String) -> Self {
        Parser { text, expected }
    }

    pub(in crate::hash) fn error(self, what: String) -> Error {
        Error::usage(
            format!("hash spec '{}': {what}", self.text),
            (self.expected)(),
        )
    }

    /// The parameters of `name`, which there must be.
    pub(in crate::hash) fn args(self, name: &str, args: Option<&'a str>) -> Result<&'a str> {
        args.filter(|a| !a.is_empty())
            .ok_or_else(|| self.error(format!("'{name}' needs parameters after a colon")))
    }

    /// Items with commas between them.
    pub(in crate::hash) fn list<T>(
        self,
        args: &str,
        item: impl Fn(&str) -> Result<T>,
    ) -> Result<Vec<T>> {
        args.split(',').map(item).collect()
    }

    /// A decimal number.
    pub(in crate::hash) fn decimal(self, s: &str) -> Result<u32> {
        // u32::from_str would take a leading '+'.
        s.bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| s.parse().ok())
            .flatten()
            .ok_or_else(|| self.error(format!("'{s}' is not a number")))
    }

    /// The numbers called `names`, in any order.
    pub(super) fn named<const K: usize>(self, args: &str, names: [&str; K]) -> Result<[u32; K]> {
        let mut values = [None; K];
        for arg in args.split(',') {
            let (name, value) = arg
                .split_once('=')
                .ok_or_else(|| self.error(format!("'{arg}' does not have the form NAME=VALUE")))?;
            let i = names.iter().position(|n| *n == name).ok_or_else(|| {
                self.error(format!(
                    "unknown parameter '{name}', expected {}",
                    names.join(", ")
                ))
            })?;
            if values[i].replace(self.decimal(value)?).is_some() {
                return Err(self.error(format!("parameter '{name}' is given twice")));
            }
        }
        let missing = (0..K).find(|&i| values[i].is_none());
        match missing {
            Some(i) => Err(self.error(format!("parameter '{}' is missing", names[i]))),
            None => Ok(values.map(|v| v.unwrap_or_default())),
        }
    }
}
