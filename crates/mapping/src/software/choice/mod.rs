//! The mappings in software of an array, for a programmer to pick from: each
//! kind is searched as far as possible, and ranked by conflicts left,
//! instructions added and bytes wasted.
//!
//! Paddings and swizzles are all tried (`pads`, `swizzles`), as are the XORs of
//! one and of two shifted copies (`shifts`). The bitwise and matrix mappings come from the search of the
//! hash units (`linear`), restricted to those that keep vectors whole. The
//! array may be all of shared memory, or one variable (`variables`).

mod array;
mod copied;
mod front;
mod linear;
mod modes;
mod narrow;
mod pads;
mod shifts;
mod swizzles;
mod variables;

pub use array::{Array, Refusal};
pub use front::{mark_front, on_front};
pub use modes::{Mode, Modes};
pub use narrow::{Narrower, narrower};
pub use variables::{PerVariable, VariableChoices, per_variable};

use super::layout::{Layout, LayoutSpec};
use crate::hash::kind::{self, Family, Search as UnitSearch};
use crate::hash::{HashKind, HashSpec, ShiftTable};
use crate::search::Control;
use spadkit_base::error::{Error, Result};
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// A kind of mapping in software.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappingKind {
    /// The unmapped index.
    Mod,
    /// CuTe's swizzles.
    Swizzle,
    /// Gaps between equal pieces.
    Pad,
    /// The fixed XOR.
    Xor,
    /// The fixed ADD.
    Add,
    /// The function of a hash unit.
    Hash(HashKind),
    /// The index XORed with two shifted and masked copies of itself.
    TwoShifts,
    /// Random shifts of the rows.
    Rap,
}

impl MappingKind {
    /// Every kind; of equal mappings the first kind's is preferred.
    pub fn all() -> Vec<MappingKind> {
        let any_matrix = |k: &HashKind| kind::of(*k).search == UnitSearch::Rows(Family::Matrix);
        let (widest, narrow): (Vec<_>, Vec<_>) = HashKind::ALL.into_iter().partition(any_matrix);
        let mut all = vec![
            MappingKind::Mod,
            MappingKind::Swizzle,
            MappingKind::Pad,
            MappingKind::Xor,
            MappingKind::Add,
        ];
        all.extend(narrow.into_iter().map(MappingKind::Hash));
        all.push(MappingKind::TwoShifts);
        all.extend(widest.into_iter().map(MappingKind::Hash));
        all.push(MappingKind::Rap);
        all
    }

    /// The name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            MappingKind::Mod => "mod",
            MappingKind::Swizzle => "swizzle",
            MappingKind::Pad => "pad",
            MappingKind::Xor => "xor",
            MappingKind::Add => "add",
            MappingKind::Hash(kind) => kind.name(),
            MappingKind::TwoShifts => "two-shifts",
            MappingKind::Rap => "rap",
        }
    }
}

impl fmt::Display for MappingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for MappingKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = MappingKind::all()
            .into_iter()
            .find(|kind| kind.name() == text);
        found.ok_or_else(|| {
            let names = |of_units: bool| {
                let kinds = MappingKind::all().into_iter();
                let kinds = kinds.filter(|k| matches!(k, MappingKind::Hash(_)) == of_units);
                kinds.map(MappingKind::name).collect::<Vec<_>>().join(", ")
            };
            Error::usage(
                format!("'{text}' is not a kind of mapping"),
                format!(
                    "kinds are {}; with --software also {}",
                    names(true),
                    names(false)
                ),
            )
        })
    }
}

/// A mapping of an array, its conflicts and its cost.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The mapping.
    pub layout: Layout,
    /// Kind of the mapping.
    pub kind: MappingKind,
    /// Method that found it: `fixed`, `exhaustive`, `optimal` or `seeds`.
    pub method: &'static str,
    /// Conflicts left.
    pub conflicts: u64,
    /// The largest conflict degree.
    pub max_degree: u32,
    /// Sum of the degrees.
    pub wavefronts: u64,
    /// Operations that compute where a word is stored: an estimate of the
    /// instructions added per access, before a compiler shares or hoists any.
    pub added: usize,
    /// Loads of a table in constant memory, each of which takes as long as a conflict.
    pub look_ups: u64,
    /// Words of shared memory beyond those of the array.
    pub wasted_words: u32,
    /// No mapping of the kind that wastes no more has fewer conflicts.
    pub lower_bound: u64,
    /// Mappings whose conflicts were counted or bounded on the way.
    pub evaluated: u64,
    /// Duration of the search in seconds.
    pub seconds: f64,
    /// No other choice is as good in all three respects and better in one; of
    /// several that are equal the first.
    pub front: bool,
}

impl Choice {
    /// Whether no mapping of its kind that wastes no more has fewer
    /// conflicts, proved. Of a fixed mapping: no mapping at all that keeps the
    /// vectors of the array whole.
    pub fn optimal(&self) -> bool {
        self.conflicts == self.lower_bound
    }

    /// The costs to compare by, the most important first: conflicts and look-ups, operations,
    /// words.
    pub fn costs(&self) -> (u64, usize, u32) {
        (
            self.conflicts + self.look_ups,
            self.added,
            self.wasted_words,
        )
    }
}

/// Limits and observer of a search.
#[derive(Clone, Copy)]
pub struct Effort<'a> {
    /// Stop condition and progress callback.
    pub control: Control<'a>,
    /// Time for each search.
    pub budget: Duration,
}

impl<'a> Effort<'a> {
    fn control(&self) -> Control<'a> {
        self.control.budget(self.budget)
    }
}

/// The result for an array.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The kinds that were asked for.
    pub kinds: Vec<MappingKind>,
    /// The mappings, the best first: fewest conflicts and look-ups of a table, then fewest
    /// operations added, then fewest bytes wasted.
    pub ranked: Vec<Choice>,
    /// The fixed mappings that this array cannot have, and why.
    pub left_out: Vec<(LayoutSpec, Refusal)>,
    /// Conflicts that no mapping at all avoids: a bank serves one of its words
    /// at a time.
    pub any_floor: u64,
    /// Conflicts that no mapping avoids that keeps the vectors of the array
    /// whole, as all that are ranked do.
    pub floor: u64,
    /// The class of mappings that is proved to have none with fewer conflicts than the first.
    pub none_fewer: Option<NoneFewer>,
}

impl Choices {
    /// The mapping that leaves the fewest conflicts, look-ups of a table counted as such.
    pub fn best(&self) -> &Choice {
        &self.ranked[0]
    }

    /// Whether no other mapping, of those that [`NoneFewer`] names, leaves fewer.
    pub fn fewest_proved(&self) -> bool {
        self.none_fewer.is_some()
    }
}

/// Mappings of which none leaves fewer conflicts than the best of an array, proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoneFewer {
    /// Every mapping of the array's words.
    AnyMapping,
    /// Every mapping that keeps the vectors of the array whole.
    WholeVectors,
    /// The modes of tensor copies.
    CopyModes,
    /// Gaps between the rows that `wmma` takes.
    RowGaps,
    /// XORs of index bits, and paddings that at most double the array.
    XorAndPadding,
}

impl NoneFewer {
    /// The proof for `conflicts`, where no mapping at all leaves fewer than `any_floor`, and
    /// none that keeps vectors whole fewer than `floor`.
    pub fn at_floor(conflicts: u64, any_floor: u64, floor: u64) -> Option<Self> {
        match conflicts {
            left if left == any_floor => Some(NoneFewer::AnyMapping),
            left if left == floor => Some(NoneFewer::WholeVectors),
            _ => None,
        }
    }

    /// A sentence without its full stop. `whole` says which mappings are meant, where
    /// accesses are wider than a word: ` that keeps vectors of 16 bytes whole`.
    pub fn text(self, whole: &str) -> String {
        match self {
            NoneFewer::AnyMapping => "no mapping at all leaves fewer".to_owned(),
            NoneFewer::WholeVectors => format!("no mapping{whole} leaves fewer"),
            NoneFewer::CopyModes => "no other mode of the tensor copies leaves fewer".to_owned(),
            NoneFewer::RowGaps => "no gaps between the rows that wmma takes leave fewer".to_owned(),
            NoneFewer::XorAndPadding => {
                "no XOR of index bits and no padding that at most doubles the array leaves fewer"
                    .to_owned()
            }
        }
    }
}

/// The best mappings of `array` of each of `kinds`. The identity is always
/// among them.
pub fn choices(array: &Array, kinds: &[MappingKind], effort: &Effort) -> Result<Choices> {
    let mut search = Search {
        array,
        effort,
        found: Vec::new(),
        left_out: Vec::new(),
        linear_bound: None,
        pad_bound: None,
    };
    search.fixed("mod".parse()?, MappingKind::Mod)?;
    // The copy engine has swizzles, and no other mapping.
    let copied = !array.tensor_copies().is_empty();
    // Fixed hashes that would break rows, descriptors or copies are refused with the reason.
    let fixed = [MappingKind::Xor, MappingKind::Add];
    let in_order = !array.bulk_copies().is_empty();
    let searched = |k: &MappingKind| {
        kinds.contains(k)
            && (!copied || in_order || *k == MappingKind::Swizzle)
            && (!in_order || fixed.contains(k))
            && (!array.has_matrices() || *k == MappingKind::Pad || fixed.contains(k))
            && (!array.is_by_descriptor() || fixed.contains(k))
    };
    for kind in MappingKind::all().into_iter().filter(searched) {
        if effort.control.stopped() {
            break;
        }
        search.kind(kind)?;
    }
    let Search {
        mut found,
        left_out,
        linear_bound,
        pad_bound,
        ..
    } = search;
    mark_front(&mut found);
    found.sort_by_key(Choice::costs);
    let best = found[0].conflicts;
    let (any_floor, floor) = (array.any_floor(), array.floor());
    let all_modes = copied && kinds.contains(&MappingKind::Swizzle) && !effort.control.stopped();
    let [no_linear, no_pad] = [linear_bound, pad_bound].map(|bound| bound >= Some(best));
    let searched = if in_order {
        None
    } else if all_modes {
        Some(NoneFewer::CopyModes)
    } else if array.has_matrices() {
        no_pad.then_some(NoneFewer::RowGaps)
    } else {
        (no_linear && no_pad).then_some(NoneFewer::XorAndPadding)
    };
    let none_fewer = NoneFewer::at_floor(best, any_floor, floor).or(searched);
    Ok(Choices {
        kinds: kinds.to_vec(),
        ranked: found,
        left_out,
        any_floor,
        floor,
        none_fewer,
    })
}

/// Seeds of RAP that are tried.
const SEEDS: u64 = 64;

/// The search under way.
struct Search<'a> {
    array: &'a Array,
    effort: &'a Effort<'a>,
    found: Vec<Choice>,
    left_out: Vec<(LayoutSpec, Refusal)>,
    /// No linear mapping has fewer conflicts.
    linear_bound: Option<u64>,
    /// No padding has fewer.
    pad_bound: Option<u64>,
}

/// A mapping to be measured.
struct Candidate {
    spec: LayoutSpec,
    kind: MappingKind,
    method: &'static str,
    lower_bound: u64,
    evaluated: u64,
    start: Instant,
}

impl Search<'_> {
    fn kind(&mut self, kind: MappingKind) -> Result<()> {
        match kind {
            MappingKind::Mod => Ok(()),
            MappingKind::Swizzle => self.swizzles(),
            MappingKind::Pad => self.pads(),
            MappingKind::Xor => self.fixed("xor".parse()?, kind),
            MappingKind::Add => self.fixed("add".parse()?, kind),
            MappingKind::Hash(hash) => self.linear(hash),
            MappingKind::TwoShifts => self.two_shifts(),
            MappingKind::Rap => self.rap(),
        }
    }

    fn fixed(&mut self, spec: LayoutSpec, kind: MappingKind) -> Result<()> {
        let candidate = Candidate {
            spec,
            kind,
            method: "fixed",
            lower_bound: self.array.floor(),
            evaluated: 1,
            start: Instant::now(),
        };
        self.take(candidate)
    }

    /// The best of some seeds.
    fn rap(&mut self) -> Result<()> {
        let start = Instant::now();
        let spec = |seed| LayoutSpec::Hash(HashSpec::Rap(ShiftTable::Seed(seed)));
        let mut best: Option<(u64, u64)> = None;
        // If one of them shifts rows apart that must stay together, all do.
        let torn = self.array.vector_words() > 1;
        for seed in 1..=if torn { 1 } else { SEEDS } {
            let layout = Layout::new(&spec(seed), self.array.geometry())?;
            let conflicts = self.array.count(&layout).conflicts;
            if best.is_none_or(|(fewest, _)| conflicts < fewest) {
                best = Some((conflicts, seed));
            }
        }
        let Some((_, seed)) = best else { return Ok(()) };
        self.take(Candidate {
            spec: spec(seed),
            kind: MappingKind::Rap,
            method: "seeds",
            lower_bound: self.array.floor(),
            evaluated: SEEDS,
            start,
        })
    }

    /// Measures a mapping and keeps it, or the reason why the array cannot have
    /// it.
    fn take(&mut self, candidate: Candidate) -> Result<()> {
        let layout = Layout::new(&candidate.spec, self.array.geometry())?;
        if let Some(refusal) = self.array.refuses(&layout) {
            self.left_out.push((candidate.spec, refusal));
            return Ok(());
        }
        let count = self.array.count(&layout);
        self.found.push(Choice {
            kind: candidate.kind,
            method: candidate.method,
            conflicts: count.conflicts,
            max_degree: count.max_degree,
            wavefronts: count.wavefronts(),
            added: super::Steps::of(&layout).count(),
            look_ups: self.array.look_ups(&layout),
            wasted_words: self.array.wasted(&layout),
            lower_bound: candidate.lower_bound.min(count.conflicts),
            evaluated: candidate.evaluated,
            seconds: candidate.start.elapsed().as_secs_f64(),
            front: false,
            layout,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests;
