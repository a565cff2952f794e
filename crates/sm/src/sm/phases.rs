//! The phases of a kernel: how long its first block takes from one barrier to
//! the next.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Barriers that are kept.
const BARRIERS: usize = 32;

/// Cycles in which the first block's barriers were met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    met: [u64; BARRIERS],
    count: usize,
    /// Cycle in which the block's last thread exited.
    end: Option<u64>,
}

/// The time from one barrier to the next one, or to the block's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// The barrier that it begins with, the block's first one being 1; 0: the
    /// start of the kernel.
    pub from_barrier: usize,
    /// Duration of the phase.
    pub cycles: u64,
}

impl Phases {
    /// Notes that all warps of the block in `slot` have arrived at a barrier. The
    /// first block of a grid is in slot 0 until it ends.
    pub(super) fn barrier_met(&mut self, slot: usize, cycle: u64) {
        if slot == 0 && self.end.is_none() {
            if let Some(met) = self.met.get_mut(self.count) {
                *met = cycle;
            }
            self.count += 1;
        }
    }

    /// The last thread of the block in `slot` has exited.
    pub(super) fn block_ended(&mut self, slot: usize, cycle: u64) {
        if slot == 0 {
            self.end.get_or_insert(cycle);
        }
    }

    /// The phases in their order: from the start, between the first barriers,
    /// 32 of them, and to the end of the block if there are no more.
    pub fn list(&self) -> Vec<Phase> {
        let met = &self.met[..self.count.min(BARRIERS)];
        let end = self.end.filter(|_| self.count <= BARRIERS);
        let ends = met.iter().copied().chain(end);
        let starts = std::iter::once(0).chain(met.iter().copied());
        let phase = |(from_barrier, (start, end)): (usize, (u64, u64))| Phase {
            from_barrier,
            cycles: end - start,
        };
        starts.zip(ends).enumerate().map(phase).collect()
    }
}

impl Serialize for Phases {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list().serialize(serializer)
    }
}

/// Phases whose list is that which was written.
impl<'de> Deserialize<'de> for Phases {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = Vec::<Phase>::deserialize(deserializer)?;
        let mut phases = Phases::default();
        let mut cycle: u64 = 0;
        for phase in list {
            let next = cycle.checked_add(phase.cycles);
            cycle =
                next.ok_or_else(|| serde::de::Error::custom("phases of more than 2^64 cycles"))?;
            match phases.met.get_mut(phases.count) {
                Some(met) => {
                    *met = cycle;
                    phases.count += 1;
                }
                None => phases.end = Some(cycle),
            }
        }
        Ok(phases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycles(phases: &Phases) -> Vec<u64> {
        phases.list().iter().map(|p| p.cycles).collect()
    }

    #[test]
    fn phases_longer_than_a_count_are_not_read() {
        let list = |cycles: u64| {
            let phase = |n: u64| serde_json::json!({"from_barrier": n, "cycles": cycles});
            serde_json::from_value::<Phases>(serde_json::json!([phase(0), phase(1)]))
        };
        assert_eq!(cycles(&list(7).unwrap()), [7, 7]);
        assert!(list(u64::MAX).is_err());
    }

    #[test]
    fn the_first_block_alone_is_timed_and_its_phases_have_all_its_cycles() {
        let mut phases = Phases::default();
        for (slot, cycle) in [(0, 10), (1, 12), (0, 30)] {
            phases.barrier_met(slot, cycle);
        }
        phases.block_ended(1, 40);
        phases.block_ended(0, 45);
        // The next block of slot 0.
        phases.barrier_met(0, 60);
        phases.block_ended(0, 90);
        assert_eq!(cycles(&phases), [10, 20, 15]);
        let from: Vec<usize> = phases.list().iter().map(|p| p.from_barrier).collect();
        assert_eq!(from, [0, 1, 2]);
    }

    #[test]
    fn beyond_the_barriers_that_are_kept_nothing_is_timed() {
        let mut phases = Phases::default();
        for cycle in 1..=40 {
            phases.barrier_met(0, 10 * cycle);
        }
        phases.block_ended(0, 1000);
        assert_eq!(cycles(&phases), [10; BARRIERS]);
    }

    #[test]
    fn phases_that_were_written_read_back_with_the_same_list() {
        for (barriers, ended) in [
            (0, true),
            (0, false),
            (3, true),
            (BARRIERS, true),
            (40, true),
        ] {
            let mut phases = Phases::default();
            (1..=barriers as u64).for_each(|cycle| phases.barrier_met(0, 10 * cycle));
            if ended {
                phases.block_ended(0, 1000);
            }
            let text = serde_json::to_string(&phases).unwrap();
            let again: Phases = serde_json::from_str(&text).unwrap();
            assert_eq!(again.list(), phases.list(), "{barriers} barriers");
        }
    }
}
