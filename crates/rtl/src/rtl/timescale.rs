//! `` `timescale`` in every file: without it a simulator takes that of the file
//! that it read before, or complains of files with and files without.

use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A unit of delays and the precision in which a simulator counts them, as
/// `1ns/1ps`. The Verilog of the units has no delays; their test benches have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timescale {
    unit: Time,
    precision: Time,
}

/// 1, 10 or 100 of a unit, as a power of ten of femtoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Time(u8);

const EXPECTED: &str = "expected a unit and a precision that is not longer, each 1, 10 or 100 \
                        s, ms, us, ns, ps or fs, such as 1ns/1ps";

/// Units from 10^0 to 10^15 femtoseconds.
const UNITS: [&str; 6] = ["fs", "ps", "ns", "us", "ms", "s"];

impl FromStr for Time {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let text = text.trim();
        let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).ok_or(())?);
        let zeros = match number {
            "1" => 0,
            "10" => 1,
            "100" => 2,
            _ => return Err(()),
        };
        let unit = UNITS.iter().position(|u| *u == unit.trim_start());
        let power = 3 * unit.ok_or(())? + zeros;
        Ok(Time(power as u8))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let power = usize::from(self.0);
        let number = ["1", "10", "100"][power % 3];
        write!(f, "{number}{}", UNITS[power / 3])
    }
}

impl FromStr for Timescale {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let parts = text.split_once('/');
        let times = parts.and_then(|(unit, precision)| {
            let (unit, precision): (Time, Time) = (unit.parse().ok()?, precision.parse().ok()?);
            (precision <= unit).then_some(Timescale { unit, precision })
        });
        times.ok_or(EXPECTED)
    }
}

impl fmt::Display for Timescale {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.unit, self.precision)
    }
}

impl Serialize for Timescale {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Timescale {
    /// `text` with the directive in front of its first line of code, and how many
    /// lines are before it.
    pub(super) fn stated(self, text: &str) -> (usize, String) {
        let is_code = |line: &&str| !line.trim().is_empty() && !line.starts_with("//");
        let lines = text.split_inclusive('\n');
        let header: usize = lines.take_while(|l| !is_code(l)).map(str::len).sum();
        let (header, code) = text.split_at(header);
        let text = format!("{header}`timescale {self}\n{code}");
        (header.lines().count(), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timescales_are_those_of_verilog() {
        for (text, printed) in [
            ("1ns/1ps", "1ns/1ps"),
            (" 100 ms / 10us ", "100ms/10us"),
            ("1s/100fs", "1s/100fs"),
            ("10ps/10ps", "10ps/10ps"),
        ] {
            assert_eq!(text.parse::<Timescale>().unwrap().to_string(), printed);
        }
        for text in [
            "",
            "1ns",
            "1ps/1ns",
            "2ns/1ps",
            "1000ns/1ns",
            "ns/ps",
            "1/1",
            "1ns/1ps/1fs",
        ] {
            assert!(text.parse::<Timescale>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_directive_is_the_first_line_of_code() {
        let timescale: Timescale = "1ns/1ps".parse().unwrap();
        let text = "// about\n//\n\n`default_nettype none\n\nmodule m; // it\n";
        let expected =
            "// about\n//\n\n`timescale 1ns/1ps\n`default_nettype none\n\nmodule m; // it\n";
        assert_eq!(timescale.stated(text), (3, expected.to_owned()));
    }
}
