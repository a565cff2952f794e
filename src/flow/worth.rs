//! The gain of a mapping in cycles: the kernel on the model of the SM.

use super::options::Options;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::hash::HashSpec;
use crate::interrupt;
use crate::report::{FlowReport, Timed, Worth};
use crate::sm::{Setup, Workload};
use crate::trace::AccessTrace;
use crate::workload::{AccessOptions, is_access_trace, load_workload};
use std::time::{Duration, Instant};

/// Cycles without a hash and under the recommended mapping; `None` where that
/// is the same mapping.
pub(super) fn worth(
    trace: &AccessTrace,
    machine: &Config,
    report: &FlowReport,
    options: &Options,
) -> Result<Option<Worth>> {
    let best = report.recommended().filter(|m| m.hash != "mod");
    let Some(best) = best else {
        return Ok(None);
    };
    let access = AccessOptions::default();
    let workload: Box<dyn Workload> = if is_access_trace(&options.input) {
        Box::new(access.workload(trace)?)
    } else {
        load_workload(&options.input, &access)?
    };
    // A mapping in software has no stage.
    let stage = (!machine.has_hash_unit()).then_some(0);
    let time = |hash: HashSpec, stage| timed(hash, stage, machine, &*workload, options.budget);
    let before = time(HashSpec::Mod, Some(0))?;
    let after = time(best.hash.parse()?, stage)?;
    Ok(Some(Worth {
        blocks: workload.info().blocks,
        speed_up: before.cycles as f64 / after.cycles.max(1) as f64,
        rewritten: false,
        before,
        after,
    }))
}

/// Cycles under `hash`, for at most `budget`.
pub(super) fn timed(
    hash: HashSpec,
    hash_stage: Option<u32>,
    machine: &Config,
    workload: &dyn Workload,
    budget: Duration,
) -> Result<Timed> {
    let name = hash.to_string();
    let setup = Setup {
        hash: Some(hash),
        hash_stage,
        ..Setup::default()
    };
    let hash_stage = setup.apply(machine)?.path.hash_stage;
    let start = Instant::now();
    let (statistics, ended) = setup
        .build(machine, workload)?
        .run_watched(&mut |_| !interrupt::requested() && start.elapsed() < budget)?;
    if !ended {
        return Err(Error::usage(
            format!("not known after {} cycles under {name}", statistics.cycles),
            "spadkit sim has no limit; --budget gives the seconds",
        ));
    }
    Ok(Timed {
        hash: name,
        hash_stage,
        cycles: statistics.cycles,
    })
}
