//! `spad_conflict_arbiter`: splits one access into conflict-free groups
//! (microarchitecture/conflict-arbiter.md).

use super::byte_merging::ByteMerging;
use super::lanes::{LaneMask, MAX_BANKS, MAX_LANES, for_each_lane, lanes_of};
use crate::config::Config;

/// Inputs of one clock cycle.
#[derive(Clone, Copy, Debug)]
pub struct ArbiterInputs<'a> {
    /// Synchronous reset.
    pub rst: bool,
    /// An access is offered.
    pub req_valid: bool,
    /// Active lanes of the access.
    pub req_mask: LaneMask,
    /// false: no lane is served, the access is one empty group.
    pub req_access: bool,
    /// Bank of each lane.
    pub req_bank: &'a [u8],
    /// Row of each lane.
    pub req_row: &'a [u16],
    /// Bytes to write, a bit each, of each lane.
    pub req_be: &'a [u8],
    /// The response side is ready: the current group is served in this cycle.
    pub adv: bool,
}

/// The group in MEM0: all outputs but `req_ready`, registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// There is a group.
    pub valid: bool,
    /// Whether it is the last of its access.
    pub last: bool,
    /// Lanes of the group.
    pub served: LaneMask,
    /// The lowest waiting lane of each bank.
    pub leader: LaneMask,
    /// Bytes that each lane writes if the access is a store.
    pub writes: [u8; MAX_LANES],
    /// Banks that the group uses.
    pub bank_valid: u64,
    /// Bank of each lane of the access.
    pub bank: [u8; MAX_LANES],
    /// Row of each lane of the access.
    pub row: [u16; MAX_LANES],
    /// Groups up to and including this one; 0 for an access without active
    /// lanes or without access.
    pub degree: u32,
}

/// Outputs of one clock cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArbiterOutputs {
    /// A new access is taken in this cycle; comb(adv).
    pub req_ready: bool,
    /// The current group; registered.
    pub group: Group,
}

/// The arbiter: one access, served a group a cycle.
///
/// The groups of an access follow from its banks and rows alone. In every cycle
/// each bank serves the row of its lowest waiting lane. So a bank's rows go in
/// the order of their lowest lanes. The groups are formed when the access is
/// taken.
#[derive(Clone, Debug)]
pub struct ConflictArbiter {
    /// An access is here.
    busy: bool,
    /// Lanes of each group.
    served: [LaneMask; MAX_LANES],
    /// The leaders among them.
    leader: [LaneMask; MAX_LANES],
    /// Groups of the access, at least one.
    groups: usize,
    /// Groups that were served.
    count: usize,
    /// The access had an active lane.
    accesses: bool,
    bank: [u8; MAX_LANES],
    row: [u16; MAX_LANES],
    /// Byte enables, for the ports: the scratchpad's memory reads those of its request.
    be: [u8; MAX_LANES],
    lanes: usize,
    /// Lanes on the leader's row are served with it.
    broadcast: bool,
    merging: ByteMerging,
}

impl ConflictArbiter {
    /// The arbiter of `config`, after reset.
    pub fn of(config: &Config) -> Self {
        ConflictArbiter::new(
            config.lanes as usize,
            config.path.broadcast,
            ByteMerging::of(config),
        )
    }

    /// An arbiter for `lanes` lanes, with or without broadcast, after reset.
    pub fn new(lanes: usize, broadcast: bool, merging: ByteMerging) -> Self {
        ConflictArbiter {
            busy: false,
            served: [0; MAX_LANES],
            leader: [0; MAX_LANES],
            groups: 1,
            count: 0,
            accesses: false,
            bank: [0; MAX_LANES],
            row: [0; MAX_LANES],
            be: [0; MAX_LANES],
            lanes,
            broadcast,
            merging,
        }
    }

    /// Returns to the state after reset.
    pub fn reset(&mut self) {
        *self = ConflictArbiter::new(self.lanes, self.broadcast, self.merging);
    }

    /// An access is here.
    pub(super) fn valid(&self) -> bool {
        self.busy
    }

    /// The current group is the last of its access.
    pub(super) fn last(&self) -> bool {
        self.busy && self.count + 1 == self.groups
    }

    /// Lanes of the current group.
    pub(super) fn served(&self) -> LaneMask {
        if self.busy {
            self.served[self.count]
        } else {
            0
        }
    }

    /// Leaders of the current group.
    pub(super) fn leader(&self) -> LaneMask {
        if self.busy {
            self.leader[self.count]
        } else {
            0
        }
    }

    /// Groups up to and including the present one; 0 for an empty access.
    pub(super) fn degree(&self) -> u32 {
        let counts = self.busy && self.accesses;
        if counts { self.count as u32 + 1 } else { 0 }
    }

    /// The current group, as the ports show it.
    pub fn group(&self) -> Group {
        let (served, leader) = (self.served(), self.leader());
        let mut group = Group {
            valid: self.busy,
            last: self.last(),
            served,
            leader,
            writes: self.merging.writes(served, leader, &self.bank, &self.be),
            bank_valid: 0,
            bank: self.bank,
            row: self.row,
            degree: self.degree(),
        };
        for lane in lanes_of(group.leader) {
            group.bank_valid |= 1 << self.bank_of(lane);
        }
        group
    }

    /// Whether an access is taken in a cycle with `adv`.
    pub fn req_ready(&self, adv: bool) -> bool {
        !self.busy || (adv && self.last())
    }

    /// The outputs of this cycle.
    pub fn eval(&self, inputs: &ArbiterInputs) -> ArbiterOutputs {
        ArbiterOutputs {
            req_ready: self.req_ready(inputs.adv),
            group: self.group(),
        }
    }

    /// The clock edge.
    pub fn commit(&mut self, inputs: &ArbiterInputs) {
        if inputs.rst {
            self.reset();
        } else if inputs.req_valid && self.req_ready(inputs.adv) {
            self.load(inputs);
        } else if inputs.adv {
            self.advance();
        }
    }

    /// The clock edge of a cycle with `adv` in which no access is taken.
    fn advance(&mut self) {
        if self.last() {
            self.busy = false;
        } else if self.busy {
            self.count += 1;
        }
    }

    /// One clock cycle.
    pub fn step(&mut self, inputs: &ArbiterInputs) -> ArbiterOutputs {
        let outputs = self.eval(inputs);
        self.commit(inputs);
        outputs
    }

    fn load(&mut self, inputs: &ArbiterInputs) {
        let active = if inputs.req_access {
            inputs.req_mask
        } else {
            0
        };
        let lanes = self.lanes;
        self.bank[..lanes].copy_from_slice(&inputs.req_bank[..lanes]);
        self.row[..lanes].copy_from_slice(&inputs.req_row[..lanes]);
        self.be[..lanes].copy_from_slice(&inputs.req_be[..lanes]);
        self.busy = true;
        self.count = 0;
        self.accesses = active != 0;
        self.form_groups(active);
    }

    /// A lane's bank. The remainder changes nothing; with it the compiler knows
    /// that the bank is within an array, and leaves the check out.
    fn bank_of(&self, lane: usize) -> usize {
        usize::from(self.bank[lane]) % MAX_BANKS
    }

    /// Banks of the active lanes.
    fn used_banks(&self, active: LaneMask) -> u64 {
        let mut used = 0;
        for_each_lane(active, self.lanes, |lane| {
            used |= 1u64 << self.bank_of(lane);
        });
        used
    }

    /// Puts each lane into the first group in which its bank serves its row
    /// or, as the leader, has served none.
    fn form_groups(&mut self, active: LaneMask) {
        self.groups = 1;
        let used = self.used_banks(active);
        if used == active || used.count_ones() == active.count_ones() {
            // No two lanes in one bank.
            (self.served[0], self.leader[0]) = (active, active);
            return;
        }
        (self.served[0], self.leader[0]) = (0, 0);
        let mut in_bank: [LaneMask; MAX_BANKS] = [0; MAX_BANKS];
        for lane in lanes_of(active) {
            let (bit, row) = (1 << lane, self.row[lane]);
            let of_bank = &mut in_bank[self.bank_of(lane)];
            let mut group = 0;
            loop {
                if group == self.groups {
                    (self.served[group], self.leader[group]) = (0, 0);
                    self.groups += 1;
                }
                let leader = self.leader[group] & *of_bank;
                if leader == 0 {
                    self.leader[group] |= bit;
                    break;
                }
                let leader = leader.trailing_zeros() as usize;
                if self.broadcast && self.row[leader] == row {
                    break;
                }
                group += 1;
            }
            self.served[group] |= bit;
            *of_bank |= bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MERGING: ByteMerging = ByteMerging {
        merge: true,
        word_bytes: 4,
    };

    /// Offers one access, then advances every cycle; the groups' lanes.
    fn groups(mask: LaneMask, place: impl Fn(usize) -> (u8, u16)) -> (Vec<LaneMask>, u32) {
        groups_of(ConflictArbiter::new(32, true, MERGING), mask, place)
    }

    fn groups_of(
        arbiter: ConflictArbiter,
        mask: LaneMask,
        place: impl Fn(usize) -> (u8, u16),
    ) -> (Vec<LaneMask>, u32) {
        let groups = run(arbiter, mask, place, &[15; 32]);
        let degree = groups.last().unwrap().degree;
        (groups.iter().map(|g| g.served).collect(), degree)
    }

    fn run(
        mut arbiter: ConflictArbiter,
        mask: LaneMask,
        place: impl Fn(usize) -> (u8, u16),
        be: &[u8],
    ) -> Vec<Group> {
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
            req_be: be,
            adv: true,
        };
        assert!(arbiter.step(&inputs).req_ready);
        inputs.req_valid = false;
        let mut groups = Vec::new();
        loop {
            let out = arbiter.step(&inputs);
            assert_eq!(out.req_ready, out.group.last);
            assert_eq!(
                out.group.leader.count_ones(),
                out.group.bank_valid.count_ones()
            );
            let last = out.group.last;
            groups.push(out.group);
            if last {
                assert!(!arbiter.eval(&inputs).group.valid);
                return groups;
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
        let arbiter = || ConflictArbiter::new(32, false, MERGING);
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

    /// Group by group as microarchitecture/conflict-arbiter.md defines them.
    fn by_definition(mut pend: LaneMask, broadcast: bool, places: &[(u8, u16)]) -> Vec<LaneMask> {
        let mut groups = Vec::new();
        while pend != 0 {
            let leader = |bank| lanes_of(pend).find(|&l| places[l].0 == bank).unwrap();
            let served = lanes_of(pend).filter(|&l| {
                let leader = leader(places[l].0);
                l == leader || (broadcast && places[l].1 == places[leader].1)
            });
            let served = served.fold(0, |m, l| m | 1 << l);
            groups.push(served);
            pend &= !served;
        }
        groups
    }

    proptest::proptest! {
        #[test]
        fn groups_are_those_of_the_definition(
            mask in proptest::prelude::any::<u32>(),
            broadcast in proptest::prelude::any::<bool>(),
            banks in 1u8..9,
            rows in 1u16..40,
            draws in proptest::collection::vec(proptest::prelude::any::<(u8, u16)>(), 32),
            be in proptest::collection::vec(0u8..16, 32),
        ) {
            let places: Vec<_> = draws.iter().map(|d| (d.0 % banks, d.1 % rows)).collect();
            let expected = by_definition(mask.into(), broadcast, &places);
            let arbiter = ConflictArbiter::new(32, broadcast, MERGING);
            let groups = run(arbiter, mask.into(), |l| places[l], &be);
            proptest::prop_assert_eq!(groups.last().unwrap().degree as usize, expected.len());
            if mask != 0 {
                let served: Vec<_> = groups.iter().map(|g| g.served).collect();
                proptest::prop_assert_eq!(served, expected);
            }
            for group in groups {
                for lane in 0..32 {
                    let of_word = |l: &usize| places[*l].0 == places[lane].0;
                    let before = lanes_of(group.served & ((1 << lane) - 1)).filter(of_word);
                    let taken = before.fold(0, |bytes, l| bytes | be[l]);
                    let writes = if group.served >> lane & 1 == 1 { be[lane] & !taken } else { 0 };
                    proptest::prop_assert_eq!(group.writes[lane], writes);
                }
            }
        }
    }

    #[test]
    fn an_empty_access_is_one_group_of_degree_0() {
        assert_eq!(groups(0, |_| (0, 0)), (vec![0], 0));
    }

    #[test]
    fn a_group_waits_for_adv_and_a_new_access_follows_the_last_group() {
        let mut arbiter = ConflictArbiter::new(2, true, MERGING);
        let (bank, row) = ([1, 1], [0, 1]);
        let mut inputs = ArbiterInputs {
            rst: false,
            req_valid: true,
            req_mask: 3,
            req_access: true,
            req_bank: &bank,
            req_row: &row,
            req_be: &[15; 32],
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
        assert!(!arbiter.valid());
    }
}
