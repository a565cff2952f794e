//! Pareto charts: speed over area, a panel per kernel, the front as steps.

use super::svg::{Anchor, Svg};
use super::theme::{ACCENT, INK, MUTED, OTHER};

/// A choice in the plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Name of the choice.
    pub name: String,
    /// Area, to the right.
    pub area: f64,
    /// Speed, upwards.
    pub speed: f64,
    /// No other one is better in both.
    pub front: bool,
}

const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 180.0;
const GAP: (f64, f64) = (70.0, 64.0);
const ACROSS: usize = 2;
const TOP: f64 = 44.0;
const LEFT: f64 = 60.0;

/// The chart; `axes` are what the areas and the speeds count.
pub fn pareto(title: &str, axes: (&str, &str), panels: &[(String, Vec<Choice>)]) -> String {
    let rows = panels.len().div_ceil(ACROSS) as f64;
    let width = LEFT + ACROSS as f64 * (WIDTH + GAP.0);
    let height = TOP + rows * (HEIGHT + GAP.1) + 16.0;
    let mut svg = Svg::new(width, height, title);
    svg.text(16.0, 24.0, title, 15.0, INK, Anchor::Start, true);
    let all = || panels.iter().flat_map(|p| &p.1);
    let widest = all().map(|c| c.area).fold(1.0, f64::max);
    for (i, (name, choices)) in panels.iter().enumerate() {
        let x = LEFT + (i % ACROSS) as f64 * (WIDTH + GAP.0);
        let y = TOP + (i / ACROSS) as f64 * (HEIGHT + GAP.1) + 20.0;
        panel(&mut svg, (x, y), name, choices, widest);
        svg.text(
            x + WIDTH,
            y + HEIGHT + 28.0,
            axes.0,
            10.0,
            MUTED,
            Anchor::End,
            false,
        );
        svg.vertical_text(
            x - 44.0,
            y + HEIGHT / 2.0,
            axes.1,
            10.0,
            MUTED,
            Anchor::Middle,
        );
    }
    svg.finish()
}

fn panel(svg: &mut Svg, at: (f64, f64), name: &str, choices: &[Choice], widest: f64) {
    let (left, top) = at;
    let bottom = top + HEIGHT;
    svg.text(left, top - 6.0, name, 12.0, INK, Anchor::Start, true);
    svg.line(left, bottom, left + WIDTH, bottom, MUTED);
    svg.line(left, top, left, bottom, MUTED);
    let speeds = choices.iter().map(|c| c.speed);
    let least = speeds.clone().fold(1.0, f64::min);
    let most = speeds.fold(1.0, f64::max);
    let span = (most - least).max(0.02);
    let x = |area: f64| left + 6.0 + (WIDTH - 12.0) * area / widest;
    let y = |speed: f64| bottom - 8.0 - (HEIGHT - 16.0) * (speed - least) / span;
    let right = |svg: &mut Svg, x, y, text: &str| {
        svg.text(x, y, text, 10.0, MUTED, Anchor::End, false);
    };
    for speed in [least, most] {
        right(svg, left - 6.0, y(speed) + 4.0, &format!("{speed:.2}"));
    }
    right(svg, left + WIDTH, bottom + 14.0, &format!("{widest:.0}"));
    let mut front: Vec<&Choice> = choices.iter().filter(|c| c.front).collect();
    front.sort_by(|a, b| a.area.total_cmp(&b.area));
    for pair in front.windows(2) {
        let ((x1, y1), (x2, y2)) = (
            (x(pair[0].area), y(pair[0].speed)),
            (x(pair[1].area), y(pair[1].speed)),
        );
        svg.line(x1, y1, x2, y1, ACCENT);
        svg.line(x2, y1, x2, y2, ACCENT);
    }
    // Those of the front on top.
    for on_front in [false, true] {
        for choice in choices.iter().filter(|c| c.front == on_front) {
            let hover = format!("{}: {:.3}, {:.0}", choice.name, choice.speed, choice.area);
            let color = if on_front { ACCENT } else { OTHER };
            svg.bar(
                x(choice.area) - 3.5,
                y(choice.speed) - 3.5,
                7.0,
                7.0,
                color,
                &hover,
            );
        }
    }
    for choice in front {
        let above = (x(choice.area) + 6.0, y(choice.speed) - 6.0);
        let anchor = if choice.area > widest / 2.0 {
            Anchor::End
        } else {
            Anchor::Start
        };
        svg.text(above.0, above.1, &choice.name, 9.0, INK, anchor, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_there_and_the_front_is_named() {
        let choice = |name: &str, area, speed, front| Choice {
            name: name.to_owned(),
            area,
            speed,
            front,
        };
        let choices = vec![
            choice("none", 0.0, 1.0, true),
            choice("hash", 10.0, 2.0, true),
            choice("worse", 20.0, 1.5, false),
        ];
        let svg = pareto("t", ("area", "speed"), &[("k".to_owned(), choices)]);
        assert_eq!(svg.matches("class=\"bar\"").count(), 3);
        assert!(svg.contains(">hash</text>") && !svg.contains(">worse</text>"));
    }
}
