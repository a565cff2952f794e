//! Issue slots by instruction: what a run spends on each line of a program.

use super::stats::{Stall, Stalls};
use std::collections::HashMap;

/// Issue slots of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slots {
    /// Slots in which a pass of it was issued.
    pub issued: u64,
    /// Slots without issue, by reason.
    pub stalls: Stalls,
}

impl Slots {
    /// Number of all issue slots.
    pub fn total(&self) -> u64 {
        self.issued + self.stalls.total()
    }

    /// Adds those of another instruction.
    pub fn add(&mut self, other: &Slots) {
        self.issued += other.issued;
        self.stalls.merge(&other.stalls);
    }
}

/// The issue slots of a run by instruction. Their sum is the cycles times the
/// number of schedulers.
///
/// A slot in which a pass is issued belongs to that instruction. If nothing is
/// issued, the slot belongs to
///
/// - the access with the conflict, while a bank conflict holds up the path;
/// - the instruction in EX, while something else holds up the path;
/// - else the instruction at which the scheduler's next warp waits
///   (microarchitecture/sm-model.md).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    counted: HashMap<Option<u32>, Slots>,
    /// Since the last completion: they count when another follows.
    tail: HashMap<Option<u32>, Slots>,
}

impl Profile {
    /// Program counters and their slots, in ascending order; those without one
    /// are slots in which no warp was resident.
    pub fn list(&self) -> Vec<(Option<u32>, Slots)> {
        let all = self.counted.iter().map(|(pc, slots)| (*pc, *slots));
        let mut list: Vec<(Option<u32>, Slots)> = all.collect();
        list.sort_unstable_by_key(|entry| entry.0);
        list
    }

    /// A pass of an instruction was issued.
    pub(super) fn issue(&mut self, pc: u32, counts: bool) {
        self.slots(Some(pc), counts).issued += 1;
    }

    /// Nothing was issued in this many slots.
    pub(super) fn stall(&mut self, pc: Option<u32>, stall: Stall, cycles: u64, counts: bool) {
        self.slots(pc, counts).stalls.add(stall, cycles);
    }

    /// The slots since the last completion count.
    pub(super) fn count_tail(&mut self) {
        for (pc, slots) in self.tail.drain() {
            self.counted.entry(pc).or_default().add(&slots);
        }
    }

    fn slots(&mut self, pc: Option<u32>, counts: bool) -> &mut Slots {
        let of = if counts {
            &mut self.counted
        } else {
            &mut self.tail
        };
        of.entry(pc).or_default()
    }
}
