//! The arrays that are to be mapped.

use super::extent::Bytes;
use crate::suggest::source::declarations::{Declarations, Named};
use crate::suggest::source::namespaces;
use crate::suggest::{SourceFiles, Tuned};
use spadkit_mapping::geometry::WORD_BYTES;
use spadkit_mapping::software::Layout;
use spadkit_mapping::software::choice::{Array, Choice, Choices, MappingKind};
use spadkit_mapping::trace::{AccessTrace, SharedVariable};
use std::collections::BTreeSet;

/// Bytes of elements.
const SIZES: [u32; 5] = [1, 2, 4, 8, 16];

/// A simpler mapping is suggested if it leaves at most this percentage of the
/// conflicts that the best one removes.
const NEARLY: u64 = 10;

/// Words that are mapped together.
#[derive(Clone)]
pub(in crate::suggest) struct Target<'a> {
    /// The variable that has these words; `None` if several have.
    pub variable: Option<&'a SharedVariable>,
    /// Bytes of shared memory before the first word.
    pub base: u32,
    /// The accesses to it, counted from its first word.
    pub accesses: &'a AccessTrace,
    pub array: &'a Array,
    pub choices: &'a Choices,
    /// Shared variables of the kernel: if all of shared memory is one array, each
    /// begins somewhere within it.
    pub all: Vec<SharedVariable>,
    /// Bytes of the elements that the source declares, where that is known.
    pub declared: Option<u32>,
    /// The name that the lines of the accesses have, for an array of a namespace or a part of
    /// dynamic shared memory.
    pub called: Option<String>,
}

/// The targets of mappings: each variable that gains, or all of shared memory
/// if that leaves fewer conflicts.
pub(in crate::suggest) fn targets<'a>(tuned: &Tuned<'a>) -> Vec<Target<'a>> {
    let (array, choices) = tuned.whole;
    let gains = |c: &Choices| c.best().kind != MappingKind::Mod;
    if let Some(apart) = tuned.apart
        && apart.count.conflicts <= choices.best().conflicts
    {
        let variables = apart.variables.iter().filter(|v| gains(&v.choices));
        let target = |v: &'a spadkit_mapping::software::choice::VariableChoices| Target {
            variable: Some(&v.variable),
            base: v.base,
            accesses: &v.accesses,
            array: &v.array,
            choices: &v.choices,
            all: vec![v.variable.clone()],
            declared: None,
            called: None,
        };
        return variables.map(target).collect();
    }
    let all = tuned.trace.shared_variables();
    let whole = Target {
        variable: None,
        base: 0,
        accesses: tuned.trace,
        array,
        choices,
        all,
        declared: None,
        called: None,
    };
    if gains(choices) {
        vec![whole]
    } else {
        Vec::new()
    }
}

impl Target<'_> {
    /// The only variable, where it is the whole of the array.
    fn alone(&self) -> Option<&SharedVariable> {
        match &self.all[..] {
            [one] if one.offset == self.base => Some(one),
            _ => None,
        }
    }

    /// The name of the array in the source.
    pub fn array_name(&self) -> String {
        if let Some(called) = &self.called {
            return called.clone();
        }
        match self.alone() {
            Some(variable) => crate::suggest::name_of(&variable.name),
            None => "shared".to_owned(),
        }
    }

    /// Whether the kernel is the function of that name.
    pub fn is_of_kernel(&self, function: &str) -> bool {
        let (name, mangled) = (&self.accesses.name, format!("{}{function}", function.len()));
        let is_part = |(at, _): (usize, &str)| !name[..at].ends_with(|c: char| c.is_ascii_digit());
        name == function || name.starts_with("_Z") && name.match_indices(&mangled).any(is_part)
    }

    /// The array that the source calls `name`.
    pub fn named<'n>(&'n self, name: &'n str) -> Named<'n> {
        let variable = self.alone().map_or("", |v| v.name.as_str());
        Named { name, variable }
    }

    /// Bytes of the array, if it is one variable.
    pub fn bytes(&self) -> Option<u32> {
        self.alone().map(|v| v.bytes)
    }

    /// Bytes of the elements that texts count: those that the source declares, or those of
    /// the narrowest access.
    pub fn element_bytes(&self) -> u32 {
        self.declared.unwrap_or_else(|| self.narrowest())
    }

    fn narrowest(&self) -> u32 {
        let accesses = self.accesses.accesses.iter();
        accesses.map(|a| a.bytes).min().unwrap_or(4)
    }

    /// The target, with the name and the element size that the source has.
    pub fn as_declared(&self, sources: &mut SourceFiles) -> Self {
        let places = self.accesses.places();
        let pcs: BTreeSet<u32> = self.accesses.accesses.iter().map(|a| a.pc).collect();
        let lines = pcs.iter().flat_map(|pc| {
            let (place, _) = places.of(*pc).of_user();
            place.source.into_iter().chain(place.inlined_at)
        });
        let lines: BTreeSet<String> = lines.collect();
        let texts: Vec<String> = lines.iter().filter_map(|l| sources.line(l)).collect();
        let own = self.alone().map_or("", |v| v.name.as_str());
        let pointer = sources.pointer_to_part(own).map(str::to_owned);
        let called = pointer.or_else(|| namespaces::called(own, &self.array_name(), &texts));
        let name = called.clone().unwrap_or_else(|| self.array_name());
        // An access may need a part of a word-sized element.
        let widest = self.narrowest().max(4);
        let mut sizes = SIZES.iter().filter(|bytes| **bytes <= widest);
        let declared = sizes.find(|bytes| {
            let places = lines.iter().map(String::as_str);
            let all = Declarations::of(places, self.named(&name), **bytes, sources);
            let kernel = all.seen_in(&|name| self.is_of_kernel(name), sources);
            let mut places = lines.iter().chain(&kernel);
            places.any(|place| all.seen_from(place, sources).is_some())
        });
        Target {
            declared: declared.copied(),
            called,
            ..self.clone()
        }
    }

    /// Bytes between the first word and a variable of that name, which the trace may have in
    /// `parts` of other names.
    pub fn offset_of(&self, name: &str, trace: &AccessTrace) -> Option<i64> {
        let named = |v: &&SharedVariable| v.name.split(", ").any(|n| n == name);
        if let Some(variable) = self.all.iter().find(named) {
            return variable.offset.checked_sub(self.base).map(i64::from);
        }
        let is_dynamic = !trace.shared_variables().iter().any(|v| named(&v));
        let part = self.alone()?.part.filter(|_| is_dynamic)?;
        Some(-i64::from(part))
    }

    /// Whether it is a part of dynamic shared memory.
    pub fn is_part(&self) -> bool {
        self.alone().is_some_and(|v| v.part.is_some())
    }

    pub fn conflicts_before(&self) -> u64 {
        let mut ranked = self.choices.ranked.iter();
        let unmapped = ranked.find(|c| c.kind == MappingKind::Mod);
        unmapped.map_or(0, |c| c.conflicts)
    }

    /// Wavefronts of the accesses without a mapping.
    pub fn wavefronts_before(&self) -> u64 {
        let best = self.choices.best();
        best.wavefronts + self.conflicts_before().saturating_sub(best.conflicts)
    }

    /// Elements of the array under `layout`.
    pub fn elements(&self, layout: &Layout) -> u32 {
        let words = layout.words_needed(self.array.words());
        (WORD_BYTES * words).div_ceil(self.element_bytes())
    }

    /// Elements of the array before the change.
    pub fn elements_before(&self) -> u32 {
        (WORD_BYTES * self.array.words()).div_ceil(self.element_bytes())
    }

    /// Bytes of the array and those that it needs under `layout`, if it is one
    /// variable and needs more; and whether no other is behind it.
    pub fn growth(&self, layout: &Layout, trace: &AccessTrace) -> Option<(Bytes, bool)> {
        let own = self.alone()?;
        let needs = self.elements(layout) * self.element_bytes();
        let bytes = Bytes {
            has: own.bytes,
            needs,
            others: trace.shared_bytes.saturating_sub(own.bytes),
        };
        let is_last = own.offset + own.bytes == trace.shared_bytes;
        (needs > own.bytes).then_some((bytes, is_last))
    }

    /// Whether a mapping with this many conflicts is nearly as good as the best.
    pub fn is_nearly_best(&self, conflicts: u64) -> bool {
        let best = self.choices.best().conflicts;
        let removed = self.conflicts_before().saturating_sub(best);
        conflicts.saturating_sub(best) * 100 <= NEARLY * removed
    }

    /// The best of a kind, where it is nearly as good as the best of all.
    pub fn best_of(&self, kind: MappingKind) -> Option<&Choice> {
        let found = self.choices.ranked.iter().find(|c| c.kind == kind)?;
        self.is_nearly_best(found.conflicts).then_some(found)
    }
}
