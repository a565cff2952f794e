//! Cells, flip-flops and levels, and the cycles of one access.

use super::pulp::Pulp;
use super::slang::{Reader, Size, Tools};
use super::vortex::Vortex;
use super::{cycles, machine, traffic, window};
use spadkit::config::Config;
use spadkit::error::Result;
use spadkit::rtl::Design;
use spadkit::synth::{SynthJob, Technology};
use spadkit::tool::{Cache, ToolKind, Toolbox};

/// Units of 32 lanes and banks, and their memory stages.
const LARGE: [(&str, u32); 3] = [("spad_stream", 4), ("spad_stream", 2), ("spad_tcdm", 2)];

/// Units of 8 lanes and banks, and the accesses that overlap.
const SMALL: [(&str, u32); 5] = [
    ("spad_stream", 0),
    ("spad_stream", 2),
    ("spad_stream", 4),
    ("spad_stream", 16),
    ("spad_tcdm", 0),
];

/// All lanes on one word, and on words of one bank.
const ACCESSES: [traffic::Pattern; 2] = [|_, _| 5, |lane, _| 32 * lane];

/// The cell library of the areas, which `make deps` installs.
const LIBRARY: &str = "osu018";

/// Prints the tables.
pub fn print(pulp: Option<&Pulp>, vortex: Option<&Vortex>) -> Result<()> {
    let tools = Tools {
        yosys: Toolbox::new().get(ToolKind::Yosys)?,
        cache: Cache::user()?,
        technology: Technology::named(LIBRARY).ok(),
    };
    let others = pulp.is_some() || vortex.is_some();
    let reader = others.then(Reader::find);
    let found = reader.as_ref().and_then(|reader| reader.as_ref().ok());
    for lanes in [8, 32] {
        let (word, bank) = ("one word", "one bank");
        let title = format!("{lanes} lanes, {lanes} banks");
        println!(
            "{title:31}{:>8}{:>8}{:>8}{:>11}{word:>10}{bank:>10}",
            "cells", "flops", "levels", "area"
        );
        if let Some(pulp) = pulp {
            let network = pulp.network(lanes, lanes, 1)?;
            let cycles = ACCESSES.map(|addr| network.cycles((0..lanes).map(|l| addr(l, 0))));
            let size = found.map(|reader| pulp.size(reader, lanes, &tools));
            row("PULP tcdm_interconnect", size.transpose()?, cycles)?;
        }
        if let Some(vortex) = vortex {
            let bench = vortex.bench(lanes, 1, false)?;
            let cycles = ACCESSES.map(|addr| bench.one_load(lanes, addr));
            let size = found.map(|reader| vortex.size(reader, lanes, &tools));
            row("Vortex VX_local_mem", size.transpose()?, cycles)?;
        }
        match lanes {
            32 => large(&tools)?,
            _ => small(&tools)?,
        }
    }
    println!("area: µm² of {LIBRARY}, for a period that all meet");
    println!("memories left out; cycles from the request to the last answer, both included");
    println!(
        "all by Yosys {}: levels depend on the version",
        tools.yosys.version
    );
    if let Some(pulp) = pulp {
        println!(
            "PULP: {}; the network alone, Topology = LIC",
            pulp.commits()
        );
    }
    match vortex {
        Some(vortex) => println!("Vortex: {}; TAG_WIDTH = 16, OUT_BUF = 3", vortex.commit()),
        None => println!("Vortex: not measured; VORTEX=DIR names a checkout of its sources"),
    }
    match reader {
        Some(Ok(reader)) => println!("their SystemVerilog read by {}", reader.version()),
        Some(Err(error)) => {
            println!("their cells are not measured: {error}");
            println!("  {}", error.advice().unwrap_or_default());
        }
        None => {}
    }
    Ok(())
}

fn large(tools: &Tools) -> Result<()> {
    for (unit, stages) in LARGE {
        let detail = format!("{stages} memory stages");
        ours((unit, &detail), &machine(stages)?, tools)?;
    }
    ours(APART, &apart(machine(2)?), tools)
}

fn small(tools: &Tools) -> Result<()> {
    for (unit, overlap) in SMALL {
        let detail = format!("window {overlap}");
        ours((unit, &detail), &window::machine(3, overlap)?, tools)?;
    }
    ours(APART, &apart(window::machine(3, 0)?), tools)
}

/// The unit that serves each lane by itself, as PULP's network does.
const APART: (&str, &str) = ("spad_tcdm", "no broadcast");

/// Lanes on one word are not served together.
fn apart(mut machine: Config) -> Config {
    (machine.path.broadcast, machine.path.merge_bytes) = (false, false);
    machine
}

/// A row of a unit; `detail` says which one it is.
fn ours((unit, detail): (&str, &str), machine: &Config, tools: &Tools) -> Result<()> {
    let name = match unit {
        "spad_tcdm" if detail != APART.1 => unit.to_owned(),
        _ => format!("{unit}, {detail}"),
    };
    let design = Design::emit(&[unit.to_owned()], machine)?;
    let job = SynthJob::of(&design, &design.units[0], machine);
    let size = Size::of(&job, tools)?;
    let cycles = ACCESSES.map(|addr| Ok(cycles(unit, machine, |lane| addr(lane, 0))));
    row(&name, Some(size), cycles)
}

fn row(name: &str, size: Option<Size>, cycles: [Result<u32>; 2]) -> Result<()> {
    let [word, bank] = cycles;
    let figures = match size {
        Some(size) => [
            size.cells.to_string(),
            size.flops.to_string(),
            size.levels.to_string(),
            size.area
                .map_or("-".to_owned(), |area| format!("{area:.0}")),
        ],
        None => ["-"; 4].map(str::to_owned),
    };
    let [cells, flops, levels, area] = figures;
    println!(
        "{name:31}{cells:>8}{flops:>8}{levels:>8}{area:>11}{:>10}{:>10}",
        word?, bank?
    );
    Ok(())
}
