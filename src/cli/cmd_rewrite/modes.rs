//! Suggests swizzle modes for arrays that tensor copies and `wgmma` access in
//! such modes: a mode instead of a mapping.

use super::Job;
use crate::error::Result;
use crate::ptx::analysis::plain_name;
use crate::rewrite::Rewritten;
use crate::software::choice::{Array, Modes};
use crate::trace::SharedVariable;
use serde::Serialize;

/// The mode of an array that leaves the fewest conflicts; unknown without a
/// launch.
#[derive(Serialize)]
pub(super) struct ModeOf {
    array: String,
    mode: Option<&'static str>,
    conflicts_before: Option<u64>,
    conflicts: Option<u64>,
}

impl Job<'_> {
    /// The best mode of each array that the hardware accesses in swizzle modes, in
    /// the entry's first launch, if any.
    pub fn modes(&self, rewritten: &Rewritten) -> Result<Vec<ModeOf>> {
        let names = &rewritten.with_modes;
        let trace = match self.launch {
            Some(file) if !names.is_empty() => Some(self.trace(file)?),
            _ => None,
        };
        let mode = |name: &String| {
            let modes = match &trace {
                Some(trace) => {
                    let variables = trace.shared_variables();
                    let is_it = |v: &&SharedVariable| v.name.split(", ").any(|n| n == name);
                    let variable = variables.iter().find(is_it);
                    variable.map(|v| self.modes_of(trace, v)).transpose()?
                }
                None => None,
            };
            let modes = modes.flatten();
            Ok(ModeOf {
                array: name.clone(),
                mode: modes.as_ref().map(|m| m.best().name),
                conflicts_before: modes.as_ref().map(|m| m.unmapped),
                conflicts: modes.as_ref().map(|m| m.best().conflicts),
            })
        };
        names.iter().map(mode).collect()
    }

    fn modes_of(
        &self,
        trace: &crate::trace::AccessTrace,
        variable: &SharedVariable,
    ) -> Result<Option<Modes>> {
        let first = variable.offset / 4;
        let end = (variable.offset + variable.bytes).div_ceil(4);
        let part = trace.part(first..end, first);
        let (geometry, rule) = (self.machine.geometry, self.machine.conflict_rule());
        let array = Array::new(&part, geometry, rule, self.machine.block_words);
        Modes::of(&array)
    }
}

impl ModeOf {
    pub fn text(&self) -> String {
        let name = plain_name(&self.array);
        let answer = match (self.mode, self.conflicts_before, self.conflicts) {
            (_, Some(0), _) => "no access conflicts in the present one".to_owned(),
            (Some(mode), Some(before), Some(after)) => {
                format!("{mode} leaves the fewest conflicts, {after} of {before}")
            }
            _ => "tune LAUNCH.toml --software counts them".to_owned(),
        };
        format!("{name}: choose a swizzle mode of its tensor map or descriptor instead: {answer}\n")
    }
}
