//! An object that a library uses, too, as a union of its storage and a tile of the user's:
//! where neither side loads what the other has stored, the user's lines take a mapping alone.

use crate::suggest::Tuned;
use crate::suggest::array::target::Target;
use crate::suggest::lines::change::library_of;
use spadkit_base::interrupt;
use spadkit_mapping::search::Control;
use spadkit_mapping::software::Layout;
use spadkit_mapping::software::choice::{Array, Choices, Effort, MappingKind, choices};
use spadkit_mapping::trace::{Access, AccessTrace, ConflictProfile, Op};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Time for the search of one kind of mapping.
const BUDGET: Duration = Duration::from_secs(2);

/// The user's own accesses to an array, and the mappings for them.
pub(in crate::suggest) struct OwnLines {
    /// The library with the other accesses.
    pub library: &'static str,
    accesses: AccessTrace,
    array: Array,
    choices: Choices,
    /// The accesses of the machine code without those of the library.
    machine_code: Option<AccessTrace>,
    /// The library's access sites.
    others: BTreeSet<u32>,
}

impl OwnLines {
    /// Those to a target; `None` if the library's accesses have conflicts, or what one side
    /// stores is loaded by the other.
    pub fn of(target: &Target, tuned: &Tuned) -> Option<Self> {
        let all = target.accesses;
        let (library, others) = sites_of_a_library(all)?;
        let is_own = |access: &Access| !others.contains(&access.pc);
        let theirs = all.accesses.iter().filter(|a| !is_own(a));
        let mask = tuned.geometry.bank_mask();
        let conflicts = ConflictProfile::of(theirs, &tuned.rule).count(|word| word & mask);
        let is_copied =
            !target.array.bulk_copies().is_empty() || !target.array.tensor_copies().is_empty();
        if conflicts.conflicts > 0 || is_copied || !is_kept_apart(all, &others, |word| word) {
            return None;
        }
        let accesses = only(all, is_own);
        let array = Array::new(&accesses, tuned.geometry, tuned.rule, target.array.room());
        let effort = Effort {
            control: Control::none().stop_when(&interrupt::requested),
            budget: BUDGET,
        };
        // The object does not grow.
        let kinds = target.choices.kinds.iter().copied();
        let kinds: Vec<MappingKind> = kinds.filter(|kind| *kind != MappingKind::Pad).collect();
        let choices = choices(&array, &kinds, &effort).ok()?;
        let machine_code = tuned.machine_code.map(|made| {
            let places = made.places();
            only(made, |access| {
                let (_, through) = places.of(access.pc).of_user();
                library_of(&through).is_none()
            })
        });
        (choices.best().kind != MappingKind::Mod).then_some(OwnLines {
            library,
            accesses,
            array,
            choices,
            machine_code,
            others,
        })
    }

    /// The target with these accesses alone.
    pub fn target<'a>(&'a self, all: &Target<'a>) -> Target<'a> {
        Target {
            accesses: &self.accesses,
            array: &self.array,
            choices: &self.choices,
            ..all.clone()
        }
    }

    /// The inputs without the machine code's accesses of the library.
    pub fn tuned<'a>(&'a self, all: &Tuned<'a>) -> Tuned<'a> {
        Tuned {
            machine_code: self.machine_code.as_ref(),
            ..*all
        }
    }

    /// Whether the sides stay apart where the user's words are in their places under a mapping.
    pub fn stay_apart(&self, all: &AccessTrace, layout: &Layout) -> bool {
        is_kept_apart(all, &self.others, |word| layout.place(word))
    }
}

/// The access sites in headers of a library.
fn sites_of_a_library(trace: &AccessTrace) -> Option<(&'static str, BTreeSet<u32>)> {
    let places = trace.places();
    let pcs: BTreeSet<u32> = trace.accesses.iter().map(|access| access.pc).collect();
    let mut library = None;
    let of_library = |pc: &u32| {
        let (_, through) = places.of(*pc).of_user();
        let own = library_of(&through);
        library = library.or(own);
        own.is_some()
    };
    let sites: BTreeSet<u32> = pcs.iter().copied().filter(of_library).collect();
    (sites.len() < pcs.len()).then_some((library?, sites))
}

/// The trace with some of its accesses.
fn only(trace: &AccessTrace, keep: impl Fn(&Access) -> bool) -> AccessTrace {
    AccessTrace {
        accesses: trace.accesses.iter().filter(|a| keep(a)).cloned().collect(),
        barriers: Vec::new(),
        executed: Default::default(),
        ..trace.clone()
    }
}

/// Whether no word that one side has stored last is loaded by the other. `others` are the
/// sites of one side; the words of the other are at `place`.
fn is_kept_apart(trace: &AccessTrace, others: &BTreeSet<u32>, place: impl Fn(u32) -> u32) -> bool {
    let mut stored_by: BTreeMap<u32, bool> = BTreeMap::new();
    trace.accesses.iter().all(|access| {
        let is_other = others.contains(&access.pc);
        let first = access.addrs.iter().flatten();
        let words = first.flat_map(|first| *first..first + access.words().max(1));
        let words: Vec<u32> = words
            .map(|word| if is_other { word } else { place(word) })
            .collect();
        let loads = access.op != Op::Store;
        let is_own = |word: &u32| stored_by.get(word).is_none_or(|by| *by == is_other);
        if loads && !words.iter().all(is_own) {
            return false;
        }
        if access.op != Op::Load {
            stored_by.extend(words.into_iter().map(|word| (word, is_other)));
        }
        true
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Accesses of one lane: the site, the operation and the word.
    fn trace(accesses: &[(u32, &str, u32)]) -> AccessTrace {
        let access = |(pc, op, word): &(u32, &str, u32)| {
            format!(r#"{{"warp": 0, "pc": {pc}, "op": "{op}", "addrs": [{word}]}}"#)
        };
        let all: Vec<String> = accesses.iter().map(access).collect();
        let text = format!(
            r#"{{"name": "k", "source": "", "block_dim": [1, 1, 1], "shared_bytes": 64,
                "warp_size": 1, "accesses": [{}]}}"#,
            all.join(", ")
        );
        AccessTrace::from_json(&text, std::path::Path::new("k.json")).unwrap()
    }

    #[test]
    fn sides_are_apart_if_neither_loads_what_the_other_stores() {
        let others = BTreeSet::from([9]);
        let after = [
            (1, "store", 3),
            (1, "load", 3),
            (9, "store", 3),
            (9, "load", 3),
        ];
        assert!(is_kept_apart(&trace(&after), &others, |word| word));
        // The user's word 3 goes to 4, where the library has one that it loads later.
        let between = [(9, "store", 4), (1, "store", 3), (9, "load", 4)];
        assert!(is_kept_apart(&trace(&between), &others, |word| word));
        assert!(!is_kept_apart(&trace(&between), &others, |word| word + 1));
        for read in [
            [(1, "store", 3), (9, "load", 3)],
            [(9, "store", 3), (1, "load", 3)],
            [(9, "store", 3), (1, "atomic", 3)],
        ] {
            assert!(
                !is_kept_apart(&trace(&read), &others, |word| word),
                "{read:?}"
            );
        }
    }
}
