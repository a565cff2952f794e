//! Atomic operations through `spad_tcdm`, by the words of their definition.

use super::{ATOMIC, Ask, LANES, Options, cycles_of, drive};
use crate::common::tools::missing;
use crate::wrappers::amo::{CAS, COUNT, LR, SC, operated};
use crate::wrappers::rtl::{Dice, Memory, Rtl};

/// What the lanes have reserved, and what they remember for their next requests.
#[derive(Default)]
pub struct Atomics {
    reserved: [Option<u64>; LANES],
    /// Address of the lane's last load-reserved.
    loaded: [u64; LANES],
    /// The last word that the lane has read and not changed: address, word.
    read: [(u64, u64); LANES],
    /// How often each operation has written, and how often not.
    seen: [[u64; 2]; 13],
}

impl Atomics {
    /// `plain`, or an atomic operation instead.
    pub fn ask(&mut self, lane: usize, mut plain: Ask, dice: &mut Dice) -> Ask {
        if dice.below(3) > 0 {
            let code = match dice.below(4) {
                0 => [CAS, LR, SC, COUNT][dice.below(4) as usize],
                1 if dice.chance(4) => COUNT,
                1 => SC,
                _ => dice.bits(4),
            };
            let mut expected = dice.bits(32);
            match code {
                CAS if dice.chance(6) => (plain.addr, expected) = self.read[lane],
                SC if dice.chance(6) => plain.addr = self.loaded[lane],
                LR => self.loaded[lane] = plain.addr,
                // Few words, so that lanes meet.
                COUNT if dice.chance(6) => plain.addr = 40 + dice.below(2),
                _ => {}
            }
            if dice.chance(2) {
                plain.data &= 7;
            }
            plain.atomic = Some((code, expected));
        }
        plain
    }

    /// An answer to `lane`.
    pub fn got(&mut self, lane: usize, ask: &Ask, word: u64) {
        let reads = match ask.atomic {
            Some((code, _)) => [CAS, LR].contains(&code),
            None => ask.read,
        };
        if reads && ask.is_there() {
            self.read[lane] = (ask.addr, word);
        }
    }

    /// What an operation answers.
    pub fn answer(&self, lane: usize, ask: &Ask, memory: &Memory) -> u64 {
        match ask.atomic {
            Some((SC, _)) => u64::from(self.reserved[lane] != Some(ask.addr)),
            _ => memory.word(ask.addr),
        }
    }

    /// What an operation writes, as a write of the whole word.
    pub fn written(&mut self, lane: usize, ask: &Ask, memory: &Memory) -> Option<Ask> {
        let (code, expected) = ask.atomic.unwrap();
        let (old, data) = (memory.word(ask.addr) as u32, ask.data as u32);
        let new = match code {
            CAS => (u64::from(old) == expected).then_some(data),
            LR => None,
            SC => (self.reserved[lane] == Some(ask.addr)).then_some(data),
            code => Some(operated(code, old, data)),
        };
        self.seen[code as usize][usize::from(new.is_none())] += 1;
        new.map(|word| Ask {
            data: word.into(),
            be: 15,
            ..*ask
        })
    }

    /// What a count of `lanes` writes: the lowest of them for all.
    pub fn counted(
        &mut self,
        lane: usize,
        ask: &Ask,
        lanes: &[usize],
        memory: &Memory,
    ) -> Option<Ask> {
        if lanes.iter().min() != Some(&lane) {
            return None;
        }
        self.seen[COUNT as usize][usize::from(lanes.len() > 1)] += 1;
        let sum = (memory.word(ask.addr) as u32).wrapping_add(lanes.len() as u32);
        Some(Ask {
            data: sum.into(),
            be: 15,
            ..*ask
        })
    }

    /// The reservations after a cycle in which the lanes of `wrote` have written.
    pub fn follow(&mut self, served: &[(usize, Ask)], wrote: u64) {
        for (lane, ask) in served.iter().filter(|(_, ask)| ask.is_there()) {
            if wrote >> lane & 1 == 1 {
                let ends = |own: &mut Option<u64>| *own = own.filter(|addr| *addr != ask.addr);
                self.reserved.iter_mut().for_each(ends);
            }
            match ask.atomic {
                Some((LR, _)) => self.reserved[*lane] = Some(ask.addr),
                Some((SC, _)) => self.reserved[*lane] = None,
                _ => {}
            }
        }
    }

    /// Every operation was there, and those that may fail did both; lanes counted
    /// alone and together.
    pub fn has_seen_everything(&self, accesses: u64) {
        for (code, [wrote, did_not]) in self.seen.into_iter().enumerate() {
            let code = code as u64;
            let enough = accesses / 200;
            assert!(wrote > enough || code == LR, "{code}: {:?}", self.seen);
            let fails = [CAS, LR, SC, COUNT].contains(&code);
            assert_eq!(did_not > enough, fails, "{code}: {:?}", self.seen);
        }
    }
}

fn atomic(code: u64, addr: u64, data: u64) -> Ask {
    Ask {
        atomic: Some((code, 0)),
        addr,
        data,
        ..Ask::default()
    }
}

/// microarchitecture/atomic-bank.md: a bank operates once a cycle, on one word or on
/// different ones, and banks do so in parallel.
#[test]
fn a_bank_operates_once_a_cycle() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for options in [ATOMIC, Options(true, true, 0, true, false)] {
        let latency = options.latency();
        let one_word = |_: usize, _: u64| atomic(0, 5, 1);
        assert_eq!(cycles_of(options, 1, one_word), 3 + latency);
        assert_eq!(cycles_of(options, 32, one_word), 4 * 32 - 1 + latency);
        // Row r of bank 0 is at 8 * r + r for r below 8.
        let one_bank = |lane: usize, _: u64| atomic(0, 9 * lane as u64, 1);
        assert_eq!(cycles_of(options, 32, one_bank), 4 * 32 - 1 + latency);
        // Lanes that count in one word do so together.
        let counts = |_: usize, _: u64| atomic(COUNT, 5, 0);
        assert_eq!(cycles_of(options, 32, counts), 31 + latency);
        let own_bank = |lane: usize, k: u64| atomic(0, 8 * (k % 8) + ((k % 8) ^ lane as u64), 1);
        assert_eq!(cycles_of(options, 32, own_bank), 31 + latency);
    }
}

/// Runs lanes until each is done: `next` makes the next request of a lane from the
/// answer to its last one, `None` ends it. Returns the cycles.
fn run(rtl: &mut Rtl, mut next: impl FnMut(usize, Option<u64>) -> Option<Ask>) -> u64 {
    let mut asked: [Option<Ask>; LANES] = std::array::from_fn(|lane| next(lane, None));
    let mut waits = [false; LANES];
    for cycle in 0..100_000 {
        drive(rtl, &asked, ATOMIC);
        rtl.clock();
        let (granted, valid) = (rtl.get("tcdm_gnt"), rtl.get("tcdm_r_valid"));
        let words = rtl.get_lanes("tcdm_r_rdata", 32);
        for lane in 0..LANES {
            if valid >> lane & 1 == 1 {
                assert!(waits[lane]);
                waits[lane] = false;
                asked[lane] = next(lane, Some(words[lane]));
            } else if asked[lane].is_some() && granted >> lane & 1 == 1 {
                (asked[lane], waits[lane]) = (None, true);
            }
        }
        if asked.iter().all(Option::is_none) && !waits.contains(&true) {
            return cycle;
        }
    }
    panic!("lanes do not end");
}

/// All lanes count in one word: each old value is answered once.
#[test]
fn sums_are_seen_one_by_one() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let mut rtl = Rtl::new("spad_tcdm", &ATOMIC.machine());
    let mut seen = Vec::new();
    let mut left = [50; LANES];
    run(&mut rtl, |lane, answer| {
        seen.extend(answer);
        left[lane] -= i32::from(answer.is_some());
        (left[lane] > 0).then(|| atomic(0, 77, 1))
    });
    seen.sort_unstable();
    assert_eq!(seen, (0..200).collect::<Vec<u64>>());
}

/// Lanes that count and add in one word lose nothing.
#[test]
fn counts_and_sums_add_up() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let mut rtl = Rtl::new("spad_tcdm", &ATOMIC.machine());
    let mut left = [50; LANES];
    run(&mut rtl, |lane, answer| {
        left[lane] -= i32::from(answer.is_some());
        let code = if left[lane] % 3 == 0 { 0 } else { COUNT };
        (left[lane] > 0).then(|| atomic(code, 77, 1))
    });
    let mut word = 0;
    run(&mut rtl, |lane, answer| {
        word = answer.unwrap_or(word);
        (lane == 0 && answer.is_none()).then(|| atomic(LR, 77, 0))
    });
    assert_eq!(word, 50 * LANES as u64);
}

/// All lanes count in one word with LR and SC. A store fails only if another one has
/// stored between: no more than LANES - 1 fail in a row.
#[test]
fn lanes_that_reserve_one_word_all_get_on() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    let mut rtl = Rtl::new("spad_tcdm", &ATOMIC.machine());
    let mut left = [40; LANES];
    let mut stores = [false; LANES];
    let (mut failed_in_a_row, mut sum) = (0, 0);
    run(&mut rtl, |lane, answer| {
        let Some(answer) = answer else {
            return Some(atomic(LR, 77, 0));
        };
        if !stores[lane] {
            stores[lane] = true;
            return Some(atomic(SC, 77, answer + 1));
        }
        stores[lane] = false;
        assert!(answer <= 1);
        failed_in_a_row = if answer == 1 { failed_in_a_row + 1 } else { 0 };
        assert!(failed_in_a_row < LANES, "no lane gets on");
        sum += u64::from(answer == 0);
        left[lane] -= i32::from(answer == 0);
        (left[lane] > 0).then(|| atomic(LR, 77, 0))
    });
    assert_eq!(sum, 40 * LANES as u64);
    let mut word = 0;
    run(&mut rtl, |lane, answer| {
        word = answer.unwrap_or(word);
        (lane == 0 && answer.is_none()).then(|| atomic(0, 77, 0))
    });
    assert_eq!(word, sum);
}
