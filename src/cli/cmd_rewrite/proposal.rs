//! The mapping to propose where the ones asked for cannot be had.

use super::Job;
use crate::capture::{RunOptions, launch_trace};
use crate::error::Result;
use crate::launch::LaunchFile;
use crate::ptx::exec::Launch;
use crate::quote::shell;
use crate::rewrite::{
    Hashes, MachineConflicts, MachineCounts, Proposal, Request, Rewritten, attempt, one_for_all,
    propose,
};
use crate::software::LayoutSpec;
use crate::trace::{AccessTrace, ConflictProfile};
use serde::Serialize;

/// Advice if the requested mappings are impossible.
#[derive(Default, Serialize)]
pub(super) struct Advice {
    /// The proposed mapping.
    proposal: Option<LayoutSpec>,
    pub proposed: Option<Proposed>,
    pub nothing_helps: Option<NothingHelps>,
}

/// No mapping for all shared variables that can be had leaves fewer conflicts.
#[derive(Serialize)]
pub(super) struct NothingHelps {
    /// Conflicts of one block of the entry's first launch, without a mapping.
    conflicts: u64,
    /// Conflicts that every mapping leaves which keeps the wide accesses whole.
    lower_bound: u64,
    /// Line with most of the conflicts.
    line: Option<String>,
    reason: String,
}

/// A mapping that has been tried, and the command for it.
#[derive(Serialize)]
pub(super) struct Proposed {
    pub hash: LayoutSpec,
    /// None if the kernel has no file.
    pub command: Option<String>,
    /// Conflicts before; without a launch, nothing is measured.
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
    /// mappings, if that leaves fewer conflicts than the unchanged kernel.
    ///
    /// The machine code of the kernel, where that is known (`counts`), has to have fewer
    /// conflicts under it, too.
    pub fn advice(&self, rewritten: &Rewritten, counts: Option<&MachineCounts>) -> Result<Advice> {
        let is_whole = rewritten.text().is_some() && rewritten.left.is_empty();
        let torn = rewritten.together.is_some();
        if is_whole || !torn && rewritten.mixed.is_none() {
            return Ok(Advice::default());
        }
        let mut candidates: Vec<LayoutSpec> = match &self.request.hashes {
            // The request was refused.
            Hashes::All(_) => Vec::new(),
            Hashes::Named(list) => list.iter().map(|(_, spec)| spec.clone()).collect(),
        };
        let together = rewritten.together.unwrap_or(1);
        let trace = self.launch.map(|file| self.trace(file)).transpose()?;
        let rule = self.machine.conflict_rule();
        let profile = trace.as_ref().map(|t| ConflictProfile::new(t, rule));
        candidates.extend(propose(self.machine.geometry, together, profile.as_ref()));
        let launch = self.launch.map(|file| (file, rule));
        let Some(tried) = one_for_all(self.module, self.request, &candidates, launch)? else {
            return Ok(Advice::default());
        };
        if let (Some(m), Some(trace)) = (tried.measured, trace) {
            let nothing = || self.nothing_helps(&trace, together, m.conflicts_before);
            let nothing_helps = match counts {
                _ if m.conflicts_after >= m.conflicts_before => Some(nothing()),
                Some(counts) => (self.in_vain(&tried.spec, counts)?).map(|reason| NothingHelps {
                    reason,
                    ..nothing()
                }),
                None => None,
            };
            if nothing_helps.is_some() {
                return Ok(Advice {
                    nothing_helps,
                    ..Advice::default()
                });
            }
        }
        let proposed = self.proposed(tried, torn);
        Ok(Advice {
            proposal: Some(proposed.hash.clone()),
            proposed: Some(proposed),
            nothing_helps: None,
        })
    }

    /// The machine code's counts with all shared variables under `spec`, if it gains nothing.
    fn in_vain(&self, spec: &LayoutSpec, counts: &MachineCounts) -> Result<Option<String>> {
        let request = Request {
            hashes: Hashes::All(spec.clone()),
            ..self.request.clone()
        };
        let Ok(rewritten) = attempt(self.module, &request)? else {
            return Ok(None);
        };
        let code = self.judge.known(counts.beside(&rewritten))?;
        let text = |code: MachineConflicts| {
            let counts = code.text();
            format!("in the machine code {spec} gains nothing: {counts}")
        };
        Ok(code.filter(|code| !code.gains()).map(text))
    }

    fn proposed(&self, tried: Proposal, torn: bool) -> Proposed {
        let Proposal { spec, measured } = tried;
        let command = self.command.as_ref();
        Proposed {
            command: command.map(|c| format!("{c} --hash {}", shell(spec.to_string()))),
            hash: spec,
            conflicts_before: measured.map(|m| m.conflicts_before),
            conflicts_after: measured.map(|m| m.conflicts_after),
            outputs_equal: measured.map(|m| m.outputs_equal),
            torn,
        }
    }

    /// Why `conflicts` are the fewest, where groups of `together` words stay whole.
    fn nothing_helps(&self, trace: &AccessTrace, together: u32, conflicts: u64) -> NothingHelps {
        let rule = self.machine.conflict_rule();
        let (m, mask) = (
            self.machine.geometry.bank_bits(),
            self.machine.geometry.bank_mask(),
        );
        let bound = |p: &ConflictProfile| -> u64 {
            let of_pass = p.passes.iter().map(|p| p.lower_bound(m, together.ilog2()));
            of_pass.sum()
        };
        let lower_bound = bound(&ConflictProfile::new(trace, rule));
        let own = |p: &ConflictProfile| p.count(|word| word & mask).conflicts;
        let lines = ConflictProfile::per_line(trace, rule);
        let worst = lines.iter().map(|(line, profile)| (own(profile), line));
        let worst = worst.max_by_key(|(n, _)| *n).filter(|(n, _)| *n > 0);
        let line = worst.map(|(n, line)| (n, line.text()));
        let kept = match together {
            1 => String::new(),
            n => format!(" that keeps groups of {n} words together"),
        };
        let at = line
            .as_ref()
            .map_or(String::new(), |(n, l)| format!(", {n} of them at {l}"));
        let reason = match conflicts {
            0 => "the kernel has no conflicts as it is".to_owned(),
            n if n <= lower_bound => {
                format!("every mapping{kept} leaves its {n} conflicts{at}")
            }
            n => format!("no swizzle{kept} leaves fewer than its {n} conflicts{at}"),
        };
        NothingHelps {
            conflicts,
            lower_bound,
            line: line.map(|(_, line)| line),
            reason,
        }
    }

    /// The accesses of the entry's first launch.
    pub fn trace(&self, file: &LaunchFile) -> Result<AccessTrace> {
        let mut prepared = file.prepare(self.module)?;
        let own = |l: &Launch| l.entry == self.request.entry;
        let index = prepared.launches().iter().position(own).unwrap_or(0);
        launch_trace(&mut prepared, file, index, RunOptions::default())
    }
}

impl NothingHelps {
    pub fn text(&self) -> String {
        format!("nothing helps: {}", self.reason)
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
