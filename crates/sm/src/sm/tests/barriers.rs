//! Barriers of a number of threads.

use super::copies::on;
use super::*;

fn named(number: u8, threads: u16, arrives: bool) -> Instr {
    let mut instr = Instr::new(InstrKind::Bar, 0, 0xff);
    instr.detail = Detail::Barrier(Meeting {
        threads,
        number,
        arrives,
        cluster: false,
    });
    instr
}

fn work(cycles: usize) -> Vec<Instr> {
    let mut instr = Instr::new(InstrKind::Sfu, 0, 0xff);
    instr.dst = Some(1);
    instr.srcs = Sources::new(&[1]).unwrap();
    vec![instr; cycles.div_ceil(4)]
}

fn cycles(warps: Vec<Vec<Instr>>) -> u64 {
    on(&tiny(""), warps).unwrap().cycles
}

/// A producer arrives and goes on, a consumer waits for it; a third warp has no part in it.
#[test]
fn a_barrier_opens_when_its_threads_have_come() {
    let producer = |before: usize, after: usize| {
        [work(before), vec![named(1, 16, true)], work(after)].concat()
    };
    let consumer = |after: usize| [vec![named(1, 16, false)], work(after)].concat();
    let [short, long] = [100, 200].map(|n| cycles(vec![producer(n, 0), consumer(120), vec![]]));
    assert!((90..=110).contains(&(long - short)), "{short} {long}");
    assert!((210..240).contains(&short), "{short}");
    // Neither what the producer does afterwards nor another warp holds the consumer up.
    let beside = cycles(vec![producer(100, 80), consumer(120), work(160)]);
    assert!(beside < short + 20, "{short} {beside}");
    // The consumer's part is on the way of the whole.
    let whole = |mut program: Vec<Instr>| {
        program.push(Instr::new(InstrKind::Bar, 0, 0xff));
        program
    };
    let all = [producer(100, 0), consumer(120), work(40)].map(whole);
    let met = cycles(all.to_vec());
    assert!((short..short + 20).contains(&met), "{short} {met}");
}

/// Each round takes the threads that have come first.
#[test]
fn a_barrier_is_used_again() {
    let rounds = |each: Vec<Instr>| vec![each; 3].concat();
    let producer = rounds([work(40), vec![named(2, 16, true), named(3, 16, false)]].concat());
    let consumer = rounds(
        [
            vec![named(2, 16, false)],
            work(40),
            vec![named(3, 16, true)],
        ]
        .concat(),
    );
    let cycles = cycles(vec![producer, consumer]);
    assert!((220..300).contains(&cycles), "{cycles}");
}

#[test]
fn a_barrier_that_too_few_reach_is_a_deadlock() {
    let error = on(
        &tiny(""),
        vec![vec![named(1, 24, false)], vec![named(1, 24, true)], vec![]],
    );
    let error = error.unwrap_err().advice().unwrap();
    assert!(error.contains("at barrier 1 of 24 threads"), "{error}");
}
