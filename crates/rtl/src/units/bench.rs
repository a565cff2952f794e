//! The interface of a unit's bench.

#[cfg(test)]
pub(super) use super::frame::Words;
pub use super::frame::{Chunk, Frame};
use super::layout::Layout;
pub use super::stimulus::Stimulus;
use crate::config::Config;
use crate::error::Result;
use crate::rtl::Reset;
use crate::trace::AccessTrace;

/// The inputs for making a bench.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The machine.
    pub config: &'a Config,
    /// Places of the unit's ports.
    pub layout: &'a Layout,
    /// Reset of the unit.
    pub reset: Reset,
    /// Accesses to replay, where the unit takes accesses; else random ones.
    pub trace: Option<&'a AccessTrace>,
}

impl<'a> Setup<'a> {
    /// Random accesses, and a synchronous reset.
    pub fn new(config: &'a Config, layout: &'a Layout) -> Self {
        Setup {
            config,
            layout,
            reset: Reset::Sync,
            trace: None,
        }
    }
}

/// The stimulus and golden model of one unit.
pub trait Bench {
    /// One clock cycle: drives the inputs, steps the model, and records the
    /// outputs that the unit shows before the next rising edge.
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame);

    /// Runs as many cycles as `chunk` has space for, or up to the end of the
    /// stimulus, where the chunk is cut off; returns whether the end was
    /// reached. Fails after the cycle after which the stimulus cannot continue.
    fn cycles(&mut self, stimulus: &mut Stimulus, chunk: &mut Chunk) -> Result<bool> {
        // Here, not at the callers: nothing in the loop is called dynamically.
        for i in 0..chunk.cycles {
            self.cycle(stimulus, &mut chunk.frame(i));
            stimulus.cycle += 1;
            match self.ended() {
                Ok(false) => {}
                end => {
                    chunk.truncate(i + 1);
                    return end;
                }
            }
        }
        Ok(false)
    }

    /// Whether the stimulus has ended; random stimulus never does. Fails if the
    /// stimulus cannot continue.
    fn ended(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// The golden model at power-up, to answer to another stimulus; `None`
    /// where the unit has no state, and each cycle is independent.
    fn golden(&self) -> Option<Box<dyn Golden>> {
        None
    }
}

/// Drives the inputs of a unit: a neighbour that keeps the rules of the unit's
/// environment. It sees the ports and nothing behind them.
pub trait Driver {
    /// Drives the inputs of the next cycle; those that it leaves keep their
    /// values.
    fn drive(&mut self, stimulus: &mut Stimulus, frame: &mut Frame);

    /// Looks at the cycle with the outputs that the unit shows in it.
    fn follow(&mut self, _stimulus: &mut Stimulus, _frame: &Frame) {}
}

/// A golden model behind the ports of its unit: computes the outputs for any inputs.
pub trait Golden {
    /// One clock cycle: reads the inputs that the frame holds, steps the model,
    /// and records the outputs that it expects.
    fn respond(&mut self, frame: &mut Frame);
}

/// A driver, and a golden model that answers to it.
pub(super) struct DrivenBench<D, G> {
    pub(super) driver: D,
    pub(super) golden: G,
    power_up: Box<dyn Fn() -> G>,
    clocked: bool,
}

impl<D: Driver, G: Golden> DrivenBench<D, G> {
    /// `power_up` makes a fresh golden model in its power-up state.
    pub(super) fn new(setup: &Setup, driver: D, power_up: impl Fn() -> G + 'static) -> Self {
        DrivenBench {
            driver,
            golden: power_up(),
            power_up: Box::new(power_up),
            clocked: setup.layout.clocked,
        }
    }
}

impl<D: Driver, G: Golden + 'static> Bench for DrivenBench<D, G> {
    fn cycle(&mut self, stimulus: &mut Stimulus, frame: &mut Frame) {
        self.driver.drive(stimulus, frame);
        self.golden.respond(frame);
        self.driver.follow(stimulus, frame);
        if self.clocked && stimulus.cycle == 0 {
            frame.ignore_all(); // before the first reset
        }
    }

    fn golden(&self) -> Option<Box<dyn Golden>> {
        Some(Box::new((self.power_up)()))
    }
}
