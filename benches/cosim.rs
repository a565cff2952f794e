//! Co-simulation in cycles a second, against the same Verilated block driven
//! by an empty C++ loop over recorded inputs: those of the very same cycles,
//! since some units have phases of thousands of cycles in which they do more or
//! less than in others.
//!
//! `cargo bench -p spadkit-benches --bench cosim` prints the ratio of each unit, both sides
//! measured alternately in this one run, in processor time. With names of
//! units behind `--` only those.

mod timing;

use spadkit::config::Config;
use spadkit::cosim::{Compiled, Instance, Lockstep, VerilatedUnit};
use spadkit::error::Error;
use spadkit::rtl::Design;
use spadkit::tool::{Cache, Toolbox};
use spadkit::units::{Bench, Chunk, Layout, Setup, Stimulus, bench_for};
use timing::timed;

const CYCLES: u64 = 400_000;
const ROUNDS: usize = 5;

/// Cycles that are recorded at a time, at most, and words of inputs: more would
/// not stay in the processor's cache, and the loop should not wait for them.
const WINDOW_CYCLES: usize = 4096;
const WINDOW_WORDS: usize = 1 << 17;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = Config::preset("fermi")?;
    let (tools, cache) = (Toolbox::new(), Cache::user()?);
    let design = Design::emit(&[], &config)?;
    println!(
        "{:32} {:>12} {:>12} {:>7}",
        "unit", "lockstep/s", "C++ loop/s", "ratio"
    );
    let names: Vec<String> = std::env::args().skip(1).collect();
    let named: Vec<&String> = names.iter().filter(|n| !n.starts_with('-')).collect();
    let wanted = |unit: &String| named.is_empty() || named.contains(&unit);
    for unit in design.units.iter().filter(|u| wanted(&u.name)) {
        let layout = Layout::new(unit);
        let files = design.files_of(unit);
        let rtl = VerilatedUnit::build(
            &unit.name,
            &files,
            layout.clone(),
            Compiled::Optimised,
            &tools,
            &cache,
        )?;
        let setup = Setup::new(&config, &layout);
        let bench = || bench_for(&unit.name, &setup);
        let mut ratios = Vec::new();
        let (mut lockstep_rate, mut loop_rate) = (0.0f64, 0.0f64);
        for _ in 0..ROUNDS {
            let mut model = bench()?;
            let (run, seconds) = timed(|| {
                let run = Lockstep::new(&layout, &mut *model, rtl.instance(), 1, false);
                run.run(CYCLES, &|_| {})
            });
            let (outcome, _) = run?;
            let lockstep = CYCLES as f64 / seconds;
            assert_eq!(outcome.mismatches, 0, "{}", unit.name);
            assert_eq!(outcome.cycles, CYCLES, "{}: interrupted", unit.name);

            let seconds = empty_loop(&layout, &mut *bench()?, rtl.instance())?;
            let empty = CYCLES as f64 / seconds;
            ratios.push(lockstep / empty);
            lockstep_rate = lockstep_rate.max(lockstep);
            loop_rate = loop_rate.max(empty);
        }
        ratios.sort_by(f64::total_cmp);
        println!(
            "{:32} {lockstep_rate:>12.3e} {loop_rate:>12.3e} {:>7.2}",
            unit.name,
            ratios[ROUNDS / 2]
        );
    }
    Ok(())
}

/// Processor time of the empty loop over the inputs of the lockstep's cycles,
/// recorded window by window while no time is taken.
fn empty_loop(layout: &Layout, bench: &mut dyn Bench, mut rtl: Instance) -> Result<f64, Error> {
    let (mut stimulus, mut chunk) = (Stimulus::new(1), Chunk::new(layout, 0));
    let window = (WINDOW_WORDS / layout.input_words.max(1)).clamp(1, WINDOW_CYCLES) as u64;
    let (mut done, mut total) = (0, 0.0);
    while done < CYCLES {
        let cycles = window.min(CYCLES - done);
        chunk.next(cycles as usize);
        bench.cycles(&mut stimulus, &mut chunk)?;
        let ((), seconds) = timed(|| rtl.run_empty(cycles, &chunk.inputs));
        total += seconds;
        done += cycles;
    }
    Ok(total)
}
