//! Emits the conflict arbiter of a machine, and runs its Verilog in lockstep with
//! the golden model. Needs Verilator and a C++ compiler.
//!
//! ```text
//! cargo run -p spadkit-rtl --example emit_and_check
//! ```

use spadkit_base::error::Result;
use spadkit_rtl::cosim::{CosimOptions, cosim_unit};
use spadkit_rtl::rtl::Design;
use spadkit_rtl::tool::{Cache, Toolbox};
use spadkit_sm::config::Config;

const UNIT: &str = "spad_conflict_arbiter";

fn main() -> Result<()> {
    let machine = Config::preset("fermi")?;
    let design = Design::emit(&[UNIT.to_owned()], &machine)?;
    for file in &design.files {
        println!("{}: {} lines", file.name, file.text.lines().count());
    }
    let options = CosimOptions {
        config: &machine,
        cycles: Some(10_000),
        seed: 1,
        trace: None,
        replay: None,
        rtl_dir: None,
        trust: false,
        wave: None,
    };
    let (tools, cache) = (Toolbox::new(), Cache::user()?);
    for unit in &design.units {
        let result = cosim_unit(&design, unit, &options, &tools, &cache, &|_| {})?;
        match result.mismatch() {
            None => println!(
                "{}: {} cycles, no mismatch",
                unit.name, result.outcome.cycles
            ),
            Some(first) => println!("{}: differs in cycle {}", unit.name, first.cycle),
        }
    }
    Ok(())
}
