//! The machines that the units of the path are proved for: small ones, since
//! the solver goes through all their states.

use super::harness::Harness;
use crate::config::Config;
use crate::error::Result;
use crate::units::Size;

/// The machines for which the units of the path are proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machines {
    /// The machine that the Verilog was made for.
    Own,
    /// One machine of the least size for each unit.
    Least,
    /// The preset `small`, too.
    All,
}

impl Machines {
    /// The machines for a circuit; `own` is the user's.
    pub(super) fn list(self, harness: &Harness, own: &Config) -> Result<Vec<Config>> {
        let mut machines = match self {
            Machines::Own => return Ok(vec![own.clone()]),
            Machines::Least => vec![least(harness.circuit.size)?],
            Machines::All => vec![least(harness.circuit.size)?, Config::preset("small")?],
        };
        machines
            .iter_mut()
            .for_each(|m| harness.circuit.stages.set(m));
        Ok(machines)
    }
}

/// The machine of this size.
pub(super) fn least(size: Size) -> Result<Config> {
    Config::preset(preset_of(size))
}

/// Preset of the machine of a size.
pub(super) fn preset_of(size: Size) -> &'static str {
    match size {
        Size::Pair => "pair",
        Size::Quad => "quad",
        Size::Prompt => "prompt",
        Size::Rows => "rows",
        Size::Whole => "whole",
        Size::Lockless => "lockless",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtl::Design;

    #[test]
    fn the_least_machines_can_be_emitted() {
        for size in [
            Size::Pair,
            Size::Quad,
            Size::Prompt,
            Size::Rows,
            Size::Whole,
            Size::Lockless,
        ] {
            Design::emit(&[], &least(size).unwrap()).unwrap();
        }
    }
}
