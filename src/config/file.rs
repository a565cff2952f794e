//! Configuration files: TOML, laid over a preset.

use super::path::{Barrel, LockHash, Pipeline, Scheduler};
use super::{Config, PathHash};
use crate::error::{Error, Result};
use crate::geometry::Geometry;
use crate::hash::HashKind;
use crate::quote::did_you_mean;
use crate::trace::{Atomics, Wide};
use serde::Deserialize;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Parses a configuration file's text; `path` is for messages.
pub(super) fn parse(text: &str, path: &Path) -> Result<Config> {
    let file: ConfigFile = toml::from_str(text).map_err(|e| {
        let offset = e.span().map_or(0, |s| s.start);
        Error::input(with_nearest(e.message()), None, path, text, offset)
    })?;
    let machine = || {
        let base = Config::preset(file.base.as_deref().unwrap_or("fermi"))?;
        file.over(base)
    };
    machine().map_err(|error| match error {
        Error::Usage { what, help } => match place_of(&what, text) {
            Some(offset) => Error::input(what, help, path, text, offset),
            // It contradicts another value or a preset: no single place is wrong.
            None => Error::Usage {
                what: format!("{}: {what}", path.display()),
                help,
            },
        },
        other => other,
    })
}

/// Where the key that a refusal begins with stands: `key`, or `section.key`
/// where several sections have one of that name.
fn place_of(what: &str, text: &str) -> Option<usize> {
    let name = what.split(' ').next()?;
    let (section, key) = match name.split_once('.') {
        Some((section, key)) => (Some(section), key),
        None => (None, name),
    };
    let table = DeTable::parse(text).ok()?.into_inner();
    let sections = table
        .iter()
        .filter(|(name, _)| section.is_none_or(|wanted| name.get_ref().as_ref() == wanted));
    let in_section = |value: &Spanned<DeValue>| {
        let keys = value.get_ref().as_table()?;
        let found = keys.iter().find(|(name, _)| name.get_ref().as_ref() == key);
        found.map(|(name, _)| name.span().start)
    };
    sections
        .into_iter()
        .find_map(|(_, value)| in_section(value))
}

/// The name goes into headers and into the FuseSoC core.
fn check_name(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if (1..=64).contains(&name.len()) && name.chars().all(plain) {
        return Ok(());
    }
    Err(Error::usage(
        format!("name {name:?} is not supported"),
        "expected 1 to 64 letters, digits, '-', '_' and '.'",
    ))
}

/// A file's keys, of the right types.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigFile {
    name: Option<String>,
    base: Option<String>,
    #[serde(default)]
    geometry: GeometrySection,
    #[serde(default)]
    hash: HashSection,
    #[serde(default)]
    path: PathSection,
    #[serde(default)]
    retry: RetrySection,
    #[serde(default)]
    pipeline: PipelineSection,
    #[serde(default)]
    scheduler: SchedulerSection,
    #[serde(default)]
    sm: SmSection,
    #[serde(default)]
    sharing: SharingSection,
    #[serde(default)]
    global: GlobalSection,
    #[serde(default)]
    l1: L1Section,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct GeometrySection {
    addr_bits: Option<u32>,
    bank_bits: Option<u32>,
    lanes: Option<u32>,
    warp_size: Option<u32>,
    word_bits: Option<u32>,
    capacity_words: Option<u32>,
    block_words: Option<u32>,
    wide: Option<Wide>,
    atomics: Option<Atomics>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct HashSection {
    unit: Option<HashKind>,
    path: Option<PathHash>,
    stage: Option<u32>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct PathSection {
    warps: Option<u32>,
    blocks: Option<u32>,
    locks: Option<u32>,
    lock_group_cycles: Option<u32>,
    lock_hash: Option<LockHash>,
    mem_stages: Option<u32>,
    ahead: Option<u32>,
    broadcast: Option<bool>,
    merge_bytes: Option<bool>,
    history_sets: Option<u32>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RetrySection {
    read: Option<u32>,
    update: Option<u32>,
    write: Option<u32>,
    branch: Option<u32>,
    contexts: Option<u32>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct PipelineSection {
    kind: Option<Pipeline>,
    barrel: Option<Barrel>,
    frontend_stages: Option<u32>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct SchedulerSection {
    policy: Option<Scheduler>,
    aware: Option<bool>,
    violate: Option<bool>,
    count: Option<u32>,
    active_warps: Option<u32>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct SmSection {
    registers: Option<u32>,
    atomics_as_loads: Option<bool>,
    alu_cycles: Option<u32>,
    sfu_cycles: Option<u32>,
    branch_cycles: Option<u32>,
    shared_cycles: Option<u32>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct SharingSection {
    on: Option<bool>,
    threshold: Option<f64>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct GlobalSection {
    latency: Option<u32>,
    segment_bytes: Option<u32>,
    bytes_per_cycle: Option<f64>,
    max_segments: Option<u32>,
    max_stores: Option<u32>,
    store_latency: Option<u32>,
    merge: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct L1Section {
    size_bytes: Option<u32>,
    ways: Option<u32>,
    line_bytes: Option<u32>,
    latency: Option<u32>,
    mshrs: Option<u32>,
}

/// Takes the file's value where there is one.
fn set<T>(target: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *target = value;
    }
}

impl ConfigFile {
    /// The machine: `base` with the file's keys, checked as a whole.
    pub(super) fn over(self, mut base: Config) -> Result<Config> {
        self.lay_over(&mut base)?;
        base.check()?;
        Ok(base)
    }

    fn lay_over(self, c: &mut Config) -> Result<()> {
        if let Some(name) = &self.name {
            check_name(name)?;
        }
        set(&mut c.name, self.name);
        let lanes = c.lanes;
        self.geometry.lay_over(c)?;
        if c.lanes != lanes {
            c.path.lock_group_cycles = if c.lanes >= 32 { 2 } else { 1 };
        }
        self.hash.lay_over(c);
        self.path.lay_over(c);
        set(&mut c.path.retry.read, self.retry.read);
        set(&mut c.path.retry.update, self.retry.update);
        set(&mut c.path.retry.write, self.retry.write);
        set(&mut c.path.retry.branch, self.retry.branch);
        set(&mut c.path.retry_contexts, self.retry.contexts);
        set(&mut c.settings.pipeline, self.pipeline.kind);
        set(&mut c.settings.barrel, self.pipeline.barrel);
        set(&mut c.sm.frontend_stages, self.pipeline.frontend_stages);
        self.scheduler.lay_over(c);
        set(&mut c.sm.registers, self.sm.registers);
        set(&mut c.sm.atomics_as_loads, self.sm.atomics_as_loads);
        set(&mut c.sm.latencies.alu, self.sm.alu_cycles);
        set(&mut c.sm.latencies.sfu, self.sm.sfu_cycles);
        set(&mut c.sm.latencies.branch, self.sm.branch_cycles);
        set(&mut c.sm.latencies.shared, self.sm.shared_cycles);
        set(&mut c.sm.sharing.on, self.sharing.on);
        set(&mut c.sm.sharing.threshold, self.sharing.threshold);
        let (to, from) = (&mut c.sm.global, self.global);
        set(&mut to.latency, from.latency);
        set(&mut to.segment_bytes, from.segment_bytes);
        set(&mut to.bytes_per_cycle, from.bytes_per_cycle);
        set(&mut to.max_segments, from.max_segments);
        set(&mut to.max_stores, from.max_stores);
        set(&mut to.store_latency, from.store_latency);
        set(&mut to.merge, from.merge);
        let (to, from) = (&mut c.sm.l1, self.l1);
        set(&mut to.size_bytes, from.size_bytes);
        set(&mut to.ways, from.ways);
        set(&mut to.line_bytes, from.line_bytes);
        set(&mut to.latency, from.latency);
        set(&mut to.mshrs, from.mshrs);
        Ok(())
    }
}

impl GeometrySection {
    fn lay_over(self, c: &mut Config) -> Result<()> {
        let geometry = Geometry::new(
            self.addr_bits.unwrap_or(c.geometry.addr_bits()),
            self.bank_bits.unwrap_or(c.geometry.bank_bits()),
        )?;
        let capacity = c.capacity_words;
        // A geometry of its own comes with a full scratchpad, unless said otherwise.
        if geometry != c.geometry {
            c.capacity_words = geometry.words() as u32;
        }
        c.geometry = geometry;
        set(&mut c.lanes, self.lanes);
        set(&mut c.warp_size, self.warp_size);
        set(&mut c.word_bits, self.word_bits);
        set(&mut c.capacity_words, self.capacity_words);
        if c.capacity_words != capacity {
            c.block_words = c.capacity_words;
        }
        set(&mut c.block_words, self.block_words);
        set(&mut c.wide, self.wide);
        set(&mut c.atomics, self.atomics);
        Ok(())
    }
}

impl HashSection {
    fn lay_over(self, c: &mut Config) {
        set(&mut c.hash_unit, self.unit);
        if let Some(hash) = self.path {
            // The extra cycle is the configurable units' (hash paper, section 6).
            if hash != PathHash::Configurable {
                c.path.hash_stage = 0;
            }
            c.path.hash = hash;
        }
        set(&mut c.path.hash_stage, self.stage);
    }
}

impl SchedulerSection {
    fn lay_over(self, c: &mut Config) {
        set(&mut c.settings.scheduler, self.policy);
        c.settings.aware = self.aware.or(c.settings.aware);
        // The base's goes with the base's mask.
        c.settings.violate &= c.settings.is_aware();
        set(&mut c.settings.violate, self.violate);
        set(&mut c.sm.schedulers, self.count);
        set(&mut c.sm.active_warps, self.active_warps);
    }
}

impl PathSection {
    fn lay_over(self, c: &mut Config) {
        let to = &mut c.path;
        set(&mut to.warps, self.warps);
        set(&mut to.blocks, self.blocks);
        // A lock per word is as many as a small geometry can use.
        to.locks = to.locks.min(1 << c.geometry.addr_bits());
        set(&mut to.locks, self.locks);
        set(&mut to.lock_group_cycles, self.lock_group_cycles);
        set(&mut c.settings.lock_hash, self.lock_hash);
        set(&mut to.mem_stages, self.mem_stages);
        set(&mut to.ahead, self.ahead);
        set(&mut to.broadcast, self.broadcast);
        set(&mut to.merge_bytes, self.merge_bytes);
        set(&mut to.history_sets, self.history_sets);
    }
}

/// A message of serde about an unknown field or value, with the one that was
/// probably meant: it quotes the wrong one first, then those that there are.
pub(super) fn with_nearest(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match quoted.split_first() {
        Some((wrong, known)) if message.starts_with("unknown ") => {
            message.to_owned() + &did_you_mean(wrong, known.iter().copied())
        }
        _ => message.to_owned(),
    }
}
