//! `spad_stream` against a memory: every access is answered once, in order,
//! with the words that were there, whatever the rhythm on either side.

mod atomics;

use super::missing;
use super::rtl::{Dice, LANES, Memory, Rhythm, Rtl, degree, inside, machine, mapped_by_registers};
use atomics::{Operation, Reservations};
use spadkit::config::{Config, StreamOptions};
use spadkit::model::{MAX_LANES, Stream, StreamInputs, StreamRequest, spad_scratchpad::op};
use std::collections::VecDeque;

/// A tag as Vortex has it.
const TAG_BITS: u32 = 45;

/// What an answer has to be.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    op: u64,
    mask: u64,
    tag: u64,
    error: bool,
    degree: u64,
    data: Vec<u64>,
}

struct Access {
    op: u64,
    /// Instead of `op`.
    atomic: Option<Operation>,
    mask: u64,
    tag: u64,
    addr: [u64; LANES],
    data: [u64; LANES],
    be: [u64; LANES],
}

impl Access {
    fn draw(dice: &mut Dice, tag: u64) -> Self {
        Access {
            op: [0, 1, 1, 1, 2, 2, 2, 3, 4, 5, 7][dice.below(11) as usize],
            atomic: None,
            mask: if dice.chance(6) { 15 } else { dice.bits(4) },
            tag: tag.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - TAG_BITS),
            addr: dice.addresses(),
            data: std::array::from_fn(|_| dice.bits(32)),
            be: std::array::from_fn(|_| if dice.chance(4) { 15 } else { dice.bits(4) }),
        }
    }

    fn drive(&self, rtl: &mut Rtl) {
        rtl.set("req_op", self.op);
        rtl.set("req_mask", self.mask);
        rtl.set("req_tag", self.tag);
        rtl.set_lanes("req_addr", 9, &self.addr);
        rtl.set_lanes("req_data", 32, &self.data);
        rtl.set_lanes("req_be", 4, &self.be);
        if let Some(operation) = &self.atomic {
            operation.drive(rtl);
        }
    }

    /// It is a store that is not answered, where stores are posted.
    fn stores(&self) -> bool {
        self.op == 2
            && self
                .atomic
                .as_ref()
                .is_none_or(|operation| !operation.counts())
    }

    fn active(&self) -> impl Iterator<Item = usize> {
        (0..LANES).filter(|lane| self.mask >> lane & 1 == 1)
    }

    /// Does it to the memory; operations above `last` are refused.
    fn answer(&self, memory: &mut Memory, last: u64) -> Answer {
        let active = |lane: &usize| self.mask >> lane & 1 == 1;
        let beyond = (0..LANES).filter(active).any(|i| !inside(self.addr[i]));
        let error = self.op > last || (self.op != 0 && beyond);
        let word = |lane: usize| match self.op {
            0 => self.data[lane],
            1 | 3 => memory.word(self.addr[lane]),
            _ => 0,
        };
        let shown = |lane: usize| {
            if active(&lane) && !error {
                word(lane)
            } else {
                0
            }
        };
        let data = (0..LANES).map(shown).collect();
        if !error && [2, 4].contains(&self.op) {
            memory.store(self.mask, &self.addr, &self.data, &self.be);
        }
        Answer {
            op: self.op,
            mask: self.mask,
            tag: self.tag,
            error,
            degree: if error || self.op == 0 {
                0
            } else {
                degree(self.mask, &self.addr)
            },
            data,
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

/// Memory stages, accesses that overlap, and whether stores are posted.
#[derive(Clone, Copy)]
struct Options(u32, u32, bool);

impl Options {
    const fn of(mem_stages: u32, window: u32) -> Self {
        Options(mem_stages, window, false)
    }

    const fn posted(window: u32) -> Self {
        Options(2, window, true)
    }
}

const NO_ANSWER: Answer = Answer {
    op: 0,
    mask: 0,
    tag: 0,
    error: false,
    degree: 0,
    data: Vec::new(),
};

/// Takes the oldest access, if stores are `posted` and it is one.
fn posted_first(waiting: &mut VecDeque<Access>, posted: bool) -> Option<Access> {
    let first = waiting.front()?;
    (posted && first.stores()).then(|| waiting.pop_front())?
}

/// `accesses` at random on the machine with these options. With `reservations` there are
/// atomic operations.
fn traffic(
    Options(mem_stages, window, posted): Options,
    reservations: Option<Reservations>,
    accesses: u64,
    seed: u64,
) {
    let mut config = machine(2, 0);
    config.path.stream = StreamOptions {
        mem_stages,
        window,
        posted,
        atomics: reservations.is_some(),
        tag_bits: TAG_BITS,
    };
    traffic_on(&config, reservations, accesses, seed);
}

/// `accesses` at random; what the neighbours offer and take changes its rhythm. With a
/// window of accesses, how long each is served depends on the others.
fn traffic_on(config: &Config, mut reservations: Option<Reservations>, accesses: u64, seed: u64) {
    let StreamOptions { window, posted, .. } = config.path.stream;
    let mut rtl = Rtl::new("spad_stream", config);
    let degree = |answer: Answer| Answer {
        degree: if window > 0 { 0 } else { answer.degree },
        ..answer
    };
    let shown = |rtl: &Rtl| degree(shown(rtl));
    // A window has no locks.
    let last = if window > 0 { 2 } else { 4 };
    let effect = |reservations: &mut Option<Reservations>,
                  access: &Access,
                  memory: &mut Memory,
                  got: &Answer| match reservations {
        Some(reservations) => reservations.answer(access, memory, got),
        None => access.answer(memory, last),
    };
    let mut dice = Dice::new(seed);
    let mut memory = Memory::default();
    let mut waiting: VecDeque<Access> = VecDeque::new();
    let (mut offered, mut standing) = (None::<Access>, None::<Answer>);
    let (mut rhythm, mut taken, mut most, mut cycle) = (Rhythm::new(), 0, 0, 0);
    while taken < accesses || !waiting.is_empty() {
        assert!(cycle < 8 * accesses, "{taken} accesses taken");
        rhythm.step(cycle, &mut dice);
        let draining = taken == accesses;
        let begins = offered.is_none() && dice.chance(rhythm.requests) && !draining;
        if begins {
            let mut access = Access::draw(&mut dice, cycle);
            if let Some(reservations) = &mut reservations {
                reservations.draw(&mut access, &mut dice, &memory);
            }
            offered = Some(access);
        }
        if let Some(access) = &offered {
            access.drive(&mut rtl);
        }
        let takes = draining || dice.chance(rhythm.ready);
        rtl.set("req_valid", offered.is_some().into());
        rtl.set("rsp_ready", takes.into());
        rtl.clock();
        let idle = rtl.get("idle") == 1;
        if !posted {
            assert_eq!(idle, waiting.is_empty(), "cycle {cycle}");
        } else if idle {
            // Posted stores may be left, which have landed.
            while let Some(store) = posted_first(&mut waiting, posted) {
                effect(&mut reservations, &store, &mut memory, &NO_ANSWER);
            }
            assert!(waiting.is_empty(), "cycle {cycle}");
        } else {
            assert!(!waiting.is_empty(), "cycle {cycle}");
        }
        let valid = rtl.get("rsp_valid") == 1;
        if let Some(standing) = standing.take() {
            assert!(valid && shown(&rtl) == standing, "cycle {cycle}");
        }
        if valid && takes {
            let got = shown(&rtl);
            while let Some(store) = posted_first(&mut waiting, posted) {
                effect(&mut reservations, &store, &mut memory, &got);
            }
            let access = waiting.pop_front().expect("an answer without a request");
            let expected = effect(&mut reservations, &access, &mut memory, &got);
            assert_eq!(got, degree(expected), "cycle {cycle}");
        } else if valid {
            standing = Some(shown(&rtl));
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
    assert!(offered.is_none());
    // Two in front of the scratchpad, one a stage, two behind.
    assert!(most >= 6, "at most {most} accesses inside");
    if let Some(reservations) = reservations {
        reservations.has_seen_everything(accesses);
    }
}

#[test]
fn a_stream_answers_every_access_once_in_order() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    traffic(Options::of(2, 0), None, 8_000, 1);
}

#[test]
fn a_stream_of_four_stages_does_too() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    traffic(Options::of(4, 0), None, 8_000, 1);
}

#[test]
fn a_stream_with_a_window_does_too() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for window in [2, 4] {
        traffic(Options::of(2, window), None, 8_000, 1);
    }
}

/// Stores are not answered; all else is, in order, with what they have left.
#[test]
fn a_stream_with_posted_stores_answers_every_other_access() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for window in [0, 2, 4] {
        traffic(Options::posted(window), None, 8_000, 1);
    }
    traffic(Options::posted(2), Some(Reservations::of(1)), 8_000, 1);
}

/// The same whose mapping comes from registers, after their reset.
fn traffic_mapped_by_registers(accesses: u64, seed: u64) {
    for window in [0, 4] {
        let mut config = mapped_by_registers(machine(2, 0));
        (config.path.stream.window, config.path.stream.tag_bits) = (window, TAG_BITS);
        traffic_on(&config, None, accesses, seed);
    }
}

#[test]
fn a_stream_with_a_mapping_after_a_reset_does_too() {
    if !missing(&["verilator", "c++"]) {
        traffic_mapped_by_registers(8_000, 1);
    }
}

/// A neighbour that takes no answers stores one access a cycle; the stores land, and a
/// load finds them.
#[test]
fn posted_stores_wait_for_no_answer() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for window in [0, 4] {
        let mut config = machine(2, 0);
        (config.path.stream.window, config.path.stream.posted) = (window, true);
        let mut rtl = Rtl::new("spad_stream", &config);
        let store = |rtl: &mut Rtl, word: u64| {
            rtl.set("req_op", 2);
            rtl.set("req_mask", 15);
            rtl.set_lanes("req_addr", 9, &[0, 1, 2, 3]);
            rtl.set_lanes("req_data", 32, &[word; LANES]);
            rtl.set_lanes("req_be", 4, &[15; LANES]);
            rtl.set("req_valid", 1);
            rtl.clock();
            assert_eq!(
                (rtl.get("req_ready"), rtl.get("rsp_valid")),
                (1, 0),
                "{word}"
            );
        };
        (0..40).for_each(|word| store(&mut rtl, word));
        rtl.set("req_valid", 0);
        let landed = (0..8).position(|_| {
            rtl.clock();
            rtl.get("idle") == 1
        });
        assert!(landed.is_some_and(|cycles| cycles > 0), "{landed:?}");
        assert_eq!(cycles_of(&mut rtl, 1, &[0, 1, 2, 3]), 5);
        assert_eq!(rtl.get_lanes("rsp_data", 32), [39; LANES]);
    }
}

#[test]
#[ignore = "takes minutes; part of make campaign"]
fn a_million_accesses_of_a_stream_are_answered_once_in_order() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for (mem_stages, window) in [(2, 0), (3, 0), (4, 0), (2, 2), (2, 4), (2, 8)] {
        traffic(Options::of(mem_stages, window), None, 250_000, 7);
    }
    for window in [0, 2, 4] {
        traffic(Options::posted(window), None, 350_000, 7);
    }
    traffic_mapped_by_registers(250_000, 7);
}

/// Cycles of `accesses` loads at one address per lane, back to back, until the
/// last one is answered.
fn cycles_of(rtl: &mut Rtl, accesses: u64, addr: &[u64; LANES]) -> u64 {
    let (mut taken, mut answered, mut cycles) = (0, 0, 0);
    rtl.set("req_op", 1);
    rtl.set("req_mask", 15);
    rtl.set_lanes("req_addr", 9, addr);
    rtl.set("rsp_ready", 1);
    while answered < accesses {
        rtl.set("req_valid", (taken < accesses).into());
        rtl.clock();
        taken += rtl.get("req_ready") & u64::from(taken < accesses);
        answered += rtl.get("rsp_valid");
        cycles += 1;
        assert!(cycles < 1000);
    }
    cycles
}

/// microarchitecture/bus.md: taken in t, an access of degree d is answered in
/// t+1+MS+max(1, d); at degree 1 one access a cycle.
#[test]
fn a_stream_keeps_its_timing() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for mem_stages in [2, 4] {
        // The path's stages are no matter here.
        let mut config = machine(6 - mem_stages, 0);
        config.path.stream.mem_stages = mem_stages;
        let mut rtl = Rtl::new("spad_stream", &config);
        let latency = |degree: u64| 1 + u64::from(mem_stages) + degree + 1;
        assert_eq!(cycles_of(&mut rtl, 1, &[5; LANES]), latency(1));
        assert_eq!(cycles_of(&mut rtl, 1, &[0, 1, 2, 3]), latency(1));
        // Row r of bank 0 is at 8 * r + r for r below 8.
        assert_eq!(cycles_of(&mut rtl, 1, &[0, 9, 18, 27]), latency(4));
        assert_eq!(cycles_of(&mut rtl, 60, &[0, 1, 2, 3]), latency(1) + 59);
    }
}

/// Cycles of 256 loads of stride 1 whose neighbour has two in flight: from the
/// first request to the last answer, both included.
fn two_in_flight(mem_stages: u32) -> u32 {
    let mut config = Config::preset("small").unwrap();
    config.path.stream.mem_stages = mem_stages;
    let mut unit = Stream::new(&config);
    let load = StreamRequest {
        op: op::LOAD,
        atomic: None,
        mask: 0xff,
        addr: std::array::from_fn(|lane| lane as u16),
        data: [0; MAX_LANES],
        be: [0; MAX_LANES],
        tag: 0,
    };
    let (mut sent, mut answered) = (0, 0);
    for cycle in 1.. {
        let request = (sent < 256 && sent - answered < 2).then(|| load.clone());
        sent += u32::from(request.is_some() && unit.req_ready());
        answered += u32::from(unit.answer().is_some());
        if answered == 256 {
            return cycle;
        }
        unit.commit(StreamInputs::offering(request));
    }
    unreachable!()
}

#[test]
fn fewer_stages_serve_a_neighbour_that_waits_sooner() {
    assert_eq!([2, 3, 4].map(two_in_flight), [641, 769, 897]);
}
