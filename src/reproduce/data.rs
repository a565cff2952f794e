//! Reading the files of `reproduce/`.

use crate::error::{Error, Result};
use crate::input::Limit;
use std::path::Path;

const FILE: Limit = Limit {
    bytes: 1 << 20,
    expected: "a figure (docs/reproduction.md)",
};

/// A TOML file of the folder `reproduce/`.
pub(super) fn parse<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = FILE.read_text(path)?;
    toml::from_str(&text).map_err(|e| {
        Error::usage(
            format!("{}: {}", path.display(), e.message()),
            format!("expected {}\n{e}", FILE.expected),
        )
    })
}
