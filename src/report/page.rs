//! What all pages have in common: style, themes, script, frame.

use crate::error::Result;
use crate::template::{defect, fill_page};
use tera::Context;

const FRAME: &str = include_str!("page.html.tera");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A page that fills the blocks of the frame: one file that refers to no other.
///
/// The context must have `title`, and `sections`, pairs of an anchor and a name.
pub(super) fn render(name: &str, template: &str, mut context: Context) -> Result<String> {
    context.insert("style", STYLE);
    context.insert("script", SCRIPT);
    context.insert("kit_version", env!("CARGO_PKG_VERSION"));
    fill_page(
        &[("page.html", FRAME), ("body.html", template)],
        "body.html",
        &context,
    )
    .map_err(|error| defect(name, error))
}

/// A chart with the colours of the page, which has two themes, in place of its
/// own.
pub(super) fn themed(svg: &str) -> String {
    let colors = [
        ("\"#ffffff\"", "\"var(--bg)\""),
        ("\"#c9def2\"", "\"var(--ideal)\""),
        ("\"#1f2933\"", "\"var(--ink)\""),
        ("\"#5b6770\"", "\"var(--muted)\""),
        ("\"#7b8794\"", "\"var(--muted)\""),
        ("\"#e3e8ee\"", "\"var(--grid)\""),
        ("\"#dde3ea\"", "\"var(--grid)\""),
        ("\"#f6f8fa\"", "\"var(--panel)\""),
        ("\"#1f7a4d\"", "\"var(--good)\""),
        ("\"#fdf1d8\"", "\"var(--partly)\""),
        ("\"#f8d9a8\"", "\"var(--range)\""),
    ];
    colors
        .iter()
        .fold(svg.to_owned(), |svg, (from, to)| svg.replace(from, to))
}
