//! Filling in script templates.

use crate::error::{Error, Result};
use serde::Serialize;

/// Renders a template of `synth/` with the fields of `values`.
pub(super) fn render(template: &str, values: &impl Serialize) -> Result<String> {
    let fail = |e: tera::Error| Error::Usage {
        what: format!("a script template of the kit cannot be filled in: {e}"),
        help: None,
    };
    let context = tera::Context::from_serialize(values).map_err(fail)?;
    tera::Tera::one_off(template, &context, false).map_err(fail)
}
