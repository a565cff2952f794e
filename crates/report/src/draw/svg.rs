//! A minimal SVG writer with the elements that the charts need.

use super::theme::{self, MARK, PAPER};
use std::fmt::Write;

/// The position of a text relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        }
    }
}

/// An SVG picture in the making.
pub(super) struct Svg(String);

impl Svg {
    /// An empty picture on a light background; `title` is for screen readers.
    pub fn new(width: f64, height: f64, title: &str) -> Self {
        let mut svg = Svg(String::new());
        svg.element(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" \
             font-family=\"system-ui, 'DejaVu Sans', Arial, sans-serif\">"
        ));
        svg.element(format_args!("<title>{}</title>", escaped(title)));
        svg.element(format_args!(
            "<rect width=\"{width}\" height=\"{height}\" fill=\"{PAPER}\"/>"
        ));
        svg
    }

    fn element(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{text}");
    }

    pub fn line(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, color: &str) {
        self.element(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{color}\"/>"
        ));
    }

    /// A filled rectangle that tells `hover` under the pointer.
    pub fn bar(&mut self, x: f64, y: f64, width: f64, height: f64, color: &str, hover: &str) {
        let hover = escaped(hover).replace('\n', " ");
        self.element(format_args!(
            "<rect class=\"bar\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{color}\"><title>{hover}</title></rect>"
        ));
    }

    /// A mark of a published value: a thin rectangle that tells `hover`.
    pub fn mark(&mut self, x: f64, y: f64, width: f64, hover: &str) {
        let hover = escaped(hover).replace('\n', " ");
        self.element(format_args!(
            "<rect class=\"mark\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"2.4\" \
             fill=\"{MARK}\"><title>{hover}</title></rect>",
            y - 1.2
        ));
    }

    /// A point that tells `hover`; a ring if it is not `full`.
    pub fn dot(&mut self, x: f64, y: f64, color: &str, full: bool, hover: &str) {
        let hover = escaped(hover).replace('\n', " ");
        let (fill, opacity) = if full { (color, 0.6) } else { ("none", 1.0) };
        self.element(format_args!(
            "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.4\" fill=\"{fill}\" \
             fill-opacity=\"{opacity}\" stroke=\"{color}\"><title>{hover}</title></circle>"
        ));
    }

    /// A curve from the first of four points to the last, with an arrow head;
    /// the two between pull it to them.
    pub fn arrow(&mut self, points: [(f64, f64); 4], color: &str) {
        let [(x1, y1), (x2, y2), (x3, y3), (x4, y4)] = points;
        self.element(format_args!(
            "<path d=\"M{x1:.1} {y1:.1}C{x2:.1} {y2:.1} {x3:.1} {y3:.1} {x4:.1} {y4:.1}\" \
             fill=\"none\" stroke=\"{color}\"/>"
        ));
        self.element(format_args!(
            "<polygon points=\"{x4:.1},{y4:.1} {:.1},{y:.1} {:.1},{y:.1}\" fill=\"{color}\"/>",
            x4 - 4.0,
            x4 + 4.0,
            y = y4 - 7.0
        ));
    }

    #[expect(clippy::too_many_arguments, reason = "all of them belong to a text")]
    pub fn text(
        &mut self,
        x: f64,
        y: f64,
        text: &str,
        size: f64,
        color: &str,
        anchor: Anchor,
        bold: bool,
    ) {
        if text.is_empty() {
            return;
        }
        let weight = if bold { " font-weight=\"600\"" } else { "" };
        let anchor = anchor.name();
        let text = escaped(text);
        self.element(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{color}\" \
             text-anchor=\"{anchor}\"{weight}>{text}</text>"
        ));
    }

    /// A text that reads upwards.
    pub fn vertical_text(
        &mut self,
        x: f64,
        y: f64,
        text: &str,
        size: f64,
        color: &str,
        anchor: Anchor,
    ) {
        self.upwards("", (x, y), text, size, color, anchor);
    }

    /// A text that reads upwards from the foot of the bar that was drawn last.
    pub fn text_on_bar(&mut self, x: f64, y: f64, text: &str, size: f64, color: &str) {
        self.upwards(" class=\"ln\"", (x, y), text, size, color, Anchor::Start);
    }

    fn upwards(
        &mut self,
        class: &str,
        (x, y): (f64, f64),
        text: &str,
        size: f64,
        color: &str,
        anchor: Anchor,
    ) {
        let anchor = anchor.name();
        let text = escaped(text);
        self.element(format_args!(
            "<text{class} transform=\"translate({x:.1} {y:.1}) rotate(-90)\" font-size=\"{size}\" \
             fill=\"{color}\" text-anchor=\"{anchor}\">{text}</text>"
        ));
    }

    /// The whole file.
    pub fn finish(self) -> String {
        let style = theme::dark_style(&self.0);
        self.0 + &style + "</svg>\n"
    }
}

pub(crate) fn escaped(text: &str) -> String {
    spadkit_base::quote::shown(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
