//! `spad_tcdm` against a memory: every lane's requests are answered once, in
//! their order, with the words that were there.

use super::missing;
use super::rtl::{Dice, LANES, Memory, Rtl, inside, machine};
use spadkit::config::Config;
use std::collections::VecDeque;

/// A request of one lane.
#[derive(Clone, Copy, Default)]
struct Ask {
    read: bool,
    addr: u64,
    data: u64,
    be: u64,
    id: u64,
}

/// Of each lane the requests that were granted and not answered, the oldest
/// first, with the cycles of their grants.
type Queues = [VecDeque<(Ask, u64)>; LANES];

/// Options of the machine: registers at requests and at answers, bits of an
/// identifier.
#[derive(Clone, Copy)]
struct Options(bool, bool, u32);

const PLAIN: Options = Options(false, false, 0);

impl Options {
    fn machine(self) -> Config {
        let mut config = machine(2, 0);
        let tcdm = &mut config.path.tcdm;
        (tcdm.request_register, tcdm.response_register) = (self.0, self.1);
        tcdm.id_bits = self.2;
        config
    }

    fn latency(self) -> u64 {
        1 + u64::from(self.0) + u64::from(self.1)
    }
}

fn drive(rtl: &mut Rtl, asked: &[Option<Ask>; LANES], options: Options) {
    let bits = |test: &dyn Fn(&Ask) -> bool| {
        let lanes = asked.iter().enumerate();
        lanes.fold(0, |mask, (i, a)| {
            mask | u64::from(a.as_ref().is_some_and(test)) << i
        })
    };
    rtl.set("tcdm_req", bits(&|_| true));
    rtl.set("tcdm_wen", bits(&|a| a.read));
    let all = asked.map(Option::unwrap_or_default);
    rtl.set_lanes("tcdm_add", 9, &all.map(|a| a.addr));
    rtl.set_lanes("tcdm_wdata", 32, &all.map(|a| a.data));
    rtl.set_lanes("tcdm_be", 4, &all.map(|a| a.be));
    if options.2 > 0 {
        rtl.set_lanes("tcdm_id", options.2 as usize, &all.map(|a| a.id));
    }
}

/// The answers of this cycle: to the requests that were served together, 1 +
/// TRSP cycles before, so in the order of the answers. Reads see the words from
/// before.
fn collect(rtl: &Rtl, memory: &mut Memory, waiting: &mut Queues, cycle: u64, options: Options) {
    let (valid, failed) = (rtl.get("tcdm_r_valid"), rtl.get("tcdm_r_opc"));
    let words = rtl.get_lanes("tcdm_r_rdata", 32);
    let ids = match options.2 {
        0 => vec![0; LANES],
        bits => rtl.get_lanes("tcdm_r_id", bits as usize),
    };
    assert_eq!(failed & !valid, 0, "cycle {cycle}");
    let mut served: Vec<(usize, Ask)> = Vec::new();
    for lane in 0..LANES {
        if valid >> lane & 1 == 0 {
            assert_eq!((words[lane], ids[lane]), (0, 0), "cycle {cycle}");
            continue;
        }
        let (ask, granted) = waiting[lane].pop_front().expect("an answer to nobody");
        let fails = failed >> lane & 1 == 1;
        let word = if ask.read && inside(ask.addr) {
            memory.word(ask.addr)
        } else {
            0
        };
        let (got, expected) = ((words[lane], fails), (word, !inside(ask.addr)));
        assert_eq!(got, expected, "lane {lane} in cycle {cycle}");
        assert_eq!(ids[lane], ask.id, "lane {lane} in cycle {cycle}");
        let took = cycle - granted;
        // With the register two requests wait, each for the other lanes.
        let longest = options.latency() + u64::from(options.0) * 2 * (LANES as u64 - 1);
        assert!(
            (options.latency()..=longest).contains(&took),
            "lane {lane} in cycle {cycle}: {took} cycles after its grant"
        );
        served.push((lane, ask));
    }
    store(&served, memory);
}

/// The words after a cycle: no bank reads one and writes it.
fn store(served: &[(usize, Ask)], memory: &mut Memory) {
    let mut all = [Ask::default(); LANES];
    let mut mask = 0;
    for (lane, ask) in served.iter().filter(|(_, a)| inside(a.addr)) {
        let other = |o: &(usize, Ask)| o.1.addr == ask.addr && o.1.read != ask.read;
        assert!(!served.iter().any(other), "reads and writes of one word");
        if !ask.read {
            (all[*lane], mask) = (*ask, mask | 1 << lane);
        }
    }
    memory.store(
        mask,
        &all.map(|a| a.addr),
        &all.map(|a| a.data),
        &all.map(|a| a.be),
    );
}

/// New requests of lanes that have none.
fn ask(asked: &mut [Option<Ask>; LANES], dice: &mut Dice, busy: u64, options: Options) {
    let addr = dice.addresses();
    let reads = [0, 15, 15, dice.bits(4)][dice.below(4) as usize];
    for (lane, ask) in asked.iter_mut().enumerate() {
        if ask.is_none() && dice.chance(busy) {
            *ask = Some(Ask {
                read: reads >> lane & 1 == 1,
                addr: addr[lane],
                data: dice.bits(32),
                be: dice.bits(4),
                id: dice.bits(options.2.max(1)) & ((1 << options.2) - 1),
            });
        }
    }
}

/// At least `accesses` random requests against a memory: the order of the answers
/// is the order of the accesses.
fn traffic(options: Options, accesses: u64, seed: u64) {
    let mut rtl = Rtl::new("spad_tcdm", &options.machine());
    let mut dice = Dice::new(seed);
    let mut memory = Memory::default();
    let mut waiting = Queues::default();
    let mut asked = [None::<Ask>; LANES];
    let (mut busy, mut granted_in_all, mut refused, mut cycle) = (8, 0, 0, 0);
    // How long each lane has waited for its grant.
    let mut waits = [0; LANES];
    while granted_in_all < accesses || asked.iter().any(Option::is_some) {
        if cycle % 128 == 0 {
            busy = [0, 1, 4, 8, 8][dice.below(5) as usize];
        }
        if granted_in_all < accesses {
            ask(&mut asked, &mut dice, busy, options);
        }
        drive(&mut rtl, &asked, options);
        rtl.clock();
        let empty = waiting.iter().all(VecDeque::is_empty);
        assert_eq!(rtl.get("idle") == 1, empty, "cycle {cycle}");
        collect(&rtl, &mut memory, &mut waiting, cycle, options);
        let granted = rtl.get("tcdm_gnt");
        for lane in 0..LANES {
            let (asks, gets) = (asked[lane].is_some(), granted >> lane & 1 == 1);
            // The register is ready before there is a request.
            assert!(asks || !gets || options.0, "cycle {cycle}");
            waits[lane] = if asks && !gets { waits[lane] + 1 } else { 0 };
            assert!(waits[lane] < LANES, "lane {lane} starves in cycle {cycle}");
            refused += u64::from(waits[lane] > 0);
            if let Some(ask) = asked[lane].take_if(|_| gets) {
                waiting[lane].push_back((ask, cycle));
                granted_in_all += 1;
            }
        }
        cycle += 1;
    }
    drive(&mut rtl, &asked, options);
    for cycle in cycle..cycle + 3 * LANES as u64 {
        rtl.clock();
        collect(&rtl, &mut memory, &mut waiting, cycle, options);
    }
    assert!(waiting.iter().all(VecDeque::is_empty), "not answered");
    assert!(refused > accesses / 100, "{refused} waits");
}

const EVERY: [Options; 4] = [
    PLAIN,
    Options(false, true, 5),
    Options(true, false, 0),
    Options(true, true, 3),
];

#[test]
fn lanes_are_answered_once_in_their_order() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for options in EVERY {
        traffic(options, 10_000, 2);
    }
}

#[test]
#[ignore = "takes minutes; part of make campaign"]
fn a_million_accesses_of_lanes_are_answered_once_in_their_order() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for options in EVERY {
        traffic(options, 250_000, 7);
    }
}

/// Cycles until every lane has had `count` words, of which the k-th is
/// `addr(lane, k)`: each lane requests the next as soon as it may.
fn cycles(options: Options, count: u64, addr: impl Fn(usize, u64) -> u64) -> u64 {
    let mut rtl = Rtl::new("spad_tcdm", &options.machine());
    let (mut next, mut left) = ([0; LANES], LANES as u64 * count);
    for cycle in 0..10_000 {
        let asked: [Option<Ask>; LANES] = std::array::from_fn(|lane| {
            (next[lane] < count).then(|| Ask {
                read: true,
                addr: addr(lane, next[lane]),
                ..Ask::default()
            })
        });
        drive(&mut rtl, &asked, options);
        rtl.clock();
        left -= u64::from(rtl.get("tcdm_r_valid").count_ones());
        if left == 0 {
            return cycle;
        }
        let granted = rtl.get("tcdm_gnt");
        for (lane, next) in next.iter_mut().enumerate() {
            *next += u64::from(*next < count && granted >> lane & 1 == 1);
        }
    }
    panic!("{left} answers are missing");
}

/// microarchitecture/bus.md: each register adds one to the latency, and lanes that
/// begin on one bank spread. Row r of bank 0 is at 8 * r + r for r below 8.
#[test]
fn lanes_are_independent_and_answered_in_time() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let same_bank = |lane: usize, _| 9 * lane as u64;
    // The bank is that of the column where the row is a multiple of 8.
    let rotating = |lane: usize, k: u64| 64 * lane as u64 + k % 8;
    let one_word = |_: usize, k: u64| k % 64;
    for request in [false, true] {
        for response in [false, true] {
            let options = Options(request, response, 0);
            let latency = options.latency();
            assert_eq!(cycles(options, 1, one_word), latency);
            assert_eq!(cycles(options, 32, one_word), 31 + latency);
            assert_eq!(cycles(options, 16, same_bank), 16 * 4 - 1 + latency);
            // Four lanes begin on one bank: three cycles, once.
            assert_eq!(cycles(options, 32, rotating), 31 + 3 + latency);
        }
    }
}
