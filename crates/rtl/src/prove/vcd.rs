//! A counterexample as a waveform.

use super::script::Counterexample;
use super::solver::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Time units of a clock cycle.
const CYCLE: u32 = 10;

impl Counterexample {
    /// The run as a value change dump (IEEE 1364, clause 18): a clock cycle
    /// every ten time units, all signals under the unit's name. `None` where
    /// there is no run: mappings that were gone through one by one.
    pub fn vcd(&self, unit: &str) -> Option<String> {
        let last = self.run.iter().map(|v| v.cycle).max()?;
        let mut signals: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        for value in &self.run {
            signals.entry(&value.name).or_default().push(value);
        }
        let mut text = format!("$timescale 1 ns $end\n$scope module {} $end\n", plain(unit));
        for (i, (name, values)) in signals.iter().enumerate() {
            let width = values[0].bits.len();
            let _ = writeln!(text, "$var wire {width} {} {} $end", id(i), plain(name));
        }
        text.push_str("$upscope $end\n$enddefinitions $end\n");
        for cycle in 1..=last {
            let _ = writeln!(text, "#{}", (cycle - 1) * CYCLE);
            for (i, values) in signals.values().enumerate() {
                let value = values.iter().find(|v| v.cycle == cycle);
                let bits = value.map_or("x", |v| v.bits.as_str());
                let _ = match values[0].bits.len() {
                    1 => writeln!(text, "{bits}{}", id(i)),
                    _ => writeln!(text, "b{bits} {}", id(i)),
                };
            }
        }
        let _ = writeln!(text, "#{}", last * CYCLE);
        Some(text)
    }
}

/// A name of a signal in the file: printable and without blanks.
fn plain(name: &str) -> String {
    let shown = |c: char| if c.is_ascii_graphic() { c } else { '_' };
    name.chars().map(shown).collect()
}

/// The short name of signal `i`.
fn id(i: usize) -> String {
    format!("s{i}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_a_waveform_of_all_signals() {
        let value = |cycle, name: &str, bits: &str| Value {
            cycle,
            name: name.to_owned(),
            bits: bits.to_owned(),
        };
        let mut example = Counterexample {
            violates: "it".to_owned(),
            values: BTreeMap::new(),
            run: Vec::new(),
        };
        assert_eq!(example.vcd("spad_x"), None);
        example.run = vec![
            value(1, "rst", "1"),
            value(2, "rst", "0"),
            value(2, "a b", "0101"),
        ];
        let expected = "$timescale 1 ns $end\n$scope module spad_x $end\n\
                        $var wire 4 s0 a_b $end\n$var wire 1 s1 rst $end\n\
                        $upscope $end\n$enddefinitions $end\n\
                        #0\nbx s0\n1s1\n#10\nb0101 s0\n0s1\n#20\n";
        assert_eq!(example.vcd("spad_x").unwrap(), expected);
    }
}
