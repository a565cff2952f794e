//! The state of a warp as a number, to notice that it comes again.

use super::Warp;
use crate::exec::machine::watch::folded;
use std::hash::{DefaultHasher, Hash, Hasher};

impl Warp {
    /// Everything that decides what the warp does next, but for the memory that it shares
    /// with others.
    pub fn state(&self) -> u64 {
        let mut state = DefaultHasher::new();
        (self.alive, self.arrived, self.passed).hash(&mut state);
        for path in &self.paths {
            // `retry` is only for those who observe.
            let entries = path.stack.iter().map(|e| (e.pc, e.meet, e.lanes, e.call));
            entries.for_each(|entry| entry.hash(&mut state));
            (path.state, path.expected, path.spun.words()).hash(&mut state);
        }
        if !self.paths.is_empty() {
            (folded(&self.registers), folded(&self.local)).hash(&mut state);
        }
        state.finish()
    }
}
