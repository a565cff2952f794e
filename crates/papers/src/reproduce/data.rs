//! Reading the files of `reproduce/`.

use spadkit_base::error::{Error, Result};
use spadkit_base::input::Limit;
use std::path::Path;

const FILE: Limit = Limit {
    bytes: 1 << 20,
    expected: "a file as reproduce/README.md describes it",
};

/// A TOML file of the folder `reproduce/`.
pub(super) fn parse<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    parse_with(path, |_, _| ())
}

/// A TOML file of the folder `reproduce/`; `resolve` completes the value with the
/// file's text.
pub(super) fn parse_with<T: serde::de::DeserializeOwned>(
    path: &Path,
    resolve: impl FnOnce(&mut T, &str),
) -> Result<T> {
    let text = FILE.read_text(path)?;
    let parsed = toml::from_str(&text).map_err(|e| {
        Error::usage(
            format!("{}: {}", path.display(), e.message()),
            format!("expected {}\n{e}", FILE.expected),
        )
    });
    let mut parsed: T = parsed?;
    resolve(&mut parsed, &text);
    Ok(parsed)
}
