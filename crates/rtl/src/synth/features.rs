//! The cost of each feature of the scratchpad path: a block is emitted with
//! everything on, then with one thing changed, and its cells are counted each
//! time.

use super::job::SynthJob;
use super::structure::Structure;
use crate::config::{Config, PathHash};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::rtl::Design;
use crate::template::fill;
use crate::tool::{Cache, ToolKind, Toolbox};
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};

/// The arbiter and the crossbars by themselves; no unit, hence its own name.
const INTERCONNECT: &str = "interconnect";
const WRAPPER: &str = include_str!("../../synth/interconnect.v.tera");

/// Blocks that can be taken apart.
pub const FEATURE_BLOCKS: [&str; 3] = [INTERCONNECT, "spad_scratchpad", "spad_sm_path"];

/// One block in one build.
#[derive(Clone, Debug, Serialize)]
pub struct FeatureCost {
    /// Name of the block, one of [`FEATURE_BLOCKS`].
    pub block: String,
    /// Difference from the first build of the block, which has everything.
    pub build: String,
    /// The counts.
    #[serde(flatten)]
    pub structure: Structure,
}

/// A variant of the machine: its name, and the change of the configuration.
type Build = (&'static str, fn(&mut Config));

const BROADCAST: Build = ("without broadcast", |c| c.path.broadcast = false);
const MERGING: Build = ("without byte merging", |c| c.path.merge_bytes = false);
const LOCKS: Build = ("without locks", |c| c.path.locks = 0);
const BARE: Build = ("without any of these", |c| {
    c.path.broadcast = false;
    c.path.merge_bytes = false;
    c.path.locks = 0;
});
const HASH: Build = ("without hash", |c| c.path.hash = PathHash::Mod);
const HASH_STAGE: Build = ("hash stage", |c| c.path.hash_stage = 1 - c.path.hash_stage);

/// The builds of a block, the full one first.
fn builds(block: &str, machine: &Config) -> Vec<(String, Config)> {
    let mut full = machine.clone();
    full.path.broadcast = true;
    full.path.merge_bytes = true;
    let changes: &[Build] = match block {
        INTERCONNECT => &[MERGING, BROADCAST, BARE],
        "spad_scratchpad" => &[MERGING, BROADCAST, LOCKS, BARE],
        _ => &[LOCKS, HASH, HASH_STAGE],
    };
    let changed = changes.iter().filter_map(|(name, change)| {
        let mut config = full.clone();
        change(&mut config);
        let name = match *name {
            "hash stage" if full.path.hash_stage == 0 => "with a hash stage",
            "hash stage" => "without hash stage",
            name => name,
        };
        // A machine that lacks the feature anyway has no such build.
        (config.path != full.path).then(|| (name.to_owned(), config))
    });
    let everything = ("everything".to_owned(), full.clone());
    std::iter::once(everything).chain(changed).collect()
}

fn job(block: &str, machine: &Config) -> Result<SynthJob> {
    if block != INTERCONNECT {
        let design = Design::emit(&[block.to_owned()], machine)?;
        return Ok(SynthJob::of(&design, &design.units[0], machine));
    }
    let parts = ["spad_conflict_arbiter", "spad_crossbar"].map(str::to_owned);
    let design = Design::emit(&parts, machine)?;
    let files = design.files.iter();
    let mut sources: Vec<_> = files.map(|f| (f.name.clone(), f.text.clone())).collect();
    sources.push((format!("{INTERCONNECT}.v"), wrapper(machine)?));
    Ok(SynthJob {
        unit: INTERCONNECT.to_owned(),
        top: INTERCONNECT.to_owned(),
        geometry: design.geometry,
        sources,
        memories: Vec::new(),
        ports: Vec::new(),
        keep_hierarchy: false,
    })
}

/// The arbiter and the crossbars in one module.
fn wrapper(machine: &Config) -> Result<String> {
    let (lanes, banks) = (machine.lanes as usize, machine.geometry.banks());
    let (bank_bits, row_bits) = (machine.geometry.bank_bits(), machine.geometry.row_bits());
    let (word, enables) = (machine.word_bits as usize, machine.word_bits as usize / 8);
    let widths = serde_json::json!({
        "lanes": lanes,
        "banks": banks,
        "lane_bank": lanes * bank_bits as usize,
        "lane_row": lanes * row_bits as usize,
        "bank_row": banks * row_bits as usize,
        "lane_data": lanes * word,
        "bank_data": banks * word,
        "lane_be": lanes * enables,
        "bank_be": banks * enables,
        "degree": machine.parameters().DG,
    });
    fill("interconnect.v.tera", WRAPPER, &widths)
}

/// Counts the builds of `blocks`. `done` hears of each finished one.
pub fn feature_costs(
    blocks: &[String],
    machine: &Config,
    tools: &Toolbox,
    cache: &Cache,
    done: &(dyn Fn(u64, &str) + Sync),
) -> Result<Vec<FeatureCost>> {
    if let Some(unknown) = blocks
        .iter()
        .find(|b| !FEATURE_BLOCKS.contains(&b.as_str()))
    {
        return Err(Error::usage(
            format!("'{unknown}' has no optional features to remove"),
            format!("expected {}", FEATURE_BLOCKS.join(", ")),
        ));
    }
    for block in blocks {
        machine.needs_rtl(block)?;
    }
    let yosys = tools.get(ToolKind::Yosys)?;
    let all: Vec<(&String, String, Config)> = blocks
        .iter()
        .flat_map(|b| builds(b, machine).into_iter().map(move |(n, c)| (b, n, c)))
        .collect();
    let count = AtomicU64::new(0);
    let costs = all
        .par_iter()
        .map(|(block, build, config)| {
            interrupt::check(block)?;
            let structure = Structure::measure(&job(block, config)?, &yosys, cache)?;
            let so_far = count.fetch_add(1, Ordering::Relaxed) + 1;
            done(so_far, &format!("{block} {build}"));
            Ok(FeatureCost {
                block: (*block).clone(),
                build: build.clone(),
                structure,
            })
        })
        .map(interrupt::or_none)
        .collect::<Result<Vec<_>>>()?;
    Ok(costs.into_iter().flatten().collect())
}

/// Number of builds that [`feature_costs`] makes.
pub fn feature_builds(blocks: &[String], machine: &Config) -> u64 {
    blocks.iter().map(|b| builds(b, machine).len() as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::required;

    #[test]
    fn each_build_changes_the_machine() {
        let machine = Config::preset("small").unwrap();
        for block in FEATURE_BLOCKS {
            let builds = builds(block, &machine);
            assert_eq!(builds[0].0, "everything");
            assert!(builds[1..].iter().all(|(_, c)| c.path != builds[0].1.path));
        }
        let mut without = machine.clone();
        without.path.locks = 0;
        let names = builds("spad_scratchpad", &without);
        assert!(names.iter().all(|(name, _)| name != "without locks"));
    }

    /// A feature that is off takes gates away.
    fn costs_gates(block: &str) {
        let Some(tools) = required::toolbox(&[ToolKind::Yosys]) else {
            return;
        };
        let machine = Config::preset("small").unwrap();
        let blocks = [block.to_owned()];
        let cache = Cache::temporary().unwrap();
        let costs = feature_costs(&blocks, &machine, &tools, &cache, &|_, _| {}).unwrap();
        assert_eq!(costs.len() as u64, feature_builds(&blocks, &machine));
        let full = costs[0].structure;
        assert!(full.levels > 1 && full.flops > 0);
        for other in &costs[1..] {
            assert!(other.structure.cells < full.cells, "{other:?}");
            assert_eq!(other.structure.memory_bits, full.memory_bits);
        }
        let words = u64::from(machine.capacity_words);
        let bits = words * u64::from(machine.word_bits);
        let banks = block == "spad_scratchpad";
        assert_eq!(full.memory_bits, if banks { bits } else { 0 });
    }

    #[test]
    #[ignore = "takes a quarter of a minute; part of make campaign"]
    fn features_of_the_interconnect_cost_gates() {
        costs_gates(INTERCONNECT);
    }

    #[test]
    #[ignore = "takes a minute; part of make campaign"]
    fn features_of_the_scratchpad_cost_gates() {
        costs_gates("spad_scratchpad");
    }
}
