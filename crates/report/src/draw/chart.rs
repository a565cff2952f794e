//! Grouped bar charts as SVG, in panels one above the other.
//!
//! The shape is that of the hash paper's Fig. 4: a group of bars per unit, a
//! bar per target clock, and a label on each bar.

use super::svg::{Anchor, Svg};
use super::theme::{GRID, INK, INK_ON_BRIGHT, INK_ON_DEEP, MUTED, SHADES};

/// Index from which on a shade needs bright text.
const DEEP_FROM: usize = 4;

const BAR_WIDTH: f64 = 19.0;
const GROUP_GAP: f64 = 34.0;
const PANEL_HEIGHT: f64 = 250.0;
const PANEL_GAP: f64 = 96.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 28.0;
const TOP: f64 = 74.0;
const LEGEND_HEIGHT: f64 = 44.0;
/// Width of a character of a bar's label.
const LABEL_CHARACTER: f64 = 6.2;

/// A bar of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Height in the unit of the panel's axis.
    pub value: f64,
    /// Text on the bar.
    pub label: String,
}

/// The bars of one unit; a missing bar leaves its place empty.
#[derive(Clone, Debug, PartialEq)]
pub struct BarGroup {
    /// Printed below the bars.
    pub name: String,
    /// A second, smaller line below.
    pub note: String,
    /// A bar for each series.
    pub bars: Vec<Option<Bar>>,
}

/// A panel: one axis with its groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Printed above.
    pub title: String,
    /// Quantity on the axis, with its unit.
    pub axis: String,
    /// The groups from left to right.
    pub groups: Vec<BarGroup>,
}

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct BarChart {
    /// Printed on top.
    pub title: String,
    /// A smaller line below the title.
    pub subtitle: String,
    /// The legend: a name per bar of a group.
    pub series: Vec<String>,
    /// The panels from top to bottom.
    pub panels: Vec<Panel>,
}

impl BarChart {
    /// The chart as an SVG file.
    pub fn svg(&self) -> String {
        let groups = self.panels.iter().map(|p| p.groups.len()).max();
        let plot_width = groups.unwrap_or(0).max(1) as f64 * self.group_pitch();
        let width = (LEFT + plot_width + RIGHT).max(640.0);
        let panels = self.panels.len() as f64;
        let height = TOP + panels * (PANEL_HEIGHT + PANEL_GAP) + LEGEND_HEIGHT;
        let mut svg = Svg::new(width, height, &self.title);
        svg.text(LEFT, 30.0, &self.title, 18.0, INK, Anchor::Start, true);
        svg.text(
            LEFT,
            50.0,
            &self.subtitle,
            12.0,
            MUTED,
            Anchor::Start,
            false,
        );
        let right = width - RIGHT;
        let mut top = TOP + 24.0;
        for panel in &self.panels {
            self.panel(&mut svg, panel, top, right);
            top += PANEL_HEIGHT + PANEL_GAP;
        }
        self.legend(&mut svg, height - LEGEND_HEIGHT, right);
        svg.finish()
    }

    fn group_pitch(&self) -> f64 {
        let bars = self.series.len() as f64 * BAR_WIDTH;
        bars.max(100.0) + GROUP_GAP // room for the name
    }

    fn panel(&self, svg: &mut Svg, panel: &Panel, top: f64, right: f64) {
        let bars = panel.groups.iter().flat_map(|g| g.bars.iter().flatten());
        let highest = bars.map(|b| b.value).fold(0.0, f64::max);
        let (step, steps) = axis_steps(highest);
        let scale = PANEL_HEIGHT / (step * steps as f64);
        let bottom = top + PANEL_HEIGHT;
        svg.text(
            LEFT,
            top - 12.0,
            &panel.title,
            14.0,
            INK,
            Anchor::Start,
            true,
        );
        for i in 0..=steps {
            let value = step * i as f64;
            let y = bottom - value * scale;
            let color = if i == 0 { MUTED } else { GRID };
            svg.line(LEFT, y, right, y, color);
            let digits = tick_digits(step);
            svg.text(
                LEFT - 8.0,
                y + 4.0,
                &format!("{value:.digits$}"),
                12.0,
                MUTED,
                Anchor::End,
                false,
            );
        }
        svg.vertical_text(
            22.0,
            top + PANEL_HEIGHT / 2.0,
            &panel.axis,
            12.0,
            MUTED,
            Anchor::Middle,
        );
        for (i, group) in panel.groups.iter().enumerate() {
            let left = LEFT + i as f64 * self.group_pitch();
            self.group(svg, group, left, bottom, scale);
        }
    }

    fn group(&self, svg: &mut Svg, group: &BarGroup, left: f64, bottom: f64, scale: f64) {
        let middle = left + self.group_pitch() / 2.0;
        let start = middle - self.series.len() as f64 * BAR_WIDTH / 2.0;
        for (i, bar) in group.bars.iter().enumerate() {
            let Some(bar) = bar else { continue };
            let x = start + i as f64 * BAR_WIDTH;
            let height = bar.value * scale;
            let color = i * SHADES.len() / self.series.len().max(1);
            let hover = format!(
                "{}, {}: {} ({})",
                group.name, self.series[i], bar.value, bar.label
            );
            svg.bar(
                x + 1.0,
                bottom - height,
                BAR_WIDTH - 2.0,
                height,
                SHADES[color],
                &hover,
            );
            // On the bar where it is high enough, else above it.
            let length = bar.label.chars().count() as f64 * LABEL_CHARACTER;
            let inside = height > length + 10.0;
            let x = x + BAR_WIDTH / 2.0 + 4.0;
            if inside {
                let ink = if color >= DEEP_FROM {
                    INK_ON_DEEP
                } else {
                    INK_ON_BRIGHT
                };
                svg.text_on_bar(x, bottom - 6.0, &bar.label, 11.0, ink);
            } else {
                let y = bottom - height - 5.0;
                svg.vertical_text(x, y, &bar.label, 11.0, INK, Anchor::Start);
            }
        }
        svg.text(
            middle,
            bottom + 20.0,
            &group.name,
            13.0,
            INK,
            Anchor::Middle,
            false,
        );
        svg.text(
            middle,
            bottom + 37.0,
            &group.note,
            11.0,
            MUTED,
            Anchor::Middle,
            false,
        );
    }

    fn legend(&self, svg: &mut Svg, y: f64, right: f64) {
        let pitch = (right - LEFT) / self.series.len().max(1) as f64;
        for (i, name) in self.series.iter().enumerate() {
            let x = LEFT + i as f64 * pitch;
            let color = SHADES[i * SHADES.len() / self.series.len()];
            svg.bar(x, y, 12.0, 12.0, color, name);
            for (line, text) in name.split('\n').enumerate() {
                let y = y + 10.0 + 14.0 * line as f64;
                svg.text(x + 17.0, y, text, 11.0, INK, Anchor::Start, false);
            }
        }
    }
}

/// A round step, and how many of them cover `highest`.
pub(super) fn axis_steps(highest: f64) -> (f64, usize) {
    if !(highest.is_finite() && highest > 0.0) {
        return (1.0, 1);
    }
    let raw = highest / 5.0;
    let magnitude = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0]
        .map(|s| s * magnitude)
        .into_iter()
        .find(|s| *s >= raw * 0.999)
        .unwrap_or(10.0 * magnitude);
    // A tenth of head room, for labels above bars.
    (step, (highest * 1.1 / step).ceil() as usize)
}

/// Decimals that tell the multiples of `step` apart.
pub(super) fn tick_digits(step: f64) -> usize {
    (0..6)
        .find(|d| {
            let scaled = step * 10_f64.powi(*d);
            (scaled - scaled.round()).abs() < 1e-6 * scaled
        })
        .unwrap_or(6) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart() -> BarChart {
        let bar = |value: f64| {
            Some(Bar {
                value,
                label: format!("{value} ps"),
            })
        };
        let group = |name: &str, bars| BarGroup {
            name: name.to_owned(),
            note: "a < b & c".to_owned(),
            bars,
        };
        BarChart {
            title: "Title".to_owned(),
            subtitle: "Sub".to_owned(),
            series: vec!["s0".to_owned(), "s1".to_owned()],
            panels: vec![
                Panel {
                    title: "(a)".to_owned(),
                    axis: "mW".to_owned(),
                    groups: vec![
                        group("u", vec![bar(10.0), bar(0.5)]),
                        group("v", vec![None, bar(4.0)]),
                    ],
                },
                Panel {
                    title: "(b)".to_owned(),
                    axis: "µm²".to_owned(),
                    groups: vec![],
                },
            ],
        }
    }

    /// The values of an attribute of every element that has the class.
    fn attributes(svg: &str, class: &str, name: &str) -> Vec<f64> {
        let marked = svg
            .lines()
            .filter(|l| l.contains(&format!("class=\"{class}\"")));
        let value = |l: &str| {
            let after = l.split_once(&format!(" {name}=\"")).unwrap().1;
            after.split_once('"').unwrap().0.parse().unwrap()
        };
        marked.map(value).collect()
    }

    #[test]
    fn bars_have_the_heights_of_their_values() {
        let svg = chart().svg();
        let heights = attributes(&svg, "bar", "height");
        // Three bars, then two of the legend. The axis goes to 12.
        let expected = [10.0, 0.5, 4.0].map(|v| v * PANEL_HEIGHT / 12.0);
        assert_eq!(heights.len(), 5);
        for (height, expected) in heights.iter().zip(expected) {
            assert!((height - expected).abs() < 0.1, "{heights:?}");
        }
        let ends = attributes(&svg, "bar", "y");
        let bottom = ends[0] + heights[0];
        assert!((ends[1] + heights[1] - bottom).abs() < 0.1, "one base line");
    }

    #[test]
    fn every_label_is_there_once_and_escaped() {
        let svg = chart().svg();
        for label in [
            "10 ps</text>",
            ">u<",
            ">v<",
            ">(b)<",
            ">µm²<",
            ">s1<",
            ">Sub<",
        ] {
            let texts = svg
                .lines()
                .filter(|l| l.starts_with("<text") && l.contains(label));
            assert_eq!(texts.count(), 1, "{label}");
        }
        assert!(svg.contains("a &lt; b &amp; c") && !svg.contains("a < b"));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());
    }

    #[test]
    fn axes_have_round_steps() {
        assert_eq!(axis_steps(10.0), (2.0, 6));
        assert_eq!(axis_steps(95.0), (20.0, 6));
        assert_eq!(axis_steps(0.0), (1.0, 1));
        assert_eq!(axis_steps(f64::NAN), (1.0, 1));
        let (step, steps) = axis_steps(0.0123);
        assert!((step - 0.0025).abs() < 1e-12 && steps == 6);
        assert_eq!(
            [tick_digits(20.0), tick_digits(2.5), tick_digits(0.0025)],
            [0, 1, 4]
        );
    }
}
