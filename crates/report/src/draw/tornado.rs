//! A tornado chart: the effect of each change on a number, largest first.

use super::svg::{Anchor, Svg};
use super::theme::{ACCENT, INK, MARK, MUTED};
use serde::Serialize;

/// The least and the greatest value under one change.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Swing {
    /// Name of what is changed.
    #[serde(rename = "changed")]
    pub name: String,
    /// The least value.
    pub least: f64,
    /// The greatest.
    pub most: f64,
}

const LEFT: f64 = 240.0;
const WIDTH: f64 = 420.0;
const ROW: f64 = 24.0;
const TOP: f64 = 56.0;

/// The chart; the line stands at `base`. Bars are as `swings` are ordered.
pub fn tornado(title: &str, base: f64, swings: &[Swing]) -> String {
    let height = TOP + ROW * swings.len() as f64 + 40.0;
    let mut svg = Svg::new(LEFT + WIDTH + 80.0, height, title);
    svg.text(16.0, 26.0, title, 15.0, INK, Anchor::Start, true);
    let ends = swings.iter().flat_map(|s| [s.least, s.most]).chain([base]);
    let least = ends.clone().fold(f64::INFINITY, f64::min);
    let most = ends.fold(f64::NEG_INFINITY, f64::max);
    let span = if most > least { most - least } else { 1.0 };
    let x = |value: f64| LEFT + WIDTH * (value - least) / span;
    for (i, swing) in swings.iter().enumerate() {
        let y = TOP + ROW * i as f64;
        svg.text(
            LEFT - 12.0,
            y + 13.0,
            &swing.name,
            12.0,
            INK,
            Anchor::End,
            false,
        );
        let range = format!("{}: {:.3} to {:.3}", swing.name, swing.least, swing.most);
        let width = (x(swing.most) - x(swing.least)).max(1.0);
        svg.bar(x(swing.least), y, width, 16.0, ACCENT, &range);
    }
    let bottom = TOP + ROW * swings.len() as f64;
    svg.line(x(base), TOP - 8.0, x(base), bottom, MARK);
    for value in [least, base, most] {
        let text = format!("{value:.3}");
        svg.text(
            x(value),
            bottom + 18.0,
            &text,
            11.0,
            MUTED,
            Anchor::Middle,
            false,
        );
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_span_their_values() {
        let swing = |name: &str, least, most| Swing {
            name: name.into(),
            least,
            most,
        };
        let svg = tornado("t", 2.0, &[swing("a", 1.0, 3.0), swing("b", 2.0, 2.5)]);
        let widths: Vec<&str> = svg
            .lines()
            .filter(|l| l.contains("class=\"bar\""))
            .collect();
        assert!(widths[0].contains("width=\"420.0\""), "{}", widths[0]);
        assert!(widths[1].contains("width=\"105.0\""), "{}", widths[1]);
    }
}
