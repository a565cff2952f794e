//! Measured values as bars or lines with the published ones as marks on them,
//! in panels one above the other: the shape of the papers' own figures.

use super::chart::{axis_steps, tick_digits};
use super::svg::{Anchor, Svg};
use super::theme::{GRID, INK, MARK, MUTED, SERIES};

/// A measured value and the published one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pair {
    /// The height of the bar.
    pub measured: Option<f64>,
    /// The mark on it.
    pub published: Option<f64>,
}

/// The bars of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkedGroup {
    /// Printed below.
    pub name: String,
    /// One per series of the panel.
    pub bars: Vec<Pair>,
}

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkedPanel {
    /// Printed above.
    pub title: String,
    /// The unit of the axis.
    pub axis: String,
    /// A colour each; one without a name has no legend.
    pub series: Vec<String>,
    /// Groups from left to right.
    pub groups: Vec<MarkedGroup>,
    /// Lines over the groups, which are steps of a number, in place of bars.
    pub lines: bool,
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkedChart {
    /// Printed on top.
    pub title: String,
    /// Below it.
    pub subtitle: String,
    /// Panels from top to bottom.
    pub panels: Vec<MarkedPanel>,
}

const WIDTH: f64 = 980.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 16.0;
const PLOT: f64 = WIDTH - LEFT - RIGHT;
const HEIGHT: f64 = 170.0;
const CHARACTER: f64 = 6.4;

impl MarkedChart {
    /// The chart as an SVG file.
    pub fn svg(&self) -> String {
        let height = 84.0 + self.panels.iter().map(MarkedPanel::height).sum::<f64>();
        let mut svg = Svg::new(WIDTH, height, &self.title);
        svg.text(16.0, 26.0, &self.title, 16.0, INK, Anchor::Start, true);
        svg.text(
            16.0,
            46.0,
            &self.subtitle,
            12.0,
            MUTED,
            Anchor::Start,
            false,
        );
        svg.mark(WIDTH - 92.0, 42.0, 14.0, "published");
        svg.text(
            WIDTH - 72.0,
            46.0,
            "published",
            12.0,
            MARK,
            Anchor::Start,
            false,
        );
        let mut top = 66.0;
        for panel in &self.panels {
            panel.draw(&mut svg, top);
            top += panel.height();
        }
        svg.finish()
    }
}

/// The axis of a panel.
struct Axis {
    bottom: f64,
    low: f64,
    scale: f64,
}

impl Axis {
    fn y(&self, value: f64) -> f64 {
        self.bottom - (value - self.low) * self.scale
    }
}

impl MarkedPanel {
    /// Room for title, legend, plot and names.
    fn height(&self) -> f64 {
        42.0 + HEIGHT + self.names_height() + 22.0
    }

    /// Names stand upright where they are wider than their groups.
    fn is_upright(&self) -> bool {
        let longest = self.groups.iter().map(|g| g.name.chars().count()).max();
        longest.unwrap_or(0) as f64 * CHARACTER > self.pitch()
    }

    fn names_height(&self) -> f64 {
        let longest = self.groups.iter().map(|g| g.name.chars().count()).max();
        if self.is_upright() {
            (longest.unwrap_or(0) as f64 * CHARACTER).min(230.0)
        } else {
            18.0
        }
    }

    fn pitch(&self) -> f64 {
        PLOT / self.groups.len().max(1) as f64
    }

    fn draw(&self, svg: &mut Svg, top: f64) {
        svg.text(
            16.0,
            top + 10.0,
            &self.title,
            13.0,
            INK,
            Anchor::Start,
            true,
        );
        self.legend(svg, top + 28.0);
        let axis = self.axis(svg, top + 42.0);
        for (i, group) in self.groups.iter().enumerate() {
            let middle = LEFT + (i as f64 + 0.5) * self.pitch();
            self.name(svg, group, middle, axis.bottom);
            if !self.lines {
                self.bars(svg, group, middle, &axis);
            }
        }
        if self.lines {
            for series in 0..self.series.len() {
                self.line(svg, series, &axis);
            }
        }
    }

    fn legend(&self, svg: &mut Svg, y: f64) {
        let mut x = LEFT;
        for (i, name) in self.series.iter().enumerate().filter(|s| !s.1.is_empty()) {
            svg.bar(x, y - 9.0, 10.0, 10.0, SERIES[i % SERIES.len()], name);
            svg.text(x + 14.0, y, name, 11.0, INK, Anchor::Start, false);
            x += 30.0 + name.chars().count() as f64 * 6.0;
        }
    }

    /// Draws the axis; from 0, or from below where values are.
    fn axis(&self, svg: &mut Svg, top: f64) -> Axis {
        let pairs = || self.groups.iter().flat_map(|g| &g.bars);
        let values = || pairs().flat_map(|p| [p.measured, p.published]).flatten();
        let (least, most) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
        let (step, _) = axis_steps(most - least);
        let low = (least / step).floor() * step;
        let steps = (((most - low) * 1.02 / step).ceil() as usize).max(1);
        let axis = Axis {
            bottom: top + HEIGHT,
            low,
            scale: HEIGHT / (step * steps as f64),
        };
        let digits = tick_digits(step);
        for i in 0..=steps {
            let value = low + step * i as f64;
            let y = axis.y(value);
            let color = if value.abs() < 1e-9 { MUTED } else { GRID };
            svg.line(LEFT, y, WIDTH - RIGHT, y, color);
            let label = format!("{value:.digits$}");
            svg.text(LEFT - 7.0, y + 4.0, &label, 11.0, MUTED, Anchor::End, false);
        }
        svg.vertical_text(
            16.0,
            top + HEIGHT / 2.0,
            &self.axis,
            11.0,
            MUTED,
            Anchor::Middle,
        );
        axis
    }

    fn name(&self, svg: &mut Svg, group: &MarkedGroup, middle: f64, bottom: f64) {
        if self.is_upright() {
            let most = (230.0 / CHARACTER) as usize;
            let name: String = group.name.chars().take(most).collect();
            svg.vertical_text(middle + 4.0, bottom + 6.0, &name, 11.0, INK, Anchor::End);
        } else {
            svg.text(
                middle,
                bottom + 16.0,
                &group.name,
                11.0,
                INK,
                Anchor::Middle,
                false,
            );
        }
    }

    fn bars(&self, svg: &mut Svg, group: &MarkedGroup, middle: f64, axis: &Axis) {
        let n = self.series.len().max(1) as f64;
        let width = ((self.pitch() * 0.82) / n).min(26.0);
        let start = middle - n * width / 2.0;
        for (i, pair) in group.bars.iter().enumerate() {
            let x = start + i as f64 * width;
            let zero = axis.y(0.0);
            let hover = self.hover(group, i);
            if let Some(measured) = pair.measured {
                let y = axis.y(measured);
                let (y, height) = (y.min(zero), (y - zero).abs().max(0.4));
                let color = SERIES[i % SERIES.len()];
                svg.bar(x, y, (width - 1.0).max(1.0), height, color, &hover);
            }
            if let Some(published) = pair.published {
                svg.mark(x - 1.0, axis.y(published), width + 1.0, &hover);
            }
        }
    }

    fn line(&self, svg: &mut Svg, series: usize, axis: &Axis) {
        let color = SERIES[series % SERIES.len()];
        let mut before: Option<(f64, f64)> = None;
        for (i, group) in self.groups.iter().enumerate() {
            let Some(pair) = group.bars.get(series) else {
                continue;
            };
            let x = LEFT + (i as f64 + 0.5) * self.pitch();
            let hover = self.hover(group, series);
            if let Some(measured) = pair.measured {
                let y = axis.y(measured);
                if let Some((from_x, from_y)) = before {
                    svg.line(from_x, from_y, x, y, color);
                }
                svg.dot(x, y, color, true, &hover);
                before = Some((x, y));
            }
            if let Some(published) = pair.published {
                svg.mark(x - 7.0, axis.y(published), 14.0, &hover);
            }
        }
    }

    fn hover(&self, group: &MarkedGroup, series: usize) -> String {
        let text = |v: Option<f64>| v.map_or("none".to_owned(), |v| format!("{v:.4}"));
        let pair = group.bars.get(series).copied().unwrap_or_default();
        format!(
            "{} {}: measured {}, published {}",
            group.name,
            self.series[series],
            text(pair.measured),
            text(pair.published)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(lines: bool) -> String {
        let group = |name: &str, measured, published| MarkedGroup {
            name: name.to_owned(),
            bars: vec![Pair {
                measured,
                published,
            }],
        };
        let panel = MarkedPanel {
            title: "p".to_owned(),
            axis: "%".to_owned(),
            series: vec!["s".to_owned()],
            groups: vec![
                group("a", Some(10.0), Some(8.0)),
                group("b", Some(-5.0), None),
                group("c", None, Some(4.0)),
            ],
            lines,
        };
        let chart = MarkedChart {
            title: "t".to_owned(),
            subtitle: String::new(),
            panels: vec![panel],
        };
        chart.svg()
    }

    #[test]
    fn a_mark_stands_at_the_published_value_and_width_is_bounded() {
        let svg = chart(false);
        assert!(svg.contains("width=\"980\""));
        let count = |what: &str| svg.matches(what).count();
        // The legend has one of each.
        assert_eq!((count("class=\"bar\""), count("class=\"mark\"")), (3, 3));
        assert!(svg.contains("a s: measured 10.0000, published 8.0000"));
    }

    #[test]
    fn lines_have_a_dot_for_each_value() {
        let svg = chart(true);
        assert_eq!(svg.matches("class=\"dot\"").count(), 2);
        assert_eq!(svg.matches("class=\"mark\"").count(), 3);
    }
}
