//! Co-simulation in cycles a second, against the same Verilated block driven
//! by an empty C++ loop over recorded inputs.
//!
//! `cargo bench --bench cosim` prints the ratio of each unit, both sides
//! measured alternately in this one run, in processor time. With names of
//! units behind `--` only those.

mod clock;

use clock::timed;
use spadkit::config::Config;
use spadkit::cosim::{Lockstep, VerilatedUnit, record_inputs};
use spadkit::rtl::Design;
use spadkit::tool::{Cache, Toolbox};
use spadkit::units::{Layout, Setup, Stimulus, bench_for};

const CYCLES: u64 = 400_000;
const ROUNDS: usize = 5;

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
        let rtl = VerilatedUnit::build(&unit.name, &files, layout.clone(), &tools, &cache)?;
        let setup = Setup {
            config: &config,
            layout: &layout,
            trace: None,
        };
        let bench = || bench_for(&unit.name, &setup);
        let inputs = record_inputs(&layout, &mut *bench()?, &mut Stimulus::new(1), 4096);
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

            let mut instance = rtl.instance();
            let ((), seconds) = timed(|| instance.run_empty(CYCLES, &inputs));
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
