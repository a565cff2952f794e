//! Tera templates: they print what has been described.

use crate::error::{HdlError, Result};
use serde::Serialize;
use tera::{Context, Tera};

/// Every template of `templates/`, by file name; `build.rs` lists them.
const TEMPLATES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/templates.rs"));

/// Renders a template.
pub(crate) fn render_body(template: &str, values: &impl Serialize) -> Result<String> {
    let fail = |e: tera::Error| HdlError::Template {
        name: template.into(),
        reason: e.to_string(),
    };
    let mut tera = Tera::new();
    tera.autoescape_on(Vec::<&str>::new());
    tera.add_raw_templates(TEMPLATES.iter().copied())
        .map_err(fail)?;
    let context = Context::from_serialize(values).map_err(fail)?;
    let body = tera.render(template, &context).map_err(fail)?;
    Ok(body.trim_end().to_owned())
}
