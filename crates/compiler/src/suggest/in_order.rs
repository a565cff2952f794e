//! Arrays whose words bulk copies keep in their order: why they have no mapping.

use super::Tuned;
use spadkit_launch::readable::readable_list;
use spadkit_mapping::software::choice::{Array, Choices, MappingKind};
use spadkit_mapping::trace::{AccessTrace, BulkCopy, SharedVariable};

impl Tuned<'_> {
    /// The arrays that have conflicts, but no mapping, because bulk copies without a tensor map
    /// go through them, a sentence for each.
    pub fn in_order(&self) -> Option<String> {
        let (array, whole) = self.whole;
        let all: Vec<(String, &Array)> = match self.apart {
            Some(apart) => {
                let variables = apart.variables.iter();
                let conflicts = variables.filter(|v| has_conflicts(&v.choices));
                let named = conflicts.map(|v| (readable_list(&v.variable.name), &v.array));
                named.collect()
            }
            None if has_conflicts(whole) => vec![(copied_variables(self.trace), array)],
            None => Vec::new(),
        };
        let text = |(name, array): (String, &Array)| {
            let reason = BulkCopy::reason(array.bulk_copies().first()?.stores);
            Some(format!("{name} has no mapping: {reason}."))
        };
        let texts: Vec<String> = all.into_iter().filter_map(text).collect();
        (!texts.is_empty()).then(|| texts.join(" "))
    }
}

fn has_conflicts(choices: &Choices) -> bool {
    let mut ranked = choices.ranked.iter();
    let unmapped = ranked.find(|c| c.kind == MappingKind::Mod);
    unmapped.is_some_and(|c| c.conflicts > 0)
}

/// The variables that bulk copies go through, or all of shared memory.
fn copied_variables(trace: &AccessTrace) -> String {
    let copies = trace.bulk_copies();
    let is_copied = |v: &SharedVariable| {
        let own = v.offset..v.offset + v.bytes;
        copies.iter().any(|copy| copy.meets(&own))
    };
    let variables = trace.shared_variables().into_iter().filter(is_copied);
    let names: Vec<String> = variables.map(|v| readable_list(&v.name)).collect();
    if names.is_empty() {
        "shared memory".to_owned()
    } else {
        names.join(", ")
    }
}
