//! `spad_sm_path`: random stimulus of an environment that follows the rules of
//! docs/microarchitecture.md, section 18.1, and the replay of a workload.

mod cycle;
mod environment;
mod ports;
mod replay;

use crate::config::Config;
use crate::cosim::bench::{Bench, Frame, Golden, Stimulus};
use crate::cosim::layout::Layout;
use crate::model::SmPath;
use environment::Environment;
use ports::PathPorts;
pub(super) use ports::WritePort;
pub(in crate::cosim) use replay::ReplayBench;

/// Random stimulus.
pub(super) struct SmPathBench {
    ports: PathPorts,
    model: SmPath,
    environment: Environment,
    config: Config,
    layout: Layout,
}

impl SmPathBench {
    pub(super) fn new(config: &Config, layout: &Layout) -> Self {
        SmPathBench {
            ports: PathPorts::new(config, layout),
            model: SmPath::new(config),
            environment: Environment::new(config),
            config: config.clone(),
            layout: layout.clone(),
        }
    }
}

impl Bench for SmPathBench {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        let cycle = self.environment.next(stimulus);
        let inputs = cycle.inputs();
        self.ports.drive(&inputs, frame);
        let out = self.model.step(&inputs);
        self.ports.expect(&out, self.model.wb_data(), frame);
        if stimulus.cycle == 0 {
            frame.ignore_all();
        }
        self.environment.follow(&cycle, &out, stimulus);
    }

    fn golden(&self) -> Option<Box<dyn Golden>> {
        Some(Box::new(GoldenPath::new(&self.config, &self.layout)))
    }
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
}

impl Golden for GoldenPath {
    fn respond(&mut self, frame: &mut Frame) {
        let cycle = self.ports.read(frame);
        let inputs = cycle.inputs();
        let out = self.model.step(&inputs);
        self.ports.expect(&out, self.model.wb_data(), frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::spad_sm_path::Selection;
    use std::collections::BTreeMap;

    /// What random stimulus must reach, counted on the model.
    fn events(config: &Config, cycles: u64) -> BTreeMap<&'static str, u64> {
        let mut environment = Environment::new(config);
        let mut model = SmPath::new(config);
        let mut stimulus = Stimulus::new(1);
        let mut seen = BTreeMap::new();
        let mut launched = 0u64;
        let (mut blocked, mut occ, mut reset) = (0, 0, true);
        for _ in 0..cycles {
            let cycle = environment.next(&mut stimulus);
            let inputs = cycle.inputs();
            let selection = model.selection(&inputs);
            let out = model.step(&inputs);
            let wb = out.wb.unwrap_or_default();
            blocked = match out.wb {
                Some(_) if !cycle.wb_ready => blocked + 1,
                _ => 0,
            };
            let old = cycle.launch.map_or(0, |l| launched >> l.block & 1);
            launched = match cycle.rst {
                true => 0,
                false => launched | cycle.launch.map_or(0, |l| 1 << l.block),
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
            count("held in EXE", out.ex_hold);
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
            count("atomic of several rounds", model.atomic_rounds() == 3);
            count(
                "data from off-chip",
                out.wb.is_some() && wb.src == crate::model::Source::Icn,
            );
            count(
                "NONMEM full",
                out.nm_valid + 1 == 1 << config.nonmem_depth(),
            );
            count("nothing in flight", out.occ == 0);
            if config.path.ahead > 0 {
                count("pick dropped", selection == Selection::Void);
                count("pick stale", selection == Selection::Stale);
                count("pick waits for passes", selection == Selection::Waits);
            }
            reset = cycle.rst || (reset && cycle.hash_wr.is_some());
            occ = out.occ;
            environment.follow(&cycle, &out, &mut stimulus);
            stimulus.cycle += 1;
        }
        seen
    }

    #[test]
    fn random_stimulus_reaches_what_is_rare() {
        for preset in ["small", "gt200", "fermi", "sharing-64k"] {
            for (mem_stages, ahead) in [(None, 0), (Some(4), 3)] {
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
