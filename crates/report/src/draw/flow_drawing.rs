//! A control-flow graph as SVG, in layers from the entry down.

use super::svg::{Anchor, Svg};
use super::theme::{BOX, GOOD, INK, LINE, PARTLY, RANGE};
use spadkit_compiler::sharing::Drawing;

const CHARACTER: f64 = 6.7;
const LINE_HEIGHT: f64 = 14.0;
const PADDING: f64 = 8.0;
const GAP: f64 = 26.0;
const LAYER_GAP: f64 = 44.0;
const MARGIN: f64 = 60.0;

/// A box in its place.
#[derive(Clone, Copy, Default)]
struct Placed {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// Layers: each block is below all that come to it, but for the ways back,
/// which go up in the text.
fn layers(drawing: &Drawing) -> Vec<usize> {
    let end = drawing.blocks.len();
    let mut layer = vec![0; end + 1];
    // The order of the text is nearly one of the flow.
    for _ in 0..=end {
        let mut changed = false;
        for e in drawing.edges.iter().filter(|e| e.to > e.from) {
            if layer[e.to] <= layer[e.from] {
                layer[e.to] = layer[e.from] + 1;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    layer
}

fn place(drawing: &Drawing) -> Vec<Placed> {
    let layer = layers(drawing);
    let mut placed: Vec<Placed> = drawing
        .blocks
        .iter()
        .map(|b| b.text())
        .chain([vec!["end".to_owned()]])
        .map(|lines| {
            let longest = lines.iter().map(|l| l.chars().count()).max().unwrap_or(0);
            Placed {
                width: longest as f64 * CHARACTER + 2.0 * PADDING,
                height: lines.len() as f64 * LINE_HEIGHT + 2.0 * PADDING,
                ..Placed::default()
            }
        })
        .collect();
    let count = layer.iter().max().map_or(0, |l| l + 1);
    let width_of = |placed: &[Placed], members: &[usize]| {
        let boxes: f64 = members.iter().map(|&b| placed[b].width + GAP).sum();
        boxes - GAP
    };
    let members =
        |l: usize| -> Vec<usize> { (0..layer.len()).filter(|&b| layer[b] == l).collect() };
    let widest = (0..count)
        .map(|l| width_of(&placed, &members(l)))
        .fold(0.0, f64::max);
    let mut y = MARGIN;
    for l in 0..count {
        let members = members(l);
        let mut x = MARGIN + (widest - width_of(&placed, &members)) / 2.0;
        let mut highest: f64 = 0.0;
        for b in members {
            (placed[b].x, placed[b].y) = (x, y);
            x += placed[b].width + GAP;
            highest = highest.max(placed[b].height);
        }
        y += highest + LAYER_GAP;
    }
    placed
}

/// The graph as an SVG picture.
pub fn svg(drawing: &Drawing) -> String {
    let placed = place(drawing);
    let right = placed.iter().map(|p| p.x + p.width).fold(0.0, f64::max);
    let bottom = placed.iter().map(|p| p.y + p.height).fold(0.0, f64::max);
    let mut svg = Svg::new(right + MARGIN, bottom + 24.0, &drawing.title);
    svg.text(MARGIN, 28.0, &drawing.title, 15.0, INK, Anchor::Start, true);
    for edge in &drawing.edges {
        let (from, to) = (placed[edge.from], placed[edge.to]);
        let color = if edge.releases { GOOD } else { LINE };
        let start = (from.x + from.width / 2.0, from.y + from.height);
        let end = (to.x + to.width / 2.0, to.y);
        let back = edge.to <= edge.from;
        // Ways back go round on the right.
        let side = (from.x + from.width).max(to.x + to.width) + 34.0;
        let (first, second) = if back {
            ((side, start.1 + 30.0), (side, end.1 - 30.0))
        } else {
            ((start.0, start.1 + 24.0), (end.0, end.1 - 24.0))
        };
        svg.arrow([start, first, second, end], color);
        if edge.releases {
            let (x, y) = ((start.0 + end.0) / 2.0, (start.1 + end.1) / 2.0);
            svg.text(x + 4.0, y, "relssp", 11.0, GOOD, Anchor::Start, true);
        }
    }
    for (at, p) in placed.iter().enumerate() {
        let block = drawing.blocks.get(at);
        let lines = block.map_or(vec!["end".to_owned()], |b| b.text());
        let color = match block.map(|b| (b.in_range, b.instructions)) {
            Some((some, all)) if some > 0 && some < all => PARTLY,
            Some((some, _)) if some > 0 => RANGE,
            _ => BOX,
        };
        svg.bar(p.x, p.y, p.width, p.height, color, &lines.join(", "));
        for (n, line) in lines.iter().enumerate() {
            let y = p.y + PADDING + LINE_HEIGHT * (n as f64 + 0.8);
            let release = line.starts_with("relssp");
            let ink = if release { GOOD } else { INK };
            svg.text(
                p.x + PADDING,
                y,
                line,
                11.0,
                ink,
                Anchor::Start,
                n == 0 || release,
            );
        }
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use spadkit_compiler::sharing::{DrawnBlock, DrawnEdge};

    #[test]
    fn boxes_lie_apart_and_below_what_comes_to_them() {
        let block = |name: &str, in_range| DrawnBlock {
            name: name.to_owned(),
            lines: (1, 2),
            instructions: 2,
            in_range,
            accesses: vec!["a*".to_owned()],
            releases: Vec::new(),
        };
        let edge = |from, to, releases| DrawnEdge { from, to, releases };
        let drawing = Drawing {
            title: "k<1>".to_owned(),
            blocks: vec![block("a", 0), block("b", 1), block("c", 2), block("d", 0)],
            edges: vec![
                edge(0, 1, false),
                edge(0, 2, true),
                edge(1, 3, false),
                edge(2, 1, false),
                edge(2, 3, false),
                edge(3, 4, false),
            ],
        };
        let placed = place(&drawing);
        for (i, a) in placed.iter().enumerate() {
            for b in &placed[..i] {
                let beside = a.x >= b.x + b.width || b.x >= a.x + a.width;
                let below = a.y >= b.y + b.height || b.y >= a.y + a.height;
                assert!(beside || below);
            }
        }
        assert!(placed[4].y > placed[3].y && placed[3].y > placed[1].y);
        let picture = svg(&drawing);
        assert_eq!(picture.matches("<path").count(), 6);
        assert!(picture.contains("k&lt;1&gt;") && picture.contains(RANGE));
        assert_eq!(picture.matches(">relssp<").count(), 1);
    }
}
