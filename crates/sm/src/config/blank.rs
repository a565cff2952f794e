//! The blank machine that the presets start from, and the differences of a machine from it.

use super::{
    AxiOptions, Barrel, Config, LockHash, PathHash, PathParams, PathSettings, Pipeline,
    RetryLatencies, Scheduler, SmParams, StreamOptions, TcdmOptions,
};
use serde_json::{Value, json};
use spadkit_base::error::Result;
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::{HashKind, HashSpec};
use spadkit_mapping::trace::{Atomics, Wide};
use std::collections::BTreeMap;

/// The machine that a preset without a base sets all keys of.
pub(super) fn blank() -> Result<Config> {
    Ok(Config {
        name: String::new(),
        compute_capability: None,
        geometry: Geometry::new(14, 5)?,
        lanes: 0,
        warp_size: 0,
        word_bits: 0,
        capacity_words: 0,
        block_words: 0,
        wide: Wide::FirstWord,
        atomics: Atomics::Words,
        hash_unit: HashKind::Matrix,
        path: PathParams {
            warps: 0,
            blocks: 0,
            locks: 0,
            lock_group_cycles: 0,
            lock_owner: false,
            mem_stages: 0,
            ahead: 0,
            hash_stage: 0,
            hash: PathHash::Mod,
            hash_reset: HashSpec::Mod,
            broadcast: false,
            merge_bytes: false,
            history_sets: 0,
            retry: RetryLatencies::NONE,
            emitted_retry: RetryLatencies::NONE,
            tcdm: TcdmOptions::default(),
            stream: StreamOptions::default(),
            axi: AxiOptions::default(),
            retry_contexts: 0,
        },
        settings: PathSettings {
            pipeline: Pipeline::Unified,
            barrel: Barrel::Strict,
            scheduler: Scheduler::Lrr,
            aware: None,
            violate: false,
            lock_hash: LockHash::None,
        },
        sm: SmParams::default(),
    })
}

impl Config {
    /// The settings in which the machine differs from a blank one, where all is off or
    /// zero, by their key paths such as `path.retry.read`. A new part of [`Config`]
    /// appears here only if the machine uses it, so that the digests of older machines do
    /// not change.
    pub fn beyond_blank(&self) -> Result<BTreeMap<String, Value>> {
        let blank = values(&blank()?);
        let mut own = values(self);
        // A value that is not written here, and is in the blank one.
        for place in blank.keys() {
            own.entry(place.clone()).or_insert(Value::Null);
        }
        own.retain(|place, value| blank.get(place) != Some(value));
        Ok(own)
    }
}

/// The settings of a machine, by their key paths.
fn values(config: &Config) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    collect("", json!(config), &mut found);
    found
}

fn collect(place: &str, value: Value, found: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let dot = if place.is_empty() { "" } else { "." };
                collect(&format!("{place}{dot}{name}"), value, found);
            }
        }
        value => {
            found.insert(place.to_owned(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part that no machine uses has no line; one that a machine sets has.
    #[test]
    fn only_what_is_set_is_beyond_a_blank_machine() {
        assert_eq!(blank().unwrap().beyond_blank().unwrap(), BTreeMap::new());
        let mut machine = Config::preset("gpgpusim-16k").unwrap();
        let keys = machine.beyond_blank().unwrap();
        for off in ["path.lock_owner", "path.stream.window", "path.hash_reset"] {
            assert!(!keys.contains_key(off), "{off}");
        }
        assert_eq!(keys["sm.latencies.alu"], json!(4));
        machine.path.lock_owner = true;
        machine.path.hash_reset = HashSpec::Xor;
        let more = machine.beyond_blank().unwrap();
        let added: Vec<_> = more.keys().filter(|k| !keys.contains_key(*k)).collect();
        assert_eq!(added, ["path.hash_reset", "path.lock_owner"]);
    }

    /// No two machines have the same digest: what tells them apart is beyond a blank one.
    #[test]
    fn every_preset_has_values_of_its_own() {
        let mut seen = Vec::new();
        // sm121 is sm120 under another compute capability.
        for name in super::super::PRESETS.into_iter().filter(|&n| n != "sm121") {
            let mut machine = Config::preset(name).unwrap();
            machine.name.clear();
            let keys = machine.beyond_blank().unwrap();
            assert!(!seen.contains(&keys), "{name}");
            seen.push(keys);
        }
    }
}
