//! Accumulators of `wgmma` that nobody has waited for yet: the tensor cores
//! write them until `wgmma.wait_group`.

use std::collections::HashMap;

/// How an instruction uses registers that are the accumulator of some product.
#[derive(Clone, Debug)]
pub struct Uses {
    /// Numbers and names of those that it reads. A product does not read its
    /// own accumulator here: products of one shape are in order.
    pub reads: Vec<(u32, String)>,
    /// Numbers of those that it writes.
    pub writes: Vec<u32>,
    /// It is a product of a warpgroup.
    pub product: bool,
}

/// Products of a warp that it has not waited for.
#[derive(Clone, Debug, Default)]
struct Warp {
    /// Groups that it has committed.
    groups: u32,
    /// Of each register the product that writes it: its instruction, and the
    /// number of groups committed before.
    open: HashMap<u32, (u32, u32)>,
}

/// The accumulators of a block's warps.
#[derive(Debug, Default)]
pub struct Accumulators(Vec<Warp>);

impl Accumulators {
    pub fn new(threads: u32) -> Self {
        Accumulators(vec![Warp::default(); threads.div_ceil(32) as usize])
    }

    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        self.0.fill(Warp::default());
    }

    /// A warp executes an instruction: the register that it reads too early,
    /// and the product that writes it.
    pub fn access<'a>(&mut self, warp: u32, pc: u32, uses: &'a Uses) -> Option<(&'a str, u32)> {
        let Warp { groups, open } = &mut self.0[warp as usize];
        let early = |(number, name): &'a (u32, String)| Some((&name[..], open.get(number)?.0));
        let found = uses.reads.iter().find_map(early);
        for &number in &uses.writes {
            if uses.product {
                open.insert(number, (pc, *groups));
            } else {
                // The value that is read next is another one.
                open.remove(&number);
            }
        }
        found
    }

    /// What a warp has begun so far is a group.
    pub fn commit(&mut self, warp: u32) {
        self.0[warp as usize].groups += 1;
    }

    /// A warp waits until its last `left` groups at most are on their way.
    pub fn wait(&mut self, warp: u32, left: u32) {
        let Warp { groups, open } = &mut self.0[warp as usize];
        let until = groups.saturating_sub(left);
        open.retain(|_, (_, group)| *group >= until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(reads: &[u32], writes: &[u32], product: bool) -> Uses {
        Uses {
            reads: reads.iter().map(|&n| (n, format!("%f{n}"))).collect(),
            writes: writes.to_vec(),
            product,
        }
    }

    #[test]
    fn a_result_is_there_when_its_group_has_been_waited_for() {
        let mut all = Accumulators::new(64);
        assert_eq!(all.access(0, 7, &uses(&[], &[0, 1], true)), None);
        all.commit(0);
        assert_eq!(all.access(0, 8, &uses(&[], &[2], true)), None);
        all.commit(0);
        let read = uses(&[1], &[], false);
        assert_eq!(all.access(0, 9, &read), Some(("%f1", 7)));
        assert_eq!(all.access(1, 9, &read), None, "another warp");
        all.wait(0, 1);
        assert_eq!(all.access(0, 9, &read), None);
        assert_eq!(all.access(0, 9, &uses(&[2], &[], false)), Some(("%f2", 8)));
        // Another value.
        assert_eq!(all.access(0, 9, &uses(&[], &[2], false)), None);
        assert_eq!(all.access(0, 9, &uses(&[2], &[], false)), None);
        // In no group yet: no wait is for it.
        all.access(0, 10, &uses(&[], &[0], true));
        all.wait(0, 0);
        assert!(all.access(0, 9, &uses(&[0], &[], false)).is_some());
        all.clear();
        assert_eq!(all.access(0, 9, &uses(&[0], &[], false)), None);
    }
}
