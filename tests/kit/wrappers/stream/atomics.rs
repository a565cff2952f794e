//! Atomic operations through `spad_stream`, by the words of their definition: each
//! access is done to the memory as a whole when its answer comes. A
//! store-conditional may fail without a reason where warps contend for a lane's
//! reservation; that it never stores without one is checked.

use super::{Access, Answer, Options, traffic};
use crate::common::tools::missing;
use crate::wrappers::amo::{CAS, COUNT, LR, SC, operated};
use crate::wrappers::rtl::{Dice, LANES, Memory, Rtl, inside};

const WARPS: usize = 4;

/// An atomic operation of all lanes.
#[derive(Clone)]
pub struct Operation {
    atomic: bool,
    code: u64,
    expected: [u64; LANES],
    warp: usize,
}

impl Operation {
    /// Whether it is an atomic operation, instead of the plain access.
    pub fn counts(&self) -> bool {
        self.atomic
    }

    pub fn drive(&self, rtl: &mut Rtl) {
        rtl.set("req_amo", self.atomic.into());
        rtl.set("req_aop", self.code);
        rtl.set_lanes("req_cmp", 32, &self.expected);
        rtl.set("req_warp", self.warp as u64);
    }
}

/// What the warps have reserved.
pub struct Reservations {
    /// How many of the warps use the port.
    warps: usize,
    /// Per warp and lane, the word of its last load-reserved, if nothing has ended
    /// the reservation.
    valid: [[Option<u64>; LANES]; WARPS],
    /// Per warp, the words of its last load-reserved.
    loaded: [[u64; LANES]; WARPS],
    /// How often each operation has written, and how often not.
    seen: [[u64; 2]; 13],
    /// Store-conditionals that failed without a reason of their own warp.
    contended: u64,
}

impl Reservations {
    pub fn of(warps: usize) -> Self {
        Reservations {
            warps,
            valid: Default::default(),
            loaded: Default::default(),
            seen: Default::default(),
            contended: 0,
        }
    }

    /// Makes the access an atomic operation, or leaves it.
    pub fn draw(&mut self, access: &mut Access, dice: &mut Dice, memory: &Memory) {
        let code = match dice.below(4) {
            0 => [CAS, LR, SC, COUNT][dice.below(4) as usize],
            1 => SC,
            2 if dice.chance(4) => LR,
            _ => dice.bits(4),
        };
        let warp = dice.below(self.warps as u64) as usize;
        let atomic = dice.below(3) > 0;
        let mut expected = std::array::from_fn(|_| dice.bits(32));
        match code {
            CAS if dice.chance(6) => {
                expected = access.addr.map(|addr| memory.word(addr));
            }
            SC if dice.chance(6) => access.addr = self.loaded[warp],
            LR if atomic => self.loaded[warp] = access.addr,
            // Few words, so that lanes meet.
            _ if dice.chance(4) => {
                access.addr = access
                    .addr
                    .map(|addr| if addr % 2 == 0 { 41 } else { addr });
            }
            _ => {}
        }
        if dice.chance(2) {
            access.data = access.data.map(|word| word & 7);
        }
        access.atomic = Some(Operation {
            atomic,
            code,
            expected,
            warp,
        });
    }

    /// What the access answers, `got` if a store-conditional may do both.
    pub fn answer(&mut self, access: &Access, memory: &mut Memory, got: &Answer) -> Answer {
        let operation = access.atomic.clone().filter(|operation| operation.atomic);
        let Some(operation) = operation else {
            let answer = access.answer(memory, 2);
            if access.op == 2 && !answer.error {
                access.active().for_each(|lane| self.end(access.addr[lane]));
            }
            return answer;
        };
        let beyond = access.active().any(|lane| !inside(access.addr[lane]));
        let error = operation.code > COUNT || beyond;
        let mut data = vec![0; LANES];
        if !error && operation.code == COUNT {
            self.count(access, memory, &mut data);
        } else if !error {
            for lane in access.active() {
                data[lane] = self.perform((access, &operation), lane, memory, got.data[lane]);
            }
        }
        Answer {
            op: access.op,
            mask: access.mask,
            tag: access.tag,
            error,
            degree: 0,
            data,
        }
    }

    /// All lanes on a word at once.
    fn count(&mut self, access: &Access, memory: &mut Memory, data: &mut [u64]) {
        let old = access.addr.map(|addr| memory.word(addr));
        let mut words: Vec<u64> = access.active().map(|lane| access.addr[lane]).collect();
        words.sort_unstable();
        words.dedup();
        for word in words {
            let lanes: Vec<usize> = access
                .active()
                .filter(|l| access.addr[*l] == word)
                .collect();
            lanes.iter().for_each(|lane| data[*lane] = old[*lane]);
            write(
                memory,
                word,
                (old[lanes[0]] as u32).wrapping_add(lanes.len() as u32),
            );
            self.end(word);
            self.seen[COUNT as usize][usize::from(lanes.len() > 1)] += 1;
        }
    }

    /// One lane; what it answers.
    fn perform(
        &mut self,
        (access, operation): (&Access, &Operation),
        lane: usize,
        memory: &mut Memory,
        got: u64,
    ) -> u64 {
        let (addr, code) = (access.addr[lane], operation.code);
        let (old, data) = (memory.word(addr) as u32, access.data[lane] as u32);
        let own = &mut self.valid[operation.warp][lane];
        let mut answer = u64::from(old);
        let new = match code {
            CAS => (u64::from(old) == operation.expected[lane]).then_some(data),
            LR => {
                *own = Some(addr);
                None
            }
            SC => {
                let may = own.take() == Some(addr);
                let contended = may && got == 1 && self.warps > 1;
                self.contended += u64::from(contended);
                let stores = may && !contended;
                answer = u64::from(!stores);
                stores.then_some(data)
            }
            code => Some(operated(code, old, data)),
        };
        self.seen[code as usize][usize::from(new.is_none())] += 1;
        if let Some(new) = new {
            write(memory, addr, new);
            self.end(addr);
        }
        answer
    }

    /// The word is written.
    fn end(&mut self, addr: u64) {
        let ended = self.valid.iter_mut().flatten();
        ended
            .filter(|own| **own == Some(addr))
            .for_each(|own| *own = None);
    }

    /// Every operation was there, and those that may fail did both; lanes counted
    /// alone and together; warps contended if there are several.
    pub fn has_seen_everything(&self, accesses: u64) {
        let enough = accesses / 100;
        for (code, [wrote, did_not]) in self.seen.into_iter().enumerate() {
            let code = code as u64;
            assert!(wrote > enough || code == LR, "{code}: {:?}", self.seen);
            let fails = [CAS, LR, SC, COUNT].contains(&code);
            assert_eq!(did_not > enough, fails, "{code}: {:?}", self.seen);
        }
        assert_eq!(
            self.contended > enough,
            self.warps > 1,
            "{}",
            self.contended
        );
    }
}

fn write(memory: &mut Memory, addr: u64, word: u32) {
    memory.store(1, &[addr], &[word.into()], &[15]);
}

/// One warp never fails without a reason.
#[test]
fn a_window_performs_atomic_operations_one_after_the_other() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    traffic(Options::of(2, 2), Some(Reservations::of(1)), 8_000, 1);
}

#[test]
fn warps_that_contend_for_reservations_store_only_with_one() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    traffic(Options::of(2, 4), Some(Reservations::of(WARPS)), 8_000, 1);
}

#[test]
#[ignore = "takes minutes; part of make campaign"]
fn a_million_accesses_with_atomic_operations_take_effect_in_order() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for (window, warps) in [(2, 1), (4, 1), (2, WARPS), (8, WARPS)] {
        traffic(
            Options::of(2, window),
            Some(Reservations::of(warps)),
            250_000,
            7,
        );
    }
    traffic(Options::posted(2), Some(Reservations::of(1)), 1_000_000, 7);
}

/// One access at the port until it is answered; the words that it gets.
fn one(rtl: &mut Rtl, operation: &Operation, addr: [u64; LANES], data: [u64; LANES]) -> Vec<u64> {
    let access = Access {
        op: 0,
        atomic: Some(operation.clone()),
        mask: 15,
        tag: 0,
        addr,
        data,
        be: [15; LANES],
    };
    access.drive(rtl);
    rtl.set("rsp_ready", 1);
    rtl.set("req_valid", 1);
    for _ in 0..64 {
        rtl.clock();
        if rtl.get("req_ready") == 1 {
            rtl.set("req_valid", 0);
        }
        if rtl.get("rsp_valid") == 1 {
            return rtl.get_lanes("rsp_data", 32);
        }
    }
    panic!("no answer");
}

fn operation(code: u64, warp: usize) -> Operation {
    Operation {
        atomic: true,
        code,
        expected: [0; LANES],
        warp,
    }
}

/// The lanes of four warps count in one word with LR and SC. Each store of a lane
/// ends the other lanes' reservations; the warps leave each other's alone until the
/// owner has stored.
#[test]
fn warps_that_reserve_one_word_all_get_on() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let mut config = crate::wrappers::rtl::machine(2, 0);
    (config.path.stream.window, config.path.stream.atomics) = (2, true);
    let mut rtl = Rtl::new("spad_stream", &config);
    let mut stored = [0; WARPS];
    for _ in 0..40 {
        // All warps load before any of them stores.
        let loaded: Vec<_> = (0..WARPS)
            .map(|warp| one(&mut rtl, &operation(LR, warp), [77; LANES], [0; LANES]))
            .collect();
        for (warp, words) in loaded.into_iter().enumerate() {
            let data = std::array::from_fn(|lane| words[lane] + 1);
            let failed = one(&mut rtl, &operation(SC, warp), [77; LANES], data);
            stored[warp] += failed.iter().filter(|word| **word == 0).count() as u64;
        }
    }
    let word = one(&mut rtl, &operation(LR, 0), [77; LANES], [0; LANES])[0];
    assert_eq!(word, stored.iter().sum::<u64>());
    assert_eq!(
        stored[0], 40,
        "the first to load stores in each round: {stored:?}"
    );

    // A warp that never stores holds the others up for two turns at most.
    one(&mut rtl, &operation(LR, 3), [5; LANES], [0; LANES]);
    let mut cycles = 0;
    let stores = |rtl: &mut Rtl| {
        one(rtl, &operation(LR, 1), [6; LANES], [0; LANES]);
        one(rtl, &operation(SC, 1), [6; LANES], [1; LANES])[0] == 0
    };
    while !stores(&mut rtl) {
        cycles += 1;
        assert!(cycles < 100, "it still waits");
    }
    assert!(cycles > 10, "it did not wait: {cycles}");
}
