//! The picture of docs/guides/questions.md: one load of a warp under three
//! mappings, banks across and wavefronts upward. `UPDATE=1` (`make docs-waves`)
//! draws it anew.

use spadkit::capture::{LaunchInput, RunOptions};
use spadkit::config::Config;
use spadkit::report::theme::{INK, INK_ON_BRIGHT, LINE, MUTED, PAPER, SHADES, dark_style};
use spadkit::software::Layout;
use spadkit::trace::Op;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

const BANKS: u32 = 32;
/// Width and height of a word.
const CELL: (u32, u32) = (26, 22);
const LEFT: u32 = 84;
const WIDTH: u32 = LEFT + BANKS * CELL.0 + 10;
const _: () = assert!(WIDTH <= 1000, "wider than a page");
const GAP: u32 = 34;

/// Bank and wavefront of the word of each lane.
fn served(words: &[u32], layout: &Layout) -> Vec<(u32, u32)> {
    let mut banks: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let serve = |word: &u32| {
        let place = layout.place(*word);
        let bank = banks.entry(place % BANKS).or_default();
        let known = bank.iter().position(|other| *other == place);
        let wavefront = known.unwrap_or_else(|| {
            bank.push(place);
            bank.len() - 1
        });
        (place % BANKS, wavefront as u32)
    };
    words.iter().map(serve).collect()
}

fn text(svg: &mut String, (x, y): (u32, u32), anchor: &str, color: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"{color}\">{text}</text>"
    );
}

/// One mapping, its wavefronts upward from `floor`.
fn panel(svg: &mut String, floor: u32, served: &[(u32, u32)], rows: u32) {
    for row in 0..rows {
        let y = floor - (row + 1) * CELL.1;
        let _ = writeln!(
            svg,
            "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"{LINE}\"/>",
            BANKS * CELL.0,
            CELL.1
        );
        let middle = (LEFT - 8, y + 15);
        text(svg, middle, "end", MUTED, &format!("wavefront {}", row + 1));
    }
    for (lane, (bank, wavefront)) in served.iter().enumerate() {
        let (x, y) = (LEFT + bank * CELL.0, floor - (wavefront + 1) * CELL.1);
        let _ = writeln!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\" fill=\"{}\"/>",
            x + 2,
            y + 2,
            CELL.0 - 4,
            CELL.1 - 4,
            SHADES[*wavefront as usize]
        );
        let middle = (x + CELL.0 / 2, y + 15);
        text(svg, middle, "middle", INK_ON_BRIGHT, &lane.to_string());
    }
    text(svg, (LEFT - 8, floor + 14), "end", MUTED, "bank");
    for bank in (0..BANKS).step_by(4).chain([BANKS - 1]) {
        let below = (LEFT + bank * CELL.0 + CELL.0 / 2, floor + 14);
        text(svg, below, "middle", MUTED, &bank.to_string());
    }
}

fn drawn() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kernel = root.join("kernels/questions/fragments_of_tf32.toml");
    let trace = LaunchInput::at(&kernel)
        .access_trace(RunOptions::default())
        .unwrap();
    let load = trace.accesses.iter().find(|a| a.op == Op::Load).unwrap();
    let words: Vec<u32> = load.addrs.iter().map(|a| a.unwrap()).collect();
    let geometry = Config::preset("sm80").unwrap().geometry;
    let title = "The lanes of one load of a warp, by bank and wavefront";
    let (mut svg, mut floor) = (String::new(), 0);
    for spec in ["mod", "swizzle:3,2,5", "swizzle:3,2,4"] {
        let layout = Layout::new(&spec.parse().unwrap(), geometry).unwrap();
        let served = served(&words, &layout);
        let rows = 1 + served.iter().map(|(_, w)| *w).max().unwrap();
        let heading = floor + GAP - 8;
        let what = if rows == 1 { "wavefront" } else { "wavefronts" };
        text(
            &mut svg,
            (LEFT, heading),
            "start",
            INK,
            &format!("{spec}: {rows} {what}"),
        );
        floor += GAP + rows * CELL.1;
        panel(&mut svg, floor, &served, rows);
        floor += 16;
    }
    let height = floor + 8;
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" font-size=\"11\" \
         font-family=\"system-ui, 'DejaVu Sans', Arial, sans-serif\">\n\
         <title>{title}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"{PAPER}\"/>\n{svg}"
    );
    let style = dark_style(&svg);
    svg + &style + "</svg>\n"
}

#[test]
fn the_picture_is_what_the_kernel_does() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guides/pictures/tf32.svg");
    let drawn = drawn();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &drawn).unwrap();
    }
    let there = std::fs::read_to_string(&file).unwrap();
    assert!(there == drawn, "run 'make docs-waves'");
}
