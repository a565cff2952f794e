//! The path at the simulator's speed. Everything is computed by the model
//! ([`crate::model`]); this module decides which parts can be skipped.
//!
//! - In a *quiet* cycle no pass moves, so only counters change: `quiet`.
//! - Who has released, and who may touch the shared part, changes with the
//!   events of blocks and threads: `sharing`.
//!
//! `src/sm/machine/skip/tests.rs` compares it with the model, every output of
//! every cycle.

mod counters;
mod quiet;
mod sharing;

use crate::config::Config;
use crate::model::SmPath;
use crate::model::spad_sm_path::{PathBanks, Signals, SmPathInputs, SmPathOutputs};
use sharing::Answers;
use spadkit_base::error::Result;
use spadkit_mapping::hash::HashSpec;

/// A path, and what is known of its next cycle.
pub(super) struct FastPath {
    path: SmPath,
    answers: Answers,
    /// The copy engine had the banks in the last cycle.
    row_taken: bool,
}

impl FastPath {
    /// The path of `config`, after reset.
    pub(super) fn new(config: &Config) -> Self {
        let mut path = SmPath::new(config);
        if config.sm.window > 0 {
            path.back.spad = PathBanks::window(config, config.sm.window);
        }
        FastPath {
            path,
            answers: Answers::default(),
            row_taken: false,
        }
    }

    /// The path itself.
    pub(super) fn model(&self) -> &SmPath {
        &self.path
    }

    /// Sets the hash, as [`SmPath::load_hash`] does.
    pub(super) fn load_hash(&mut self, spec: &HashSpec) -> Result<()> {
        self.path.load_hash(spec)
    }

    /// Whether the copy engine has a row for the banks in the next cycle.
    pub(super) fn offer_row(&mut self, offers: bool) {
        self.path.back.row = offers;
    }

    /// Whether the copy engine had the banks in the last cycle.
    pub(super) fn row_taken(&self) -> bool {
        self.row_taken
    }

    /// One clock cycle, and as many following cycles with the same inputs and
    /// outputs as can be predicted cheaply, at most `limit` in all. Returns the
    /// outputs of each of them, and their number.
    #[inline(always)]
    pub(super) fn step(&mut self, inputs: &SmPathInputs, limit: u64) -> (SmPathOutputs, u64) {
        let path = &mut self.path;
        let (back, feedback) = path.eval_back(inputs);
        let known = self.answers.known(inputs, feedback.release);
        let asked = match known {
            Some(_) => None,
            None => Some(self.answers.ask(&path.sharing, inputs, feedback.release)),
        };
        let sharing = known.or(asked.as_ref()).expect("one of the two");
        let front = path.front.eval(inputs, &feedback, sharing);
        let s = Signals {
            back: &back,
            feedback: &feedback,
            sharing,
            front: &front,
        };
        let outputs = path.outputs(&s);
        let quiet = if limit > 1 {
            limit.min(quiet::quiet_cycles(path, inputs, &s))
        } else {
            1
        };
        if let Some(outputs) = asked {
            let (release, take) = (feedback.release, front.select.take);
            self.answers
                .commit(&mut path.sharing, inputs, release, outputs, take);
        }
        path.front.commit(inputs, &feedback, &front);
        path.back.commit(inputs, &back, front.takes_atomic());
        self.row_taken = back.row_taken;
        let cycles = if quiet > 1 {
            1 + quiet::pass_over(path, feedback.ex_hold, quiet - 1)
        } else {
            1
        };
        (outputs, cycles)
    }
}
