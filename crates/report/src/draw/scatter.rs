//! Measured over published values, with the line on which both are equal.

use super::svg::{Anchor, Svg};
use super::theme::{GRID, INK, MUTED};

/// A point.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPoint {
    /// To the right.
    pub published: f64,
    /// Upwards.
    pub measured: f64,
    /// Name of the point.
    pub name: String,
}

/// Points of one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterSeries {
    /// Name in the legend.
    pub name: String,
    /// Color of the points.
    pub color: &'static str,
    /// Rings, not full circles.
    pub hollow: bool,
    /// Points of the series.
    pub points: Vec<ScatterPoint>,
}

/// A square plot.
#[derive(Clone, Debug, PartialEq)]
pub struct ScatterPanel {
    /// Printed above.
    pub title: String,
    /// Both axes by powers of ten; else linear.
    pub logarithmic: bool,
    /// Series, the same ones in the same order for all panels.
    pub series: Vec<ScatterSeries>,
}

const SIDE: f64 = 400.0;
const LEFT: f64 = 66.0;
const TOP: f64 = 84.0;
const PITCH: f64 = SIDE + 78.0;

/// The panels side by side, two at most.
pub fn scatter(title: &str, panels: &[ScatterPanel]) -> String {
    let width = LEFT + PITCH * panels.len().max(1) as f64 - 62.0 + 30.0;
    let mut svg = Svg::new(width, TOP + SIDE + 52.0, title);
    svg.text(16.0, 26.0, title, 16.0, INK, Anchor::Start, true);
    let mut x = 20.0;
    for series in panels.first().map_or(&[][..], |p| &p.series) {
        let count: usize = panels
            .iter()
            .flat_map(|p| &p.series)
            .filter(|s| s.name == series.name)
            .map(|s| s.points.len())
            .sum();
        let name = format!("{}, {count}", series.name);
        svg.dot(x, 44.0, series.color, !series.hollow, &name);
        svg.text(x + 9.0, 48.0, &name, 12.0, INK, Anchor::Start, false);
        x += 40.0 + name.chars().count() as f64 * 6.6;
    }
    for (i, panel) in panels.iter().enumerate() {
        panel.draw(&mut svg, LEFT + PITCH * i as f64);
    }
    svg.finish()
}

/// The range of both axes.
struct Span {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Span {
    /// The place of a value on an axis, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let scaled = |v: f64| if self.logarithmic { v.log10() } else { v };
        (scaled(value) - scaled(self.low)) / (scaled(self.high) - scaled(self.low))
    }

    fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            let decades = self.low.log10().round() as i32..=self.high.log10().round() as i32;
            return decades.map(|d| 10_f64.powi(d)).collect();
        }
        let step = 20.0;
        let first = (self.low / step).ceil() as i32;
        let last = (self.high / step).floor() as i32;
        (first..=last).map(|i| f64::from(i) * step).collect()
    }
}

impl ScatterPanel {
    fn span(&self) -> Span {
        let points = self.series.iter().flat_map(|s| &s.points);
        let values: Vec<f64> = points.flat_map(|p| [p.published, p.measured]).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = match (self.logarithmic, values.is_empty()) {
            (true, true) => (0.1, 10.0),
            (false, true) => (0.0, 100.0),
            (true, _) => (
                10_f64.powf(least.log10().floor()),
                10_f64.powf(most.log10().ceil()),
            ),
            (false, _) => ((least / 10.0).floor() * 10.0, (most / 10.0).ceil() * 10.0),
        };
        let high = if high > low { high } else { low * 10.0 + 10.0 };
        Span {
            low,
            high,
            logarithmic: self.logarithmic,
        }
    }

    fn draw(&self, svg: &mut Svg, left: f64) {
        let span = self.span();
        let x = |v: f64| left + SIDE * span.place(v);
        let y = |v: f64| TOP + SIDE * (1.0 - span.place(v));
        svg.text(
            left,
            TOP - 12.0,
            &self.title,
            13.0,
            INK,
            Anchor::Start,
            true,
        );
        self.draw_axes(svg, left);
        for series in &self.series {
            for point in &series.points {
                let hover = format!(
                    "{}: published {}, measured {:.4}",
                    point.name, point.published, point.measured
                );
                let (x, y) = (x(point.published), y(point.measured));
                svg.dot(x, y, series.color, !series.hollow, &hover);
            }
        }
    }

    /// The grid, the line of equal values, and the names of the axes.
    fn draw_axes(&self, svg: &mut Svg, left: f64) {
        let span = self.span();
        let x = |v: f64| left + SIDE * span.place(v);
        let y = |v: f64| TOP + SIDE * (1.0 - span.place(v));
        let bottom = TOP + SIDE;
        for tick in span.ticks() {
            svg.line(left, y(tick), left + SIDE, y(tick), GRID);
            svg.line(x(tick), TOP, x(tick), bottom, GRID);
            let label = format!("{tick}");
            svg.text(
                left - 6.0,
                y(tick) + 4.0,
                &label,
                11.0,
                MUTED,
                Anchor::End,
                false,
            );
            svg.text(
                x(tick),
                bottom + 15.0,
                &label,
                11.0,
                MUTED,
                Anchor::Middle,
                false,
            );
        }
        svg.line(x(span.low), y(span.low), x(span.high), y(span.high), MUTED);
        let middle = left + SIDE / 2.0;
        svg.text(
            middle,
            bottom + 34.0,
            "published",
            12.0,
            MUTED,
            Anchor::Middle,
            false,
        );
        svg.vertical_text(
            left - 46.0,
            TOP + SIDE / 2.0,
            "measured",
            12.0,
            MUTED,
            Anchor::Middle,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(logarithmic: bool, points: &[(f64, f64)]) -> ScatterPanel {
        let point = |&(published, measured): &(f64, f64)| ScatterPoint {
            published,
            measured,
            name: "n".to_owned(),
        };
        ScatterPanel {
            title: "t".to_owned(),
            logarithmic,
            series: vec![ScatterSeries {
                name: "counted".to_owned(),
                color: "#000000",
                hollow: false,
                points: points.iter().map(point).collect(),
            }],
        }
    }

    #[test]
    fn equal_values_lie_on_the_line_and_the_picture_is_not_too_wide() {
        let points = [(0.5, 0.5), (200.0, 200.0), (10.0, 20.0)];
        let svg = scatter("s", &[panel(true, &points), panel(false, &[])]);
        let width: f64 = svg
            .split("width=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert!(width <= 1000.0, "{width}");
        let span = panel(true, &points).span();
        assert_eq!((span.low, span.high), (0.1, 1000.0));
        assert!((span.place(10.0) - 0.5).abs() < 1e-9);
        // Three points and the legend's.
        assert_eq!(svg.matches("class=\"dot\"").count(), 4);
    }
}
