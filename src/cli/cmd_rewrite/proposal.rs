//! The mapping to propose where the ones asked for cannot be had.

use super::Job;
use crate::capture::{RunOptions, launch_trace};
use crate::error::Result;
use crate::launch::LaunchFile;
use crate::ptx::exec::Launch;
use crate::quote::shell;
use crate::rewrite::{Hashes, Proposal, Rewritten, one_for_all, propose};
use crate::software::LayoutSpec;
use crate::trace::{AccessTrace, ConflictProfile};
use serde::Serialize;

/// A mapping that has been tried, and the command for it.
#[derive(Serialize)]
pub(super) struct Proposed {
    pub hash: LayoutSpec,
    /// None where the kernel is no file's.
    pub command: Option<String>,
    /// Without a launch, nothing is measured.
    conflicts_before: Option<u64>,
    conflicts_after: Option<u64>,
    outputs_equal: Option<bool>,
    /// Whether wide accesses stand in the way of the mappings asked for.
    #[serde(skip)]
    torn: bool,
}

impl Job<'_> {
    /// One mapping for all shared variables, if the requested ones split wide
    /// accesses, or if an access may touch variables under several of them.
    /// With a launch it is the best swizzle for it, or one of the requested
    /// mappings.
    pub fn proposal(&self, rewritten: &Rewritten) -> Result<Option<Proposed>> {
        let is_whole = rewritten.text().is_some() && rewritten.left.is_empty();
        let torn = rewritten.together.is_some();
        if is_whole || !torn && rewritten.mixed.is_none() {
            return Ok(None);
        }
        let mut candidates: Vec<LayoutSpec> = match &self.request.hashes {
            // It is refused.
            Hashes::All(_) => Vec::new(),
            Hashes::Named(list) => list.iter().map(|(_, spec)| spec.clone()).collect(),
        };
        let together = rewritten.together.unwrap_or(1);
        let profile = self.launch.map(|file| self.profile(file)).transpose()?;
        candidates.extend(propose(self.machine.geometry, together, profile.as_ref()));
        let launch = self.launch.map(|file| (file, self.machine.conflict_rule()));
        let tried = one_for_all(self.module, self.request, &candidates, launch)?;
        Ok(tried.map(|Proposal { spec, measured }| Proposed {
            command: self
                .command
                .as_ref()
                .map(|c| format!("{c} --hash {}", shell(spec.to_string()))),
            hash: spec,
            conflicts_before: measured.map(|m| m.conflicts_before),
            conflicts_after: measured.map(|m| m.conflicts_after),
            outputs_equal: measured.map(|m| m.outputs_equal),
            torn,
        }))
    }

    fn profile(&self, file: &LaunchFile) -> Result<ConflictProfile> {
        let rule = self.machine.conflict_rule();
        Ok(ConflictProfile::new(&self.trace(file)?, rule))
    }

    /// The accesses of the entry's first launch.
    pub fn trace(&self, file: &LaunchFile) -> Result<AccessTrace> {
        let mut prepared = file.prepare(self.module)?;
        let own = |l: &Launch| l.entry == self.request.entry;
        let index = prepared.launches().iter().position(own).unwrap_or(0);
        launch_trace(&mut prepared, file, index, RunOptions::default())
    }
}

impl Proposed {
    pub fn text(&self) -> String {
        let spec = &self.hash;
        let what = if self.torn {
            format!("{spec} keeps wide accesses together, for all of shared memory")
        } else {
            format!("{spec} for all of shared memory needs no telling apart")
        };
        let conflicts = self.conflicts_before.zip(self.conflicts_after);
        let checked = conflicts.map_or(String::new(), |(before, after)| {
            format!(" (tried: conflicts {before} -> {after}, outputs equal)")
        });
        let command = self.command.as_ref();
        let command = command.map_or(String::new(), |command| format!(": {command}"));
        format!("{what}{checked}{command}")
    }
}
