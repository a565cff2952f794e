//! One bench per kind of unit.

mod arbiter;
mod bank_ram;
mod bus;
mod config;
mod crossbar;
mod hash;
mod lock_unit;
mod pattern;
mod prediction;
mod queues;
mod row_map;
mod scratchpad;
mod sequencer;
mod sharing;
mod sm_path;
mod support;

use super::bench::Bench;
use super::layout::Layout;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::hash::HashKind;
use crate::model::ConfiguredUnit;
use crate::sm::Workload;
use crate::trace::AccessTrace;
use arbiter::ArbiterBench;
use bank_ram::BankRamBench;
use bus::{StreamBench, TcdmBench};
use config::ConfigBench;
use crossbar::CrossbarBench;
use hash::{HashBench, Mappings};
use lock_unit::LockUnitBench;
use prediction::{AccumulatorBench, HistoryBench, MaskBench};
use queues::{QueueBench, WritebackBench};
use row_map::RowMapBench;
use scratchpad::ScratchpadBench;
use sequencer::SequencerBench;
use sharing::{AccessBench, RelsspBench, SchedulerBench};
pub(super) use sm_path::ReplayBench;
use sm_path::SmPathBench;

/// The bench of `spadkit cosim spad_sm_path --trace`: `workload` on an SM.
pub fn replay_for<'a>(
    config: &Config,
    layout: &Layout,
    workload: &'a dyn Workload,
    seed: u64,
) -> Result<Box<dyn Bench + 'a>> {
    let bench = ReplayBench::new(config, layout, workload, seed)?;
    Ok(Box::new(bench))
}

/// The bench of the unit called `name`.
pub fn bench_for(
    name: &str,
    config: &Config,
    layout: &Layout,
    trace: Option<&AccessTrace>,
) -> Result<Box<dyn Bench>> {
    let geometry = config.geometry;
    let addresses = hash::Addresses::new(trace, geometry);
    if let Some(kind) = HashKind::ALL.into_iter().find(|k| k.unit() == name) {
        let mappings = Mappings::Kind(kind);
        return Ok(Box::new(HashBench::new(
            mappings, geometry, layout, addresses,
        )));
    }
    Ok(match name {
        "spad_conflict_arbiter" => Box::new(ArbiterBench::new(config, layout, trace)),
        "spad_crossbar" => Box::new(CrossbarBench::new(config, layout, trace)),
        "spad_bank_ram" => Box::new(BankRamBench::new(config, layout)),
        "spad_scratchpad" => Box::new(ScratchpadBench::new(config, layout, trace)),
        "spad_lock_unit" => Box::new(LockUnitBench::new(config, layout, trace)),
        "spad_retry_sequencer" => Box::new(SequencerBench::new(config, layout, trace)),
        "spad_premem_queue" => Box::new(QueueBench::premem(config, layout)),
        "spad_nonmem_queue" => Box::new(QueueBench::nonmem(config, layout)),
        "spad_writeback_mux" => Box::new(WritebackBench::new(config, layout)),
        "spad_degree_accumulator" => Box::new(AccumulatorBench::new(config, layout)),
        "spad_conflict_history" => Box::new(HistoryBench::new(config, layout)),
        "spad_warp_mask" => Box::new(MaskBench::new(config, layout)),
        "spad_warp_scheduler" => Box::new(SchedulerBench::new(config, layout)),
        "spad_access_unit" => Box::new(AccessBench::new(config, layout)),
        "spad_stream" => Box::new(StreamBench::new(config, layout, trace)),
        "spad_tcdm" => Box::new(TcdmBench::new(config, layout, trace)),
        "spad_sm_path" => Box::new(SmPathBench::new(config, layout)),
        "spad_relssp" => Box::new(RelsspBench::new(config, layout)),
        "spad_hash_xor" => Box::new(HashBench::new(Mappings::Xor, geometry, layout, addresses)),
        "spad_hash_add" => Box::new(HashBench::new(Mappings::Add, geometry, layout, addresses)),
        "spad_rap" => Box::new(HashBench::new(Mappings::Shift, geometry, layout, addresses)),
        "spad_row_map" => Box::new(RowMapBench::new(geometry, layout, addresses)),
        "spad_hash_config" => {
            let unit = ConfiguredUnit::Hash(config.hash_unit);
            Box::new(ConfigBench::new(unit, geometry, layout))
        }
        "spad_hash_config_rap" => Box::new(ConfigBench::new(ConfiguredUnit::Rap, geometry, layout)),
        "spad_hash_config_row_map" => {
            Box::new(ConfigBench::new(ConfiguredUnit::RowMap, geometry, layout))
        }
        _ => {
            let of_unit =
                |k: &HashKind| k.unit().replace("spad_hash_", "spad_hash_config_") == name;
            let Some(kind) = HashKind::ALL.into_iter().find(of_unit) else {
                return Err(Error::usage(
                    format!("unit '{name}' has no co-simulation bench"),
                    "run 'spadkit cosim' without a unit to run those that have",
                ));
            };
            Box::new(ConfigBench::new(
                ConfiguredUnit::Hash(kind),
                geometry,
                layout,
            ))
        }
    })
}
