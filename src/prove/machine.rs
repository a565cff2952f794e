//! The machines that the units of the path are proved for: small ones, since
//! the solver goes through all their states.

use super::harness::Harness;
use crate::config::{Config, PathHash, RetryLatencies};
use crate::error::Result;
use crate::geometry::Geometry;
use crate::units::Size;

/// Which machines the units of the path are proved for.
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

/// The least machine that has all of the unit's mechanisms: lock groups of
/// two cycles, several passes, two sharing pairs, a second round of an atomic.
fn least(size: Size) -> Result<Config> {
    let mut config = Config::preset("small")?;
    config.geometry = Geometry::new(9, 3)?;
    config.capacity_words = 1 << 9;
    (config.name, config.lanes) = match size {
        Size::Pair => ("pair".to_owned(), 2),
        Size::Quad => ("quad".to_owned(), 4),
        Size::Rows => ("rows".to_owned(), 4),
        Size::Whole => ("whole".to_owned(), 2),
        Size::Lockless => ("lockless".to_owned(), 2),
    };
    if size == Size::Rows {
        config.capacity_words = 4 * 8;
    }
    config.warp_size = 8;
    (config.path.warps, config.path.blocks) = (4, 4);
    (config.path.locks, config.path.lock_group_cycles) = (32, 2);
    config.path.history_sets = 2;
    // A definition in a line; the others are proved by themselves.
    config.path.hash = PathHash::Xor;
    if matches!(size, Size::Whole | Size::Lockless) {
        // Addresses are any, so banks, rows and locks are with any hash.
        config.path.hash = PathHash::Mod;
        config.warp_size = 4;
        (config.path.warps, config.path.blocks) = (2, 2);
    }
    if size == Size::Lockless {
        config.path.locks = 0;
    }
    // Short, so that a second round is only a few cycles away.
    config.path.retry = RetryLatencies {
        read: 2,
        update: 3,
        write: 2,
        branch: 1,
    };
    Ok(config)
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
            Size::Rows,
            Size::Whole,
            Size::Lockless,
        ] {
            Design::emit(&[], &least(size).unwrap()).unwrap();
        }
    }
}
