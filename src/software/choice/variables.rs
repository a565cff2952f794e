//! A mapping for each shared variable of a kernel (feature H15).

use super::{Array, Choice, Choices, Effort, Kind, choices};
use crate::error::Result;
use crate::geometry::Geometry;
use crate::trace::{AccessTrace, ConflictCount, ConflictProfile, ConflictRule, SharedVariable};

/// A variable and the mappings of its words.
#[derive(Clone, Debug)]
pub struct VariableChoices {
    /// The variable.
    pub variable: SharedVariable,
    /// Its words and the accesses to them.
    pub array: Array,
    /// What was found for it alone.
    pub choices: Choices,
}

/// The best mapping of each variable, and what they leave together.
#[derive(Clone, Debug)]
pub struct PerVariable {
    /// The variables that are accessed, by offset.
    pub variables: Vec<VariableChoices>,
    /// Conflicts with each variable in the first of its choices, at a multiple
    /// of the number of banks: counted on whole accesses, lanes on different
    /// variables included.
    pub count: ConflictCount,
    /// Operations added per access: the mean over the accesses.
    pub added: f64,
    /// Words wasted in all.
    pub wasted_words: u32,
}

/// Searches a mapping for each variable of `trace` on the accesses to it
/// alone; `None` where the trace has fewer than two that are accessed.
pub fn per_variable(
    trace: &AccessTrace,
    geometry: Geometry,
    rule: ConflictRule,
    room: u32,
    kinds: &[Kind],
    effort: &Effort,
) -> Result<Option<PerVariable>> {
    // The words of a vector stay in one piece: a variable begins at one.
    let vector = trace.accesses.iter().map(|a| a.words()).max().unwrap_or(1);
    let mut regions = Vec::new();
    let mut end = 0;
    for variable in trace.shared_variables() {
        let first = (variable.offset / 4 / vector * vector).max(end);
        let last = (variable.offset + variable.bytes).div_ceil(4);
        end = last.max(end);
        let part = trace.part(first..last);
        if first < last && !part.accesses.is_empty() {
            regions.push((variable, first..last, part));
        }
    }
    if regions.len() < 2 {
        return Ok(None);
    }
    let mut variables = Vec::new();
    let mut ranges = Vec::new();
    for (variable, range, part) in regions {
        let others = trace.words().saturating_sub(range.end - range.start);
        let array = Array::new(&part, geometry, rule, room.saturating_sub(others));
        let choices = choices(&array, kinds, effort)?;
        ranges.push(range);
        variables.push(VariableChoices {
            variable,
            array,
            choices,
        });
    }
    let bank = |word: u32| {
        let found = ranges.iter().position(|range| range.contains(&word));
        match found {
            Some(i) => variables[i]
                .choices
                .best()
                .layout
                .bank(word - ranges[i].start),
            None => word & geometry.bank_mask(),
        }
    };
    let count = ConflictProfile::new(trace, rule).count(bank);
    let accesses: u64 = variables.iter().map(|v| v.array.accesses()).sum();
    let sum = |v: &VariableChoices| v.choices.best().added as u64 * v.array.accesses();
    let added: u64 = variables.iter().map(sum).sum();
    let wasted = |v: &VariableChoices| Choice::costs(v.choices.best()).2;
    Ok(Some(PerVariable {
        count,
        added: added as f64 / accesses.max(1) as f64,
        wasted_words: variables.iter().map(wasted).sum(),
        variables,
    }))
}
