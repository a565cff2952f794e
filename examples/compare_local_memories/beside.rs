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
    println!("Together: a lane begins an access when all lanes of the one before are taken, as");
    println!("spad_stream and Vortex' own load/store unit have it; free: it does not wait.");
    for bank_bits in [3, 5] {
        let bench = vortex.map(|vortex| vortex.bench(1 << bank_bits, ACCESSES));
        let bench = bench.transpose()?;
        for store in [false, true] {
            for flight in FLIGHTS {
                table(bench.as_ref(), bank_bits, store, flight)?;
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

fn table(bench: Option<&VortexBench>, bits: u32, store: bool, flight: usize) -> Result<()> {
    let lanes = 1 << bits;
    let what = if store { "stores" } else { "loads" };
    println!();
    println!("{lanes} lanes, {lanes} banks: {what}, at most {flight} in flight");
    let windows = WINDOWS.map(|window| format!("{:>7}", format!("w{window}")));
    println!(
        "{:16}{:>10}{:>8}{:>8}{}{:>10}{:>8}",
        "",
        "at least",
        "Vortex",
        "free",
        windows.concat(),
        "tcdm",
        "free"
    );
    let machines = WINDOWS.map(|window| machine(bits, window));
    let machines: Vec<Config> = machines.into_iter().collect::<Result<_>>()?;
    for (name, pattern) in PATTERNS {
        let traffic = |together| Traffic {
            store,
            flight,
            together,
            pattern,
        };
        let vortex = |together| match bench {
            Some(bench) => Ok(bench.cycles(lanes, &traffic(together))?.to_string()),
            None => Ok("-".to_owned()),
        };
        let stream = |machine| cycles("spad_stream", machine, &traffic(true));
        let streams = machines.iter().map(stream).collect::<Result<Vec<_>>>()?;
        let streams: String = streams
            .iter()
            .map(|cycles| format!("{cycles:>7}"))
            .collect();
        let tcdm = |together| cycles("spad_tcdm", &machines[0], &traffic(together));
        println!(
            "{name:16}{:>10}{:>8}{:>8}{streams}{:>10}{:>8}",
            at_least(&machines[0], pattern),
            vortex(true)?,
            vortex(false)?,
            tcdm(true)?,
            tcdm(false)?,
        );
    }
    Ok(())
}
