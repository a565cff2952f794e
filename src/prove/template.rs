//! Filling in the circuits and scripts of `testbenches/prove/`.

use crate::error::{Error, Result};
use serde::Serialize;
use tera::{Context, Tera};

macro_rules! template {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../testbenches/prove/", $name)),
        )
    };
}

const TEMPLATES: [(&str, &str); 7] = [
    template!("function.v.tera"),
    template!("induction.ys.tera"),
    template!("linear.v.tera"),
    template!("parts.v.tera"),
    template!("prove.ys.tera"),
    template!("registers.v.tera"),
    template!("shift.v.tera"),
];

/// Renders the template `name` with the fields of `values`.
pub(super) fn render(name: &str, values: &impl Serialize) -> Result<String> {
    let fail = |e: tera::Error| Error::Usage {
        what: format!("the kit's template {name} cannot be filled in: {e}"),
        help: None,
    };
    let mut tera = Tera::new();
    tera.autoescape_on(Vec::<&str>::new());
    tera.add_raw_templates(TEMPLATES).map_err(fail)?;
    let context = Context::from_serialize(values).map_err(fail)?;
    tera.render(name, &context).map_err(fail)
}
