//! The same accesses in Vortex' local memory and in our units: clock cycles.

use super::traffic::{PATTERNS, Traffic, cycles};
use super::vortex::{Vortex, VortexBench};
use super::window::{ACCESSES, at_least, machine};
use spadkit::config::Config;
use spadkit::error::Result;
use spadkit::tool::{ToolKind, Toolbox};

/// Accesses that may be incomplete at once.
pub const FLIGHTS: [usize; 2] = [2, 16];

/// Windows of `spad_stream`.
pub const WINDOWS: [u32; 4] = [0, 4, 8, 16];

/// Prints the tables, with Vortex' cycles if its checkout is named.
pub fn print(vortex: Option<&Vortex>) -> Result<()> {
    println!("{ACCESSES} accesses of all lanes: cycles from the first request to the last answer,");
    println!("both included; Vortex answers no stores, so its last one ends when it is taken.");
    println!(
        "Free: a lane does not wait for another. Else accesses of all lanes are made together:"
    );
    println!("in Vortex through its VX_lsu_adapter, in spad_stream through its one port, and in");
    println!("spad_tcdm a lane begins an access when all lanes of the one before are taken.");
    println!("wN: spad_stream with a window of N; queues: spad_tcdm with request_register, whose");
    println!("registers hold two requests of a lane.");
    for bank_bits in [3, 5] {
        let bench = |together| {
            let bench = vortex.map(|vortex| vortex.bench(1 << bank_bits, ACCESSES, together));
            bench.transpose()
        };
        let benches = [bench(true)?, bench(false)?];
        for store in [false, true] {
            for flight in FLIGHTS {
                table(&benches, bank_bits, store, flight)?;
            }
        }
    }
    match vortex {
        Some(vortex) => {
            let verilator = Toolbox::new().get(ToolKind::Verilator)?;
            println!(
                "Vortex: {}; Verilator {}",
                vortex.commit(),
                verilator.version
            );
            println!("ours: the golden models, which the Verilog equals in every cycle");
            println!("every loaded word was right, and after each run all words of the memory");
        }
        None => println!("Vortex: not measured; VORTEX=DIR names a checkout of its sources"),
    }
    Ok(())
}

fn table(benches: &[Option<VortexBench>; 2], bits: u32, store: bool, flight: usize) -> Result<()> {
    let lanes = 1 << bits;
    let what = if store { "stores" } else { "loads" };
    println!();
    println!("{lanes} lanes, {lanes} banks: {what}, at most {flight} in flight");
    let windows = WINDOWS.map(|window| format!("{:>7}", format!("w{window}")));
    println!(
        "{:16}{:>10}{:>8}{:>8}{}{:>10}{:>8}{:>8}",
        "",
        "at least",
        "Vortex",
        "free",
        windows.concat(),
        "tcdm",
        "queues",
        "free"
    );
    let machines = WINDOWS.map(|window| machine(bits, window));
    let machines: Vec<Config> = machines.into_iter().collect::<Result<_>>()?;
    let queues = queues(&machines[0]);
    for (name, pattern) in PATTERNS {
        let traffic = |together| Traffic {
            store,
            flight,
            together,
            pattern,
        };
        let vortex = |bench: &Option<VortexBench>| match bench {
            Some(bench) => Ok(bench.cycles(lanes, &traffic(true))?.to_string()),
            None => Ok("-".to_owned()),
        };
        let stream = |machine| cycles("spad_stream", machine, &traffic(true));
        let streams = machines.iter().map(stream).collect::<Result<Vec<_>>>()?;
        let streams: String = streams
            .iter()
            .map(|cycles| format!("{cycles:>7}"))
            .collect();
        let tcdm = |machine, together| cycles("spad_tcdm", machine, &traffic(together));
        println!(
            "{name:16}{:>10}{:>8}{:>8}{streams}{:>10}{:>8}{:>8}",
            at_least(&machines[0], pattern),
            vortex(&benches[0])?,
            vortex(&benches[1])?,
            tcdm(&machines[0], true)?,
            tcdm(&queues, true)?,
            tcdm(&machines[0], false)?,
        );
    }
    Ok(())
}

/// The machine with registers that hold two requests of a lane.
pub fn queues(machine: &Config) -> Config {
    let mut queues = machine.clone();
    queues.path.tcdm.request_register = true;
    queues
}
