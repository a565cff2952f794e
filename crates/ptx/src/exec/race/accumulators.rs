//! Registers that tensor cores use: results of `wgmma` that nobody has waited
//! for yet, factors that it still reads, and registers that were written since
//! the last `wgmma.fence`.

use crate::exec::ordering::Uses;
use std::collections::HashMap;

/// A misuse of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// An instruction reads the register while a product in flight writes it.
    Unfinished,
    /// An instruction writes the register while a product in flight writes it.
    Overwritten,
    /// An instruction writes the register while a product in flight reads it.
    Replaced,
    /// A product uses the register, without a `wgmma.fence` since it was written.
    Unfenced,
    /// The same of the accumulator, which an ordinary instruction wrote behind a fence:
    /// `ptxas` adds the fence, and may let products wait for each other.
    Serialised,
}

/// Products of a warp that it has not waited for.
#[derive(Clone, Debug, Default)]
struct Warp {
    /// Groups that it has committed.
    groups: u32,
    /// By register, the product in flight that writes it: its instruction, and the number
    /// of groups committed before it.
    writes: HashMap<u32, (u32, u32)>,
    /// By register, the product in flight that reads it, as in `writes`.
    reads: HashMap<u32, (u32, u32)>,
    /// Registers that were written since the last fence, and where; without
    /// any fence all.
    written: HashMap<u32, u32>,
    fenced: bool,
}

/// The registers of a block's warps.
#[derive(Debug, Default)]
pub struct Accumulators(Vec<Warp>);

/// The register that is misused, the instruction that uses it otherwise, how.
pub type Found<'a> = (&'a str, u32, Misuse);

impl Accumulators {
    pub fn new(threads: u32) -> Self {
        Accumulators(vec![Warp::default(); threads.div_ceil(32) as usize])
    }

    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        self.0.fill(Warp::default());
    }

    /// A warp executes an instruction.
    pub fn access<'a>(&mut self, warp: u32, pc: u32, uses: &'a Uses) -> Option<Found<'a>> {
        let of = &mut self.0[warp as usize];
        if uses.product {
            return of.product(pc, uses);
        }
        let early = |(number, name): &'a (u32, String)| {
            Some((&name[..], of.writes.get(number)?.0, Misuse::Unfinished))
        };
        let late = |(number, name): &'a (u32, String)| {
            let over = of.writes.get(number).map(|at| (at.0, Misuse::Overwritten));
            let other = || of.reads.get(number).map(|at| (at.0, Misuse::Replaced));
            let (pc, misuse) = over.or_else(other)?;
            Some((&name[..], pc, misuse))
        };
        let found = uses.reads.iter().find_map(early);
        let found = found.or_else(|| uses.writes.iter().find_map(late));
        for (number, _) in &uses.writes {
            // The value that is read next is another one.
            of.writes.remove(number);
            of.written.insert(*number, pc);
        }
        found
    }

    /// `wgmma.fence`
    pub fn fence(&mut self, warp: u32) {
        let of = &mut self.0[warp as usize];
        of.written.clear();
        of.fenced = true;
    }

    /// Commits everything that the warp has begun as one group (`wgmma.commit_group`).
    pub fn commit(&mut self, warp: u32) {
        self.0[warp as usize].groups += 1;
    }

    /// A warp waits until its last `left` groups at most are on their way.
    pub fn wait(&mut self, warp: u32, left: u32) {
        let of = &mut self.0[warp as usize];
        let until = of.groups.saturating_sub(left);
        of.writes.retain(|_, (_, group)| *group >= until);
        of.reads.retain(|_, (_, group)| *group >= until);
    }
}

impl Warp {
    /// A product begins.
    fn product<'a>(&mut self, pc: u32, uses: &'a Uses) -> Option<Found<'a>> {
        let early = |(number, name): &'a (u32, String)| {
            Some((&name[..], self.writes.get(number)?.0, Misuse::Unfinished))
        };
        let unfenced = |(number, name): &'a (u32, String), misuse| {
            let at = self.written.get(number).copied();
            let at = at.or((!self.fenced).then_some(pc));
            Some((&name[..], at?, misuse))
        };
        let of_sums = if self.fenced {
            Misuse::Serialised
        } else {
            Misuse::Unfenced
        };
        let (factors, sums) = (uses.reads.iter(), uses.writes.iter());
        let found = factors.clone().find_map(early);
        let found = found.or_else(|| factors.clone().find_map(|r| unfenced(r, Misuse::Unfenced)));
        let found = found.or_else(|| sums.clone().find_map(|r| unfenced(r, of_sums)));
        for (number, _) in &uses.writes {
            self.writes.insert(*number, (pc, self.groups));
            // The next product on them follows this one.
            self.written.remove(number);
        }
        for (number, _) in &uses.reads {
            self.reads.insert(*number, (pc, self.groups));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(reads: &[u32], writes: &[u32], product: bool) -> Uses {
        let named = |list: &[u32]| list.iter().map(|&n| (n, format!("%f{n}"))).collect();
        Uses {
            reads: named(reads),
            writes: named(writes),
            product,
        }
    }

    #[test]
    fn a_result_is_there_when_its_group_has_been_waited_for() {
        let mut all = Accumulators::new(64);
        all.fence(0);
        assert_eq!(all.access(0, 7, &uses(&[], &[0, 1], true)), None);
        all.commit(0);
        assert_eq!(all.access(0, 8, &uses(&[], &[2], true)), None);
        all.commit(0);
        let read = uses(&[1], &[], false);
        let early = Some(("%f1", 7, Misuse::Unfinished));
        assert_eq!(all.access(0, 9, &read), early);
        assert_eq!(all.access(1, 9, &read), None, "another warp");
        all.wait(0, 1);
        assert_eq!(all.access(0, 9, &read), None);
        let early = Some(("%f2", 8, Misuse::Unfinished));
        assert_eq!(all.access(0, 9, &uses(&[2], &[], false)), early);
        let over = Some(("%f2", 8, Misuse::Overwritten));
        assert_eq!(all.access(0, 9, &uses(&[], &[2], false)), over);
        // Another value.
        assert_eq!(all.access(0, 9, &uses(&[2], &[], false)), None);
        all.fence(0);
        // In no group yet: no wait is for it.
        all.access(0, 10, &uses(&[], &[0], true));
        all.wait(0, 0);
        assert!(all.access(0, 9, &uses(&[0], &[], false)).is_some());
        all.clear();
        assert_eq!(all.access(0, 9, &uses(&[0], &[], false)), None);
    }

    #[test]
    fn registers_are_fenced_before_and_factors_stay_until_the_wait() {
        let mut all = Accumulators::new(32);
        let product = uses(&[5], &[0], true);
        let write = |n| uses(&[], &[n], false);
        assert_eq!(
            all.access(0, 3, &product),
            Some(("%f5", 3, Misuse::Unfenced))
        );
        all.access(0, 1, &write(0));
        all.fence(0);
        assert_eq!(all.access(0, 3, &product), None);
        assert_eq!(all.access(0, 3, &product), None, "one after the other");
        all.commit(0);
        let replaced = Some(("%f5", 3, Misuse::Replaced));
        assert_eq!(all.access(0, 4, &write(5)), replaced);
        all.wait(0, 0);
        assert_eq!(all.access(0, 4, &write(5)), None);
        assert_eq!(
            all.access(0, 6, &product),
            Some(("%f5", 4, Misuse::Unfenced))
        );
        // An accumulator that an ordinary instruction writes behind the fence.
        all.fence(0);
        all.access(0, 7, &write(0));
        let serialised = Some(("%f0", 7, Misuse::Serialised));
        assert_eq!(all.access(0, 8, &product), serialised);
        assert_eq!(all.access(0, 9, &product), None, "in the order of products");
        let in_flight = Some(("%f0", 9, Misuse::Overwritten));
        assert_eq!(all.access(0, 10, &write(0)), in_flight);
    }
}
