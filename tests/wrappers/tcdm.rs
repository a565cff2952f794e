//! `spad_tcdm` against a memory: every lane's requests are answered once, in
//! their order, with the words that were there.

use super::missing;
use super::rtl::{Dice, LANES, Memory, Rtl, inside, machine};
use std::collections::VecDeque;

/// A request of one lane.
#[derive(Clone, Copy, Default)]
struct Ask {
    read: bool,
    addr: u64,
    data: u64,
    be: u64,
}

/// The answer to it: the word read, or `None` beyond the capacity.
type Answer = Option<u64>;

/// What the lanes wait for.
type Waiting = [VecDeque<Answer>; LANES];

/// The lanes that ask in one cycle: reads first, then writes.
fn grant(asked: &[Option<Ask>; LANES], memory: &mut Memory, waiting: &mut Waiting) {
    for (lane, ask) in asked.iter().enumerate() {
        let Some(ask) = ask else { continue };
        let word = if ask.read { memory.word(ask.addr) } else { 0 };
        waiting[lane].push_back(inside(ask.addr).then_some(word));
    }
    let all = asked.map(Option::unwrap_or_default);
    let writes = |a: &Option<Ask>| a.is_some_and(|a| !a.read && inside(a.addr));
    let mask = (0..LANES).filter(|&i| writes(&asked[i]));
    let mask = mask.fold(0, |mask, lane| mask | 1 << lane);
    memory.store(
        mask,
        &all.map(|a| a.addr),
        &all.map(|a| a.data),
        &all.map(|a| a.be),
    );
}

fn drive(rtl: &mut Rtl, asked: &[Option<Ask>; LANES]) {
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
}

/// Takes the answers of this cycle; how many.
fn collect(rtl: &Rtl, waiting: &mut Waiting, cycle: u64) -> u64 {
    let (valid, failed) = (rtl.get("tcdm_r_valid"), rtl.get("tcdm_r_opc"));
    let words = rtl.get_lanes("tcdm_r_rdata", 32);
    assert_eq!(failed & !valid, 0, "cycle {cycle}");
    for lane in 0..LANES {
        if valid >> lane & 1 == 0 {
            assert_eq!(words[lane], 0, "cycle {cycle}");
            continue;
        }
        let expected = waiting[lane].pop_front().expect("an answer to nobody");
        let got = (failed >> lane & 1 == 0).then_some(words[lane]);
        assert_eq!(got, expected, "lane {lane} in cycle {cycle}");
    }
    u64::from(valid.count_ones())
}

fn traffic(mem_stages: u32, cycles: u64) {
    let mut rtl = Rtl::new("spad_tcdm", &machine(mem_stages, 0));
    let mut dice = Dice::new(2);
    let mut memory = Memory::default();
    let mut waiting = Waiting::default();
    let mut asked = [None::<Ask>; LANES];
    let (mut busy, mut answers, mut refused) = (8, 0, 0);
    for cycle in 0..cycles {
        if cycle % 128 == 0 {
            busy = [0, 1, 4, 8, 8][dice.below(5) as usize];
        }
        let addr = dice.addresses();
        let reads = [0, 15, 15, dice.bits(4)][dice.below(4) as usize];
        for lane in 0..LANES {
            let begins = cycle + 128 < cycles && dice.chance(busy);
            if asked[lane].is_none() && begins {
                asked[lane] = Some(Ask {
                    read: reads >> lane & 1 == 1,
                    addr: addr[lane],
                    data: dice.bits(32),
                    be: dice.bits(4),
                });
            }
        }
        drive(&mut rtl, &asked);
        rtl.clock();
        let empty = waiting.iter().all(VecDeque::is_empty);
        assert_eq!(rtl.get("idle") == 1, empty, "cycle {cycle}");
        answers += collect(&rtl, &mut waiting, cycle);
        match rtl.get("tcdm_gnt") {
            0 => refused += u64::from(asked.iter().any(Option::is_some)),
            15 => {
                grant(&asked, &mut memory, &mut waiting);
                asked = [None; LANES];
            }
            some => panic!("gnt {some:#x}"),
        }
    }
    assert!(waiting.iter().all(VecDeque::is_empty));
    assert!(answers > cycles / 2, "{answers} answers");
    assert!(refused > 100, "{refused} cycles without a grant");
}

#[test]
fn lanes_are_answered_once_in_their_order() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    traffic(2, 20_000);
}

#[test]
fn lanes_of_four_stages_are_too() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    traffic(4, 5_000);
}

/// microarchitecture/bus.md: granted in t, lanes of one kind and degree d are answered in
/// t+1+MS+max(1, d).
#[test]
fn lanes_are_answered_in_time() {
    if missing(&["verilator", "c++"]) {
        return;
    }
    for mem_stages in [2, 4] {
        let mut rtl = Rtl::new("spad_tcdm", &machine(mem_stages, 0));
        // Row r of bank 0 is at 8 * r + r for r below 8.
        for (addr, degree) in [([5; LANES], 1), ([0, 1, 2, 3], 1), ([0, 9, 18, 27], 4)] {
            let asks = addr.map(|addr| {
                Some(Ask {
                    read: true,
                    addr,
                    ..Ask::default()
                })
            });
            drive(&mut rtl, &asks);
            rtl.clock();
            assert_eq!(rtl.get("tcdm_gnt"), 15);
            drive(&mut rtl, &[None; LANES]);
            let mut cycles = 0;
            while rtl.get("tcdm_r_valid") == 0 {
                rtl.clock();
                cycles += 1;
            }
            assert_eq!(rtl.get("tcdm_r_valid"), 15);
            assert_eq!(cycles, 1 + mem_stages + degree);
        }
    }
}
