//! A workload on the RTL: what an `Sm` drives its path with, cycle by cycle.

use super::GoldenPath;
use super::cycle::PathCycle;
use super::ports::PathPorts;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::model::SmPath;
use crate::sm::{Sm, Workload};
use crate::units::bench::{Bench, Frame, Golden, Stimulus};
use crate::units::layout::Layout;
use crate::units::warps::POLICIES;

/// Cycles of reset before the kernel.
const RESET_CYCLES: u64 = 2;

/// The stimulus of a workload. The model is the path inside the `Sm`.
pub(in crate::units) struct ReplayBench<'a> {
    ports: PathPorts,
    sm: Sm<'a>,
    running: bool,
    /// Why the kernel cannot go on.
    failure: Option<Error>,
    config: Config,
    layout: Layout,
}

impl<'a> ReplayBench<'a> {
    /// `workload` on an SM of `config`; `seed` chooses the values that are
    /// loaded and stored.
    pub(in crate::units) fn new(
        config: &Config,
        layout: &Layout,
        workload: &'a dyn Workload,
        seed: u64,
    ) -> Result<Self> {
        let sm = Sm::new(config, workload)?.with_values(seed);
        let policy = sm.path_config().policy;
        if !POLICIES.contains(&policy) {
            let scheduler = serde_json::json!(config.settings.scheduler);
            return Err(Error::usage(
                format!("scheduler {scheduler} exists in the model only, not in the RTL"),
                "expected lrr, conflict-aware, owf-slot, lowest-slot, or owf where blocks share \
                 scratchpad; each with [scheduler] aware = true or without",
            ));
        }
        Ok(ReplayBench {
            ports: PathPorts::new(config, layout),
            sm,
            running: true,
            failure: None,
            config: config.clone(),
            layout: layout.clone(),
        })
    }

    fn reset(&self, frame: &mut Frame) {
        let mut cycle = PathCycle::idle(self.config.path.warps as usize, self.sm.path_config());
        cycle.rst = true;
        let inputs = cycle.inputs();
        self.ports.drive(&inputs, frame);
        let out = SmPath::new(&self.config).step(&inputs);
        self.ports.expect(&out, None, frame);
    }
}

impl Bench for ReplayBench<'_> {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        if stimulus.cycle < RESET_CYCLES {
            self.reset(frame);
            if stimulus.cycle == 0 {
                frame.ignore_all();
            }
            return;
        }
        let ports = &self.ports;
        let mut observed = false;
        let step = self.sm.step_observed(&mut |path, inputs, out| {
            ports.drive(inputs, frame);
            ports.expect(out, path.wb_data(), frame);
            observed = true;
        });
        if !observed {
            frame.ignore_all(); // the kernel ended before the path's turn
        }
        match step {
            Ok(running) => self.running = running,
            Err(error) => self.failure = Some(error),
        }
    }

    fn ended(&mut self) -> Result<bool> {
        match self.failure.take() {
            Some(error) => Err(error),
            None => Ok(!self.running),
        }
    }

    fn golden(&self) -> Option<Box<dyn Golden>> {
        Some(Box::new(GoldenPath::new(&self.config, &self.layout)))
    }
}
