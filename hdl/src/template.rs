//! Tera templates for what rust-hdl is poor at: registers, replication, shells.

use crate::module::{HdlError, Port, Result, UnitDoc, header};
use serde::Serialize;
use tera::{Context, Tera};

/// Every template, by file name.
const TEMPLATES: [(&str, &str); 1] = [(
    "spad_hash_config.v.tera",
    include_str!("../templates/spad_hash_config.v.tera"),
)];

/// Renders a template behind the header comment of the module.
pub(crate) fn render(
    template: &str,
    doc: &UnitDoc,
    ports: &[Port],
    values: &impl Serialize,
) -> Result<String> {
    let fail = |e: tera::Error| HdlError::Template {
        name: template.into(),
        reason: e.to_string(),
    };
    let mut tera = Tera::new();
    tera.autoescape_on(Vec::<&str>::new());
    tera.add_raw_templates(TEMPLATES).map_err(fail)?;
    let context = Context::from_serialize(values).map_err(fail)?;
    let body = tera.render(template, &context).map_err(fail)?;
    Ok(format!("{}{}\n", header(doc, ports), body.trim()))
}
