//! The scratchpad behind its buses beside the local memories of open cores:
//! size and depth in Yosys' own gates, and clock cycles.
//!
//! ```text
//! cargo run --example compare_local_memories
//! ```
//!
//! 32 lanes, 32 banks, words of 32 bits, plain interleaving, no locks. Yosys
//! takes some minutes for each row, once: what was measured is kept.

use spadkit::config::Config;
use spadkit::error::Result;
use spadkit::model::{MAX_LANES, Stream, StreamInputs, StreamRequest, spad_scratchpad::op};
use spadkit::rtl::Design;
use spadkit::synth::{Structure, SynthJob};
use spadkit::tool::{Cache, ToolKind, Toolbox};
use std::path::Path;
use std::process::ExitCode;

/// Units and memory stages that are measured.
const BUILDS: [(&str, u32); 3] = [("spad_stream", 4), ("spad_stream", 2), ("spad_tcdm", 4)];

/// A local memory of another project: constants, since its sources are not
/// here. docs/guides/integration.md says how each is measured.
struct Other {
    what: &'static str,
    /// Repository and file.
    source: &'static str,
    /// Cells, flip-flops and levels, by Yosys 0.23 with the commands that ours
    /// are measured with; cycles for 32 lanes on one word, and on one bank.
    figures: [&'static str; 5],
    /// What the figures are of, and what is not known of them.
    about: &'static str,
}

const OTHERS: [Other; 2] = [
    Other {
        what: "PULP tcdm_interconnect",
        source: "github.com/pulp-platform/cluster_interconnect, rtl/tcdm_interconnect",
        figures: ["152453", "1408", "24", "33", "33"],
        about: "NumIn = NumOut = 32, Topology = LIC; the interconnect alone; commit not written down",
    },
    Other {
        what: "Vortex VX_local_mem",
        source: "github.com/vortexgpgpu/vortex, hw/rtl/mem/VX_local_mem.sv",
        figures: ["238562", "38304", "?", "37", "37"],
        about: "NUM_REQS = NUM_BANKS = 32; levels not measured, one bank as one word, since its \
                crossbar takes one lane per bank and cycle whatever the address; commit not written down",
    },
];

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(error.exit_status())
        }
    }
}

fn run() -> Result<()> {
    println!(
        "{:31}{:>8}{:>8}{:>8}{:>10}{:>10}",
        "", "cells", "flops", "levels", "one word", "one bank"
    );
    for other in &OTHERS {
        let [cells, flops, levels, word, bank] = other.figures;
        let what = other.what;
        println!("{what:31}{cells:>8}{flops:>8}{levels:>8}{word:>10}{bank:>10}");
    }
    let (yosys, cache) = (Toolbox::new().get(ToolKind::Yosys)?, Cache::user()?);
    for (unit, stages) in BUILDS {
        let machine = machine(stages)?;
        let design = Design::emit(&[unit.to_owned()], &machine)?;
        let job = SynthJob::of(&design, &design.units[0], &machine);
        let size = Structure::measure(&job, &yosys, &cache)?;
        println!(
            "{:31}{:>8}{:>8}{:>8}{:>10}{:>10}",
            format!("{unit}, {stages} memory stages"),
            size.cells,
            size.flops,
            size.levels,
            cycles(&machine, |_| 5),
            cycles(&machine, |lane| 32 * lane),
        );
    }
    println!("memories left out; cycles from the request to the last answer, both included");
    println!(
        "ours by Yosys {}, the others by 0.23: levels depend on the version",
        yosys.version
    );
    for other in &OTHERS {
        println!("{}: {}; {}", other.what, other.source, other.about);
    }
    Ok(())
}

/// 32 x 32 x 32 bits with every address inside.
pub fn machine(stages: u32) -> Result<Config> {
    let text = format!(
        "base = 'fermi'\n[geometry]\ncapacity_words = 16384\n[hash]\npath = 'mod'\n\
         [path]\nlocks = 0\nmem_stages = {stages}\n"
    );
    Config::from_toml(&text, Path::new("comparison"))
}

/// Cycles of one load of all lanes, from that in which it is offered to that in
/// which it is answered. Of the golden model of `spad_stream`, which the Verilog
/// equals in every cycle; `spad_tcdm` takes as many (a test counts them).
pub fn cycles(machine: &Config, addr: impl Fn(u16) -> u16) -> u32 {
    let mut stream = Stream::new(machine);
    let mut request = Some(StreamRequest {
        op: op::LOAD,
        mask: u64::MAX >> (64 - machine.lanes),
        addr: std::array::from_fn(|lane| addr(lane as u16)),
        data: [0; MAX_LANES],
        be: [0; MAX_LANES],
        tag: 0,
    });
    let mut cycles = 1;
    while stream.answer().is_none() {
        stream.commit(StreamInputs {
            rst: false,
            hash_wr: None,
            row_wr: None,
            lock_hash: 0,
            request: request.take(),
            rsp_ready: true,
        });
        cycles += 1;
    }
    cycles
}
