//! Filling in the circuits and scripts of `testbenches/prove/`.

use super::stated::stated_at;
use crate::error::Result;
use crate::template::defect;
use serde::Serialize;
use spadkit_hdl::Origin;
use tera::{Context, Tera};

macro_rules! template {
    ($name:literal) => {
        (
            concat!("testbenches/prove/", $name),
            include_str!(concat!("../../testbenches/prove/", $name)),
        )
    };
}

/// The name of a template, from its path in the kit's repository.
fn name_of(file: &str) -> &str {
    file.strip_prefix("testbenches/prove/").unwrap_or(file)
}

const TEMPLATES: [(&str, &str); 9] = [
    template!("function.v.tera"),
    template!("induction.ys.tera"),
    template!("linear.v.tera"),
    template!("parts.v.tera"),
    template!("path/arbiter_pairs.v.tera"),
    template!("path/arbitration.v.tera"),
    template!("prove.ys.tera"),
    template!("registers.v.tera"),
    template!("shift.v.tera"),
];

/// The line of the template `name`, which was filled in to `circuit`, that states what
/// `signal` is.
pub(super) fn stated_in(name: &str, circuit: &str, signal: &str) -> Option<Origin> {
    let (file, text) = TEMPLATES.iter().find(|(file, _)| name_of(file) == name)?;
    stated_at((file, text), circuit, signal)
}

/// Renders the template `name` with the fields of `values`.
pub(super) fn render(name: &str, values: &impl Serialize) -> Result<String> {
    fill(&[], name, values)
}

/// Renders the template `text` with the fields of `values`; it may include
/// those that have names.
pub(super) fn render_text(text: &str, values: &impl Serialize) -> Result<String> {
    let name = "circuit";
    fill(&[(name, text)], name, values)
}

fn fill(more: &[(&str, &str)], name: &str, values: &impl Serialize) -> Result<String> {
    let fail = |error| defect(name, error);
    let mut tera = Tera::new();
    tera.autoescape_on(Vec::<&str>::new());
    let all = TEMPLATES.iter().map(|(file, text)| (name_of(file), *text));
    let all = all.chain(more.iter().copied());
    tera.add_raw_templates(all).map_err(fail)?;
    let context = Context::from_serialize(values).map_err(fail)?;
    tera.render(name, &context).map_err(fail)
}
