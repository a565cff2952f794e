//! Accesses of all lanes through `spad_stream`, one after the other or in a
//! window: clock cycles, and the lower bound from the busiest bank.

use spadkit::config::Config;
use spadkit::error::Result;
use spadkit::model::{MAX_LANES, Stream, StreamInputs, StreamRequest, spad_scratchpad::op};
use std::collections::BTreeSet;
use std::path::Path;

/// Accesses of each run.
pub const ACCESSES: u16 = 256;

/// Accesses that overlap.
pub const WINDOWS: [u32; 5] = [0, 2, 4, 8, 16];

/// An address by lane and number of the access.
type Pattern = fn(u16, u16) -> u16;

/// The access patterns.
pub const PATTERNS: [(&str, Pattern); 7] = [
    ("one word", |_, k| k),
    ("stride 1", |lane, k| lane + k),
    ("stride 2", |lane, k| 2 * lane + k),
    ("stride 8", |lane, k| 8 * lane + k),
    ("stride 16", |lane, k| 16 * lane + k),
    ("stride 32", |lane, k| 32 * lane + k),
    ("random", |lane, k| super::random(lane, k)),
];

/// A machine with 2^`bank_bits` lanes and banks, plain interleaving, and a window of
/// `window` accesses.
pub fn machine(bank_bits: u32, window: u32) -> Result<Config> {
    let text = format!(
        "base = 'fermi'\n[geometry]\nlanes = {}\nbank_bits = {bank_bits}\n\
         capacity_words = 16384\n[hash]\npath = 'mod'\n[path]\nlocks = 0\n\
         [stream]\nwindow = {window}\ntag_bits = 16\n[tcdm]\nid_bits = 16\n",
        1 << bank_bits
    );
    Config::from_toml(&text, Path::new("comparison"))
}

/// Cycles from the first access to the last answer, both included; at most
/// `inside` accesses are without an answer. Posted stores have none: until all are
/// written.
pub fn cycles(machine: &Config, kind: u8, inside: u16, addr: impl Fn(u16, u16) -> u16) -> u32 {
    let mut stream = Stream::new(machine);
    let (mut taken, mut answered, mut cycles) = (0, 0, 0);
    let posted = kind == op::STORE && machine.path.stream.posted;
    while answered < ACCESSES || (posted && !stream.idle()) {
        answered += u16::from(stream.answer().is_some());
        cycles += 1;
        let offers = taken < ACCESSES && taken - answered < inside;
        let request = offers.then(|| StreamRequest {
            op: kind,
            atomic: None,
            mask: u64::MAX >> (64 - machine.lanes),
            addr: std::array::from_fn(|lane| addr(lane as u16, taken) & 0x3fff),
            data: [0; MAX_LANES],
            be: [u8::MAX; MAX_LANES],
            tag: 0,
        });
        let takes = u16::from(offers && stream.req_ready());
        taken += takes;
        answered += if posted { takes } else { 0 };
        stream.commit(StreamInputs::offering(request));
    }
    cycles
}

/// Words that the busiest bank serves, if lanes on one word of an access are
/// served together; a cycle for each access at least.
pub fn at_least(machine: &Config, addr: impl Fn(u16, u16) -> u16) -> usize {
    let banks = machine.geometry.banks();
    let mut served = vec![0; banks];
    for k in 0..ACCESSES {
        let words = (0..machine.lanes as u16).map(|lane| addr(lane, k) & 0x3fff);
        let words: BTreeSet<u16> = words.collect();
        words
            .into_iter()
            .for_each(|word| served[usize::from(word) % banks] += 1);
    }
    let busiest = served.into_iter().max().unwrap_or(0);
    busiest.max(ACCESSES.into())
}

/// Prints the cycles of all patterns.
pub fn print() -> Result<()> {
    println!("spad_stream, {ACCESSES} accesses of all lanes: cycles from the first request to the");
    println!("last answer, both included, by the accesses that overlap (stream.window)");
    for bank_bits in [3, 5] {
        let windows = WINDOWS.map(|window| format!("{window:>8}")).concat();
        let lanes = format!("{0} lanes, {0} banks", 1 << bank_bits);
        println!("{lanes:28}{windows}{:>10}", "at least");
        let machines = WINDOWS.map(|window| machine(bank_bits, window));
        let machines: Vec<Config> = machines.into_iter().collect::<Result<_>>()?;
        for (name, addr) in PATTERNS {
            let counts = machines
                .iter()
                .map(|m| cycles(m, op::STORE, u16::MAX, addr));
            let counts: String = counts.map(|cycles| format!("{cycles:>8}")).collect();
            println!("  {name:26}{counts}{:>10}", at_least(&machines[0], addr));
        }
        let two = machines
            .iter()
            .map(|m| cycles(m, op::LOAD, 2, PATTERNS[1].1));
        let two: String = two.map(|cycles| format!("{cycles:>8}")).collect();
        println!("  {:26}{two}", "stride 1, two in flight");
        for (name, addr) in [PATTERNS[1], PATTERNS[3]] {
            for (kind, posted) in [("stores, two", false), ("posted stores", true)] {
                let counts = machines.iter().map(|machine| {
                    let mut machine = machine.clone();
                    machine.path.stream.posted = posted;
                    cycles(&machine, op::STORE, 2, addr)
                });
                let counts: String = counts.map(|cycles| format!("{cycles:>8}")).collect();
                println!("  {:26}{counts}", format!("{name}, {kind}"));
            }
        }
    }
    println!("mem_stages = 2; loads and answered stores take the same cycles");
    Ok(())
}
