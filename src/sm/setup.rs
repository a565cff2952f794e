//! One point of a sweep: what differs from the machine's configuration.

use super::{Sm, Statistics, Workload};
use crate::config::{Config, LockHash, PathHash, Pipeline, Scheduler};
use crate::error::{Error, Result};
use crate::hash::HashSpec;

/// Choices that replace those of a machine; `None` keeps them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setup {
    /// Pipeline.
    pub pipeline: Option<Pipeline>,
    /// Warp scheduler.
    pub scheduler: Option<Scheduler>,
    /// Bank mapping. `mod`, `xor`, `add` and the RAP family are fixed hardware
    /// without a stage of its own; the others need the configurable unit.
    pub hash: Option<HashSpec>,
    /// Lock hash.
    pub lock_hash: Option<LockHash>,
    /// Scratchpad sharing with this threshold.
    pub sharing: Option<f64>,
}

impl Setup {
    /// The machine with these choices.
    pub fn apply(&self, machine: &Config) -> Result<Config> {
        let mut config = machine.clone();
        if let Some(pipeline) = self.pipeline {
            config.settings.pipeline = pipeline;
        }
        if let Some(scheduler) = self.scheduler {
            config.settings.scheduler = scheduler;
            config.settings.violate &= scheduler == Scheduler::ConflictAware;
        }
        if let Some(lock_hash) = self.lock_hash {
            config.settings.lock_hash = lock_hash;
        }
        if let Some(threshold) = self.sharing {
            if !(0.0..=1.0).contains(&threshold) {
                return Err(Error::usage(
                    format!("sharing threshold {threshold} is not a part"),
                    "expected t, the part of a block's scratchpad that stays its own, from 0 to 1",
                ));
            }
            (config.sm.sharing.on, config.sm.sharing.threshold) = (true, threshold);
        }
        if let Some(hash) = &self.hash {
            set_hash(&mut config, hash);
        }
        Ok(config)
    }

    /// An SM with these choices, about to run `workload`.
    pub fn build<'a>(&self, machine: &Config, workload: &'a dyn Workload) -> Result<Sm<'a>> {
        let sm = Sm::new(&self.apply(machine)?, workload)?;
        match &self.hash {
            Some(hash) => sm.with_hash(hash),
            None => Ok(sm),
        }
    }

    /// Runs `workload` on the machine with these choices.
    pub fn run(&self, machine: &Config, workload: &dyn Workload) -> Result<Statistics> {
        self.build(machine, workload)?.run()
    }
}

/// The hardware that `spec` needs.
fn set_hash(config: &mut Config, spec: &HashSpec) {
    let fixed = match spec {
        HashSpec::Mod => Some(PathHash::Mod),
        HashSpec::Xor => Some(PathHash::Xor),
        HashSpec::Add => Some(PathHash::Add),
        _ => None,
    };
    let path = &mut config.path;
    match (fixed, spec.kind()) {
        (Some(fixed), _) => (path.hash, path.hash_stage) = (fixed, 0),
        (None, Some(kind)) => {
            // The extra cycle is the configurable unit's (hash paper, section 6).
            if path.hash != PathHash::Configurable {
                path.hash_stage = 1;
            }
            (path.hash, config.hash_unit) = (PathHash::Configurable, kind);
        }
        (None, None) => (path.hash, path.hash_stage) = (PathHash::Rap, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extra_cycle_comes_with_the_configurable_unit() {
        let fermi = Config::preset("fermi").unwrap();
        let gt200 = Config::preset("gt200").unwrap();
        for (spec, hash, on_fermi, on_gt200) in [
            ("mod", PathHash::Mod, 0, 0),
            ("xor", PathHash::Xor, 0, 0),
            ("rap:seed=1", PathHash::Rap, 0, 0),
            ("bitvec-perm:k=1", PathHash::Configurable, 1, 1),
        ] {
            let setup = Setup {
                hash: Some(spec.parse().unwrap()),
                ..Setup::default()
            };
            let path = setup.apply(&fermi).unwrap().path;
            assert_eq!((path.hash, path.hash_stage), (hash, on_fermi), "{spec}");
            let path = setup.apply(&gt200).unwrap().path;
            assert_eq!((path.hash, path.hash_stage), (hash, on_gt200), "{spec}");
        }
    }

    #[test]
    fn a_threshold_is_a_part() {
        let setup = |t| Setup {
            sharing: Some(t),
            ..Setup::default()
        };
        let fermi = Config::preset("fermi").unwrap();
        assert!(setup(0.5).apply(&fermi).unwrap().sm.sharing.on);
        assert!(setup(1.5).apply(&fermi).is_err());
        assert!(setup(f64::NAN).apply(&fermi).is_err());
    }
}
