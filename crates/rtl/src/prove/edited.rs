//! The small machine in which an edit of a unit is proved.

use super::harness::Harness;
use super::machine::preset_of;
use crate::config::Config;
use crate::error::Result;
use std::path::Path;

/// A preset, and what a configuration file adds to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SmallMachine {
    preset: &'static str,
    line: Option<String>,
}

impl SmallMachine {
    /// The one with proofs of the unit that resembles `own` most: the same parts first,
    /// then as many proofs as there can be.
    pub fn near(unit: &str, own: &Config) -> Result<Self> {
        let mut best: Option<((bool, usize), Self)> = None;
        for harness in Harness::of_unit(unit) {
            let small = Self::of(&harness)?;
            let machine = small.machine()?;
            let proofs = Harness::of_unit(unit).filter(|h| h.lacking(&machine).is_none());
            let rank = (harness.circuit.stages.resemble(own), proofs.count());
            if best.as_ref().is_none_or(|(most, _)| rank > *most) {
                best = Some((rank, small));
            }
        }
        Ok(best.expect("the unit has a circuit").1)
    }

    /// The least one of a circuit: a preset as it stands, if that has all.
    fn of(harness: &Harness) -> Result<Self> {
        let preset = preset_of(harness.circuit.size);
        let lacking = harness.lacking(&Config::preset(preset)?);
        let line = lacking.and_then(|_| harness.circuit.stages.line());
        Ok(SmallMachine { preset, line })
    }

    /// The lines of its configuration file.
    fn lines(&self) -> Vec<String> {
        let base = format!("base = \"{}\"", self.preset);
        [base].into_iter().chain(self.line.clone()).collect()
    }

    fn machine(&self) -> Result<Config> {
        Config::from_toml(&self.lines().join("\n"), Path::new("M.toml"))
    }

    /// A sentence on how to prove an edited unit in this circuit.
    pub fn advice(&self, unit: &str) -> String {
        let (first, option) = match self.line {
            None => (String::new(), format!("--preset {}", self.preset)),
            Some(_) => {
                let lines = self.lines().join(" and ");
                let first = format!("write the lines {lines} to M.toml, then ");
                (first, "--config M.toml".to_owned())
            }
        };
        format!(
            "an edit is proved in a small machine: {first}spadkit emit {unit} {option} -o DIR, \
             edit it there, then spadkit prove {unit} {option} --rtl DIR"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtl::Design;
    use crate::units::UNITS;

    /// Each circuit has a machine that can be written down, has the unit, and is one of
    /// its proofs.
    #[test]
    fn every_circuit_has_a_small_machine_with_its_unit() {
        for unit in UNITS.iter() {
            for harness in Harness::of_unit(unit.name) {
                let small = SmallMachine::of(&harness).unwrap();
                let machine = small.machine().unwrap();
                let about = format!("{}: {:?}", unit.name, small.lines());
                assert_eq!(harness.lacking(&machine), None, "{about}");
                let emitted = Design::emit(&[unit.name.to_owned()], &machine.for_hardware());
                assert!(emitted.is_ok(), "{about}: {emitted:?}");
            }
        }
    }

    #[test]
    fn the_small_machine_has_the_parts_of_the_large_one() {
        for (unit, own, advice) in [
            (
                "spad_conflict_history",
                "",
                "emit spad_conflict_history --preset quad",
            ),
            (
                "spad_axi",
                "[axi]\naddr_bits = 16\nlanes = 2\n",
                "the lines base = \"pair\" and axi = { addr_bits = 12, lanes = 2, ",
            ),
            (
                "spad_tcdm",
                "[tcdm]\natomics = true\nposted = true\n",
                "base = \"rows\" and tcdm = { atomics = true, posted = true }",
            ),
            (
                "spad_stream",
                "[stream]\nwindow = 4\natomics = true\n",
                "base = \"rows\" and stream = { window = 2, atomics = true, posted = false }",
            ),
        ] {
            let own = Config::from_toml(&format!("base = 'small'\n{own}"), Path::new("t.toml"));
            let small = SmallMachine::near(unit, &own.unwrap()).unwrap();
            let text = small.advice(unit);
            assert!(text.contains(advice), "{text}");
        }
    }
}
