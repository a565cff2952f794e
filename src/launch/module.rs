//! Reading a PTX text.

use super::uncompiled::refuse_source;
use crate::error::Result;
use crate::input::Limit;
use crate::ptx::Module;
use std::path::Path;

const LIMIT: Limit = Limit {
    bytes: 64 << 20,
    expected: "PTX in UTF-8",
};

/// Reads and parses a PTX text; `path` may be a pipe.
pub fn read_module(path: &Path) -> Result<Module> {
    refuse_source(path)?;
    Module::parse(&LIMIT.read_text(path)?, &path.display().to_string())
}
