//! The points of a run or a sweep, before anything has run.

use super::{Global, SimArgs};
use crate::cli::overrides;
pub(super) use crate::cli::overrides::{name, set_lists};
use crate::config::{Config, Overlay, Pipeline, Scheduler};
use crate::error::{Error, Result};
use crate::hash::HashSpec;
use crate::sm::{Setup, Share};

/// A point: its workload, and the size of its grid.
#[derive(Clone, Default)]
pub(super) struct Draft {
    /// Index of the machine.
    pub machine: usize,
    /// Keys of the configuration and their values.
    pub sets: Vec<(String, String)>,
    /// Blocks of the grid, where the option says so.
    pub blocks: Option<u32>,
    /// The other choices.
    pub setup: Setup,
    /// The options that have several values, and this point's.
    pub labels: Vec<(String, String)>,
}

/// The points and the machines that they are about.
pub(super) struct Plan {
    pub machines: Vec<Overlay>,
    pub points: Vec<Draft>,
}

impl Plan {
    /// The plan for the options.
    pub fn new(args: &SimArgs, global: &Global) -> Result<Self> {
        let (names, machines) = machines(args, global)?;
        args.refuse_lists(machines.len())?;
        let sets = set_lists(&args.set)?;
        for set in &sets {
            for value in &set.values {
                for machine in &machines {
                    // A slip of the pen is no point to skip.
                    machine.clone().set(&set.key, value)?;
                }
            }
        }
        let (mut pipelines, mut schedulers) = (args.pipeline.clone(), args.scheduler.clone());
        let mut hashes = args.hash.clone();
        let named = pipelines.len() + schedulers.len() + hashes.len() + args.sharing.len();
        let lists = [machines.len(), args.lock_hash.len(), args.blocks.len()];
        let mut lists = lists.into_iter().chain(sets.iter().map(|s| s.values.len()));
        if args.sweep && named == 0 && lists.all(|values| values <= 1) {
            pipelines = vec![Pipeline::Unified, Pipeline::Split, Pipeline::Elastic];
            schedulers = vec![Scheduler::Lrr, Scheduler::ConflictAware];
            hashes = vec![HashSpec::Mod, HashSpec::Xor];
        }
        let mut points = vec![Draft::default()];
        let indices: Vec<usize> = (0..machines.len()).collect();
        let machine_name = |&i: &usize| names[i].clone();
        points = each(points, "preset", &indices, machine_name, |d, v| {
            d.machine = v
        });
        for set in sets {
            points = each(points, &set.key, &set.values, String::clone, |d, v| {
                // Stands, whatever stage a mapping comes with.
                if set.key == "hash.stage" {
                    d.setup.hash_stage = v.parse().ok();
                }
                d.sets.push((set.key.clone(), v));
            });
        }
        let text = |value: &u32| value.to_string();
        points = each(points, "blocks", &args.blocks, text, |d, v| {
            d.blocks = Some(v)
        });
        points = each(points, "hash", &hashes, ToString::to_string, |d, v| {
            d.setup.hash = Some(v);
        });
        points = each(points, "lock hash", &args.lock_hash, name, |d, v| {
            d.setup.lock_hash = Some(v);
        });
        points = each(points, "pipeline", &pipelines, name, |d, v| {
            d.setup.pipeline = Some(v);
        });
        points = each(points, "scheduler", &schedulers, name, |d, v| {
            d.setup.scheduler = Some(v);
        });
        points = each(
            points,
            "sharing",
            &args.sharing,
            Share::to_string,
            |d, v| {
                d.setup.sharing = Some(v);
            },
        );
        Ok(Plan { machines, points })
    }
}

/// Every draft with each of the values, if any.
fn each<T: Clone>(
    drafts: Vec<Draft>,
    option: &str,
    values: &[T],
    label: impl Fn(&T) -> String,
    set: impl Fn(&mut Draft, T),
) -> Vec<Draft> {
    if values.is_empty() {
        return drafts;
    }
    let with = |draft: &Draft, value: &T| {
        let mut draft = draft.clone();
        set(&mut draft, value.clone());
        if values.len() > 1 {
            draft.labels.push((option.to_owned(), label(value)));
        }
        draft
    };
    let all = |draft: Draft| values.iter().map(|v| with(&draft, v)).collect::<Vec<_>>();
    drafts.into_iter().flat_map(all).collect()
}

/// The machines of --preset or --config, and their names.
fn machines(args: &SimArgs, global: &Global) -> Result<(Vec<String>, Vec<Overlay>)> {
    if global.config.is_some() {
        return Ok((vec![String::new()], vec![overrides::base(global)?]));
    }
    let names: Vec<String> = match args.sweep {
        true => global
            .preset()
            .split(',')
            .map(|n| n.trim().to_owned())
            .collect(),
        false if global.preset().contains(',') => {
            let count = global.preset().split(',').count();
            args.refuse_lists(count)?;
            vec![global.preset().to_owned()]
        }
        false => vec![global.preset().to_owned()],
    };
    let machines = names.iter().map(|name| Overlay::preset(name));
    let machines = machines.collect::<Result<_>>()?;
    Ok((names, machines))
}

impl Draft {
    /// The machine with the point's keys and scheduler, on which keys depend;
    /// without its other choices.
    pub fn machine(&self, plan: &Plan) -> Result<Config> {
        let mut overlay = plan.machines[self.machine].clone();
        for (key, value) in &self.sets {
            overlay.set(key, value)?;
        }
        if let Some(scheduler) = &self.setup.scheduler {
            overlay.set("scheduler.policy", &name(scheduler))?;
        }
        overlay.config()
    }

    /// The baseline of this point's speed-up, if it is the first of the points
    /// that share one: itself under `mod` without a hash stage.
    pub fn baseline(&self) -> Draft {
        let mut baseline = self.clone();
        (baseline.setup.hash, baseline.setup.hash_stage) = (Some(HashSpec::Mod), Some(0));
        baseline
    }

    /// Points of one machine, its keys included, and one grid are compared.
    pub fn is_comparable(&self, other: &Draft) -> bool {
        (self.machine, self.blocks) == (other.machine, other.blocks)
            && self.given_keys().eq(other.given_keys())
    }

    /// The keys that are no choice for this machine, but make it another one.
    fn given_keys(&self) -> impl Iterator<Item = &(String, String)> {
        self.sets.iter().filter(|(key, _)| !is_choice(key))
    }

    /// The two are the same run: one machine, one mapping, one grid.
    pub fn is_same_run(&self, other: &Draft, plan: &Plan) -> bool {
        let key = |draft: &Draft| {
            let config = draft.setup.apply(&draft.machine(plan)?)?;
            let hash = mapping(&draft.setup, &config);
            Ok::<_, Error>((config, hash, draft.blocks))
        };
        self.is_comparable(other) && matches!((key(self), key(other)), (Ok(a), Ok(b)) if a == b)
    }
}

/// The key says what an option for hash, pipeline, scheduler or sharing says.
fn is_choice(key: &str) -> bool {
    const SECTIONS: [&str; 2] = ["hash.", "sharing."];
    const KEYS: [&str; 6] = [
        "path.lock_hash",
        "pipeline.kind",
        "scheduler.policy",
        "scheduler.aware",
        "scheduler.violate",
        "scheduler.active_warps",
    ];
    KEYS.contains(&key) || SECTIONS.iter().any(|section| key.starts_with(section))
}

/// The bank mapping of a machine with `setup`: the given one, or that of its
/// hash hardware after reset.
pub(super) fn mapping(setup: &Setup, config: &Config) -> String {
    match &setup.hash {
        Some(hash) => hash.to_string(),
        None => config.path.hash_after_reset().to_string(),
    }
}
