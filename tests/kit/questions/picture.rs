//! The pictures of docs/guides/questions.md: one access of a warp under several
//! mappings, banks across and wavefronts upward. `UPDATE=1` (`make docs-waves`)
//! draws them anew.

use spadkit::capture::{LaunchInput, RunOptions};
use spadkit::config::Config;
use spadkit::report::draw::theme::{
    INK, INK_ON_BRIGHT, INK_ON_DEEP, LINE, MUTED, PAPER, SHADES, dark_style,
};
use spadkit::software::Layout;
use spadkit::trace::{Access, AccessTrace, ConflictRule};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

const BANKS: u32 = 32;
/// Width and height of a word.
const CELL: (u32, u32) = (26, 18);
const LEFT: u32 = 84;
const WIDTH: u32 = LEFT + BANKS * CELL.0 + 10;
const _: () = assert!(WIDTH <= 1000, "wider than a page");
const GAP: u32 = 30;

/// A picture: its file, the machine, and launches with a mapping each. The access is the
/// one with most conflicts in the first panel, and the same in all of its launch.
struct Question {
    file: &'static str,
    preset: &'static str,
    panels: &'static [(&'static str, &'static str)],
}

const fn on_sm80(file: &'static str, panels: &'static [(&'static str, &'static str)]) -> Question {
    Question {
        file,
        preset: "sm80",
        panels,
    }
}

/// In the order of the page.
const QUESTIONS: [Question; 22] = [
    on_sm80(
        "sgemm",
        &[("gemm/sgemm_tn", "mod"), ("gemm/sgemm_tn", "swizzle:2,1,4")],
    ),
    on_sm80(
        "hgemm",
        &[
            ("gemm/hgemm", "mod"),
            ("gemm/hgemm", "swizzle:2,2,3"),
            ("gemm/hgemm", "swizzle:3,2,3"),
        ],
    ),
    on_sm80(
        "rows_of_128_bytes",
        &[
            ("questions/rows_of_128_bytes", "mod"),
            ("questions/rows_of_128_bytes", "tma:32"),
            ("questions/rows_of_128_bytes", "tma:64"),
            ("questions/rows_of_128_bytes", "tma:128"),
        ],
    ),
    on_sm80(
        "ldmatrix",
        &[
            ("tiles/tile_ldmatrix", "mod"),
            ("tiles/tile_ldmatrix", "swizzle:3,2,3"),
            ("tiles/tile_ldmatrix", "swizzle:3,2,4"),
        ],
    ),
    on_sm80(
        "copies",
        &[
            ("gemm/hgemm", "pad:every=16,by=4"),
            ("gemm/hgemm", "swizzle:2,2,3"),
        ],
    ),
    on_sm80(
        "rotated",
        &[
            ("questions/rows_of_64_bytes", "swizzle:2,2,4"),
            ("questions/rows_of_64_bytes", "swizzle:2,2,3"),
            ("questions/rows_rotated", "mod"),
        ],
    ),
    on_sm80(
        "rows_of_64_bytes",
        &[
            ("questions/rows_of_64_bytes", "swizzle:1,2,3"),
            ("questions/rows_of_64_bytes", "swizzle:2,2,3"),
            ("questions/rows_of_64_bytes", "swizzle:3,2,3"),
        ],
    ),
    on_sm80(
        "tf32",
        &[
            ("questions/fragments_of_tf32", "mod"),
            ("questions/fragments_of_tf32", "swizzle:3,2,5"),
            ("questions/fragments_of_tf32", "swizzle:3,2,4"),
        ],
    ),
    on_sm80(
        "tilelang",
        &[
            ("questions/rows_of_64_bytes", "mod"),
            ("questions/rows_of_64_bytes", "swizzle:2,2,2"),
            ("questions/rows_of_64_bytes", "swizzle:2,2,3"),
        ],
    ),
    on_sm80(
        "both_ways",
        &[
            ("questions/read_both_ways", "tma:32"),
            ("questions/read_both_ways", "tma:64"),
            ("questions/read_both_ways", "tma:128"),
        ],
    ),
    on_sm80(
        "copy",
        &[
            ("questions/copy_by_columns", "mod"),
            ("questions/copy_by_columns", "swizzle:3,1,4"),
            ("questions/copy_by_rows", "mod"),
        ],
    ),
    on_sm80("larger_array", &[("tiles/tile_copy", "mod")]),
    on_sm80(
        "columns",
        &[
            ("tiles/tile_columns", "swizzle:2,0,5"),
            ("tiles/tile_columns", "swizzle:3,0,5"),
            ("tiles/tile_columns", "swizzle:5,0,5"),
        ],
    ),
    on_sm80(
        "vectors",
        &[
            ("tiles/tile_vector", "swizzle:3,2,3"),
            ("tiles/tile_vector", "swizzle:4,1,4"),
            ("tiles/tile_vector", "swizzle:5,0,5"),
        ],
    ),
    on_sm80(
        "halves",
        &[
            ("questions/transpose_halves", "mod"),
            ("questions/transpose_halves", "swizzle:3,2,7"),
            (
                "questions/transpose_halves",
                "matrix:0x1,0x206,0x40c,0x818,0x1030",
            ),
        ],
    ),
    on_sm80(
        "doubles",
        &[
            ("questions/tile_doubles", "swizzle:3,2,4"),
            ("questions/tile_doubles", "matrix:0x1,0x46,0x8c,0x118,0x230"),
        ],
    ),
    on_sm80(
        "transpose",
        &[
            ("transpose/transpose", "mod"),
            ("transpose/transpose_padded", "mod"),
            ("transpose/transpose", "swizzle:3,1,4"),
        ],
    ),
    Question {
        file: "padded_rows",
        preset: "sm70",
        panels: &[("questions/transpose_512_padded", "mod")],
    },
    on_sm80(
        "exchange",
        &[
            ("questions/exchange_8", "mod"),
            ("questions/exchange_8", "swizzle:3,0,5"),
        ],
    ),
    on_sm80(
        "bit_reversal",
        &[
            ("questions/reverse_4096", "pad:every=64,by=2"),
            ("questions/reverse_4096", "swizzle:4,1,8"),
        ],
    ),
    on_sm80(
        "nine_points",
        &[
            ("questions/spectral_double", "mod"),
            ("questions/spectral_double_padded", "mod"),
            ("questions/spectral_double", "pad:every=32,by=2"),
        ],
    ),
    Question {
        file: "four_addresses",
        preset: "sm90",
        panels: &[
            ("questions/quads_apart", "mod"),
            ("questions/quads_in_pairs", "mod"),
        ],
    },
];

/// A word in its bank and wavefront, with the lanes that it serves.
struct Served {
    bank: u32,
    wavefront: u32,
    lanes: Vec<u32>,
}

/// The words of an access, and its wavefronts.
fn served(access: &Access, rule: &ConflictRule, layout: &Layout) -> (Vec<Served>, u32) {
    let (mut all, mut first) = (Vec::new(), 0);
    for phase in rule.lanes_of_phases(access) {
        let mut lanes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (lane, word) in phase {
            lanes.entry(layout.place(word)).or_default().push(lane);
        }
        let mut load: BTreeMap<u32, u32> = BTreeMap::new();
        for (place, lanes) in lanes {
            let height = load.entry(place % BANKS).or_default();
            all.push(Served {
                bank: place % BANKS,
                wavefront: first + *height,
                lanes,
            });
            *height += 1;
        }
        first += load.values().copied().max().unwrap_or(0);
    }
    (all, first)
}

fn text(svg: &mut String, (x, y): (u32, u32), anchor: &str, color: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"{color}\">{text}</text>"
    );
}

/// The wavefronts of a phase have shades of their own; text that can be read on them.
fn colors(wavefront: u32) -> (&'static str, &'static str) {
    let shade = (wavefront as usize).min(SHADES.len() - 1);
    let ink = if shade < 4 {
        INK_ON_BRIGHT
    } else {
        INK_ON_DEEP
    };
    (SHADES[shade], ink)
}

/// One mapping, its wavefronts upward from `floor`.
fn panel(svg: &mut String, floor: u32, served: &[Served], rows: u32) {
    for row in 0..rows {
        let y = floor - (row + 1) * CELL.1;
        let _ = writeln!(
            svg,
            "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"{LINE}\"/>",
            BANKS * CELL.0,
            CELL.1
        );
        let middle = (LEFT - 8, y + 13);
        text(svg, middle, "end", MUTED, &format!("wavefront {}", row + 1));
    }
    for word in served {
        let x = LEFT + word.bank * CELL.0;
        let y = floor - (word.wavefront + 1) * CELL.1;
        let (fill, ink) = colors(word.wavefront);
        let _ = writeln!(
            svg,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\" fill=\"{fill}\"/>",
            x + 2,
            y + 2,
            CELL.0 - 4,
            CELL.1 - 4,
        );
        let more = if word.lanes.len() > 1 { "+" } else { "" };
        let label = format!("{}{more}", word.lanes[0]);
        text(svg, (x + CELL.0 / 2, y + 13), "middle", ink, &label);
    }
    text(svg, (LEFT - 8, floor + 14), "end", MUTED, "bank");
    for bank in (0..BANKS).step_by(4).chain([BANKS - 1]) {
        let below = (LEFT + bank * CELL.0 + CELL.0 / 2, floor + 14);
        text(svg, below, "middle", MUTED, &bank.to_string());
    }
}

fn trace_of(launch: &str) -> AccessTrace {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let launch = root.join(format!("kernels/{launch}.toml"));
    LaunchInput::at(&launch)
        .access_trace(RunOptions::default())
        .unwrap()
}

/// Position of the first access with most conflicts: wavefronts beyond those that its
/// words would take.
fn worst(trace: &AccessTrace, rule: &ConflictRule, layout: &Layout) -> usize {
    let conflicts = |at: &usize| {
        let access = &trace.accesses[*at];
        let phases = rule.phases(access);
        let words = phases.map(|words| BTreeSet::from_iter(words).len() as u32);
        let ideal: u32 = words.map(|words| words.div_ceil(BANKS)).sum();
        served(access, rule, layout).1 - ideal
    };
    (0..trace.accesses.len())
        .rev()
        .max_by_key(conflicts)
        .unwrap()
}

/// What the access is, and where.
fn about(trace: &AccessTrace, access: &Access) -> String {
    let source = trace.places().of(access.pc).source;
    let source = source.map_or(String::new(), |place| format!("{place}: "));
    let bytes = access.bytes;
    let op = access.op.name();
    format!("{source}{op} of {bytes} bytes a lane")
}

fn drawn(question: &Question) -> String {
    let machine = Config::preset(question.preset).unwrap();
    let rule = machine.conflict_rule();
    let (mut svg, mut floor) = (String::new(), 4);
    let mut known: Option<(&str, AccessTrace, usize)> = None;
    for (launch, spec) in question.panels {
        let layout = Layout::new(&spec.parse().unwrap(), machine.geometry).unwrap();
        let same = known.take().filter(|(name, ..)| name == launch);
        let is_new = same.is_none();
        let (name, trace, at) = same.unwrap_or_else(|| {
            let trace = trace_of(launch);
            let at = worst(&trace, &rule, &layout);
            (launch, trace, at)
        });
        let access = &trace.accesses[at];
        let (words, rows) = served(access, &rule, &layout);
        if is_new {
            floor += GAP;
            let what = about(&trace, access);
            text(&mut svg, (LEFT, floor - 12), "start", MUTED, &what);
        }
        let wavefronts = if rows == 1 { "wavefront" } else { "wavefronts" };
        let heading = format!("{spec}: {rows} {wavefronts}");
        text(&mut svg, (LEFT, floor + GAP - 22), "start", INK, &heading);
        floor += GAP - 16 + rows * CELL.1;
        panel(&mut svg, floor, &words, rows);
        floor += 24;
        known = Some((name, trace, at));
    }
    framed(&svg, floor)
}

fn framed(svg: &str, height: u32) -> String {
    let title = "The lanes of one access of a warp, by bank and wavefront";
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
fn the_pictures_are_what_the_kernels_do() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guides/pictures");
    for question in &QUESTIONS {
        let file = folder.join(format!("{}.svg", question.file));
        let drawn = drawn(question);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &drawn).unwrap();
        }
        let there = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(there == drawn, "{}: run 'make docs-waves'", question.file);
    }
}

/// Each question has its picture, in the order of the page.
#[test]
fn every_question_has_a_picture() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guides/questions.md");
    let page = std::fs::read_to_string(page).unwrap();
    let sections: Vec<&str> = page.split("\n## ").skip(1).collect();
    assert_eq!(sections.len(), QUESTIONS.len());
    for (section, question) in sections.iter().zip(&QUESTIONS) {
        let picture = format!("](pictures/{}.svg)", question.file);
        assert!(section.contains(&picture), "{picture}\n{section}");
    }
    let files: BTreeSet<&str> = QUESTIONS.iter().map(|q| q.file).collect();
    assert_eq!(files.len(), QUESTIONS.len());
}
