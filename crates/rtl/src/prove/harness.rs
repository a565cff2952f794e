//! The circuits around the units of the path (`testbenches/prove/path/`), and
//! what is asked about them.
//!
//! A circuit says itself what is to be proved, by the names of its outputs and
//! the comments after them:
//!
//! - `assume_*`: what the unit may rely on, in every cycle;
//! - `keep_*`: helper invariants, which hold from the first reset on;
//! - `check_*`: the properties, which follow from the invariants;
//! - `cover_*`: what must be reachable, or the properties would say nothing,
//!   with the number of cycles in which it is (the first is the reset).

use super::stated::stated_at;
use super::template::render_text;
use crate::config::Config;
use crate::error::Result;
use crate::rtl::{Dir, EmittedUnit};
use crate::units::{Circuit, UNITS, Unit};
use serde_json::json;
use spadkit_hdl::Origin;

/// A unit and a circuit around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Harness {
    /// The unit.
    pub unit: &'static str,
    /// A circuit of the unit.
    pub circuit: &'static Circuit,
}

impl Harness {
    /// The circuits around `unit`.
    pub fn of_unit(unit: &str) -> impl Iterator<Item = Harness> {
        Self::all().filter(move |h| h.unit == unit)
    }

    /// Every circuit around a unit of the path; some units have several.
    fn all() -> impl Iterator<Item = Harness> {
        let of_unit = |unit: &'static Unit| {
            let circuits = unit.circuits.iter();
            circuits.map(|circuit| Harness {
                unit: unit.name,
                circuit,
            })
        };
        UNITS.iter().flat_map(of_unit)
    }

    /// The Verilog of the circuit for this machine: the module `miter`, then
    /// those that it uses.
    pub fn verilog(&self, config: &Config) -> Result<String> {
        render_text(self.circuit.text, &json!(config.parameters()))
    }

    /// The line of the template that states a property of `circuit`, its Verilog.
    pub fn stated_at(&self, circuit: &str, property: &str) -> Option<Origin> {
        let Circuit { file, text, .. } = *self.circuit;
        stated_at((file, text), circuit, &format!("check_{property}"))
    }

    /// Why there is nothing to prove of the unit in this machine.
    pub fn lacking(&self, config: &Config) -> Option<&'static str> {
        if !self.circuit.stages.fit(config) {
            return Some(self.circuit.stages.otherwise());
        }
        self.circuit.needs.lacking(config)
    }
}

/// One output of a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Goal {
    /// The output.
    pub signal: String,
    /// The number before the comment.
    pub cycles: Option<u32>,
    /// Meaning of the goal.
    pub about: String,
}

impl Goal {
    /// The name without its kind.
    pub fn name(&self) -> &str {
        self.signal.split_once('_').map_or("", |(_, name)| name)
    }
}

/// The outputs of a circuit by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Goals {
    pub assumed: Vec<Goal>,
    pub kept: Vec<Goal>,
    pub checked: Vec<Goal>,
    pub covered: Vec<Goal>,
}

impl Goals {
    /// Reads the outputs of the module `miter`, which comes first.
    pub fn of(text: &str) -> Self {
        let mut goals = Goals::default();
        let ports = text.lines().take_while(|line| *line != ");");
        for line in ports {
            let Some(line) = line.trim().strip_prefix("output wire ") else {
                continue;
            };
            let (signal, comment) = line.split_once("//").unwrap_or((line, ""));
            let signal = signal.trim().trim_end_matches(',').to_owned();
            let comment = comment.trim();
            let number = comment
                .split_once(": ")
                .and_then(|(number, about)| Some((number.parse().ok()?, about)));
            let (cycles, about) = match number {
                Some((number, about)) => (Some(number), about),
                None => (None, comment),
            };
            let about = about.to_owned();
            let of_kind = match signal.split_once('_') {
                Some(("assume", _)) => &mut goals.assumed,
                Some(("keep", _)) => &mut goals.kept,
                Some(("check", _)) => &mut goals.checked,
                Some(("cover", _)) => &mut goals.covered,
                _ => continue,
            };
            of_kind.push(Goal {
                signal,
                cycles,
                about,
            });
        }
        goals
    }
}

/// The parameters of a circuit, with their values in this machine. They have
/// the names of microarchitecture/parameters.md; `W_port` is the width
/// of a port of the unit.
pub(super) fn parameters(text: &str, unit: &EmittedUnit, config: &Config) -> Vec<(String, usize)> {
    let head = text.split("\n);").next().unwrap_or_default();
    let declared = head.split("parameter ").skip(1);
    let names = declared.filter_map(|rest| rest.split_whitespace().next());
    let machine = config.parameters();
    let mut values: Vec<(String, usize)> = Vec::new();
    for name in names {
        let value = match name.strip_prefix("W_") {
            Some(port) => unit.ports.iter().find(|p| p.name == port).map(|p| p.width),
            None => machine.value(name),
        };
        values.extend(value.map(|value| (name.to_owned(), value)));
    }
    values
}

/// Whether the unit has a reset; without one, it has no state either.
pub(super) fn has_reset(unit: &EmittedUnit) -> bool {
    unit.ports
        .iter()
        .any(|p| p.dir == Dir::In && p.name == "rst")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtl::Design;

    /// `small` with the stages that the circuit is about.
    fn machine(harness: &Harness) -> Config {
        let mut small = Config::preset("small").unwrap();
        harness.circuit.stages.set(&mut small);
        small
    }

    #[test]
    fn every_circuit_says_what_it_proves_and_covers() {
        for harness in Harness::all() {
            let text = harness.verilog(&machine(&harness)).unwrap();
            let goals = Goals::of(&text);
            assert!(!goals.checked.is_empty(), "{}", harness.unit);
            assert!(!goals.covered.is_empty(), "{}", harness.unit);
            let all = [&goals.assumed, &goals.kept, &goals.checked, &goals.covered];
            for goal in all.into_iter().flatten() {
                assert!(!goal.about.is_empty(), "{}: {}", harness.unit, goal.signal);
                let covers = goal.signal.starts_with("cover_");
                assert_eq!(goal.cycles.is_some(), covers, "{}", goal.signal);
            }
            for goal in &goals.checked {
                let stated = harness.stated_at(&text, goal.name());
                let at = stated.unwrap_or_else(|| panic!("{}: {}", harness.unit, goal.signal));
                let line = harness.circuit.text.lines().nth(at.line as usize - 1);
                let line = line.unwrap();
                assert!(line.contains(&goal.signal), "{at}: {line:?}");
                let filled_in = ["{%", "{{"].iter().any(|mark| line.contains(mark));
                let there = filled_in || text.contains(line);
                assert!(there, "{at}: {line:?}");
            }
            let outputs = text.matches("output wire ").count();
            let nested = text.split_once("\n);").map_or("", |(_, rest)| rest);
            let nested = nested.matches("output wire ").count();
            assert_eq!(all.iter().map(|g| g.len()).sum::<usize>(), outputs - nested);
        }
    }

    #[test]
    fn parameters_are_those_of_the_machine() {
        for harness in Harness::all() {
            let machine = machine(&harness);
            let unit = [harness.unit.to_owned()];
            let design = Design::emit(&unit, &machine).unwrap();
            let unit = &design.units[0];
            let text = harness.verilog(&machine).unwrap();
            let values = parameters(&text, unit, &machine);
            let head = text.split("\n);").next().unwrap();
            assert_eq!(values.len(), head.matches("parameter ").count());
        }
        let small = Config::preset("small").unwrap();
        let text = "module miter #(parameter L = 1, parameter W_in_data = 2) (";
        let design = Design::emit(&["spad_premem_queue".to_owned()], &small).unwrap();
        let values = parameters(text, &design.units[0], &small);
        assert_eq!(values[0], ("L".to_owned(), 8));
        assert_eq!(
            (values[1].0.as_str(), values[1].1 > 256),
            ("W_in_data", true)
        );
    }
}
