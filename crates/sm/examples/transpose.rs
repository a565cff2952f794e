//! Cycles of a tiled transpose: on a pipeline that stops at every conflict, on
//! the elastic one, and with a hash that removes the conflicts.
//!
//! ```text
//! cargo run -p spadkit-sm --example transpose
//! ```

use spadkit_base::error::Result;
use spadkit_mapping::trace::kernels;
use spadkit_sm::config::{Config, Pipeline, Scheduler};
use spadkit_sm::sm::{AccessWorkload, Setup};

fn main() -> Result<()> {
    let machine = Config::preset("gt200")?;
    let trace = kernels::generate("transpose:tile=16")?;
    // Eight blocks, and three instructions of arithmetic for each access.
    let workload = AccessWorkload::new(&trace, 8)?.with_intensity(0.25)?;
    let unified = Setup::default();
    let elastic = Setup {
        pipeline: Some(Pipeline::Elastic),
        scheduler: Some(Scheduler::ConflictAware),
        ..Setup::default()
    };
    let hashed = Setup {
        hash: Some("xor".parse()?),
        ..Setup::default()
    };
    for (name, setup) in [
        ("unified", unified),
        ("elastic", elastic),
        ("hashed", hashed),
    ] {
        let statistics = setup.run(&machine, &workload)?;
        let waits = statistics.stalls.bank_conflict;
        println!(
            "{name}: {} cycles, {waits} slots lost to conflicts",
            statistics.cycles
        );
    }
    Ok(())
}
