//! The mappings of an array, the fewest conflicts first.

use crate::cli::printer::Columns;
use crate::software::choice::{Array, Choice, Choices, MappingKind};
use crate::software::{Language, LayoutSpec, render};
use crate::trace::TensorCopy;
use serde::Serialize;

/// Bytes of a word of shared memory.
pub(super) const WORD: u32 = 4;

/// An array with its mappings.
#[derive(Serialize)]
pub(super) struct Ranking<'a> {
    pub bytes: u32,
    /// Of the widest access.
    pub vector_bytes: u32,
    pub accesses: u64,
    conflicts_no_mapping_avoids: u64,
    conflicts_no_whole_vectors_avoid: u64,
    /// No XOR of index bits and no padding leaves fewer than the first.
    fewest_proved: bool,
    tensor_copies: &'a [TensorCopy],
    /// Fixed mappings that are none for this array.
    pub left_out: Vec<LeftOut<'a>>,
    results: Vec<Ranked<'a>>,
}

/// A mapping, and why it is none.
#[derive(Serialize)]
pub(super) struct LeftOut<'a> {
    pub hash: &'a LayoutSpec,
    pub reason: String,
}

/// A mapping of an array.
#[derive(Serialize)]
pub(super) struct Ranked<'a> {
    pub hash: &'a LayoutSpec,
    kind: &'static str,
    method: &'static str,
    pub conflicts: u64,
    /// Conflicts without a mapping.
    baseline_conflicts: u64,
    max_degree: u32,
    pub wavefronts: u64,
    pub ideal_wavefronts: u64,
    lower_bound: u64,
    evaluated: u64,
    optimal: bool,
    fits: bool,
    seconds: f64,
    pub added_per_access: usize,
    pub wasted_bytes: u32,
    front: bool,
    /// The index in CUDA.
    code: String,
}

impl<'a> Ranking<'a> {
    pub fn of(array: &'a Array, found: &'a Choices) -> Self {
        let unmapped = found.ranked.iter().find(|c| c.kind == MappingKind::Mod);
        let unmapped = unmapped.map_or(0, |c| c.conflicts);
        let ideal = array.profile().ideal_wavefronts(array.geometry().banks());
        let ranked = |choice: &'a Choice| Ranked {
            hash: choice.layout.spec(),
            kind: choice.kind.name(),
            method: choice.method,
            conflicts: choice.conflicts,
            baseline_conflicts: unmapped,
            max_degree: choice.max_degree,
            wavefronts: choice.wavefronts,
            ideal_wavefronts: ideal,
            lower_bound: choice.lower_bound,
            evaluated: choice.evaluated,
            optimal: choice.optimal(),
            fits: array.words() + choice.wasted_words <= array.room(),
            seconds: choice.seconds,
            added_per_access: choice.added,
            wasted_bytes: choice.wasted_words * WORD,
            front: choice.front,
            code: render(&choice.layout, Language::Cuda).code,
        };
        let left_out = found.left_out.iter().map(|(hash, why)| LeftOut {
            hash,
            reason: why.to_string(),
        });
        Ranking {
            bytes: array.words() * WORD,
            vector_bytes: array.vector_words() * WORD,
            accesses: array.accesses(),
            conflicts_no_mapping_avoids: found.any_floor,
            conflicts_no_whole_vectors_avoid: found.floor,
            fewest_proved: found.fewest_proved,
            tensor_copies: array.tensor_copies(),
            left_out: left_out.collect(),
            results: found.ranked.iter().map(ranked).collect(),
        }
    }

    /// The mapping that leaves the fewest conflicts.
    pub fn best(&self) -> &Ranked<'a> {
        &self.results[0]
    }

    /// Conflicts without a mapping.
    pub fn unmapped(&self) -> u64 {
        self.best().baseline_conflicts
    }

    pub fn text(&self) -> String {
        let shown: Vec<&Ranked> = self.results.iter().filter(|r| self.is_shown(r)).collect();
        let hidden = self.results.len() - shown.len();
        let table = Columns::of(shown)
            .left("front", |r| if r.front { "*" } else { "" })
            .left("mapping", |r| r.hash)
            .left("kind", |r| r.kind)
            .right("conflicts", |r| r.conflicts)
            .right("max degree", |r| r.max_degree)
            .right("wavefronts", |r| r.wavefronts)
            .right("ideal", |r| r.ideal_wavefronts)
            .right("added", |r| r.added_per_access)
            .right("wasted bytes", |r| r.wasted_bytes)
            .left("optimal", |r| r.proved())
            .right("evaluated", |r| r.evaluated)
            .right("time", |r| format!("{:.3} s", r.seconds))
            .text();
        match hidden {
            0 => table,
            _ => {
                format!(
                    "{table}{hidden} more that waste fewer bytes but leave more conflicts, in --format json\n"
                )
            }
        }
    }

    /// The table has the front, of each kind the mapping that leaves the fewest
    /// conflicts, and the fixed ones.
    fn is_shown(&self, ranked: &Ranked) -> bool {
        let first = self.results.iter().find(|r| r.kind == ranked.kind);
        let is_first = first.is_some_and(|r| std::ptr::eq(r, ranked));
        ranked.front || is_first || ranked.method == "fixed"
    }

    /// How many accesses there are to what.
    pub fn subject(&self) -> String {
        let vectors = match self.vector_bytes {
            WORD => String::new(),
            bytes => format!(", of up to {} bits: these stay whole", 8 * bytes),
        };
        format!(
            "{} accesses to {} bytes{vectors}",
            self.accesses, self.bytes
        )
    }

    /// What is proved of the ends of the front.
    pub fn proof(&self) -> String {
        let best = self.best().conflicts;
        let vectors = match self.vector_bytes {
            WORD => String::new(),
            bytes => format!(" that keeps vectors of {bytes} bytes whole"),
        };
        let floor = self.conflicts_no_whole_vectors_avoid;
        let fewest = if best == self.conflicts_no_mapping_avoids {
            "no mapping at all leaves fewer, proved".to_owned()
        } else if best == floor {
            format!("no mapping{vectors} leaves fewer, proved")
        } else if !self.tensor_copies.is_empty() && self.fewest_proved {
            "no other mode of the tensor copies leaves fewer, proved".to_owned()
        } else if self.fewest_proved {
            "no XOR of index bits and no padding leaves fewer, proved".to_owned()
        } else {
            format!("not proved: at least {floor} are left by any mapping{vectors}")
        };
        format!(
            "front, fewest conflicts ({best}): {fewest}; cheapest: the unchanged index adds no instruction\n"
        )
    }
}

impl Ranked<'_> {
    /// Whether it is proved to be the best of its kind: no question for fixed ones.
    pub fn proved(&self) -> &'static str {
        match (self.optimal, self.method) {
            (true, _) => "yes",
            (false, "fixed") => "",
            (false, _) => "no",
        }
    }
}
