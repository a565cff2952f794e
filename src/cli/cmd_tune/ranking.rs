//! The mappings of an array, the fewest conflicts first.

use crate::cli::conflicts_lines::cost_tone;
use crate::geometry::WORD_BYTES;
use crate::readable::counted;
use crate::report::pages::MappingChoice;
use crate::report::{removal, that_keeps_vectors};
use crate::software::choice::{Array, Choice, Choices, MappingKind, NoneFewer, on_front};
use crate::software::{Language, Layout, LayoutSpec, render};
use crate::suggest::{Suggestion, gains_little};
use crate::terminal::{Columns, Details, Tone};
use crate::trace::{BulkCopy, TensorCopy};
use serde::Serialize;

/// An array with its mappings.
#[derive(Serialize)]
pub(super) struct Ranking<'a> {
    pub bytes: u32,
    /// Bytes of the widest access.
    pub vector_bytes: u32,
    pub accesses: u64,
    conflicts_no_mapping_avoids: u64,
    conflicts_no_whole_vectors_avoid: u64,
    /// No XOR of index bits and no padding that at most doubles the array leaves fewer
    /// than the first.
    fewest_proved: bool,
    #[serde(skip)]
    none_fewer: Option<NoneFewer>,
    tensor_copies: &'a [TensorCopy],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    bulk_copies: &'a [BulkCopy],
    /// wmma computes the addresses of rows.
    #[serde(skip)]
    pub has_matrices: bool,
    /// wgmma computes those of all.
    #[serde(skip)]
    pub is_by_descriptor: bool,
    /// Fixed mappings that are none for this array.
    pub left_out: Vec<LeftOut<'a>>,
    results: Vec<Ranked>,
}

/// A mapping, and why it is none.
#[derive(Serialize)]
pub(super) struct LeftOut<'a> {
    pub hash: &'a LayoutSpec,
    pub reason: String,
}

/// A mapping of an array.
#[derive(Serialize)]
pub(super) struct Ranked {
    pub hash: LayoutSpec,
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
    /// Loads of a table in constant memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    look_ups: Option<u64>,
    /// Whether the declaration of the array is all that changes.
    in_declaration: bool,
    pub wasted_bytes: u32,
    front: bool,
    /// The index in CUDA.
    code: String,
}

impl Ranked {
    /// Conflicts, and loads of a table, which take as long.
    fn cost(&self) -> u64 {
        self.conflicts + self.look_ups.unwrap_or(0)
    }
}

impl<'a> Ranking<'a> {
    pub fn of(array: &'a Array, found: &'a Choices) -> Self {
        let unmapped = found.ranked.iter().find(|c| c.kind == MappingKind::Mod);
        let unmapped = unmapped.map_or(0, |c| c.conflicts);
        let ideal = array.profile().ideal_wavefronts(array.geometry().banks());
        let ranked = |choice: &'a Choice| Ranked {
            hash: choice.layout.spec().clone(),
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
            look_ups: (choice.look_ups > 0).then_some(choice.look_ups),
            in_declaration: false,
            wasted_bytes: choice.wasted_words * WORD_BYTES,
            front: choice.front,
            code: render(&choice.layout, Language::Cuda).code,
        };
        let left_out = found.left_out.iter().map(|(hash, why)| LeftOut {
            hash,
            reason: why.to_string(),
        });
        Ranking {
            bytes: array.words() * WORD_BYTES,
            vector_bytes: array.vector_words() * WORD_BYTES,
            accesses: array.accesses(),
            conflicts_no_mapping_avoids: found.any_floor,
            conflicts_no_whole_vectors_avoid: found.floor,
            fewest_proved: found.fewest_proved(),
            none_fewer: found.none_fewer,
            tensor_copies: array.tensor_copies(),
            bulk_copies: array.bulk_copies(),
            has_matrices: array.has_matrices(),
            is_by_descriptor: array.is_by_descriptor(),
            left_out: left_out.collect(),
            results: found.ranked.iter().map(ranked).collect(),
        }
    }

    /// The ranking if `suggestions` are the changes of the source: gaps that are longer
    /// rows of the declaration cost no instruction. Suggested ones have a row in the
    /// table.
    pub fn with_declared(mut self, array: &Array, suggestions: &[&Suggestion]) -> Self {
        if let [suggestion] = suggestions
            && let Some(hash) = suggestion.declared_padding()
            && self.results.iter().all(|r| r.hash != *hash)
        {
            self.results.extend(self.declared(array, hash));
        }
        for ranked in &mut self.results {
            let is_declared = |s: &&Suggestion| s.declares(&ranked.hash);
            if !suggestions.is_empty() && suggestions.iter().all(is_declared) {
                ranked.in_declaration = true;
                ranked.added_per_access = 0;
            }
        }
        if self.results.iter().all(|r| !r.in_declaration) {
            return self;
        }
        let costs = |r: &Ranked| (r.cost(), r.added_per_access, r.wasted_bytes);
        // The first result is the one that the source changes implement, unless the search
        // ran out of its budget and longer rows leave fewer conflicts.
        let declared = self.results.iter().filter(|r| r.in_declaration);
        let fewest = declared.map(|r| r.conflicts).min();
        let first = usize::from(fewest >= Some(self.best().cost()));
        self.results[first..].sort_by_key(costs);
        let costs: Vec<_> = self.results.iter().map(costs).collect();
        for (ranked, front) in self.results.iter_mut().zip(on_front(&costs)) {
            ranked.front = front;
        }
        self
    }

    /// A padding that the search did not keep, because others of its kind are as good.
    fn declared(&self, array: &Array, hash: &LayoutSpec) -> Option<Ranked> {
        let layout = Layout::new(hash, array.geometry()).ok()?;
        let count = array.count(&layout);
        Some(Ranked {
            hash: hash.clone(),
            kind: MappingKind::Pad.name(),
            method: "declared",
            conflicts: count.conflicts,
            baseline_conflicts: self.unmapped(),
            max_degree: count.max_degree,
            wavefronts: count.wavefronts(),
            ideal_wavefronts: self.best().ideal_wavefronts,
            lower_bound: self.conflicts_no_whole_vectors_avoid,
            evaluated: 1,
            optimal: false,
            fits: array.words() + array.wasted(&layout) <= array.room(),
            seconds: 0.0,
            added_per_access: 0,
            look_ups: None,
            in_declaration: true,
            wasted_bytes: array.wasted(&layout) * WORD_BYTES,
            front: false,
            code: render(&layout, Language::Cuda).code,
        })
    }

    /// The mapping that leaves the fewest conflicts.
    pub fn best(&self) -> &Ranked {
        &self.results[0]
    }

    /// Whether the best mapping saves hardly any wavefront.
    pub fn is_vain(&self) -> bool {
        gains_little(self.wavefronts_before(), self.saved())
    }

    /// Conflicts that the best mapping removes, each a wavefront.
    fn saved(&self) -> u64 {
        self.unmapped().saturating_sub(self.best().conflicts)
    }

    /// Wavefronts without a mapping.
    fn wavefronts_before(&self) -> u64 {
        self.best().wavefronts + self.saved()
    }

    /// Conflicts without a mapping.
    pub fn unmapped(&self) -> u64 {
        self.best().baseline_conflicts
    }

    /// The mappings that a programmer picks from, or with `all` each one.
    pub fn table(&self, all: bool) -> Details {
        let shown = self.results.iter().filter(|r| all || self.is_shown(r));
        let shown: Vec<&Ranked> = shown.collect();
        let hidden = self.results.len() - shown.len();
        let by_table = shown.iter().find_map(|r| Some((&r.hash, r.look_ups?)));
        let table = Columns::of(shown)
            .left("", |r| if r.front { "*" } else { "" })
            .toned(|_| Tone::Good)
            .left("mapping", |r| match r.method {
                "fixed" if r.kind == "mod" => "as it is".to_owned(),
                _ => r.hash.to_string(),
            })
            .right("conflicts", |r| r.conflicts)
            .toned(|r| cost_tone(r.conflicts))
            .right("instr", |r| added(r.added_per_access as u64))
            .right("bytes", |r| added(r.wasted_bytes.into()))
            .left("optimal", |r| r.proved())
            .right("worst", |r| format!("{}x", r.max_degree))
            .right("wavefronts", |r| r.wavefronts)
            .right("ideal", |r| r.ideal_wavefronts)
            .left("kind", |r| r.kind)
            .right("evaluated", |r| r.evaluated)
            .right("time", |r| format!("{:.3} s", r.seconds))
            .minor(&["time", "evaluated", "kind", "ideal", "wavefronts", "worst"])
            .table();
        let mut details = Details::of(table);
        if hidden > 0 {
            details.say(format!(" {hidden} more: --all"));
        }
        if let Some((hash, loads)) = by_table {
            details.note(format!(
                "{hash}: {} of its table in constant memory, one for each word that the lanes of \
                 an access need; they rank it like conflicts",
                counted(loads, "load")
            ));
        }
        details.note("* no other is better in all of conflicts, added instructions and bytes");
        details
    }

    /// The table shows the front, the unmapped index, the plain XOR, and the
    /// best padding and swizzle, which programmers use.
    fn is_shown(&self, ranked: &Ranked) -> bool {
        let first = self.results.iter().find(|r| r.kind == ranked.kind);
        let is_first = first.is_some_and(|r| std::ptr::eq(r, ranked));
        let usual = ["mod", "xor", "pad", "swizzle"].contains(&ranked.kind);
        ranked.front || is_first && usual
    }

    /// The mappings on a page, those of the [table](Self::table) first, and how many
    /// these are; `of` is the array.
    pub fn rows(&self, of: &str) -> (Vec<MappingChoice>, usize) {
        let row = |r: &Ranked| MappingChoice {
            of: of.to_owned(),
            hash: match r.kind {
                "mod" => "as it is".to_owned(),
                _ => r.hash.to_string(),
            },
            conflicts: r.conflicts,
            wavefronts: r.wavefronts,
            max_degree: r.max_degree,
            added: r.added_per_access,
            wasted_bytes: r.wasted_bytes,
            proof: match r.proved() {
                "yes" => "the fewest of its kind, proved",
                "no" => "not proved",
                _ => "counted",
            },
            front: r.front,
        };
        let (shown, others): (Vec<&Ranked>, Vec<&Ranked>) =
            self.results.iter().partition(|r| self.is_shown(r));
        let count = shown.len();
        (shown.into_iter().chain(others).map(row).collect(), count)
    }

    /// The accesses, and their subject, in words.
    pub fn subject(&self) -> String {
        let vectors = match self.vector_bytes {
            WORD_BYTES => String::new(),
            bytes => format!(", of up to {} bits: these stay whole", 8 * bytes),
        };
        format!(
            "{} accesses to {} bytes{vectors}",
            self.accesses, self.bytes
        )
    }

    /// Whether a bulk copy keeps its words in their order.
    pub fn is_in_order(&self) -> bool {
        !self.bulk_copies.is_empty()
    }

    /// The proof about the fewest conflicts, in words; empty where nothing is searched.
    pub fn proof(&self) -> String {
        match self.known() {
            _ if self.is_in_order() && self.unmapped() > 0 => String::new(),
            (true, what) => format!("Proved: {what}"),
            (false, what) => what,
        }
    }

    /// The class of mappings, if accesses are wider than a word.
    fn whole_vectors(&self) -> String {
        that_keeps_vectors((self.vector_bytes > WORD_BYTES).then_some(self.vector_bytes))
    }

    /// Whether the fewest conflicts are proved to be that, and what is known of them.
    pub fn known(&self) -> (bool, String) {
        if self.is_in_order() {
            let text = "Bulk copies keep the words in their order: no mapping is possible.";
            return (false, text.to_owned());
        }
        let (best, floor) = (self.best().conflicts, self.conflicts_no_whole_vectors_avoid);
        let at_floor = NoneFewer::at_floor(best, self.conflicts_no_mapping_avoids, floor);
        if let Some(none) = at_floor.or(self.none_fewer) {
            return (true, format!("{}.", none.text(&self.whole_vectors())));
        }
        let vectors = self.whole_vectors();
        let text = "Not proved to be the fewest: any mapping";
        (false, format!("{text}{vectors} leaves at least {floor}."))
    }

    /// The effect of the best mapping, in words.
    pub fn answer(&self) -> String {
        let (best, all) = (self.best(), self.unmapped());
        let hash = &best.hash;
        let cost = match (best.added_per_access, best.wasted_bytes) {
            (0, 0) => String::new(),
            (0, bytes) => format!(" for {bytes} bytes"),
            (1, 0) => " for 1 instruction an access".to_owned(),
            (n, 0) => format!(" for {n} instructions an access"),
            (n, bytes) => format!(" for {n} instructions an access and {bytes} bytes"),
        };
        match removal(best.conflicts, all) {
            Some(_) if self.is_vain() => format!(
                "No mapping is worth its cost: {hash} saves {} of {} wavefronts{cost}.",
                self.saved(),
                self.wavefronts_before()
            ),
            _ if all == 0 => {
                "There are no bank conflicts: the indices stay as they are.".to_owned()
            }
            Some(removes) => format!("{hash} {removes}{cost}."),
            None if self.is_in_order() => format!("{}.", counted(all, "conflict")),
            None if self.is_by_descriptor => format!(
                "{}. wgmma reads the array by a descriptor: its swizzle modes alone can \
                 spread the words.",
                counted(all, "conflict")
            ),
            None => match self.results.iter().find(|r| r.conflicts < all) {
                Some(r) => format!(
                    "No mapping is worth its cost: {} removes {} of {all} conflicts for {} of a \
                     table in constant memory.",
                    r.hash,
                    all - r.conflicts,
                    counted(r.look_ups.unwrap_or(0), "load")
                ),
                None => format!(
                    "No mapping{} leaves fewer than the {} that there are.",
                    self.whole_vectors(),
                    counted(all, "conflict")
                ),
            },
        }
    }
}

/// The added operations: `+2`, or `0`.
fn added(count: u64) -> String {
    match count {
        0 => "0".to_owned(),
        more => format!("+{more}"),
    }
}

impl Ranked {
    /// Whether it is proved to be the best of its kind: no question for fixed ones.
    pub fn proved(&self) -> &'static str {
        match (self.optimal, self.method) {
            (true, _) => "yes",
            (false, "fixed" | "declared") => "",
            (false, _) => "no",
        }
    }
}
