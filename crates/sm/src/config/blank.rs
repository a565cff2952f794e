//! What the presets begin from.

use super::{
    AxiOptions, Barrel, Config, LockHash, PathHash, PathParams, PathSettings, Pipeline,
    RetryLatencies, Scheduler, SmParams, StreamOptions, TcdmOptions,
};
use spadkit_base::error::Result;
use spadkit_mapping::geometry::Geometry;
use spadkit_mapping::hash::{HashKind, HashSpec};
use spadkit_mapping::trace::{Atomics, Wide};

/// The machine that a preset without a base sets all keys of.
pub(super) fn blank() -> Result<Config> {
    Ok(Config {
        name: String::new(),
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
