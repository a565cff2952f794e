//! The behaviour of neighbours of `spad_stream` and `spad_tcdm` that keep the
//! rules of microarchitecture/bus.md: the mapping changes only while nothing is
//! in flight.

use super::bench::{Frame, Setup, Stimulus};
use super::hash_units::{RegisterWrites, register_writes};
use super::held_registers::HeldRegisters;
use super::pattern::Patterns;
use super::support::Rhythm;
use super::write_port::HashRegisters;
use crate::config::Config;

/// Once in this many cycles the mapping is to change.
const MAPPING_CYCLES: u32 = 256;

/// Common to both neighbours: accesses, rhythm, mappings.
pub(super) struct Neighbour {
    config: Config,
    registers: HashRegisters,
    patterns: Patterns,
    offer: Rhythm,
    /// The writes of the next mapping; nothing new is offered until they are done.
    writes: RegisterWrites,
    /// The present register values, to find the writes that change nothing.
    held: HeldRegisters,
}

impl Neighbour {
    pub(super) fn new(setup: &Setup) -> Self {
        Neighbour {
            config: setup.config.clone(),
            registers: HashRegisters::new(setup.layout),
            patterns: Patterns::new(setup.config, setup.trace),
            offer: Rhythm::with_silence(),
            writes: Vec::new(),
            held: HeldRegisters::new(setup.config),
        }
    }

    /// Drives the write ports; `idle`: nothing is inside or offered. Half of the
    /// mappings write only the registers that they change.
    pub(super) fn configure(
        &mut self,
        stimulus: &mut Stimulus,
        frame: &mut Frame,
        (idle, rst): (bool, bool),
    ) {
        if self.writes.is_empty() && stimulus.one_in(MAPPING_CYCLES) {
            let writes = register_writes(&self.config, stimulus);
            self.writes = if stimulus.one_in(2) {
                self.held.changes(writes)
            } else {
                writes
            };
        }
        let writes = if idle {
            self.writes.pop().unwrap_or_default()
        } else {
            (None, None)
        };
        self.registers.drive(writes, frame);
        self.registers.disturb(stimulus, frame);
        self.held.step(rst, writes);
        if rst {
            // The earlier writes are lost, and the rest alone would be no mapping.
            self.writes.clear();
        }
    }

    /// Number of cycles of writes that the next mapping still needs.
    #[cfg(test)]
    pub(super) fn pending_writes(&self) -> usize {
        self.writes.len()
    }

    /// The ports that it writes registers with.
    pub(super) fn registers(&self) -> &HashRegisters {
        &self.registers
    }

    /// Word addresses of a new access, and which lanes it has.
    pub(super) fn access(&mut self, stimulus: &mut Stimulus) -> Option<(u64, Vec<u16>)> {
        if !self.writes.is_empty() || !self.offer.beat(stimulus) {
            return None;
        }
        let access = self.patterns.next(stimulus, true);
        let bank_bits = self.config.geometry.bank_bits();
        let words = access.words(bank_bits, self.config.lanes as usize);
        Some((access.mask, words))
    }

    pub(super) fn data(&self, stimulus: &mut Stimulus) -> u64 {
        stimulus.word(self.config.word_bits as usize)
    }

    pub(super) fn enables(&self, stimulus: &mut Stimulus) -> u8 {
        stimulus.word(self.config.word_bits as usize / 8) as u8
    }
}
