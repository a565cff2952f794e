//! Compares the scratchpad behind its buses with the local memories of open
//! cores: size and depth in Yosys' own gates, and clock cycles.
//!
//! ```text
//! cargo run --example compare_local_memories
//! ```
//!
//! Plain interleaving, words of 32 bits, no locks. Five parts, each of which can be
//! asked for alone:
//!
//! - `--sizes`: cells, flip-flops and levels; Yosys takes some minutes for a row, once,
//!   since what was measured is kept;
//! - `--free-lanes`: cycles of `spad_tcdm` with lanes that do not wait for each other;
//! - `--window`: cycles of `spad_stream` with accesses that overlap;
//! - `--order`: what answers out of order would change there;
//! - `--traffic`: cycles of all units under the same accesses.
//!
//! With PULP=DIR, where DIR has the repositories `cluster_interconnect` and
//! `common_cells`, PULP's network is compared, too; with VORTEX=DIR, a checkout of
//! Vortex, its local memory. SLANG names the Yosys that reads their SystemVerilog.

#[path = "compare_local_memories/beside.rs"]
pub mod beside;
#[path = "compare_local_memories/checkout.rs"]
pub mod checkout;
#[path = "compare_local_memories/order.rs"]
pub mod order;
#[path = "compare_local_memories/pulp.rs"]
pub mod pulp;
#[path = "compare_local_memories/sizes.rs"]
pub mod sizes;
#[path = "compare_local_memories/slang.rs"]
pub mod slang;
#[path = "compare_local_memories/traffic.rs"]
pub mod traffic;
#[path = "compare_local_memories/vortex.rs"]
pub mod vortex;
#[path = "compare_local_memories/window.rs"]
pub mod window;

use pulp::Pulp;
use spadkit::config::Config;
use spadkit::error::{Error, Result};
use spadkit::model::{
    MAX_LANES, Stream, StreamInputs, StreamRequest, Tcdm, TcdmInputs, TcdmRequests,
    spad_scratchpad::op,
};
use spadkit::tool::{ToolKind, Toolbox};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use vortex::Vortex;

/// The parts, by their options.
const PARTS: [&str; 5] = [
    "--sizes",
    "--free-lanes",
    "--window",
    "--order",
    "--traffic",
];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            if let Some(advice) = error.advice() {
                eprintln!("  help: {advice}");
            }
            ExitCode::from(error.exit_status())
        }
    }
}

fn run() -> Result<()> {
    let (pulp, vortex) = (Pulp::given()?, Vortex::given()?);
    let asked: BTreeSet<String> = std::env::args().skip(1).collect();
    if let Some(other) = asked
        .iter()
        .find(|option| !PARTS.contains(&option.as_str()))
    {
        let help = format!("expected some of {}", PARTS.join(", "));
        return Err(Error::usage(format!("unknown option {other}"), help));
    }
    for part in PARTS
        .iter()
        .filter(|part| asked.is_empty() || asked.contains(**part))
    {
        match *part {
            "--sizes" => sizes::print(pulp.as_ref(), vortex.as_ref())?,
            "--free-lanes" => free_lanes(pulp.as_ref())?,
            "--window" => window::print()?,
            "--order" => order::print()?,
            _ => beside::print(vortex.as_ref())?,
        }
        println!();
    }
    Ok(())
}

/// 32 x 32 x 32 bits with every address inside.
pub fn machine(stages: u32) -> Result<Config> {
    let text = format!(
        "base = 'fermi'\n[geometry]\ncapacity_words = 16384\n[hash]\npath = 'mod'\n\
         [path]\nlocks = 0\n[stream]\nmem_stages = {stages}\ntag_bits = 16\n\
         [tcdm]\nid_bits = 16\n"
    );
    Config::from_toml(&text, Path::new("comparison"))
}

/// Cycles of one load of all lanes, from that in which it is offered to that in
/// which the last is answered, both included. Of the golden models, which the
/// Verilog equals in every cycle.
pub fn cycles(unit: &str, machine: &Config, addr: impl Fn(u16) -> u16) -> u32 {
    match unit {
        "spad_tcdm" => free_cycles(machine, 1, |lane, _| addr(lane)),
        _ => stream_cycles(machine, addr),
    }
}

fn stream_cycles(machine: &Config, addr: impl Fn(u16) -> u16) -> u32 {
    let mut stream = Stream::new(machine);
    let mut request = Some(StreamRequest {
        op: op::LOAD,
        atomic: None,
        mask: u64::MAX >> (64 - machine.lanes),
        addr: std::array::from_fn(|lane| addr(lane as u16)),
        data: [0; MAX_LANES],
        be: [0; MAX_LANES],
        tag: 0,
    });
    let mut cycles = 1;
    while stream.answer().is_none() {
        stream.commit(StreamInputs::offering(request.take()));
        cycles += 1;
    }
    cycles
}

/// Words that each free lane loads.
const LOADS: u16 = 256;

/// An address by lane, number of the load, lanes and banks.
type Pattern = fn(u16, u16, u16, u16) -> u16;

/// The patterns that free lanes load.
const PATTERNS: [(&str, Pattern); 5] = [
    ("one word", |_, k, _, _| k),
    ("a bank of its own each", |lane, k, _, banks| {
        lane + banks * (k % 32)
    }),
    ("all lanes start in one bank", |lane, k, _, banks| {
        banks * lane + k
    }),
    ("one bank", |lane, k, lanes, banks| {
        banks * (lane + lanes * (k % 4))
    }),
    ("random", |lane, k, _, _| random(lane, k)),
];

/// The cycles of lanes that continue as soon as they are granted: those of `spad_tcdm`,
/// the lower bound from the busiest lane and bank, and those of PULP's network.
fn free_lanes(pulp: Option<&Pulp>) -> Result<()> {
    println!("free lanes, {LOADS} loads each: cycles from the first request to the last answer,");
    println!("both included");
    for (lanes, bank_bits) in [(8u16, 4u32), (32, 5)] {
        let banks = 1 << bank_bits;
        println!(
            "{:28}{:>10}{:>12}{:>14}{:>8}",
            format!("{lanes} lanes, {banks} banks"),
            "spad_tcdm",
            "registered",
            "at least",
            "PULP"
        );
        let network = pulp.map(|pulp| pulp.network(lanes, banks, LOADS));
        let network = network.transpose()?;
        for (name, pattern) in PATTERNS {
            let addr = |lane, k| pattern(lane, k, lanes, banks) & 0x3fff;
            let plain = free_machine(lanes, bank_bits, false)?;
            let registered = free_machine(lanes, bank_bits, true)?;
            let words = (0..lanes).flat_map(|lane| (0..LOADS).map(move |k| addr(lane, k)));
            let theirs = network.as_ref().map(|network| network.cycles(words));
            let theirs = theirs.transpose()?.map(|cycles| cycles.to_string());
            println!(
                "  {name:26}{:>10}{:>12}{:>14}{:>8}",
                free_cycles(&plain, LOADS, addr),
                free_cycles(&registered, LOADS, addr),
                busiest(&plain, addr).max(LOADS.into()),
                theirs.as_deref().unwrap_or("-"),
            );
        }
    }
    println!(
        "registered: request_register and response_register; at least: for a lane or the busiest bank"
    );
    match pulp {
        Some(pulp) => {
            let verilator = Toolbox::new().get(ToolKind::Verilator)?;
            println!("PULP: {}; Verilator {}", pulp.commits(), verilator.version);
        }
        None => println!("PULP: not measured; PULP=DIR names its sources"),
    }
    Ok(())
}

/// 16,384 words with these lanes and banks.
pub fn free_machine(lanes: u16, bank_bits: u32, registered: bool) -> Result<Config> {
    let text = format!(
        "base = 'fermi'\n[geometry]\nlanes = {lanes}\nbank_bits = {bank_bits}\n\
         capacity_words = 16384\n[hash]\npath = 'mod'\n[path]\nlocks = 0\n\
         [tcdm]\nrequest_register = {registered}\nresponse_register = {registered}\n"
    );
    Config::from_toml(&text, Path::new("comparison"))
}

/// Pseudo-random words, the same in each run.
pub fn random(lane: u16, k: u16) -> u16 {
    let mut x = (u32::from(lane) << 16 | u32::from(k)).wrapping_mul(0x9e37_79b9);
    for shift in [15, 13, 16] {
        x = (x ^ x >> shift).wrapping_mul(0x85eb_ca6b);
    }
    (x >> 16) as u16
}

/// Cycles until every lane has had its words.
pub fn free_cycles(machine: &Config, loads: u16, addr: impl Fn(u16, u16) -> u16) -> u32 {
    let mut unit = Tcdm::new(machine);
    let lanes = machine.lanes as usize;
    let mut next = [0; MAX_LANES];
    let (mut left, mut cycles) = (u32::from(loads) * machine.lanes, 0);
    while left > 0 {
        let mut requests = TcdmRequests {
            wen: u64::MAX,
            ..TcdmRequests::NONE
        };
        for lane in (0..lanes).filter(|&lane| next[lane] < loads) {
            requests.req |= 1 << lane;
            requests.addr[lane] = addr(lane as u16, next[lane]);
        }
        let granted = unit.grants(&requests) & requests.req;
        for (lane, next) in next.iter_mut().enumerate() {
            *next += (granted >> lane & 1) as u16;
        }
        left -= unit.answers().valid.count_ones();
        cycles += 1;
        unit.commit(&TcdmInputs {
            rst: false,
            hash_wr: None,
            row_wr: None,
            requests,
        });
    }
    cycles
}

/// Different words of the busiest bank, as many as it needs cycles at least, if
/// every lane that loads a word does so at the same time.
fn busiest(machine: &Config, addr: impl Fn(u16, u16) -> u16) -> usize {
    let loads = (0..machine.lanes as u16).flat_map(|lane| (0..LOADS).map(move |k| (lane, k)));
    let mut words = vec![BTreeSet::new(); machine.geometry.banks()];
    for (lane, k) in loads {
        let word = addr(lane, k);
        words[usize::from(word) % machine.geometry.banks()].insert((word, k));
    }
    words.iter().map(BTreeSet::len).max().unwrap_or(0)
}
