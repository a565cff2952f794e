//! Warp accesses as pictures: banks across and wavefronts upward, or lanes
//! against banks. Colours are those of the page's style.

use spadkit_mapping::trace::{Served, ServedWord};
use std::fmt::Write;

/// Width and height of a box.
const BOX: (f64, f64) = (16.0, 25.0);
const LEFT: f64 = 34.0;
/// Wavefronts that a picture shows; more are said.
const MOST: u32 = 16;
/// Wavefronts of a phase with a colour of their own.
const COLORS: u32 = 4;

/// The style class of a word that waits for so many wavefronts of its phase.
fn color(waits: u32) -> u32 {
    waits.min(COLORS - 1) + 1
}

/// Banks across, wavefronts upward, lane numbers in boxes. `rows` wavefronts
/// have room, so that two pictures compare; those beyond `served` are marked as
/// saved.
pub(crate) fn stack(served: &Served, banks: u32, rows: u32, title: &str) -> String {
    let rows = rows.min(MOST);
    let width = LEFT + BOX.0 * f64::from(banks) + 2.0;
    let floor = BOX.1 * f64::from(rows) + 1.0;
    let mut svg = head(width, floor + 34.0, "pic", title);
    for row in 0..rows {
        let top = floor - BOX.1 * f64::from(row + 1);
        let saved = if row < served.wavefronts {
            ""
        } else {
            " saved"
        };
        let _ = write!(
            svg,
            "<text class=\"ax\" x=\"26\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect class=\"slot{saved}\" x=\"{LEFT}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"23\" rx=\"3\"/>",
            top + 15.5,
            row + 1,
            BOX.0 * f64::from(banks)
        );
    }
    for cell in served.cells.iter().filter(|c| c.wavefront < rows) {
        let x = LEFT + BOX.0 * f64::from(cell.bank);
        let y = floor - BOX.1 * f64::from(cell.wavefront + 1);
        let class = color(cell.waits);
        let _ = write!(
            svg,
            "<g><title>{}</title><rect class=\"w{class}\" x=\"{:.2}\" y=\"{:.2}\" width=\"14.5\" \
             height=\"21.5\" rx=\"2\"/><text class=\"ln t{class}\" x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
            cell_title(cell),
            x + 0.75,
            y + 0.75,
            x + BOX.0 / 2.0,
            y + 14.7,
            lanes(&cell.lanes)
        );
    }
    let step = (banks / 8).max(1);
    for bank in (0..banks).step_by(step as usize).chain([banks - 1]) {
        let x = LEFT + BOX.0 * (f64::from(bank) + 0.5);
        let _ = write!(
            svg,
            "<text class=\"ax\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{bank}</text>",
            floor + 15.0
        );
    }
    axes(&mut svg, width, floor, "wavefront");
    svg + "</svg>"
}

/// A row for each lane, a column for each bank.
pub(crate) fn matrix(served: &Served, banks: u32, lanes: u32, title: &str) -> String {
    const SIDE: f64 = 10.0;
    let (width, floor) = (SIDE * f64::from(banks), SIDE * f64::from(lanes));
    let mut svg = head(LEFT + width + 2.0, floor + 34.0, "pic sq", title);
    let _ = write!(
        svg,
        "<rect class=\"slot\" x=\"{LEFT}\" y=\"0\" width=\"{width}\" height=\"{floor}\"/>"
    );
    for cell in &served.cells {
        let class = color(cell.waits);
        for lane in &cell.lanes {
            let _ = write!(
                svg,
                "<rect class=\"w{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"9\" height=\"9\" rx=\"1.5\"/>",
                LEFT + SIDE * f64::from(cell.bank) + 0.5,
                SIDE * f64::from(*lane) + 0.5
            );
        }
    }
    for bank in (0..banks).step_by(8) {
        let _ = write!(
            svg,
            "<text class=\"ax\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{bank}</text>",
            LEFT + SIDE * (f64::from(bank) + 0.5),
            floor + 14.0
        );
    }
    for lane in (0..lanes).step_by(8) {
        let _ = write!(
            svg,
            "<text class=\"ax\" x=\"28\" y=\"{:.1}\" text-anchor=\"end\">{lane}</text>",
            SIDE * f64::from(lane) + 9.0
        );
    }
    axes(&mut svg, LEFT + width + 2.0, floor, "lane");
    svg + "</svg>"
}

fn head(width: f64, height: f64, class: &str, title: &str) -> String {
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{}\">",
        super::svg::escaped(title)
    )
}

fn axes(svg: &mut String, width: f64, floor: f64, upward: &str) {
    let _ = write!(
        svg,
        "<text class=\"ax\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">bank</text>\
         <text class=\"ax\" transform=\"translate(10 {:.1}) rotate(-90)\" text-anchor=\"middle\">{upward}</text>",
        (LEFT + width) / 2.0,
        floor + 30.0,
        floor / 2.0
    );
}

/// The first lane of a word; more share it.
fn lanes(lanes: &[u32]) -> String {
    match lanes {
        [one] => one.to_string(),
        [first, ..] => format!("{first}+"),
        [] => String::new(),
    }
}

fn cell_title(cell: &ServedWord) -> String {
    let lanes: Vec<String> = cell.lanes.iter().map(u32::to_string).collect();
    let (word, some) = match lanes.len() {
        1 => ("lane", lanes.join(", ")),
        _ => ("lanes", lanes.join(", ")),
    };
    format!(
        "{word} {some} · word {} · bank {} · wavefront {}",
        cell.word,
        cell.bank,
        cell.wavefront + 1
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_stand_in_their_bank_and_wavefront() {
        let cell = |lane: u32, bank: u32, wavefront: u32| ServedWord {
            lanes: vec![lane],
            word: bank,
            bank,
            wavefront,
            waits: wavefront,
        };
        let served = Served {
            wavefronts: 2,
            busy: 2,
            cells: vec![cell(0, 0, 0), cell(1, 3, 0), cell(2, 3, 1)],
        };
        let picture = stack(&served, 8, 3, "a <b>");
        assert_eq!(picture.matches("<g>").count(), 3);
        assert_eq!(picture.matches("slot saved").count(), 1);
        assert!(picture.contains("aria-label=\"a &lt;b&gt;\""));
        // Lane 2 in bank 3 above lane 1.
        assert!(
            picture.contains("x=\"82.75\" y=\"26.75\"")
                && picture.contains("x=\"82.75\" y=\"51.75\"")
        );
        let square = matrix(&served, 8, 8, "m");
        assert_eq!(square.matches("class=\"w").count(), 3);
    }
}
