//! A mapping for each shared variable of a kernel.

use super::{Array, Choice, Choices, Effort, MappingKind, choices};
use crate::geometry::Geometry;
use crate::trace::{AccessTrace, ConflictCount, ConflictProfile, ConflictRule, SharedVariable};
use spadkit_base::error::Result;
use std::ops::Range;

/// A variable and the mappings of its words.
#[derive(Clone, Debug)]
pub struct VariableChoices {
    /// The variable.
    pub variable: SharedVariable,
    /// Words of the variable.
    pub array: Array,
    /// The accesses to them, counted from its first word.
    pub accesses: AccessTrace,
    /// Bytes of shared memory before that word.
    pub base: u32,
    /// Mappings of the variable alone.
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

/// The words of a variable, the one from which it counts, and the accesses to them.
struct Region {
    variable: SharedVariable,
    own: Range<u32>,
    base: u32,
    part: AccessTrace,
}

/// The variables of a trace that are accessed. A variable counts from the start of a
/// vector, so that its vectors are aligned; a word that two variables share is the
/// first one's.
fn regions(trace: &AccessTrace) -> Vec<Region> {
    let vector = trace.accesses.iter().map(|a| a.words()).max().unwrap_or(1);
    let mut regions = Vec::new();
    let mut end = 0;
    for variable in trace.shared_variables() {
        let base = variable.offset / 4 / vector * vector;
        let own = (variable.offset / 4).max(end)..(variable.offset + variable.bytes).div_ceil(4);
        end = own.end.max(end);
        if own.is_empty() {
            continue;
        }
        let part = trace.part(own.clone(), base);
        if !part.accesses.is_empty() {
            regions.push(Region {
                variable,
                own,
                base,
                part,
            });
        }
    }
    regions
}

/// Whether bulk copies keep words in their order outside of all of these: no mapping of all of
/// shared memory is possible then.
fn is_kept_elsewhere(trace: &AccessTrace, regions: &[Region]) -> bool {
    let own = |region: &Region| 4 * region.own.start..4 * region.own.end;
    let mut copies = trace.bulk_copies().into_iter();
    copies.any(|copy| !regions.iter().any(|region| copy.meets(&own(region))))
}

/// Searches a mapping for each variable of `trace` on the accesses to it
/// alone; `None` where the trace has fewer than two that are accessed, unless bulk copies go
/// through others.
pub fn per_variable(
    trace: &AccessTrace,
    geometry: Geometry,
    rule: ConflictRule,
    room: u32,
    kinds: &[MappingKind],
    effort: &Effort,
) -> Result<Option<PerVariable>> {
    let regions = regions(trace);
    let alone = regions.len() < 2 && !is_kept_elsewhere(trace, &regions);
    if alone || regions.is_empty() {
        return Ok(None);
    }
    let mut variables = Vec::new();
    let mut places = Vec::new();
    for region in regions {
        let others = trace.words().saturating_sub(region.own.end - region.base);
        let array = Array::new(&region.part, geometry, rule, room.saturating_sub(others));
        let choices = choices(&array, kinds, effort)?;
        variables.push(VariableChoices {
            variable: region.variable,
            array,
            accesses: region.part,
            base: 4 * region.base,
            choices,
        });
        places.push((region.own, region.base));
    }
    let bank = |word: u32| match places.iter().position(|(own, _)| own.contains(&word)) {
        Some(i) => {
            let layout = &variables[i].choices.best().layout;
            layout.bank(word - places[i].1)
        }
        None => word & geometry.bank_mask(),
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
