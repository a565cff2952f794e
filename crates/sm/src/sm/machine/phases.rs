//! Today's machines (docs/guides/conflicts.md), which have no RTL of the SM path.
//! Accesses wider than a word go in phases of a part of the warp. An atomic serves
//! the lanes on one word one after another.
//!
//! Both are a matter of which addresses a pass has; what a pass costs, the path
//! itself finds out.

use super::Sm;
use crate::config::Config;
use crate::sm::instr::{Detail, Instr, InstrKind};
use spadkit_base::error::{Error, Result};
use spadkit_mapping::hash::Mapping;
use spadkit_mapping::trace::Atomics;

/// Words for atomics: in every bank as many different ones as a pass has lanes.
#[derive(Default)]
pub(super) struct LaneWords {
    mapping: Option<Mapping>,
    by_bank: Vec<Vec<u16>>,
}

impl LaneWords {
    /// The words for a machine whose atomics go lane by lane; empty for others.
    pub fn new(config: &Config, mapping: Mapping) -> Self {
        if config.atomics == Atomics::Words {
            return LaneWords::default();
        }
        let mut by_bank = vec![Vec::new(); config.geometry.banks()];
        for word in 0..config.capacity_words {
            let bank: &mut Vec<u16> = &mut by_bank[mapping.bank(word) as usize];
            if bank.len() < config.lanes as usize {
                bank.push(word as u16);
            }
        }
        LaneWords {
            mapping: Some(mapping),
            by_bank,
        }
    }

    /// Gives each lane of an atomic a word of its own in the bank of its word,
    /// so that the bank serves the lanes one after another.
    pub fn separate(&self, instr: &Instr, mask: u64, addr: &mut [u16; 64]) {
        let (Detail::LaneByLane, Some(mapping)) = (instr.detail, &self.mapping) else {
            return;
        };
        let mut used = [0u8; 64];
        for (lane, addr) in addr.iter_mut().enumerate() {
            if mask >> lane & 1 == 1 {
                let bank = mapping.bank(u32::from(*addr)) as usize;
                *addr = self.by_bank[bank][usize::from(used[bank])];
                used[bank] += 1;
            }
        }
    }
}

/// Refuses a scratchpad that is too small for the lanes of an atomic.
pub(super) fn check_rows(config: &Config) -> Result<()> {
    let rows = config.capacity_words / config.geometry.banks() as u32;
    if config.atomics != Atomics::Words && rows < config.lanes {
        Err(Error::usage(
            format!("atomics that count lanes, with {rows} words in a bank"),
            format!(
                "expected one for each of the {} lanes at least",
                config.lanes
            ),
        ))
    } else {
        Ok(())
    }
}

impl Sm<'_> {
    /// The machine serves wide accesses in phases.
    pub(super) fn has_phases(&self) -> bool {
        self.config.wide.in_phases()
    }

    /// Passes of an instruction with the lanes `active`, for each subwarp.
    pub(super) fn passes(&self, instr: &Instr, active: u64) -> u32 {
        let words = self.words(instr);
        // An atomic goes as a load here, and is none.
        if instr.kind != InstrKind::LdShared || instr.detail == Detail::LaneByLane {
            return words;
        }
        let of_lane = |l: usize| (active >> l & 1 == 1).then(|| instr.addrs.of(l));
        let lanes = self.config.lanes as usize;
        self.config.wide.load_phases(words, lanes, of_lane)
    }
}
