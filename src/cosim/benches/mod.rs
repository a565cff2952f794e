//! One bench per kind of unit.

mod config;
mod hash;
mod row_map;

use super::bench::Bench;
use super::layout::Layout;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::hash::HashKind;
use crate::model::ConfiguredUnit;
use crate::trace::AccessTrace;
use config::ConfigBench;
use hash::{HashBench, Mappings};
use row_map::RowMapBench;

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
