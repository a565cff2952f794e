//! Atomic operations through `spad_tcdm` (microarchitecture/atomic-bank.md).

use crate::config::Config;
use crate::model::spad_atomic_bank::amo;
use crate::model::{LaneMask, MAX_LANES, Tcdm, TcdmInputs, TcdmRequests};
use std::path::Path;

/// Eight lanes and banks, plain interleaving.
fn unit() -> Tcdm {
    let text = "base = 'small'\n[hash]\npath = 'mod'\n[tcdm]\natomics = true\n";
    Tcdm::new(&Config::from_toml(text, Path::new("t.toml")).unwrap())
}

/// Lanes that read, or write a number of theirs, in the word `addr(lane)`.
fn requests(req: LaneMask, reads: bool, addr: impl Fn(u16) -> u16) -> TcdmRequests {
    TcdmRequests {
        req,
        wen: if reads { u64::MAX } else { 0 },
        addr: std::array::from_fn(|lane| addr(lane as u16)),
        data: std::array::from_fn(|lane| lane as u64 + 1),
        be: [0b1111; MAX_LANES],
        ..TcdmRequests::NONE
    }
}

/// One cycle; the lanes that are granted.
fn cycle(unit: &mut Tcdm, requests: TcdmRequests) -> LaneMask {
    let (hash_wr, row_wr) = (None, None);
    let (granted, _) = unit.step(&TcdmInputs {
        rst: false,
        hash_wr,
        row_wr,
        requests,
    });
    granted
}

/// One request of one lane, granted at once; its answer.
fn atomic(unit: &mut Tcdm, lane: usize, aop: u8, addr: u16, data: u64) -> u64 {
    let mut asked = requests(1 << lane, false, |_| addr);
    (asked.amo, asked.aop[lane], asked.data[lane]) = (1 << lane, aop, data);
    assert_eq!(cycle(unit, asked), 1 << lane);
    unit.answers().data[lane]
}

#[test]
fn lanes_on_one_word_operate_one_after_the_other() {
    let mut unit = unit();
    let mut asked = requests(0xff, true, |_| 3);
    asked.amo = 0xff;
    asked.aop = [amo::ADD; MAX_LANES];
    asked.data = [1; MAX_LANES];
    for lane in 0..8 {
        assert_eq!(cycle(&mut unit, asked.clone()), 1 << lane);
        asked.req &= !(1 << lane);
        assert_eq!(unit.answers().data[lane], lane as u64, "the word before it");
    }
    // On words of their own they operate together.
    let mut asked = requests(0xff, true, |lane| 16 + lane);
    asked.amo = 0xff;
    assert_eq!(cycle(&mut unit, asked), 0xff);
}

#[test]
fn a_reservation_lasts_until_its_word_is_written() {
    let mut unit = unit();
    let pair = |unit: &mut Tcdm, between: &dyn Fn(&mut Tcdm)| {
        atomic(unit, 2, amo::LR, 9, 0);
        between(unit);
        atomic(unit, 2, amo::SC, 9, 7)
    };
    assert_eq!(pair(&mut unit, &|_| ()), 0);
    assert_eq!(atomic(&mut unit, 1, amo::LR, 9, 0), 7, "it was stored");
    assert_eq!(atomic(&mut unit, 2, amo::SC, 9, 8), 1, "spent");
    // A store-conditional that fails ends no other reservation.
    assert_eq!(atomic(&mut unit, 1, amo::SC, 9, 8), 0);
    let write = |unit: &mut Tcdm| {
        cycle(unit, requests(1, false, |_| 9));
    };
    assert_eq!(pair(&mut unit, &write), 1);
    let read = |unit: &mut Tcdm| {
        cycle(unit, requests(1, true, |_| 9));
    };
    assert_eq!(pair(&mut unit, &read), 0);
    let elsewhere = |unit: &mut Tcdm| {
        atomic(unit, 0, amo::SWAP, 1, 5);
    };
    assert_eq!(pair(&mut unit, &elsewhere), 0, "another word of the bank");
    let moved = |unit: &mut Tcdm| {
        atomic(unit, 2, amo::LR, 1, 0);
    };
    assert_eq!(pair(&mut unit, &moved), 1, "one reservation of a lane");
}

/// An addition and a write behind it, one cycle and two before a reset; the words after
/// it.
fn words_after_a_reset(asynchronous: bool, cycles: u32) -> [u64; 2] {
    let mut unit = unit().reset_at_any_time(asynchronous);
    cycle(&mut unit, requests(1 << 3, false, |_| 5));
    atomic(&mut unit, 0, amo::ADD, 5, 10);
    cycle(&mut unit, requests(1 << 6, false, |_| 6));
    for _ in 0..cycles {
        cycle(&mut unit, TcdmRequests::NONE);
    }
    unit.commit(&TcdmInputs {
        rst: true,
        hash_wr: None,
        row_wr: None,
        requests: TcdmRequests::NONE,
    });
    [5, 6].map(|word| atomic(&mut unit, 0, amo::ADD, word, 0))
}

/// What is in its second cycle is lost, what is in its third only by an asynchronous
/// reset.
#[test]
fn a_reset_keeps_what_is_in_flight_from_being_written() {
    assert_eq!(words_after_a_reset(false, 0), [14, 0]);
    assert_eq!(words_after_a_reset(true, 0), [4, 0]);
    assert_eq!(words_after_a_reset(false, 1), [14, 7]);
    assert_eq!(words_after_a_reset(true, 1), [14, 0]);
    assert_eq!(words_after_a_reset(true, 2), [14, 7]);
}

#[test]
fn an_unknown_operation_is_refused() {
    let mut unit = unit();
    assert_eq!(atomic(&mut unit, 1, amo::COUNT + 1, 4, 5), 0);
    assert_eq!((unit.answers().valid, unit.answers().failed), (2, 2));
    assert_eq!(
        atomic(&mut unit, 0, amo::ADD, 4, 0),
        0,
        "nothing was written"
    );
}
