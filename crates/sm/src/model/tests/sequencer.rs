//! The retry loop against the atomics paper's four-state model: the sequencer
//! with a scratchpad of its own.

use crate::config::Config;
use crate::model::spad_retry_sequencer::{State, aop};
use crate::model::spad_scratchpad::op;
use crate::model::{
    AtomicPass, RetrySequencer, Scratchpad, ScratchpadInputs, SequencerInputs, SequencerResponse,
};

/// Hashes of banks and locks for these tests, by formula.
#[derive(Clone, Copy, PartialEq)]
enum Hash {
    None,
    Xor,
    Add,
}

impl Hash {
    fn five_bits(self, low: u16, high: u16) -> u16 {
        match self {
            Hash::None => low % 32,
            Hash::Xor => (low ^ high) % 32,
            Hash::Add => (low + high) % 32,
        }
    }

    fn bank(self, addr: u16) -> u8 {
        self.five_bits(addr, addr >> 5) as u8
    }

    fn lock(self, addr: u16) -> u16 {
        (addr & 0x3e0) | self.five_bits(addr, addr >> 10)
    }
}

struct Loop {
    sequencer: RetrySequencer<u32>,
    spad: Scratchpad<bool>,
}

/// What one pass came to.
struct Outcome {
    /// Cycles in READ, UPDATE, WRITE and BRANCH.
    cycles: u32,
    rounds: u32,
    old: Vec<u64>,
    error: bool,
    degree: u32,
}

impl Loop {
    fn new(text: &str) -> Self {
        Self::of(Config::of_figures(text))
    }

    fn of(config: Config) -> Self {
        Loop {
            sequencer: RetrySequencer::new(&config),
            spad: Scratchpad::new(&config),
        }
    }

    /// Runs one pass of `aop` on `addrs`; lane i has the operand i + 1.
    fn pass(&mut self, aop: u8, mask: u64, hash: Hash, addr: impl Fn(u16) -> u16) -> Outcome {
        let addrs: Vec<u16> = (0..32).map(addr).collect();
        let bank: Vec<u8> = addrs.iter().map(|&a| hash.bank(a)).collect();
        let row: Vec<u16> = addrs.iter().map(|&a| a / 32).collect();
        let lock: Vec<u16> = addrs.iter().map(|&a| hash.lock(a)).collect();
        let data: Vec<u64> = (1..=32).collect();
        let pass = AtomicPass {
            aop,
            mask,
            bank: &bank,
            row: &row,
            lock: &lock,
            data: &data,
            tag: 5,
        };
        let (mut cycles, mut rounds) = (0, 0);
        for cycle in 0..100_000 {
            let state = self.sequencer.state();
            cycles += u32::from(!matches!(state, State::Idle | State::Done));
            rounds = rounds.max(self.sequencer.rounds());
            let request = self.sequencer.request();
            if let Some(done) = request.as_ref().filter(|_| state == State::Done) {
                let (old, error, degree) = (done.data[..32].to_vec(), done.error, done.degree);
                assert_eq!((done.op, done.mask, done.tag), (op::PASS, mask, 5));
                self.sequencer.step(&self::inputs(None, true, None));
                return Outcome {
                    cycles,
                    rounds,
                    old,
                    error,
                    degree,
                };
            }
            let at = (cycle == 0).then_some(pass);
            self.cycle(at, request);
        }
        panic!("the loop hangs");
    }

    fn cycle(
        &mut self,
        at: Option<AtomicPass<u32>>,
        request: Option<crate::model::SequencerRequest<u32>>,
    ) {
        let (resp, mut data) = (self.spad.response(), [0; 64]);
        self.spad.response_data(&mut data);
        let sr = resp.valid.then_some(SequencerResponse {
            mask: resp.mask,
            data: &data,
            success: resp.success,
            error: resp.error,
            degree: resp.degree,
        });
        let ready = self.spad.req_ready(true);
        self.sequencer.commit(&self::inputs(at, ready, sr));
        let none = [0u8; 64];
        let full = [0xfu8; 64];
        let words = [0u16; 64];
        let zeros = [0u64; 64];
        self.spad.commit(&ScratchpadInputs {
            rst: false,
            req_valid: request.is_some(),
            req_op: request.as_ref().map_or(0, |r| r.op),
            req_mask: request.as_ref().map_or(0, |r| r.mask),
            req_bank: request.as_ref().map_or(&none, |r| &r.bank),
            req_row: request.as_ref().map_or(&words, |r| &r.row),
            req_lock: request.as_ref().map_or(&words, |r| &r.lock),
            req_data: request.as_ref().map_or(&zeros, |r| &r.data),
            req_be: &full,
            req_tag: true,
            resp_ready: true,
        });
    }
}

fn inputs<'a>(
    at: Option<AtomicPass<'a, u32>>,
    sp_ready: bool,
    sr: Option<SequencerResponse<'a>>,
) -> SequencerInputs<'a, u32> {
    SequencerInputs {
        rst: false,
        at,
        sp_ready,
        sr,
    }
}

const ALL: u64 = u32::MAX as u64;

/// c lanes at `stride`, the others on a word of their own each.
fn strided(c: u16, stride: u16) -> impl Fn(u16) -> u16 {
    move |i| if i < c { i * stride } else { i }
}

#[test]
fn a_pass_without_conflicts_takes_118_cycles() {
    let outcome = Loop::new("").pass(aop::ADD, ALL, Hash::None, |i| i);
    assert_eq!((outcome.cycles, outcome.rounds), (118, 1));
    assert_eq!(outcome.degree, 1);
}

/// Atomics paper, Fig. 5a: position conflicts serialise whole rounds.
#[test]
fn stride_0_costs_118_cycles_per_conflicting_lane() {
    for c in 1..=32 {
        for hash in [Hash::None, Hash::Xor, Hash::Add] {
            let mut bench = Loop::new("");
            let outcome = bench.pass(aop::ADD, (1 << c) - 1, hash, |_| 7);
            assert_eq!((outcome.cycles, outcome.rounds), (118 * c, c));
            // The lanes add one after the other, the lowest first.
            let before = |i: u64| i * (i + 1) / 2;
            for (i, &old) in outcome.old.iter().take(c as usize).enumerate() {
                assert_eq!(old, before(i as u64));
            }
        }
    }
}

/// Fig. 5b: bank conflicts lengthen READ and WRITE; a hash removes them.
#[test]
fn stride_32_costs_32c_18_36c_32_and_is_flat_with_a_hash() {
    for c in 1..=32u16 {
        let mask = (1 << c) - 1;
        let addr = move |i: u16| 32 * i;
        let plain = Loop::new("").pass(aop::ADD, mask, Hash::None, addr);
        let c = u32::from(c);
        assert_eq!((plain.cycles, plain.rounds), (32 * c + 18 + 36 * c + 32, 1));
        for hash in [Hash::Xor, Hash::Add] {
            let hashed = Loop::new("").pass(aop::ADD, mask, hash, addr);
            assert_eq!(hashed.cycles, 118);
        }
    }
}

/// Fig. 5c: lock conflicts on top, four winners a round; hashed locks have none.
#[test]
fn stride_256_goes_in_rounds_of_at_most_four_winners() {
    for c in 1..=32u16 {
        let mask = (1 << c) - 1;
        let plain = Loop::new("").pass(aop::ADD, mask, Hash::None, strided(c, 256));
        assert_eq!(plain.rounds, u32::from(c).div_ceil(4));
        let mut expected = 0;
        let mut wait = u32::from(c);
        while wait > 0 {
            let winners = wait.min(4);
            expected += 32 * wait + 18 + 36 * winners + 32;
            wait -= winners;
        }
        assert_eq!(plain.cycles, expected, "c = {c}");
        for hash in [Hash::Xor, Hash::Add] {
            let hashed = Loop::new("").pass(aop::ADD, mask, hash, strided(c, 256));
            assert_eq!(hashed.rounds, 1, "no lock conflict, c = {c}");
        }
    }
}

#[test]
fn every_operation_updates_and_returns_the_old_word() {
    let top = 0x8000_0000u64;
    for (op, start, operand, expected) in [
        (aop::ADD, 0xffff_ffff, 1, 0),
        (aop::AND, 0b1100, 0b1010, 0b1000),
        (aop::OR, 0b1100, 0b1010, 0b1110),
        (aop::XOR, 0b1100, 0b1010, 0b0110),
        (aop::SWAP, 1, top, top),
        (aop::UMIN, top, 3, 3),
        (aop::UMAX, top, 3, top),
        (aop::SMIN, top, 3, top),
        (aop::SMAX, top, 3, 3),
    ] {
        let mut bench = Loop::new("");
        bench.spad.preload(9, 0, start);
        // Lane operand - 1 holds `operand` where the test's operands allow it.
        let lane = (operand as usize - 1) % 32;
        let outcome = bench.pass_with(op, lane, operand, 9);
        assert_eq!(outcome, (start, expected), "operation {op}");
    }
    let refused = Loop::new("").pass(9, ALL, Hash::None, |i| i);
    assert!(refused.error && refused.old.iter().all(|&w| w == 0));
    assert_eq!((refused.cycles, refused.rounds), (0, 0));
    assert_eq!(Loop::new("").pass(aop::ADD, 0, Hash::None, |i| i).cycles, 0);
}

impl Loop {
    /// One lane with one operand on `addr`; the old word and the new one.
    fn pass_with(&mut self, aop: u8, lane: usize, operand: u64, addr: u16) -> (u64, u64) {
        let (bank, row, lock) = ([addr as u8; 32], [0; 32], [addr; 32]);
        let mut data = [0; 32];
        data[lane] = operand;
        let mut at = Some(AtomicPass {
            aop,
            mask: 1 << lane,
            bank: &bank,
            row: &row,
            lock: &lock,
            data: &data,
            tag: 0,
        });
        loop {
            let request = self.sequencer.request();
            if self.sequencer.state() == State::Done {
                let old = request.map_or(0, |r| r.data[lane]);
                return (old, self.spad.word_at(addr.into(), 0));
            }
            self.cycle(at.take(), request);
        }
    }
}

#[test]
fn with_latencies_of_1_the_scratchpad_sets_the_pace() {
    let text = "[retry]\nread = 1\nupdate = 1\nwrite = 1\nbranch = 1\n";
    // READ and WRITE: request, a group in two windows, response.
    let outcome = Loop::new(text).pass(aop::ADD, ALL, Hash::None, |i| i);
    assert_eq!(outcome.cycles, 4 + 1 + 4 + 1);
}

/// What is emitted does not wait for the answer to STUL, and so not for the
/// locks of the round before.
#[test]
fn hardware_waits_for_the_words_that_it_reads_alone() {
    let hardware = || Loop::of(Config::of_figures("").for_hardware());
    let outcome = hardware().pass(aop::ADD, ALL, Hash::None, |i| i);
    // READ as above; UPDATE, WRITE and BRANCH a cycle each.
    assert_eq!((outcome.cycles, outcome.rounds), (4 + 3, 1));
    // A lock conflict: each round reads what the one before has stored.
    for c in 1..=32 {
        let mut bench = hardware();
        let outcome = bench.pass(aop::ADD, (1 << c) - 1, Hash::None, |_| 7);
        assert_eq!(outcome.rounds, c);
        assert!(outcome.cycles <= 9 * c, "{c}: {}", outcome.cycles);
        let before = |i: u64| i * (i + 1) / 2;
        for (i, &old) in outcome.old.iter().take(c as usize).enumerate() {
            assert_eq!(old, before(i as u64));
        }
    }
    // One pass after the other: an answer that is owed is not the next pass's.
    let mut bench = hardware();
    bench.spad.preload(9, 0, 40);
    for old in 40..43 {
        assert_eq!(bench.pass_with(aop::ADD, 0, 1, 9).0, old);
        while bench.sequencer.state() != State::Idle {
            let request = bench.sequencer.request();
            bench.cycle(None, request);
        }
    }
}

#[test]
fn an_access_beyond_the_capacity_ends_the_pass_with_an_error() {
    let mut bench = Loop::new("");
    let outcome = bench.pass(aop::ADD, ALL, Hash::None, |i| 384 * 32 + i);
    assert!(outcome.error && outcome.degree == 0);
    assert_eq!((outcome.rounds, outcome.cycles), (1, 3));
}
