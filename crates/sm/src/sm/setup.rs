//! A point of a sweep: its differences from the machine's configuration.

use super::{Sm, Statistics, Workload};
use crate::config::{Config, LockHash, PathHash, Pipeline, Scheduler};
use spadkit_base::error::{Error, Result};
use spadkit_mapping::hash::HashSpec;
use std::fmt;
use std::str::FromStr;

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
    /// Stages of the hash, 0 or 1. With `None`, the machine's number if it has
    /// the hardware for the mapping, else the mapping's default.
    pub hash_stage: Option<u32>,
    /// Lock hash.
    pub lock_hash: Option<LockHash>,
    /// Scratchpad sharing.
    pub sharing: Option<Share>,
}

/// Whether two blocks share their scratchpad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Share {
    /// They do not.
    Off,
    /// All but this part of it, which stays a block's own.
    All(f64),
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if text == "off" {
            return Ok(Share::Off);
        }
        let part = text.parse().map(Share::All);
        part.map_err(|_| format!("expected off, or {THRESHOLD}"))
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Share::Off => f.write_str("off"),
            Share::All(part) => write!(f, "{part}"),
        }
    }
}

/// What the threshold of sharing is.
const THRESHOLD: &str = "t, the private fraction of a block's scratchpad, from 0 to 1";

impl Setup {
    /// The machine with these choices.
    pub fn apply(&self, machine: &Config) -> Result<Config> {
        let mut config = machine.clone();
        if let Some(pipeline) = self.pipeline {
            config.settings.pipeline = pipeline;
        }
        if let Some(scheduler) = self.scheduler {
            config.settings.scheduler = scheduler;
            config.settings.violate &= config.settings.is_aware();
        }
        if let Some(lock_hash) = self.lock_hash {
            config.settings.lock_hash = lock_hash;
        }
        match self.sharing {
            None => {}
            Some(Share::Off) => config.sm.sharing.on = false,
            Some(Share::All(threshold)) => {
                if !(0.0..=1.0).contains(&threshold) {
                    return Err(Error::usage(
                        format!("sharing threshold {threshold} is out of range"),
                        format!("expected {THRESHOLD}"),
                    ));
                }
                (config.sm.sharing.on, config.sm.sharing.threshold) = (true, threshold);
            }
        }
        if let Some(hash) = &self.hash {
            set_hash(&mut config, hash);
        }
        config.path.hash_stage = self.hash_stage.unwrap_or(config.path.hash_stage);
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

/// The hardware that `spec` needs, with the stage that it comes with if the
/// machine has another one.
fn set_hash(config: &mut Config, spec: &HashSpec) {
    let path = &mut config.path;
    let fixed = match spec {
        HashSpec::Mod => PathHash::Mod,
        HashSpec::Xor => PathHash::Xor,
        HashSpec::Add => PathHash::Add,
        _ => PathHash::Rap,
    };
    let (hash, stage) = match spec.kind() {
        // The extra cycle is the configurable unit's (hash paper, section 6).
        Some(kind) => {
            config.hash_unit = kind;
            (PathHash::Configurable, 1)
        }
        None => (fixed, 0),
    };
    // The mapping is loaded, whatever the registers hold after a reset.
    path.hash_reset = HashSpec::Mod;
    if path.hash != hash {
        (path.hash, path.hash_stage) = (hash, stage);
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

    /// An explicit number of stages wins, in the file or with the mapping.
    #[test]
    fn a_stage_that_is_given_stays() {
        let text = "base = \"fermi\"\n[hash]\npath = \"mod\"\nstage = 1\n";
        let machine = Config::from_toml(text, std::path::Path::new("m.toml")).unwrap();
        let stage = |spec: &str, hash_stage| {
            let setup = Setup {
                hash: Some(spec.parse().unwrap()),
                hash_stage,
                ..Setup::default()
            };
            setup.apply(&machine).unwrap().path.hash_stage
        };
        assert_eq!((stage("mod", None), stage("mod", Some(0))), (1, 0));
        assert_eq!((stage("xor", None), stage("xor", Some(1))), (0, 1));
        let unit = "bitvec-xor:k1=0,k2=3,mask=7";
        assert_eq!((stage(unit, None), stage(unit, Some(0))), (1, 0));
    }

    #[test]
    fn a_threshold_is_a_part() {
        let setup = |t| Setup {
            sharing: Some(Share::All(t)),
            ..Setup::default()
        };
        let fermi = Config::preset("fermi").unwrap();
        let shared = setup(0.5).apply(&fermi).unwrap();
        assert!(shared.sm.sharing.on);
        let off = Setup {
            sharing: Some("off".parse().unwrap()),
            ..Setup::default()
        };
        assert!(!off.apply(&shared).unwrap().sm.sharing.on);
        assert!(
            "none"
                .parse::<Share>()
                .unwrap_err()
                .starts_with("expected off")
        );
        assert!(setup(1.5).apply(&fermi).is_err());
        assert!(setup(f64::NAN).apply(&fermi).is_err());
    }
}
