//! Control of a search by its caller: progress and stop.

use std::time::{Duration, Instant};

/// Progress of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// Steps done.
    pub done: u64,
    /// Steps in all.
    pub total: u64,
    /// Fewest conflicts so far.
    pub best: Option<u64>,
}

/// Watches and stops a search: a stop condition (Ctrl-C), a time budget, a callback.
#[derive(Clone, Copy)]
pub struct Control<'a> {
    stop: Option<&'a (dyn Fn() -> bool + Sync)>,
    deadline: Option<Instant>,
    progress: Option<&'a (dyn Fn(Update) + Sync)>,
}

impl<'a> Control<'a> {
    /// No limits, no reports.
    pub fn none() -> Self {
        Control {
            stop: None,
            deadline: None,
            progress: None,
        }
    }

    /// Stops soon after `stop` returns true (see [`spadkit_base::interrupt::requested`]).
    pub fn stop_when(mut self, stop: &'a (dyn Fn() -> bool + Sync)) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Stops soon after `budget` from now.
    pub fn budget(mut self, budget: Duration) -> Self {
        self.deadline = Instant::now().checked_add(budget);
        self
    }

    /// Calls `report` now and then, from any thread.
    pub fn progress(mut self, report: &'a (dyn Fn(Update) + Sync)) -> Self {
        self.progress = Some(report);
        self
    }

    /// Whether the search should stop and return its best result so far.
    pub fn stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop())
            || self.deadline.is_some_and(|end| Instant::now() >= end)
    }

    /// Reports progress.
    pub fn report(&self, done: u64, total: u64, best: Option<u64>) {
        if let Some(progress) = self.progress {
            progress(Update { done, total, best });
        }
    }
}
