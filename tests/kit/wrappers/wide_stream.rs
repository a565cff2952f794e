//! `spad_wide_stream` against a memory: accesses of one, two and four words a lane are
//! answered once, in order, with the words that were there, in as many wavefronts as
//! halves and quarters of a warp take.

use super::missing;
use super::rtl::{Dice, LANES, Memory, Rhythm, Rtl, degree, inside, machine};
use spadkit::trace::Wide;
use std::collections::VecDeque;

/// Codes of `req_op`. The last code that means something is 4.
const NOP: u64 = 0;
const LOAD: u64 = 1;
const STORE: u64 = 2;

struct Access {
    op: u64,
    size: u64,
    mask: u64,
    tag: u64,
    addr: [u64; LANES],
    /// Four words a lane.
    data: [u64; 4 * LANES],
    be: [u64; LANES],
}

#[derive(Debug, PartialEq, Eq)]
struct Answer {
    op: u64,
    mask: u64,
    tag: u64,
    error: bool,
    degree: u64,
    data: Vec<u64>,
}

impl Access {
    /// Codes up to `last` mean something; the next one is refused.
    fn draw(dice: &mut Dice, tag: u64, last: u64) -> Self {
        let mut access = Access {
            op: [
                NOP,
                LOAD,
                LOAD,
                LOAD,
                STORE,
                STORE,
                STORE,
                last - 1,
                last,
                5,
            ][dice.below(10) as usize],
            size: dice.below(4),
            mask: if dice.chance(6) { 15 } else { dice.bits(4) },
            tag: tag & 0x7f,
            addr: dice.addresses(),
            data: std::array::from_fn(|_| dice.bits(32)),
            be: std::array::from_fn(|_| if dice.chance(4) { 15 } else { dice.bits(4) }),
        };
        // Pairs of lanes on one address, of neighbours or of every other lane.
        let paired = [0, 0, 1, 2][dice.below(4) as usize];
        let addr = access.addr;
        let spread = if dice.chance(4) { access.words() } else { 1 } as u64;
        access.addr = std::array::from_fn(|lane| {
            (addr[lane & !paired] * spread % 512) & !(access.words() as u64 - 1)
        });
        access
    }

    fn words(&self) -> usize {
        match (self.op, self.size) {
            (LOAD | STORE, 1) => 2,
            (LOAD | STORE, 2 | 3) => 4,
            _ => 1,
        }
    }

    fn active(&self, lane: usize) -> bool {
        self.mask >> lane & 1 == 1
    }

    fn drive(&self, rtl: &mut Rtl) {
        rtl.set("req_op", self.op);
        rtl.set("req_size", self.size);
        rtl.set("req_mask", self.mask);
        rtl.set("req_tag", self.tag);
        rtl.set_lanes("req_addr", 9, &self.addr);
        rtl.set_lanes("req_data", 32, &self.data);
        rtl.set_lanes("req_be", 4, &self.be);
    }

    /// Whether a load can ask once for each pair of lanes that are `far` apart.
    fn pairs(&self, far: usize) -> bool {
        let agree = |lane: usize| {
            let other = lane ^ far;
            !self.active(lane) || !self.active(other) || self.addr[lane] == self.addr[other]
        };
        (0..LANES).all(agree)
    }

    /// How far the lanes of a pair are apart, where each pair asks once.
    fn merged(&self, merges: bool) -> Option<usize> {
        let may = merges && self.op == LOAD && self.words() > 1;
        [1, 2].into_iter().find(|&far| may && self.pairs(far))
    }

    /// The lane that asks for this one.
    fn asker(&self, lane: usize, far: Option<usize>) -> usize {
        let lower = lane & !far.unwrap_or(0);
        if self.active(lower) {
            lower
        } else {
            lower | far.unwrap_or(0)
        }
    }

    /// The lanes that ask together, group by group; those in which no lane is active
    /// are left out.
    fn phases(&self, far: Option<usize>) -> Vec<Vec<usize>> {
        let lowers = (0..LANES).filter(|lane| lane & far.unwrap_or(0) == 0);
        let askers: Vec<usize> = lowers.map(|lane| self.asker(lane, far)).collect();
        askers
            .chunks(LANES / self.words())
            .filter(|group| group.iter().any(|&lane| self.active(lane)))
            .map(<[usize]>::to_vec)
            .collect()
    }

    /// Does it to the memory, phase by phase.
    fn answer(&self, memory: &mut Memory, merges: bool) -> Answer {
        let far = self.merged(merges);
        let mut answer = Answer {
            op: self.op,
            mask: self.mask,
            tag: self.tag,
            error: self.op > 4,
            degree: 0,
            data: vec![0; 4 * LANES],
        };
        for phase in self.phases(far) {
            if self.is_refused(&phase) {
                answer.error = true;
                continue;
            }
            answer.degree += self.serve(&phase, memory);
            let served =
                |lane: &usize| self.active(*lane) && phase.contains(&self.asker(*lane, far));
            for lane in (0..LANES).filter(served) {
                for word in 0..self.words() {
                    answer.data[4 * lane + word] = self.shown(lane, word, memory);
                }
            }
        }
        answer
    }

    fn is_refused(&self, phase: &[usize]) -> bool {
        let beyond = |&lane: &usize| self.active(lane) && !inside(self.addr[lane]);
        self.op > 4 || self.op != NOP && phase.iter().any(beyond)
    }

    /// The words of a phase as an access of one word a lane; gives its wavefronts.
    fn serve(&self, phase: &[usize], memory: &mut Memory) -> u64 {
        let (mut mask, words) = (0, self.words());
        let (mut addr, mut data, mut be) = ([0; LANES], [0; LANES], [15; LANES]);
        for (i, at) in (0..phase.len() * words).enumerate() {
            let (lane, word) = (phase[at / words], at % words);
            mask |= u64::from(self.active(lane)) << i;
            addr[i] = self.addr[lane] + word as u64;
            data[i] = self.data[4 * lane + word];
            if words == 1 {
                be[i] = self.be[lane];
            }
        }
        if [STORE, 4].contains(&self.op) {
            memory.store(mask, &addr, &data, &be);
        }
        if self.op == NOP {
            0
        } else {
            degree(mask, &addr)
        }
    }

    /// A word of a lane's answer.
    fn shown(&self, lane: usize, word: usize, memory: &Memory) -> u64 {
        match self.op {
            NOP => self.data[4 * lane],
            LOAD | 3 => memory.word(self.addr[lane] + word as u64),
            _ => 0,
        }
    }
}

fn shown(rtl: &Rtl) -> Answer {
    Answer {
        op: rtl.get("rsp_op"),
        mask: rtl.get("rsp_mask"),
        tag: rtl.get("rsp_tag"),
        error: rtl.get("rsp_error") == 1,
        degree: rtl.get("rsp_degree"),
        data: rtl.get_lanes("rsp_data", 32),
    }
}

/// `accesses` at random; what the neighbours offer and take changes its rhythm.
fn traffic(wide: Wide, window: u32, accesses: u64, seed: u64) {
    let mut config = machine(2, 0);
    config.warp_size = LANES as u32;
    config.wide = wide;
    config.path.stream.window = window;
    let merges = wide == Wide::PhasesMerged;
    let mut rtl = Rtl::new("spad_wide_stream", &config);
    // With a window there are no locks, and how long an access is served depends on
    // the others.
    let last = if window > 0 { STORE } else { 4 };
    let mut dice = Dice::new(seed);
    let comparable = |answer: Answer| Answer {
        degree: if window > 0 { 0 } else { answer.degree },
        ..answer
    };
    let mut memory = Memory::default();
    let mut waiting: VecDeque<Access> = VecDeque::new();
    let (mut offered, mut standing) = (None::<Access>, None::<Answer>);
    let (mut rhythm, mut taken, mut most, mut cycle) = (Rhythm::new(), 0, 0, 0);
    while taken < accesses || !waiting.is_empty() {
        assert!(cycle < 24 * accesses, "{taken} accesses taken");
        rhythm.step(cycle, &mut dice);
        let draining = taken == accesses;
        if offered.is_none() && dice.chance(rhythm.requests) && !draining {
            offered = Some(Access::draw(&mut dice, cycle, last));
        }
        if let Some(access) = &offered {
            access.drive(&mut rtl);
        }
        let takes = draining || dice.chance(rhythm.ready);
        rtl.set("req_valid", offered.is_some().into());
        rtl.set("rsp_ready", takes.into());
        rtl.clock();
        assert_eq!(rtl.get("idle") == 1, waiting.is_empty(), "cycle {cycle}");
        let got = (rtl.get("rsp_valid") == 1).then(|| comparable(shown(&rtl)));
        if let Some(standing) = standing.take() {
            assert_eq!(got.as_ref(), Some(&standing), "cycle {cycle}");
        }
        match got {
            Some(got) if takes => {
                let access = waiting.pop_front().expect("an answer without a request");
                let expected = access.answer(&mut memory, merges);
                assert_eq!(got, comparable(expected), "cycle {cycle}");
            }
            got => standing = got,
        }
        if rtl.get("req_ready") == 1
            && let Some(access) = offered.take()
        {
            waiting.push_back(access);
            taken += 1;
        }
        most = most.max(waiting.len());
        cycle += 1;
    }
    assert!(
        offered.is_none() && most >= 6,
        "at most {most} accesses inside"
    );
}

#[test]
fn a_wide_stream_answers_every_access_once_in_order() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    traffic(Wide::Phases, 0, 6_000, 1);
    traffic(Wide::PhasesMerged, 0, 6_000, 2);
    traffic(Wide::PhasesMerged, 4, 6_000, 3);
}

#[test]
#[ignore = "takes minutes; part of make campaign"]
fn a_million_accesses_of_a_wide_stream_are_answered_once_in_order() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for wide in [Wide::Phases, Wide::PhasesMerged] {
        for window in [0, 4] {
            traffic(wide, window, 250_000, 7);
        }
    }
}
