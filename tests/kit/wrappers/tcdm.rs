//! `spad_tcdm` against a memory: every lane's requests are answered once, in
//! their order, with the words that were there.

use super::amo::COUNT;
use super::missing;
use super::rtl::{Dice, LANES, Memory, Rtl, inside, machine, mapped_by_registers};
use spadkit::config::Config;
use std::collections::VecDeque;

mod atomics;

use atomics::Atomics;

/// A request of one lane.
#[derive(Clone, Copy, Default)]
struct Ask {
    /// The code of an atomic operation, and what it expects.
    atomic: Option<(u64, u64)>,
    read: bool,
    addr: u64,
    data: u64,
    be: u64,
    id: u64,
}

/// Per lane, the granted requests without an answer, the oldest first, with the
/// cycles of their grants.
type Queues = [VecDeque<(Ask, u64)>; LANES];

/// Options of the machine: registers at requests and at answers, bits of an
/// identifier, atomic operations, writes that are not answered.
#[derive(Clone, Copy)]
struct Options(bool, bool, u32, bool, bool);

const PLAIN: Options = Options(false, false, 0, false, false);

impl Options {
    fn machine(self) -> Config {
        let mut config = machine(2, 0);
        let tcdm = &mut config.path.tcdm;
        (tcdm.request_register, tcdm.response_register) = (self.0, self.1);
        tcdm.id_bits = self.2;
        tcdm.atomics = self.3;
        tcdm.posted = self.4;
        config
    }

    /// Where a write is not answered, and waits in a register, nothing tells when
    /// another lane may read it: each lane then has words of its own.
    fn apart(self) -> bool {
        self.0 && self.4
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
    if options.3 {
        let atomic = all.map(|a| a.atomic.unwrap_or_default());
        rtl.set("tcdm_amo", bits(&|a| a.atomic.is_some()));
        rtl.set_lanes("tcdm_aop", 4, &atomic.map(|(code, _)| code));
        rtl.set_lanes("tcdm_cmp", 32, &atomic.map(|(_, expected)| expected));
    }
}

/// Words, and what the lanes have reserved.
#[derive(Default)]
struct Board {
    memory: Memory,
    atomics: Atomics,
}

/// The answers of this cycle: to the requests that were served together, 1 +
/// TRSP cycles before, so in the order of the answers. Reads see the words from
/// before.
fn collect(rtl: &Rtl, board: &mut Board, waiting: &mut Queues, cycle: u64, options: Options) {
    let (valid, failed) = (rtl.get("tcdm_r_valid"), rtl.get("tcdm_r_opc"));
    let words = rtl.get_lanes("tcdm_r_rdata", 32);
    let ids = match options.2 {
        0 => vec![0; LANES],
        bits => rtl.get_lanes("tcdm_r_id", bits as usize),
    };
    assert_eq!(failed & !valid, 0, "cycle {cycle}");
    let mut served: Vec<(usize, Ask)> = Vec::new();
    for lane in 0..LANES {
        if let Some(landed) = posted_first(&mut waiting[lane], cycle, options) {
            served.push((lane, landed));
            assert_eq!(valid >> lane & 1, 0, "cycle {cycle}");
        }
        if valid >> lane & 1 == 0 {
            assert_eq!((words[lane], ids[lane]), (0, 0), "cycle {cycle}");
            continue;
        }
        while options.apart() && waiting[lane].front().is_some_and(|(ask, _)| ask.posts()) {
            let (landed, _) = waiting[lane].pop_front().unwrap();
            store(&[(lane, landed)], board);
        }
        let (ask, granted) = waiting[lane].pop_front().expect("an answer to nobody");
        let fails = failed >> lane & 1 == 1;
        let word = match ask.atomic {
            _ if !ask.is_there() => 0,
            Some(_) => board.atomics.answer(lane, &ask, &board.memory),
            None if ask.read => board.memory.word(ask.addr),
            None => 0,
        };
        let (got, expected) = ((words[lane], fails), (word, !ask.is_there()));
        assert_eq!(got, expected, "lane {lane} in cycle {cycle}");
        board.atomics.got(lane, &ask, word);
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
    store(&served, board);
}

/// A write that is not answered, and was served with the requests whose answers come in
/// this cycle: where no register is before the banks, that of the cycle of its grant.
fn posted_first(waiting: &mut VecDeque<(Ask, u64)>, cycle: u64, options: Options) -> Option<Ask> {
    let (ask, granted) = waiting.front()?;
    let served = ask.posts() && *granted + options.latency() == cycle;
    let posted = options.4 && !options.0;
    (served && posted)
        .then(|| waiting.pop_front())?
        .map(|(ask, _)| ask)
}

/// The words after a cycle: no bank both reads and writes one, and none operates
/// on one at the same time.
fn store(served: &[(usize, Ask)], board: &mut Board) {
    let mut all = [Ask::default(); LANES];
    let mut mask = 0;
    for (lane, ask) in served.iter().filter(|(_, a)| a.is_there()) {
        let beside = |o: &&(usize, Ask)| o.1.is_there() && o.1.addr == ask.addr;
        let together = served.iter().filter(beside);
        let other = |o: &(usize, Ask)| {
            let apart = match (o.1.atomic, ask.atomic) {
                (None, None) => o.1.read != ask.read,
                (Some((one, _)), Some((other, _))) => (one, other) != (COUNT, COUNT),
                _ => true,
            };
            o.0 != *lane && apart
        };
        assert!(!together.clone().any(other), "reads and writes of one word");
        let written = match ask.atomic {
            Some((COUNT, _)) => {
                let lanes = together.map(|o| o.0).collect::<Vec<_>>();
                board.atomics.counted(*lane, ask, &lanes, &board.memory)
            }
            Some(_) => board.atomics.written(*lane, ask, &board.memory),
            None => (!ask.read).then_some(*ask),
        };
        if let Some(written) = written {
            (all[*lane], mask) = (written, mask | 1 << lane);
        }
    }
    board.atomics.follow(served, mask);
    board.memory.store(
        mask,
        &all.map(|a| a.addr),
        &all.map(|a| a.data),
        &all.map(|a| a.be),
    );
}

impl Ask {
    /// It is a plain write.
    fn posts(&self) -> bool {
        !self.read && self.atomic.is_none()
    }

    /// There is such a word, and such an operation.
    fn is_there(&self) -> bool {
        inside(self.addr) && self.atomic.is_none_or(|(code, _)| code <= COUNT)
    }
}

/// New requests of lanes that have none.
fn ask(
    asked: &mut [Option<Ask>; LANES],
    (dice, atomics): (&mut Dice, &mut Atomics),
    busy: u64,
    options: Options,
) {
    let addr = dice.addresses();
    let reads = [0, 15, 15, dice.bits(4)][dice.below(4) as usize];
    for (lane, ask) in asked.iter_mut().enumerate() {
        if ask.is_none() && dice.chance(busy) {
            let plain = Ask {
                atomic: None,
                read: reads >> lane & 1 == 1,
                addr: if options.apart() {
                    addr[lane] / LANES as u64 * LANES as u64 + lane as u64
                } else {
                    addr[lane]
                },
                data: dice.bits(32),
                be: dice.bits(4),
                id: dice.bits(options.2.max(1)) & ((1 << options.2) - 1),
            };
            *ask = Some(if options.3 {
                atomics.ask(lane, plain, dice)
            } else {
                plain
            });
        }
    }
}

/// Checks `idle` in this cycle.
fn assert_idle(rtl: &Rtl, board: &mut Board, waiting: &mut Queues, cycle: u64, options: Options) {
    let idle = rtl.get("idle") == 1;
    let inside = |(ask, granted): &(Ask, u64)| {
        let posted = options.4 && ask.posts();
        // A bank with operations writes in the cycle after the grant.
        let lands = options.3 && ask.is_there() && granted + 1 == cycle;
        !posted || (lands && !options.0)
    };
    let some = waiting.iter().flatten().any(inside);
    if !options.apart() {
        assert_eq!(idle, !some, "cycle {cycle}");
    } else if idle {
        assert!(!some, "cycle {cycle}");
        for (lane, waiting) in waiting.iter_mut().enumerate() {
            let landed = waiting.drain(..).map(|(ask, _)| [(lane, ask)]);
            landed.for_each(|landed| store(&landed, board));
        }
    } else {
        assert!(waiting.iter().any(|lane| !lane.is_empty()), "cycle {cycle}");
    }
}

/// At least `accesses` random requests against a memory: the order of the answers
/// is the order of the accesses.
fn traffic(options: Options, accesses: u64, seed: u64) {
    traffic_on(&options.machine(), options, accesses, seed);
}

/// The same on a machine with these options.
fn traffic_on(machine: &Config, options: Options, accesses: u64, seed: u64) {
    let mut rtl = Rtl::new("spad_tcdm", machine);
    let mut dice = Dice::new(seed);
    let mut board = Board::default();
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
            let sources = (&mut dice, &mut board.atomics);
            ask(&mut asked, sources, busy, options);
        }
        drive(&mut rtl, &asked, options);
        rtl.clock();
        assert_idle(&rtl, &mut board, &mut waiting, cycle, options);
        collect(&rtl, &mut board, &mut waiting, cycle, options);
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
        collect(&rtl, &mut board, &mut waiting, cycle, options);
    }
    assert_idle(
        &rtl,
        &mut board,
        &mut waiting,
        cycle + 3 * LANES as u64,
        options,
    );
    if options.3 {
        board.atomics.has_seen_everything(accesses);
    }
    assert!(waiting.iter().all(VecDeque::is_empty), "not answered");
    assert!(refused > accesses / 100, "{refused} waits");
}

/// The same of banks whose mapping comes from registers, after their reset.
fn traffic_mapped_by_registers(accesses: u64, seed: u64) {
    for options in [PLAIN, ATOMIC] {
        let machine = mapped_by_registers(options.machine());
        traffic_on(&machine, options, accesses, seed);
    }
}

const EVERY: [Options; 10] = [
    PLAIN,
    Options(false, true, 5, false, false),
    Options(true, false, 0, false, false),
    Options(true, true, 3, false, false),
    ATOMIC,
    Options(true, true, 2, true, false),
    Options(false, false, 0, false, true),
    Options(false, true, 4, true, true),
    Options(true, false, 3, false, true),
    Options(false, false, 0, true, true),
];

const ATOMIC: Options = Options(false, false, 0, true, false);

#[test]
fn lanes_are_answered_once_in_their_order() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for options in EVERY {
        traffic(options, 10_000, 2);
    }
    traffic_mapped_by_registers(10_000, 2);
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
    traffic_mapped_by_registers(250_000, 7);
}

/// Cycles until every lane has had `count` words, of which the k-th is
/// `addr(lane, k)`: each lane requests the next as soon as it may.
fn cycles(options: Options, count: u64, addr: impl Fn(usize, u64) -> u64) -> u64 {
    cycles_of(options, count, |lane, k| Ask {
        read: true,
        addr: addr(lane, k),
        ..Ask::default()
    })
}

/// The same of any requests.
fn cycles_of(options: Options, count: u64, ask: impl Fn(usize, u64) -> Ask) -> u64 {
    let mut rtl = Rtl::new("spad_tcdm", &options.machine());
    let (mut next, mut left) = ([0; LANES], LANES as u64 * count);
    for cycle in 0..10_000 {
        let next_of = |lane| (next[lane] < count).then(|| ask(lane, next[lane]));
        let asked: [Option<Ask>; LANES] = std::array::from_fn(next_of);
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
            let options = Options(request, response, 0, false, false);
            let latency = options.latency();
            assert_eq!(cycles(options, 1, one_word), latency);
            assert_eq!(cycles(options, 32, one_word), 31 + latency);
            assert_eq!(cycles(options, 16, same_bank), 16 * 4 - 1 + latency);
            // Four lanes begin on one bank: three cycles, once.
            assert_eq!(cycles(options, 32, rotating), 31 + 3 + latency);
        }
    }
}
