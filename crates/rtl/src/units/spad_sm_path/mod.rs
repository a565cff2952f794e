//! `spad_sm_path`: random stimulus of an environment that follows the rules of
//! microarchitecture/sm-path.md, and the replay of a workload.

mod cycle;
mod environment;
mod ports;
mod replay;

use super::bench::{Bench, DrivenBench, Driver, Frame, Golden, Setup, Stimulus};
use super::layout::Layout;
use crate::config::Config;
use crate::model::{SmPath, SmPathOutputs};
use cycle::PathCycle;
use environment::Environment;
use ports::PathPorts;
pub(in crate::units) use replay::ReplayBench;

/// Drives the path as its environment does.
struct PathDriver {
    ports: PathPorts,
    environment: Environment,
    /// The inputs of this cycle.
    cycle: PathCycle,
}

impl Driver for PathDriver {
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        self.cycle = self.environment.next(stimulus);
        self.ports.drive(&self.cycle.inputs(), frame);
        self.ports.registers.disturb(stimulus, frame);
    }

    fn follow(&mut self, stimulus: &mut Stimulus, frame: &Frame) {
        let shown = self.ports.shown(frame);
        self.environment.follow(&self.cycle, &shown, stimulus);
    }
}

pub(super) fn bench(setup: &Setup) -> Box<dyn Bench> {
    Box::new(random_bench(setup))
}

type PathBench = DrivenBench<PathDriver, GoldenPath>;

fn random_bench(setup: &Setup) -> PathBench {
    let (config, layout) = (setup.config.clone(), setup.layout.clone());
    let environment = Environment::new(&config);
    let driver = PathDriver {
        ports: PathPorts::new(&config, &layout),
        cycle: environment.idle(),
        environment,
    };
    DrivenBench::new(setup, driver, move || GoldenPath::new(&config, &layout))
}

/// The model behind the ports.
struct GoldenPath {
    ports: PathPorts,
    model: SmPath,
}

impl GoldenPath {
    fn new(config: &Config, layout: &Layout) -> Self {
        GoldenPath {
            ports: PathPorts::new(config, layout),
            model: SmPath::new(config),
        }
    }

    /// One cycle with the inputs of `frame`.
    fn step(&mut self, frame: &mut Frame) -> SmPathOutputs {
        let cycle = self.ports.read(frame);
        let out = self.model.step(&cycle.inputs());
        self.ports.expect(&out, self.model.wb_data(), frame);
        out
    }
}

impl Golden for GoldenPath {
    fn respond(&mut self, frame: &mut Frame) {
        self.step(frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Selection;
    use crate::rtl::Design;
    use crate::units::bench::Words;
    use std::collections::BTreeMap;

    /// The events that random stimulus must reach, counted on the model.
    fn events(config: &Config, cycles: u64) -> BTreeMap<&'static str, u64> {
        let design = Design::emit(&["spad_sm_path".to_owned()], config).unwrap();
        let layout = Layout::new(&design.units[0]);
        let mut words = Words::new(&layout);
        let mut bench = random_bench(&Setup::new(config, &layout));
        let mut stimulus = Stimulus::new(1);
        let mut seen = BTreeMap::new();
        let mut launched = 0u64;
        let (mut blocked, mut occ, mut reset) = (0, 0, true);
        for _ in 0..cycles {
            bench.driver.drive(&mut stimulus, &mut words.frame());
            let cycle = bench.driver.cycle.clone();
            let selection = bench.golden.model.selection(&cycle.inputs());
            let out = bench.golden.step(&mut words.frame());
            bench.driver.follow(&mut stimulus, &words.frame());
            let wb = out.wb.unwrap_or_default();
            blocked = match out.wb {
                Some(_) if !cycle.wb_ready => blocked + 1,
                _ => 0,
            };
            let old = cycle.launch.map_or(0, |l| launched >> l.block & 1);
            launched = if cycle.rst {
                0
            } else {
                launched | cycle.launch.map_or(0, |l| 1 << l.block)
            };
            let mut count = |name, happened: bool| {
                *seen.entry(name).or_default() += u64::from(happened);
            };
            count("reset in mid flight", cycle.rst && occ != 0);
            count("register written", !cycle.rst && cycle.hash_wr.is_some());
            let drained = cycle.kernel_clear && !reset;
            count(
                "kernel after a drained one",
                drained && cycle.hash_wr.is_some(),
            );
            count("block in a slot used before", old == 1);
            count("writeback blocked for 64 cycles", blocked == 64);
            count("held in EX", out.ex_hold);
            count("bank conflict", out.stall == 1);
            count("writeback conflict", out.stall == 2);
            count("lock retry", out.stall == 3);
            count("masked", out.masked);
            count("waits for the shared part", out.wait_sh != 0);
            count("access after release", out.viol != 0);
            count("released", out.unlock != 0);
            count("error", wb.error);
            count("locks taken", wb.kind == 3 && wb.success != 0);
            count("locks refused", wb.kind == 3 && wb.mask & !wb.success != 0);
            count("atomic done", wb.kind == 5 && !wb.error && cycle.wb_ready);
            let rounds = bench.golden.model.atomic_rounds();
            count("atomic of several rounds", rounds == 3);
            count(
                "data from off-chip",
                out.wb.is_some() && wb.src == crate::model::Source::Icn,
            );
            count(
                "NONMEM full",
                out.nm_valid + 1 == 1 << config.parameters().NQ,
            );
            count("nothing in flight", out.occ == 0);
            if config.path.ahead > 1 {
                count("pick dropped", selection == Selection::Void);
                count("pick stale", selection == Selection::Stale);
                count("pick waits for passes", selection == Selection::Waits);
            }
            reset = cycle.rst || (reset && cycle.hash_wr.is_some());
            occ = out.occ;
            stimulus.cycle += 1;
        }
        seen
    }

    #[test]
    fn random_stimulus_reaches_what_is_rare() {
        for preset in ["small", "gt200", "fermi", "sharing-64k"] {
            for (mem_stages, ahead) in [(None, 0), (None, 1), (Some(4), 2), (Some(4), 3)] {
                let mut config = Config::preset(preset).unwrap();
                config.path.hash = crate::config::PathHash::Configurable;
                config.path.mem_stages = mem_stages.unwrap_or(config.path.mem_stages);
                config.path.ahead = ahead;
                let seen = events(&config, 40_000);
                println!("{preset}, {ahead} ahead: {seen:?}");
                let missed: Vec<_> = seen.iter().filter(|e| *e.1 == 0).collect();
                assert!(missed.is_empty(), "{preset}, {ahead} ahead: {missed:?}");
            }
        }
    }
}
