//! A chart of speed over area, as an SVG on standard output.
//!
//! ```text
//! cargo run -p spadkit-report --example pareto_chart > chart.svg
//! ```

use spadkit_report::draw::{Choice, pareto};

/// Name, area and speed of a choice, and whether it is on the front.
const CHOICES: [(&str, f64, f64, bool); 4] = [
    ("no hash", 0.0, 1.0, true),
    ("fixed XOR", 180.0, 1.31, true),
    ("bitwise", 1450.0, 1.29, false),
    ("bit matrix", 2900.0, 1.52, true),
];

fn main() {
    let choice = |(name, area, speed, front): (&str, f64, f64, bool)| Choice {
        name: name.to_owned(),
        area,
        speed,
        front,
    };
    let panel = ("transpose".to_owned(), CHOICES.map(choice).to_vec());
    let axes = ("area in gates", "speed");
    println!("{}", pareto("Hash units of one kernel", axes, &[panel]));
}
