//! A recorded waveform, and its picture.

use spadkit::report::draw::theme::{INK, MUTED, PAPER, dark_style};
use std::fmt::Write;

/// A page of the docs has room for so many px.
const WIDEST: usize = 1000;
const CELL: usize = 52;
const ROW: usize = 26;
const HEADING: usize = 20;
const TOP: usize = 24;
/// Half the swing of a signal, and the run of its edges.
const SWING: usize = 8;
const SLANT: usize = 3;
const FAINT: &str = "#c9d1d8";
const INPUT: &str = "#0b62a4";
const OUTPUT: &str = INK;

/// What a signal is in one cycle.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    Bit(bool),
    /// A payload by its name; empty if there is none.
    Text(String),
}

impl From<bool> for Value {
    fn from(bit: bool) -> Self {
        Value::Bit(bit)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::Text(number.to_string())
    }
}

struct Row {
    name: String,
    color: &'static str,
    values: Vec<Value>,
}

/// Signals, cycle by cycle.
pub struct Wave {
    title: String,
    rows: Vec<Row>,
    cycles: usize,
}

impl Wave {
    pub fn new(title: &str) -> Self {
        Wave {
            title: title.into(),
            rows: Vec::new(),
            cycles: 0,
        }
    }

    /// The next cycle: all signals are to be recorded again.
    pub fn cycle(&mut self) {
        self.cycles += 1;
    }

    pub fn input(&mut self, name: &str, value: impl Into<Value>) {
        self.record(name, INPUT, value.into());
    }

    pub fn output(&mut self, name: &str, value: impl Into<Value>) {
        self.record(name, OUTPUT, value.into());
    }

    fn record(&mut self, name: &str, color: &'static str, value: Value) {
        let at = self.rows.iter().position(|row| row.name == name);
        let at = at.unwrap_or_else(|| {
            self.rows.push(Row {
                name: name.into(),
                color,
                values: Vec::new(),
            });
            self.rows.len() - 1
        });
        let row = &mut self.rows[at];
        row.values.push(value);
        assert_eq!(row.values.len(), self.cycles, "{name} once in every cycle");
    }

    /// The picture: inputs in blue, outputs in black, each with its value just
    /// before the clock edge that ends its cycle.
    pub fn svg(&self) -> String {
        let longest = self.rows.iter().map(|row| row.name.len()).max();
        let left = 16 + 7 * longest.unwrap_or(0);
        let width = left + self.cycles * CELL + 8;
        assert!(
            (16 + 6 * self.title.len()..=WIDEST).contains(&width),
            "{width} px for {}",
            self.title
        );
        let first = TOP + HEADING;
        let height = first + (self.rows.len() + 1) * ROW + 4;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" font-size=\"11\" \
             font-family=\"ui-monospace, 'DejaVu Sans Mono', monospace\">\n\
             <title>{title}</title>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"{PAPER}\"/>\n\
             <text x=\"8\" y=\"17\" font-size=\"12\" fill=\"{INK}\" \
             font-family=\"system-ui, sans-serif\">{title}</text>\n",
            title = escaped(&self.title)
        );
        for cycle in 0..=self.cycles {
            let x = left + cycle * CELL;
            line(&mut svg, (x, TOP + 6), (x, height - 4), FAINT);
            if cycle < self.cycles {
                let (x, y) = (x + CELL / 2, TOP + 14);
                text(&mut svg, (x, y), "middle", MUTED, &(cycle + 1).to_string());
            }
        }
        let middle = |row: usize| first + row * ROW + ROW / 2;
        text(&mut svg, (8, middle(0) + 4), "start", INPUT, "clk");
        self.clock(&mut svg, left, middle(0));
        for (i, row) in self.rows.iter().enumerate() {
            let y = middle(i + 1);
            text(&mut svg, (8, y + 4), "start", row.color, &row.name);
            draw(&mut svg, row, left, y);
        }
        let style = dark_style(&svg);
        svg + &style + "</svg>\n"
    }

    fn clock(&self, svg: &mut String, left: usize, y: usize) {
        let mut path = format!("M{left} {}", y + SWING);
        for cycle in 0..self.cycles {
            let x = left + cycle * CELL;
            let (half, end) = (x + CELL / 2, x + CELL);
            let (high, low) = (y - SWING, y + SWING);
            let _ = write!(path, "V{high}H{half}V{low}H{end}");
        }
        stroke(svg, &path, INPUT);
    }
}

/// Runs of equal values as (first cycle, cycles, value).
fn runs(values: &[Value]) -> Vec<(usize, usize, &Value)> {
    let mut runs: Vec<(usize, usize, &Value)> = Vec::new();
    for (cycle, value) in values.iter().enumerate() {
        match runs.last_mut() {
            Some((_, length, last)) if *last == value => *length += 1,
            _ => runs.push((cycle, 1, value)),
        }
    }
    runs
}

fn draw(svg: &mut String, row: &Row, left: usize, y: usize) {
    let mut level: Option<usize> = None;
    let mut path = String::new();
    for (first, length, value) in runs(&row.values) {
        let (from, to) = (left + first * CELL, left + (first + length) * CELL);
        match value {
            Value::Bit(bit) => {
                let next = if *bit { y - SWING } else { y + SWING };
                match level.replace(next) {
                    None => path = format!("M{from} {next}H{to}"),
                    Some(_) => {
                        let _ = write!(path, "L{} {next}H{to}", from + SLANT);
                    }
                }
            }
            Value::Text(name) if name.is_empty() => line(svg, (from, y), (to, y), FAINT),
            Value::Text(name) => payload(svg, (from, to, y), row.color, name),
        }
    }
    if !path.is_empty() {
        stroke(svg, &path, row.color);
    }
}

fn payload(svg: &mut String, (from, to, y): (usize, usize, usize), color: &str, name: &str) {
    let room = (to - from - 2 * SLANT) / 7;
    assert!(name.len() <= room, "no room for {name}");
    let (a, b) = (from + SLANT, to - SLANT);
    let (high, low) = (y - SWING, y + SWING);
    let path = format!("M{from} {y}L{a} {high}H{b}L{to} {y}L{b} {low}H{a}Z");
    stroke(svg, &path, color);
    text(svg, ((from + to) / 2, y + 4), "middle", INK, name);
}

fn line(svg: &mut String, (x1, y1): (usize, usize), (x2, y2): (usize, usize), color: &str) {
    stroke(svg, &format!("M{x1} {y1}L{x2} {y2}"), color);
}

fn stroke(svg: &mut String, path: &str, color: &str) {
    let _ = writeln!(svg, "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\"/>");
}

fn text(svg: &mut String, (x, y): (usize, usize), anchor: &str, color: &str, text: &str) {
    let text = escaped(text);
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"{color}\">{text}</text>"
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
