//! Shared by all pages: style, themes, script, frame.

use spadkit_base::error::Result;
use spadkit_base::quote::shown_lines;
use spadkit_rtl::template::{defect, fill_page};
use tera::Context;

const FRAME: &str = include_str!("page.html.tera");
const STYLE: &str = include_str!("page.css");
/// The files that pages include.
const PARTS: [(&str, &str); 8] = [
    ("again.html", include_str!("again.html.tera")),
    ("bars.html", include_str!("bars.html.tera")),
    ("code.html", include_str!("code.html.tera")),
    ("mappings.html", include_str!("mappings.html.tera")),
    ("pictures.html", include_str!("pictures.html.tera")),
    ("sources.html", include_str!("sources.html.tera")),
    ("table.html", include_str!("table.html.tera")),
    ("values.html", include_str!("values.html.tera")),
];
const SCRIPT: &str = include_str!("page.js");

/// A page that fills the blocks of the frame: one file that refers to no other.
///
/// The context must have `title`, and `sections`, pairs of an anchor and a name. Names from
/// a kernel or a trace must not hide what they say, so control characters are escaped
/// wherever they stand.
pub(super) fn render(name: &str, template: &str, mut context: Context) -> Result<String> {
    context.insert("style", STYLE);
    context.insert("script", SCRIPT);
    context.insert("kit_version", env!("CARGO_PKG_VERSION"));
    let own = [("page.html", FRAME), ("body.html", template)];
    let templates = [&own[..], &PARTS].concat();
    let page = fill_page(&templates, "body.html", &context);
    let page = page.map_err(|error| defect(name, error))?;
    Ok(shown_lines(&page).into_owned())
}
