//! Turns that end at an access which others wait for.
//!
//! A producer that runs as far as it comes is far ahead when the consumer looks, so the
//! consumer is ordered after all that the producer did: a ring whose slots are used again too
//! early shows no race. Nor does one that is checked by one slot too many: the producer has
//! to see the old number of free slots, and write after the consumer has read. So while races
//! are looked for, about every second strong store or atomic, and every second end of a wait,
//! lets the other warps go on.

use super::Machine;
use super::draw::draw;
use crate::exec::image::{MemoryOp, Spin};
use crate::exec::ordering::Strength;

/// The choice of the accesses at which others get their turn.
#[derive(Default)]
pub struct Handover {
    /// State of the numbers that choose, none if no loop of the kernel waits.
    choices: Option<u64>,
    /// The instruction that runs is one of them.
    chosen: bool,
}

impl Handover {
    /// For blocks of a kernel that may have loops which wait.
    pub fn new(waits: bool) -> Self {
        Handover {
            choices: waits.then_some(0),
            chosen: false,
        }
    }

    /// A block begins.
    pub fn begin(&mut self) {
        *self = Handover::new(self.choices.is_some());
    }

    /// Whether others get their turn after this instruction.
    pub fn take(&mut self) -> bool {
        std::mem::take(&mut self.chosen)
    }
}

impl Machine<'_> {
    /// Notes an access that others may wait for. What a loop that waits writes by itself, such
    /// as a lock that it tries, is none.
    pub fn note_published(&mut self, info: &MemoryOp) {
        let publishes = info.order.strength != Strength::Weak && info.transfer.writes();
        if publishes
            && self.image.spins[self.pc as usize] == Spin::No
            && let Some(state) = &mut self.handover.choices
        {
            self.handover.chosen = draw(state, 2) == 0;
        }
    }

    /// Whether others get their turn after a branch out of a loop that waits.
    pub fn goes_on_later(&mut self, (from, to): (u32, u32)) -> bool {
        // None but while races are looked for: the other runs look at nothing else.
        let Some(state) = &mut self.handover.choices else {
            return false;
        };
        let waits = |pc: u32| self.image.spins[pc as usize] != Spin::No;
        waits(from) && !waits(to) && draw(state, 2) == 0
    }
}
