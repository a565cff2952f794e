//! What to choose for arrays that tensor copies and `wgmma` access in swizzle
//! modes of their own: a mode in the place of a mapping.

use super::Job;
use crate::error::Result;
use crate::ptx::analysis::plain_name;
use crate::rewrite::Rewritten;
use crate::software::choice::{Array, Modes};
use crate::trace::SharedVariable;
use serde_json::{Value, json};

/// The mode of an array that leaves the fewest conflicts.
pub(super) struct ModeOf {
    array: String,
    /// Unknown without a launch.
    best: Option<Best>,
}

struct Best {
    mode: &'static str,
    before: u64,
    after: u64,
}

impl Job<'_> {
    /// For each array that the hardware accesses in modes: the best one in the
    /// entry's first launch, where there is one.
    pub fn modes(&self, rewritten: &Rewritten) -> Result<Vec<ModeOf>> {
        let names = &rewritten.with_modes;
        let trace = match self.launch {
            Some(file) if !names.is_empty() => Some(self.trace(file)?),
            _ => None,
        };
        let mode = |name: &String| {
            let best = match &trace {
                Some(trace) => {
                    let variables = trace.shared_variables();
                    let is_it = |v: &&SharedVariable| v.name.split(", ").any(|n| n == name);
                    let variable = variables.iter().find(is_it);
                    variable.map(|v| self.best_mode(trace, v)).transpose()?
                }
                None => None,
            };
            Ok(ModeOf {
                array: name.clone(),
                best: best.flatten(),
            })
        };
        names.iter().map(mode).collect()
    }

    fn best_mode(
        &self,
        trace: &crate::trace::AccessTrace,
        variable: &SharedVariable,
    ) -> Result<Option<Best>> {
        let first = variable.offset / 4;
        let end = (variable.offset + variable.bytes).div_ceil(4);
        let part = trace.part(first..end, first);
        let (geometry, rule) = (self.machine.geometry, self.machine.conflict_rule());
        let array = Array::new(&part, geometry, rule, self.machine.block_words);
        let modes = Modes::of(&array)?;
        Ok(modes.map(|modes| Best {
            mode: modes.best().name,
            before: modes.unmapped,
            after: modes.best().conflicts,
        }))
    }
}

impl ModeOf {
    pub fn json(&self) -> Value {
        json!({
            "array": self.array,
            "mode": self.best.as_ref().map(|b| b.mode),
            "conflicts_before": self.best.as_ref().map(|b| b.before),
            "conflicts": self.best.as_ref().map(|b| b.after),
        })
    }

    pub fn text(&self) -> String {
        let name = plain_name(&self.array);
        let answer = match &self.best {
            None => "tune LAUNCH.toml --software counts them".to_owned(),
            Some(Best { before: 0, .. }) => "no access conflicts in the present one".to_owned(),
            Some(best) => format!(
                "{} leaves the fewest conflicts, {} of {}",
                best.mode, best.after, best.before
            ),
        };
        format!("{name}: choose a swizzle mode of its tensor map or descriptor instead: {answer}\n")
    }
}
