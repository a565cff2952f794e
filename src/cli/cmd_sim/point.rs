//! The numbers of one run.

use super::Works;
use super::plan::{Draft, Plan, mapping};
use crate::config::{Config, LockHash, PathHash, Pipeline, Scheduler};
use crate::error::Result;
use crate::sm::{Limit, Profile, Residency, RunProgress, Statistics};
use serde::Serialize;
use serde_json::{Map, Value};

/// The result of a point.
#[derive(Clone)]
pub(super) struct Point {
    pub draft: Draft,
    /// The machine with all choices.
    pub config: Config,
    /// The bank mapping.
    pub hash: String,
    pub residency: Residency,
    /// N of an access trace's dependences.
    pub dependent: Option<u32>,
    pub statistics: Statistics,
    /// Issue slots by instruction, where they were asked for.
    pub profile: Option<Profile>,
    /// All blocks have ended.
    pub ended: bool,
    /// Cycles of what its speed-up is over.
    pub baseline: Option<u64>,
}

impl Point {
    /// The point as an earlier run left it.
    pub fn known(
        draft: &Draft,
        plan: &Plan,
        works: &Works,
        statistics: Statistics,
    ) -> Result<Self> {
        let machine = draft.machine(plan)?;
        let sm = draft.setup.build(&machine, works.of(draft.blocks))?;
        let residency = sm.layout().residency();
        Self::of(draft, &machine, works, (residency, statistics))
    }

    /// A point that has run to its end.
    fn of(
        draft: &Draft,
        machine: &Config,
        works: &Works,
        (residency, statistics): (Residency, Statistics),
    ) -> Result<Self> {
        let config = draft.setup.apply(machine)?;
        Ok(Point {
            draft: draft.clone(),
            hash: mapping(&draft.setup, &config),
            residency,
            dependent: works.dependent,
            statistics,
            profile: None,
            ended: true,
            baseline: None,
            config,
        })
    }

    /// Runs the point, where `profiled` with the issue slots of each
    /// instruction; `watch` ends it by returning false.
    pub fn run(
        draft: &Draft,
        plan: &Plan,
        works: &Works,
        profiled: bool,
        watch: &mut dyn FnMut(RunProgress) -> bool,
    ) -> Result<Self> {
        let machine = draft.machine(plan)?;
        let sm = draft.setup.build(&machine, works.of(draft.blocks))?;
        let residency = sm.layout().residency();
        let (statistics, profile, ended) = if profiled {
            let (statistics, profile, ended) = sm.run_profiled(watch)?;
            (statistics, Some(profile), ended)
        } else {
            let (statistics, ended) = sm.run_watched(watch)?;
            (statistics, None, ended)
        };
        Ok(Point {
            profile,
            ended,
            ..Self::of(draft, &machine, works, (residency, statistics))?
        })
    }

    /// t, where blocks may share.
    pub fn sharing(&self) -> Option<f64> {
        let sharing = self.config.sm.sharing;
        sharing.on.then_some(sharing.threshold)
    }

    /// Speed-up over its baseline.
    pub fn speed_up(&self) -> Option<f64> {
        let cycles = self.statistics.cycles.max(1) as f64;
        self.baseline.map(|baseline| baseline as f64 / cycles)
    }

    /// The reason of most stalls and its share of all issue slots.
    pub fn dominant_stall(&self) -> Option<(&'static str, f64)> {
        let s = &self.statistics;
        let slots = (s.issued + s.stalls.total()).max(1) as f64;
        let (reason, cycles) = s.stalls.most()?;
        Some((reason, cycles as f64 / slots))
    }

    pub fn numbers(&self) -> Numbers<'_> {
        let settings = &self.config.settings;
        let sets = self.draft.sets.iter();
        Numbers {
            preset: &self.config.name,
            pipeline: settings.pipeline,
            scheduler: settings.scheduler,
            aware: settings.is_aware(),
            violate: settings.violate,
            hash: &self.hash,
            hash_hardware: self.config.path.hash,
            hash_stage: self.config.path.hash_stage,
            lock_hash: settings.lock_hash,
            sharing: self.sharing(),
            dependent: self.dependent,
            resident_blocks: self.residency.blocks(),
            pairs: self.residency.pairs,
            limited_by: self.residency.limit,
            dominant_stall: self.dominant_stall().map(|s| s.0),
            set: sets.map(|(k, v)| (k.clone(), v.clone().into())).collect(),
            statistics: &self.statistics,
        }
    }

    pub fn compared(&self) -> Compared<'_> {
        Compared {
            numbers: self.numbers(),
            speed_up: self.speed_up(),
        }
    }
}

/// A point: its choices and its results.
#[derive(Serialize)]
pub(super) struct Numbers<'a> {
    preset: &'a str,
    pipeline: Pipeline,
    scheduler: Scheduler,
    aware: bool,
    violate: bool,
    hash: &'a str,
    hash_hardware: PathHash,
    hash_stage: u32,
    lock_hash: LockHash,
    /// t, where blocks may share.
    sharing: Option<f64>,
    dependent: Option<u32>,
    resident_blocks: u32,
    pairs: u32,
    limited_by: Limit,
    dominant_stall: Option<&'static str>,
    /// Keys of the configuration that were given.
    #[serde(skip_serializing_if = "Map::is_empty")]
    set: Map<String, Value>,
    #[serde(flatten)]
    statistics: &'a Statistics,
}

/// A point, compared with its baseline.
#[derive(Serialize)]
pub(super) struct Compared<'a> {
    #[serde(flatten)]
    numbers: Numbers<'a>,
    speed_up: Option<f64>,
}
