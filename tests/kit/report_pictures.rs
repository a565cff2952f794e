//! Screenshots of the pages beside the kept ones in tests/fixtures/pages, light, dark and
//! narrow. They are compared coarsely: a number may change, the layout may not. The letters
//! are those of a font that comes with every browser of Debian. UPDATE=1 keeps what is drawn.

use crate::report_pages::{LIGHT, Look, framed};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Height of a picture, from the head of the page, in px.
const HEIGHT: usize = 1792;
/// Pixels of the page along each side of a cell, whose mean brightness is kept.
const CELL: usize = 16;
/// Cells differ if their brightness, of 255, does so by more than this.
const CONTRAST: u8 = 24;
/// One cell of so many may differ: about a line of text.
const TOLERATED: usize = 50;
const FONT: &str =
    "<style>*{font-family:'DejaVu Sans'!important;transition:none!important}</style>";

/// Brightness of the cells, row by row.
#[derive(PartialEq)]
struct Cells {
    width: usize,
    brightness: Vec<u8>,
}

impl Cells {
    /// The means of a picture's cells; incomplete ones at its edges are left out.
    fn of(picture: &Cells) -> Self {
        let (width, height) = (picture.width / CELL, picture.height() / CELL);
        let mean = |x: usize, y: usize| {
            let rows = picture.brightness.chunks(picture.width).skip(y * CELL);
            let rows = rows.take(CELL).map(|row| &row[x * CELL..][..CELL]);
            let sum: usize = rows.flatten().map(|&b| usize::from(b)).sum();
            u8::try_from(sum / (CELL * CELL)).unwrap()
        };
        Self {
            width,
            brightness: (0..width * height)
                .map(|i| mean(i % width, i / width))
                .collect(),
        }
    }

    fn height(&self) -> usize {
        self.brightness.len() / self.width
    }

    fn read(file: &Path) -> Self {
        let file = std::io::BufReader::new(std::fs::File::open(file).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        let bytes = frame.color_type.samples();
        let grey = |pixel: &[u8]| match pixel {
            [r, g, b, ..] => u8::try_from((u16::from(*r) + u16::from(*g) + u16::from(*b)) / 3),
            other => Ok(other[0]),
        };
        Self {
            width: frame.width as usize,
            brightness: pixels[..frame.buffer_size()]
                .chunks(bytes)
                .map(|pixel| grey(pixel).unwrap())
                .collect(),
        }
    }

    fn write(&self, file: &Path) {
        let (width, height) = (self.width, self.height());
        let [width, height] = [width, height].map(|side| u32::try_from(side).unwrap());
        let mut encoder = png::Encoder::new(std::fs::File::create(file).unwrap(), width, height);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&self.brightness).unwrap();
    }

    /// How many cells look different; all where the sizes differ.
    fn differing(&self, other: &Cells) -> usize {
        if (self.width, self.height()) != (other.width, other.height()) {
            return self.brightness.len();
        }
        let pairs = self.brightness.iter().zip(&other.brightness);
        pairs.filter(|(a, b)| a.abs_diff(**b) > CONTRAST).count()
    }
}

/// The page in three frames of one window.
fn picture(browser: &str, page: &str, dir: &Path) -> Cells {
    let dark = Look {
        theme: Some("dark"),
        ..LIGHT
    };
    let narrow = Look {
        width: 400,
        ..LIGHT
    };
    let page = page.replacen("</head>", &format!("{FONT}</head>"), 1);
    let mut all = "<!doctype html><body style=\"margin:0;background:#fff\">".to_owned();
    let mut left = 0;
    for look in [LIGHT, dark, narrow] {
        let _ = write!(
            all,
            "<div style=\"position:absolute;top:0;left:{left}px\">{}</div>",
            framed(&page, look).replace("height=\"900\"", &format!("height=\"{HEIGHT}\""))
        );
        left += look.width;
    }
    let (file, shot) = (dir.join("looks.html"), dir.join("looks.png"));
    std::fs::write(&file, all).unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
        ])
        .arg(format!("--user-data-dir={}", dir.join("profile").display()))
        .arg(format!("--window-size={left},{HEIGHT}"))
        .arg(format!("--screenshot={}", shot.display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(shot.exists(), "{browser} drew nothing: {complaint}");
    Cells::of(&Cells::read(&shot))
}

/// Compares a page with the picture that is kept of it.
pub fn compare(name: &str, browser: &str, page: &str, dir: &Path) {
    let kept: PathBuf = ["tests", "fixtures", "pages", &format!("{name}.png")]
        .iter()
        .collect();
    let drawn = picture(browser, page, dir);
    if std::env::var_os("UPDATE").is_some() {
        drawn.write(&kept);
    }
    let of = drawn.brightness.len();
    let differing = drawn.differing(&Cells::read(&kept));
    if differing > of / TOLERATED {
        let beside = std::env::temp_dir().join(format!("spadkit-{name}.png"));
        drawn.write(&beside);
        panic!(
            "{name} looks different in {differing} of {of} cells: compare {} with {}; UPDATE=1 keeps it",
            beside.display(),
            kept.display()
        );
    }
}

/// A page whose style lost a rule looks different: the comparison can fail.
#[test]
fn a_lost_style_looks_different() {
    let Some(browser) = crate::report_pages::browser() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let page = |style: &str| {
        let text = "<p>Banks, lanes and wavefronts</p>".repeat(20);
        format!(
            "<!doctype html><html><head><style>{style}</style></head><body>{text}</body></html>"
        )
    };
    let [whole, lost] = ["p{margin:8px;background:#ddd}", "p{margin:8px}"]
        .map(|style| picture(browser, &page(style), dir.path()));
    assert!(whole.differing(&lost) > whole.brightness.len() / TOLERATED);
    assert_eq!(whole.differing(&whole), 0);
}
