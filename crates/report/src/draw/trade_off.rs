//! Gain over area as a scatter with its front. Colours are those of the page's
//! style.

use crate::choice::{ChoiceKind, ChoiceLine};
use std::fmt::Write;

const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 130.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 46.0;

/// A choice as a point.
struct Point<'a> {
    area: f64,
    gain: f64,
    choice: &'a ChoiceLine,
    on_front: bool,
}

/// The picture; none with fewer than three points, and none without hardware.
pub(crate) fn trade_off(choices: &[ChoiceLine]) -> Option<String> {
    let mut points: Vec<Point> = choices.iter().filter_map(point).collect();
    if points.len() < 3 || points.iter().all(|p| p.area == 0.0) {
        return None;
    }
    let beats = |a: &Point, b: &Point| {
        a.area <= b.area && a.gain >= b.gain && (a.area < b.area || a.gain > b.gain)
    };
    for i in 0..points.len() {
        points[i].on_front = !points.iter().any(|other| beats(other, &points[i]));
    }
    points.sort_by(|a, b| a.area.total_cmp(&b.area).then(a.gain.total_cmp(&b.gain)));
    Some(draw(&points))
}

fn point(choice: &ChoiceLine) -> Option<Point<'_>> {
    let area = match (&choice.cost, &choice.unit) {
        (Some(cost), _) => cost.nand2.unwrap_or(cost.area_um2),
        (None, None) => 0.0,
        (None, Some(_)) => return None,
    };
    Some(Point {
        area,
        gain: choice.speed_up?,
        choice,
        on_front: false,
    })
}

fn draw(points: &[Point]) -> String {
    let most = |of: &dyn Fn(&Point) -> f64| points.iter().map(of).fold(f64::MIN, f64::max);
    let least = points.iter().map(|p| p.gain).fold(1.0, f64::min);
    let (right, low, high) = (
        most(&|p| p.area).max(1.0) * 1.02,
        least,
        most(&|p| p.gain).max(1.0),
    );
    // Below the lowest point is room for its name.
    let margin = (high - low).max(0.01) * 0.08;
    let (low, high) = (low - 3.0 * margin, high + margin);
    let x = |area: f64| LEFT + (WIDTH - LEFT - RIGHT) * area / right;
    let y = |gain: f64| TOP + (HEIGHT - TOP - BOTTOM) * (high - gain) / (high - low);
    let mut svg = format!(
        "<svg class=\"pic plot\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"Times as fast over the area of the hardware\">"
    );
    // Writing to a String cannot fail.
    for tick in ticks(low, high) {
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {0:.1}H{1:.1}\"/><text class=\"ax\" x=\"{2}\" y=\"{3:.1}\" \
             text-anchor=\"end\">{tick:.2}×</text>",
            y(tick),
            WIDTH - RIGHT,
            LEFT - 7.0,
            y(tick) + 4.0
        );
    }
    let floor = HEIGHT - BOTTOM;
    let _ = write!(
        svg,
        "<path class=\"base\" d=\"M{LEFT} {floor}H{}\"/>",
        WIDTH - RIGHT
    );
    for tick in ticks(0.0, right) {
        let _ = write!(
            svg,
            "<text class=\"ax\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            x(tick),
            floor + 16.0,
            crate::verdict::grouped(tick as u64)
        );
    }
    let _ = write!(
        svg,
        "<text class=\"ax\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">area of one SM, NAND2</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 8.0
    );
    svg += &front(points, &x, &y);
    let mut labels: Vec<f64> = Vec::new();
    for point in points.iter().rev() {
        svg += &mark(point, &x, &y, &mut labels);
    }
    svg + "</svg>"
}

/// Steps from the smallest to the largest of the points that nothing beats.
fn front(points: &[Point], x: &dyn Fn(f64) -> f64, y: &dyn Fn(f64) -> f64) -> String {
    let mut path = String::new();
    for point in points.iter().filter(|p| p.on_front) {
        path += &if path.is_empty() {
            format!("M{:.1} {:.1}", x(point.area), y(point.gain))
        } else {
            format!("H{:.1}V{:.1}", x(point.area), y(point.gain))
        };
    }
    format!("<path class=\"front\" d=\"{path}\"/>")
}

/// A point with its name, which keeps clear of the `labels` that are there, and of the
/// front: below it, to the right of the step that leads to the point.
fn mark(
    point: &Point,
    x: &dyn Fn(f64) -> f64,
    y: &dyn Fn(f64) -> f64,
    labels: &mut Vec<f64>,
) -> String {
    let (px, py) = (x(point.area), y(point.gain));
    let mut at = py + 17.0;
    while labels.iter().any(|l| (l - at).abs() < 14.0) {
        at += 3.0;
    }
    labels.push(at);
    let (class, bold) = match (point.choice.chosen, point.on_front) {
        (true, _) => ("pt star", " b"),
        (false, true) => ("pt on", ""),
        (false, false) => ("pt", ""),
    };
    let name = point
        .choice
        .name
        .replace(" in software", "")
        .replace(" unit", "");
    let name = match point.choice.unit {
        None if point.choice.kind == ChoiceKind::Software => format!("{name}, software"),
        _ => name,
    };
    format!(
        "<circle class=\"{class}\" cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"6\"><title>{0}: {1:.3} times as fast, \
         {2} NAND2</title></circle><text class=\"pl{bold}\" x=\"{3:.1}\" y=\"{at:.1}\">{0}</text>",
        super::svg::escaped(&name),
        point.gain,
        crate::verdict::grouped(point.area.round() as u64),
        px + 11.0
    )
}

/// About five round numbers.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|f| f * power);
    let step = step.into_iter().find(|s| *s >= rough).unwrap_or(rough);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(|i| i as f64 * step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::HardwareCost;

    fn choice(name: &str, speed_up: f64, nand2: Option<f64>) -> ChoiceLine {
        ChoiceLine {
            kind: ChoiceKind::Best,
            name: name.to_owned(),
            hash: "mod".to_owned(),
            unit: nand2.map(|_| "u".to_owned()),
            conflicts: 0,
            wavefronts: 1,
            cycles: None,
            speed_up: Some(speed_up),
            added_per_access: None,
            wasted_bytes: 0,
            resources: None,
            cost: nand2.map(|nand2| HardwareCost {
                area_um2: nand2,
                nand2: Some(nand2),
                delay_ps: 1.0,
                target_ps: 2,
            }),
            proof: Vec::new(),
            chosen: false,
            code: Vec::new(),
        }
    }

    /// The front is horizontal to the right of a point; its name is not on it.
    #[test]
    fn no_name_is_struck_through_by_the_front() {
        let choices = [
            choice("Nothing", 1.0, None),
            choice("Fixed XOR", 1.05, Some(373.0)),
            choice("Matrix", 1.15, Some(6570.0)),
        ];
        let svg = trade_off(&choices).unwrap();
        let attributes = |begin: &str, name: &str| {
            let name = format!(" {name}=\"");
            let all = svg.split(begin).skip(1).map(|rest| {
                let value = rest.split(&name).nth(1).unwrap();
                value.split('"').next().unwrap().parse::<f64>().unwrap()
            });
            all.collect::<Vec<_>>()
        };
        let (points, names) = (
            attributes("<circle", "cy"),
            attributes("<text class=\"pl", "y"),
        );
        assert_eq!((points.len(), names.len()), (3, 3), "{svg}");
        for (point, name) in points.iter().zip(&names) {
            // The letters are 9 high; one of the next point's step begins at its line.
            assert!(name - 9.0 > point + 2.0, "{svg}");
            assert!(name + 2.0 < HEIGHT - BOTTOM, "{svg}");
        }
    }

    /// Changes of the source alone have no area to compare.
    #[test]
    fn without_hardware_there_is_no_picture() {
        let choices = [1.0, 1.1, 1.2].map(|gain| choice("Swizzle", gain, None));
        assert_eq!(trade_off(&choices), None);
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(ticks(0.0, 6700.0), [0.0, 2000.0, 4000.0, 6000.0]);
        let near: Vec<String> = ticks(0.99, 1.16)
            .iter()
            .map(|t| format!("{t:.2}"))
            .collect();
        assert_eq!(near, ["1.00", "1.05", "1.10", "1.15"]);
    }
}
