//! What all pages have in common: style, themes, script, frame.

use crate::error::Result;
use crate::template::{defect, fill_page};
use tera::Context;

const FRAME: &str = include_str!("page.html.tera");
const STYLE: &str = include_str!("page.css");
const BARS: &str = include_str!("bars.html.tera");
const AGAIN: &str = include_str!("again.html.tera");
const SCRIPT: &str = include_str!("page.js");

/// A page that fills the blocks of the frame: one file that refers to no other.
///
/// The context must have `title`, and `sections`, pairs of an anchor and a name.
pub(super) fn render(name: &str, template: &str, mut context: Context) -> Result<String> {
    context.insert("style", STYLE);
    context.insert("script", SCRIPT);
    context.insert("kit_version", env!("CARGO_PKG_VERSION"));
    fill_page(
        &[
            ("page.html", FRAME),
            ("bars.html", BARS),
            ("again.html", AGAIN),
            ("body.html", template),
        ],
        "body.html",
        &context,
    )
    .map_err(|error| defect(name, error))
}
