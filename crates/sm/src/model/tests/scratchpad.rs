//! The scratchpad: timing, order, broadcast, merging, locks, refusals.

use crate::config::Config;
use crate::model::spad_scratchpad::op;
use crate::model::{ResponseControl, Scratchpad, ScratchpadInputs};

/// One access of up to 32 lanes.
#[derive(Clone)]
pub(super) struct Access {
    pub(super) op: u8,
    pub(super) mask: u64,
    pub(super) bank: Vec<u8>,
    pub(super) row: Vec<u16>,
    pub(super) lock: Vec<u16>,
    pub(super) data: Vec<u64>,
    pub(super) be: Vec<u8>,
}

/// Word addresses, spread over banks by their low bits.
pub(super) fn access(op: u8, addrs: impl Fn(u16) -> u16) -> Access {
    let addrs: Vec<u16> = (0..32).map(addrs).collect();
    Access {
        op,
        mask: u64::from(u32::MAX),
        bank: addrs.iter().map(|a| (a % 32) as u8).collect(),
        row: addrs.iter().map(|a| a / 32).collect(),
        lock: addrs.iter().map(|a| a % 1024).collect(),
        data: (0..32).map(|i| 0x100 + i).collect(),
        be: vec![0xf; 32],
    }
}

pub(super) struct Bench {
    pub(super) spad: Scratchpad<u32>,
    cycle: u32,
}

impl Bench {
    pub(super) fn new(text: &str) -> Self {
        let config = Config::of_figures(text);
        Bench {
            spad: Scratchpad::new(&config),
            cycle: 0,
        }
    }

    /// One cycle; what was taken and what came out.
    pub(super) fn cycle(
        &mut self,
        access: Option<&Access>,
        resp_ready: bool,
    ) -> (bool, ResponseControl<u32>, Vec<u64>) {
        let none = self::access(op::PASS, |_| 0);
        let a = access.unwrap_or(&none);
        let out = self.spad.step(&ScratchpadInputs {
            rst: false,
            req_valid: access.is_some(),
            req_op: a.op,
            req_mask: a.mask,
            req_bank: &a.bank,
            req_row: &a.row,
            req_lock: &a.lock,
            req_data: &a.data,
            req_be: &a.be,
            req_tag: self.cycle,
            resp_ready,
        });
        self.cycle += 1;
        (out.req_ready, out.resp, out.resp_data[..32].to_vec())
    }

    /// Runs `accesses` back to back; responses with their cycles and data.
    pub(super) fn run(
        &mut self,
        accesses: &[Access],
    ) -> Vec<(u32, ResponseControl<u32>, Vec<u64>)> {
        let (mut next, mut responses) = (0, Vec::new());
        while responses.len() < accesses.len() {
            let now = self.cycle;
            assert!(now < 10_000, "the scratchpad hangs");
            let (taken, resp, data) = self.cycle(accesses.get(next), true);
            next += usize::from(taken && next < accesses.len());
            if resp.valid {
                responses.push((now, resp, data));
            }
        }
        responses
    }
}

#[test]
fn an_access_of_degree_d_answers_d_plus_1_cycles_after_it_was_taken() {
    for degree in [1u16, 2, 7, 32] {
        let mut bench = Bench::new("");
        let lanes_of_bank_0 = move |i: u16| if i < degree { 32 * i } else { i };
        let responses = bench.run(&[access(op::LOAD, lanes_of_bank_0)]);
        let (cycle, resp, _) = &responses[0];
        assert_eq!(
            (*cycle, resp.degree),
            (u32::from(degree) + 1, degree.into())
        );
    }
}

#[test]
fn reads_of_one_word_by_32_lanes_take_as_long_as_conflict_free_ones() {
    for addrs in [|_| 77, |i| i, |i| 31 - i] {
        let mut bench = Bench::new("");
        let cycles: Vec<u32> = bench
            .run(&vec![access(op::LOAD, addrs); 4])
            .iter()
            .map(|r| r.0)
            .collect();
        assert_eq!(cycles, [2, 3, 4, 5], "one access a cycle");
    }
}

#[test]
fn a_load_behind_a_store_sees_it_and_bytes_merge() {
    let mut bench = Bench::new("");
    let mut bytes = access(op::STORE, |_| 40);
    for (i, be) in bytes.be.iter_mut().enumerate() {
        *be = if i < 4 { 8 >> i } else { 0xf };
    }
    bytes.data = (0..32).map(|i| 0x0101_0101 * i).collect();
    // Degree 3: words come back from several groups.
    let scattered = |i: u16| if i < 3 { 8 + 32 * i } else { 40 };
    let responses = bench.run(&[
        access(op::STORE, scattered),
        bytes,
        access(op::LOAD, scattered),
    ]);
    assert!(responses[..2].iter().all(|r| r.2.iter().all(|&w| w == 0)));
    let (_, resp, data) = &responses[2];
    assert_eq!((resp.degree, resp.error), (3, false));
    assert_eq!(data[..4], [0x100, 0x0001_0203, 0x102, 0x0001_0203]);
    assert_eq!(data[31], 0x0001_0203);
}

#[test]
fn a_blocked_response_stands_still_and_pass_returns_its_data() {
    let mut bench = Bench::new("");
    let pass = access(op::PASS, |_| 0);
    bench.cycle(Some(&pass), false);
    bench.cycle(Some(&access(op::LOAD, |i| i)), false);
    for _ in 0..3 {
        let (ready, resp, data) = bench.cycle(Some(&pass), false);
        assert_eq!((ready, resp.tag, resp.degree), (false, 0, 0));
        assert_eq!(data, pass.data);
    }
    let (ready, resp, _) = bench.cycle(Some(&pass), true);
    assert_eq!((ready, resp.valid), (true, true));
    assert_eq!(bench.cycle(None, true).1.op, op::LOAD);
}

#[test]
fn rows_beyond_48_kb_and_unsupported_operations_are_answered_with_an_error() {
    let mut bench = Bench::new("");
    let last_row = |i: u16| 383 * 32 + i;
    let beyond = |i: u16| if i == 5 { 384 * 32 } else { i };
    let responses = bench.run(&[
        access(op::STORE, last_row),
        access(op::STORE, beyond),
        access(op::LDLK, beyond),
        access(5, |i| i),
        access(6, |i| i),
        access(op::UNSUPPORTED, |i| i),
        access(op::LOAD, |i| i),
        access(op::LOAD, last_row),
    ]);
    let errors: Vec<bool> = responses.iter().map(|r| r.1.error).collect();
    assert_eq!(errors, [false, true, true, true, true, true, false, false]);
    assert!(responses[6].2.iter().all(|&word| word == 0), "untouched");
    assert_eq!(responses[7].2[31], 0x11f);
    assert!(bench.spad.held_locks().iter().all(|&bits| bits == 0));
    let mut without_locks = Bench::new("[path]\nlocks = 0\n");
    for op in [op::LDLK, op::STUL] {
        assert!(without_locks.run(&[access(op, |i| i)])[0].1.error);
    }
    // An inactive lane may be anywhere.
    let mut masked = access(op::LOAD, beyond);
    masked.mask &= !(1 << 5);
    assert!(!bench.run(&[masked])[0].1.error);
}

#[test]
fn load_and_lock_has_one_winner_per_lock_and_takes_its_windows() {
    for (windows, cycles) in [(1, 2), (2, 3), (4, 5)] {
        let mut bench = Bench::new(&format!("[path]\nlock_group_cycles = {windows}\n"));
        let (cycle, resp, _) = &bench.run(&[access(op::LDLK, |_| 9)])[0];
        assert_eq!((*cycle, resp.success), (cycles, 1));
        // Stride 256: lanes i and i + 4 share a lock, each group holds one lane.
        let strided = access(op::LDLK, |i| 256 * i);
        let (_, resp, _) = bench.run(&[strided])[0].clone();
        assert_eq!((resp.success, resp.degree), (0b1111, 32));
        bench.run(&[access(op::STUL, |i| 256 * i), access(op::STUL, |_| 9)]);
        assert!(bench.spad.held_locks().iter().all(|&bits| bits == 0));
    }
}

#[test]
fn reset_in_the_middle_of_an_access_leaves_nothing() {
    let mut bench = Bench::new("");
    let slow = access(op::LOAD, |i| 32 * i);
    for _ in 0..4 {
        bench.cycle(Some(&slow), true);
    }
    bench.spad.step(&ScratchpadInputs {
        rst: true,
        req_valid: true,
        req_op: op::LOAD,
        req_mask: 1,
        req_bank: &slow.bank,
        req_row: &slow.row,
        req_lock: &slow.lock,
        req_data: &slow.data,
        req_be: &slow.be,
        req_tag: 0,
        resp_ready: true,
    });
    for _ in 0..4 {
        let (ready, resp, _) = bench.cycle(None, true);
        assert_eq!((ready, resp.valid), (true, false));
    }
}
