//! Filling in the kit's Tera templates. They are part of the program: one that
//! cannot be filled in is a defect.

use crate::error::{Error, Result};
use serde::Serialize;
use tera::{Context, Tera};

/// Plain text with the fields of `values`; `name` is what messages call the
/// template.
pub fn fill(name: &str, template: &str, values: &impl Serialize) -> Result<String> {
    let context = Context::from_serialize(values);
    let filled = context.and_then(|context| Tera::one_off(template, &context, false));
    filled.map_err(|error| defect(name, error))
}

/// Page `page` of `templates`, pairs of a name that ends in `.html` and a text;
/// values are escaped.
pub fn fill_page(
    templates: &[(&str, &str)],
    page: &str,
    values: &Context,
) -> std::result::Result<String, tera::Error> {
    let mut tera = Tera::default();
    tera.autoescape_on([".html"]);
    tera.add_raw_templates(templates.iter().copied())?;
    tera.render(page, values)
}

/// The error of a template that cannot be filled in.
pub fn defect(name: &str, error: tera::Error) -> Error {
    // Tera's message names the template, its source the position in it.
    let cause = std::error::Error::source(&error);
    let cause = cause.map_or(String::new(), |cause| format!(": {cause}"));
    Error::defect(format!(
        "the template {name} cannot be filled in: {error}{cause}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_that_cannot_be_filled_in_is_a_defect() {
        let values = serde_json::json!({"there": 1});
        assert_eq!(fill("t", "{{ there }}", &values).unwrap(), "1");
        let context = Context::from_serialize(&values).unwrap();
        let plain = fill("t", "{{ missing }}", &values);
        let html = fill_page(&[("t.html", "{{ missing }}")], "t.html", &context);
        let html = html.unwrap_err();
        for error in [plain.unwrap_err(), defect("t", html)] {
            assert_eq!(error.exit_status(), 4);
            let text = error.to_string();
            assert!(
                text.contains("template t ") && text.contains("missing"),
                "{text}"
            );
        }
    }
}
