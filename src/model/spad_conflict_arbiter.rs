//! `spad_conflict_arbiter`: splits one access into conflict-free groups
//! (docs/microarchitecture.md, section 3).

use super::lanes::{LaneMask, MAX_BANKS, MAX_LANES, lanes_of};

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug)]
pub struct ArbiterInputs<'a> {
    /// Synchronous reset.
    pub rst: bool,
    /// An access is offered.
    pub req_valid: bool,
    /// Its active lanes.
    pub req_mask: LaneMask,
    /// false: no lane is served, the access is one empty group.
    pub req_access: bool,
    /// Bank of each lane.
    pub req_bank: &'a [u8],
    /// Row of each lane.
    pub req_row: &'a [u16],
    /// The response side is ready: the present group is served in this cycle.
    pub adv: bool,
}

/// The group that stands in MEM0: all outputs but `req_ready`, registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// There is a group.
    pub valid: bool,
    /// It is the last of its access.
    pub last: bool,
    /// Lanes of the group.
    pub served: LaneMask,
    /// The lowest waiting lane of each bank.
    pub leader: LaneMask,
    /// Banks that the group uses.
    pub bank_valid: u64,
    /// Leader of each used bank; 0 where unused.
    pub lane: [u8; MAX_BANKS],
    /// Bank of each served lane; 0 elsewhere.
    pub bank: [u8; MAX_LANES],
    /// Row of each leader; 0 elsewhere.
    pub row: [u16; MAX_LANES],
    /// Groups up to and including this one; 0 for an access without active
    /// lanes or without access.
    pub degree: u32,
}

impl Group {
    const NONE: Group = Group {
        valid: false,
        last: false,
        served: 0,
        leader: 0,
        bank_valid: 0,
        lane: [0; MAX_BANKS],
        bank: [0; MAX_LANES],
        row: [0; MAX_LANES],
        degree: 0,
    };
}

/// Outputs of one clock cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArbiterOutputs {
    /// A new access is taken in this cycle; comb(adv).
    pub req_ready: bool,
    /// The present group; registered.
    pub group: Group,
}

/// The arbiter: one access, served a group a cycle.
#[derive(Clone, Debug)]
pub struct ConflictArbiter {
    /// Lanes that wait, those of the present group among them.
    pend: LaneMask,
    bank: [u8; MAX_LANES],
    row: [u16; MAX_LANES],
    /// Groups that were served.
    count: u32,
    /// The access had an active lane.
    accesses: bool,
    /// The registered outputs; a function of the state above, kept with it.
    group: Group,
    lanes: usize,
    /// Lanes on the leader's row are served with it.
    broadcast: bool,
}

impl ConflictArbiter {
    /// An arbiter for `lanes` lanes, with or without broadcast, after reset.
    pub fn new(lanes: usize, broadcast: bool) -> Self {
        ConflictArbiter {
            pend: 0,
            bank: [0; MAX_LANES],
            row: [0; MAX_LANES],
            count: 0,
            accesses: false,
            group: Group::NONE,
            lanes,
            broadcast,
        }
    }

    /// To the state after reset.
    pub fn reset(&mut self) {
        *self = ConflictArbiter::new(self.lanes, self.broadcast);
    }

    /// The present group.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// Whether an access is taken in a cycle with `adv`.
    pub fn req_ready(&self, adv: bool) -> bool {
        !self.group.valid || (adv && self.group.last)
    }

    /// The outputs of this cycle.
    pub fn eval(&self, inputs: &ArbiterInputs) -> ArbiterOutputs {
        ArbiterOutputs {
            req_ready: self.req_ready(inputs.adv),
            group: self.group.clone(),
        }
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &ArbiterInputs) {
        if inputs.rst {
            self.reset();
        } else if inputs.req_valid && self.req_ready(inputs.adv) {
            self.load(inputs);
        } else if self.group.valid && inputs.adv {
            if self.group.last {
                self.pend = 0;
                self.group = Group::NONE;
            } else {
                self.pend &= !self.group.served;
                self.count += 1;
                self.form_group();
            }
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &ArbiterInputs) -> ArbiterOutputs {
        let outputs = self.eval(inputs);
        self.commit(inputs);
        outputs
    }

    fn load(&mut self, inputs: &ArbiterInputs) {
        self.pend = if inputs.req_access {
            inputs.req_mask
        } else {
            0
        };
        self.bank[..self.lanes].copy_from_slice(&inputs.req_bank[..self.lanes]);
        self.row[..self.lanes].copy_from_slice(&inputs.req_row[..self.lanes]);
        self.count = 0;
        self.accesses = self.pend != 0;
        self.form_group();
    }

    /// In each bank the lowest waiting lane, and with broadcast all waiting
    /// lanes on its row.
    fn form_group(&mut self) {
        let group = &mut self.group;
        *group = Group::NONE;
        for lane in lanes_of(self.pend) {
            let bank = self.bank[lane];
            let slot = usize::from(bank) % MAX_BANKS;
            if group.bank_valid >> slot & 1 == 0 {
                group.bank_valid |= 1 << slot;
                group.lane[slot] = lane as u8;
                group.leader |= 1 << lane;
                group.row[lane] = self.row[lane];
            } else if !self.broadcast || self.row[usize::from(group.lane[slot])] != self.row[lane] {
                continue;
            }
            group.served |= 1 << lane;
            group.bank[lane] = bank;
        }
        group.valid = true;
        group.last = group.served == self.pend;
        group.degree = if self.accesses { self.count + 1 } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offers one access, then advances every cycle; the groups' lanes.
    fn groups(mask: LaneMask, place: impl Fn(usize) -> (u8, u16)) -> (Vec<LaneMask>, u32) {
        groups_of(ConflictArbiter::new(32, true), mask, place)
    }

    fn groups_of(
        mut arbiter: ConflictArbiter,
        mask: LaneMask,
        place: impl Fn(usize) -> (u8, u16),
    ) -> (Vec<LaneMask>, u32) {
        let places: Vec<(u8, u16)> = (0..32).map(place).collect();
        let bank: Vec<u8> = places.iter().map(|p| p.0).collect();
        let row: Vec<u16> = places.iter().map(|p| p.1).collect();
        let mut inputs = ArbiterInputs {
            rst: false,
            req_valid: true,
            req_mask: mask,
            req_access: true,
            req_bank: &bank,
            req_row: &row,
            adv: true,
        };
        assert!(arbiter.step(&inputs).req_ready);
        inputs.req_valid = false;
        let mut served = Vec::new();
        loop {
            let out = arbiter.step(&inputs);
            assert_eq!(out.req_ready, out.group.last);
            assert_eq!(
                out.group.leader.count_ones(),
                out.group.bank_valid.count_ones()
            );
            served.push(out.group.served);
            if out.group.last {
                assert!(!arbiter.eval(&inputs).group.valid);
                return (served, out.group.degree);
            }
        }
    }

    #[test]
    fn lanes_on_one_word_are_served_together() {
        let all = u64::from(u32::MAX);
        assert_eq!(groups(all, |_| (3, 7)), (vec![all], 1));
        assert_eq!(groups(all, |i| (i as u8, 0)), (vec![all], 1));
    }

    #[test]
    fn without_broadcast_lanes_on_one_word_go_one_by_one() {
        let arbiter = || ConflictArbiter::new(32, false);
        let (served, degree) = groups_of(arbiter(), 0b1101, |_| (3, 7));
        assert_eq!((served, degree), (vec![0b1, 0b100, 0b1000], 3));
        let all = u64::from(u32::MAX);
        assert_eq!(groups_of(arbiter(), all, |i| (i as u8, 0)), (vec![all], 1));
    }

    #[test]
    fn distinct_words_of_one_bank_go_one_by_one_lowest_lane_first() {
        let (served, degree) = groups(0b1011, |i| (0, i as u16));
        assert_eq!((served, degree), (vec![0b1, 0b10, 0b1000], 3));
        // Two words interleaved: the even lanes, then the odd ones.
        let (served, degree) = groups(0xf, |i| (5, i as u16 % 2));
        assert_eq!((served, degree), (vec![0b0101, 0b1010], 2));
    }

    #[test]
    fn an_empty_access_is_one_group_of_degree_0() {
        assert_eq!(groups(0, |_| (0, 0)), (vec![0], 0));
    }

    #[test]
    fn a_group_waits_for_adv_and_a_new_access_follows_the_last_group() {
        let mut arbiter = ConflictArbiter::new(2, true);
        let (bank, row) = ([1, 1], [0, 1]);
        let mut inputs = ArbiterInputs {
            rst: false,
            req_valid: true,
            req_mask: 3,
            req_access: true,
            req_bank: &bank,
            req_row: &row,
            adv: false,
        };
        arbiter.step(&inputs);
        let waiting = arbiter.step(&inputs);
        assert_eq!((waiting.req_ready, waiting.group.served), (false, 1));
        inputs.adv = true;
        let first = arbiter.step(&inputs);
        assert_eq!(first.group, waiting.group);
        let second = arbiter.step(&inputs);
        assert_eq!(
            (second.req_ready, second.group.served, second.group.degree),
            (true, 2, 2)
        );
        let next = arbiter.step(&inputs);
        assert_eq!((next.group.served, next.group.degree), (1, 1));
        inputs.rst = true;
        arbiter.step(&inputs);
        assert!(!arbiter.group().valid);
    }
}
