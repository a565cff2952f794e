//! `spadkit tune --software`: what a programmer picks from.

use super::modes_text::{self, ModesOf};
use super::put_into_ptx::PutIntoPtx;
use super::ranking::{LeftOut, Ranking};
use super::resources::{Launched, OnSm};
use crate::capture::statics::Indices;
use crate::cli::changes;
use crate::cli::machine_code::Judgement;
use crate::cli::printer::CommandResult;
use crate::config::Config;
use crate::flow::rewrite;
use crate::geometry::WORD_BYTES;
use crate::ptx::ast::Instruction;
use crate::ptx::names::Word;
use crate::ptx::opcodes::Opcode;
use crate::readable::readable_list;
use crate::report::removal;
use crate::software::LayoutSpec;
use crate::software::choice::{Choices, Narrower, PerVariable, VariableChoices};
use crate::suggest::{LeftAlone, Suggestion, torn_verdict};
use crate::terminal::{Columns, Details, Hint, Table, Tone};
use crate::trace::{AccessTrace, TracedBlock};
use crate::workload::Input;
use serde::Serialize;
use std::path::Path;

/// A kernel's accesses, and what its text says of them.
pub(in crate::cli) struct Subject<'a> {
    pub trace: &'a AccessTrace,
    /// The indices that its PTX computes; empty if there is no PTX.
    pub indices: &'a Indices,
    /// Source files are looked for in the folder of this, too.
    pub input: &'a Input,
    /// Words of shared memory that a mapping may take.
    pub room: u32,
    /// The kernel and its launch, where they are known.
    pub launched: Option<Launched<'a>>,
    /// The option that names the machine, where commands can be typed.
    pub again: Option<String>,
    /// Every mapping is shown, and every changed line.
    pub all: bool,
    /// A page to write.
    pub report: Option<&'a Path>,
    /// The counts by which changes of the source are judged.
    pub judgement: Judgement,
}

impl Subject<'_> {
    pub(super) fn has_tensor_copies(&self) -> bool {
        let is_copy = |i: &Instruction| i.opcode == Opcode::Cp && i.has(Word::Tensor);
        let functions = self.launched.iter().flat_map(|l| &l.module.functions);
        functions.flat_map(|f| &f.instructions).any(is_copy)
    }
}

/// The mappings that a programmer picks from.
#[derive(Serialize)]
pub(super) struct SoftwareRanking<'a> {
    #[serde(flatten)]
    pub whole: Ranking<'a>,
    pub rule: &'static str,
    pub rule_text: String,
    /// A mapping for each variable, if there are several.
    pub per_variable: Option<Apart<'a>>,
    /// Mappings with wide accesses split, where these leave conflicts.
    pub narrower: Vec<Split<'a>>,
    /// The swizzle modes of tensor copies, of each array that has conflicts.
    pub modes: &'a [ModesOf],
    /// The resources of blocks under the mappings of the front.
    pub on_sm: OnSm,
    /// The suggested changes.
    pub suggestions: Vec<Suggestion>,
    /// The arrays for which no change of the source pays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<LeftAlone>,
    /// The machine code of the mappings for which `rewrite` is proposed.
    #[serde(skip_serializing_if = "PutIntoPtx::is_unknown")]
    pub put_into_ptx: PutIntoPtx,
    /// Why changes of the source are not judged by the machine code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    #[serde(skip)]
    pub trace: &'a AccessTrace,
    #[serde(skip)]
    pub machine: &'a Config,
    /// Whether the kernel has tensor copies.
    #[serde(skip)]
    pub tensor_copies: bool,
    /// The modes for the arrays that tensor copies go through.
    #[serde(skip)]
    pub copied: String,
    /// The arrays that have conflicts and no mapping, because bulk copies keep their order.
    #[serde(skip)]
    pub in_order: Option<String>,
    #[serde(skip)]
    pub subject: &'a Subject<'a>,
}

/// A mapping for each variable, against one for all.
#[derive(Serialize)]
pub(super) struct Apart<'a> {
    pub variables: Vec<OfVariable<'a>>,
    pub conflicts: u64,
    max_degree: u32,
    pub added_per_access: f64,
    pub wasted_bytes: u32,
    single: Single<'a>,
}

/// The mappings of a variable.
#[derive(Serialize)]
pub(super) struct OfVariable<'a> {
    #[serde(flatten)]
    pub own: Ranking<'a>,
    pub name: &'a str,
    offset: u32,
    /// Bytes of the variable; accesses may touch fewer.
    #[serde(skip)]
    declared_bytes: u32,
}

/// One mapping for all variables.
#[derive(Serialize)]
struct Single<'a> {
    hash: &'a LayoutSpec,
    conflicts: u64,
    added_per_access: usize,
    wasted_bytes: u32,
}

/// The mappings with wide accesses split.
#[derive(Serialize)]
pub(super) struct Split<'a> {
    #[serde(flatten)]
    pub own: Ranking<'a>,
    pub bytes_at_most: u32,
}

impl<'a> Apart<'a> {
    pub fn of(apart: &'a PerVariable, whole: &'a Choices, suggestions: &[Suggestion]) -> Self {
        let single = whole.best();
        let of = |name: &'a str| {
            let own = move |s: &&Suggestion| s.variable.as_deref() == Some(name);
            suggestions.iter().filter(own).collect::<Vec<_>>()
        };
        let variable = |v: &'a VariableChoices| OfVariable {
            own: Ranking::of(&v.array, &v.choices).with_declared(&v.array, &of(&v.variable.name)),
            name: &v.variable.name,
            offset: v.variable.offset,
            declared_bytes: v.variable.bytes,
        };
        Apart {
            variables: apart.variables.iter().map(variable).collect(),
            conflicts: apart.count.conflicts,
            max_degree: apart.count.max_degree,
            added_per_access: apart.added,
            wasted_bytes: apart.wasted_words * WORD_BYTES,
            single: Single {
                hash: single.layout.spec(),
                conflicts: single.conflicts,
                added_per_access: single.added,
                wasted_bytes: single.wasted_words * WORD_BYTES,
            },
        }
    }

    /// The options of `rewrite` for these mappings; `None` if a variable has no unique name.
    fn options(&self) -> Option<String> {
        let plain = |v: &OfVariable| !v.name.is_empty() && !v.name.contains([',', ' ', '=', ':']);
        if !self.variables.iter().all(plain) {
            return None;
        }
        let moved = |v: &&OfVariable| v.own.best().conflicts < v.own.unmapped();
        let option = |v: &OfVariable| {
            let hash = format!("{}={}", v.name, v.own.best().hash);
            format!(" --hash {}", crate::quote::shell(hash))
        };
        Some(self.variables.iter().filter(moved).map(option).collect())
    }

    /// A line per variable, and all of them against one mapping.
    fn details(&self, whole: &Ranking) -> Details {
        let header = [
            "variable",
            "bytes",
            "accesses",
            "before",
            "mapping",
            "conflicts",
            "instr",
            "wasted",
            "optimal",
        ];
        let right = [&header[1..4], &header[5..8]].concat();
        let sum = |name: &str, mapping: String, conflicts: u64, added: String, wasted: u32| {
            vec![
                name.to_owned(),
                whole.bytes.to_string(),
                whole.accesses.to_string(),
                whole.unmapped().to_string(),
                mapping,
                conflicts.to_string(),
                added,
                wasted.to_string(),
                String::new(),
            ]
        };
        let single = &self.single;
        let rows = self.variables.iter().map(OfVariable::cells).chain([
            sum(
                "all, each its own",
                String::new(),
                self.conflicts,
                format!("{:.2}", self.added_per_access),
                self.wasted_bytes,
            ),
            sum(
                "all, one mapping",
                single.hash.to_string(),
                single.conflicts,
                single.added_per_access.to_string(),
                single.wasted_bytes,
            ),
        ]);
        let mut details = Details::new();
        details.heading("a mapping for each variable:");
        let table = Table::new(&header, rows).right(&right);
        details.table(table.minor(&["optimal", "bytes", "accesses"]));
        details
    }
}

impl OfVariable<'_> {
    /// Cells of the variable's line in the table.
    fn cells(&self) -> Vec<String> {
        let best = self.own.best();
        vec![
            readable_list(self.name),
            self.declared_bytes.to_string(),
            self.own.accesses.to_string(),
            self.own.unmapped().to_string(),
            best.hash.to_string(),
            best.conflicts.to_string(),
            best.added_per_access.to_string(),
            best.wasted_bytes.to_string(),
            best.proved().to_owned(),
        ]
    }
}

impl<'a> Split<'a> {
    pub fn of(narrower: &'a Narrower) -> Self {
        Split {
            own: Ranking::of(&narrower.array, &narrower.choices),
            bytes_at_most: narrower.bytes,
        }
    }
}

impl CommandResult for SoftwareRanking<'_> {
    fn counted(&self) -> Option<TracedBlock> {
        self.trace.traced_block()
    }

    fn verdict(&self) -> String {
        let apart = self.better_apart();
        let mapping = match apart.and_then(|a| removal(a.conflicts, self.whole.unmapped())) {
            // One mapping for all of shared memory is not the suggestion.
            Some(removes) => format!(
                "A mapping for each variable {removes}; one for all of shared memory leaves {}.",
                self.whole.best().conflicts
            ),
            None => format!("{} {}", self.whole.answer(), self.whole.proof()),
        };
        let parted = self.suggestions.iter().filter(|s| s.parted.is_some());
        let parted =
            parted.map(|s| format!("{}{} leaves {}.", s.hash, s.parts_text(), s.conflicts));
        let in_the_source = torn_verdict(&self.suggestions, &self.left_alone);
        let parts: Vec<String> = [mapping.trim_end().to_owned()]
            .into_iter()
            .chain(self.in_order.clone())
            .chain(parted)
            .chain(in_the_source)
            .collect();
        parts.join(" ")
    }

    fn tone(&self) -> Tone {
        match self.whole.best().conflicts {
            0 => Tone::Good,
            _ => Tone::Plain,
        }
    }

    fn details(&self) -> Details {
        let whole = &self.whole;
        let mut details = Details::new();
        details.say(format!(
            "{}: {} conflicts as it is, {}",
            crate::readable::readable_words(&self.trace.name),
            whole.unmapped(),
            whole.subject()
        ));
        details.gap();
        details.add(whole.table(self.subject.all));
        for LeftOut { hash, reason } in &whole.left_out {
            details.toned(Tone::Doubt, format!("left out: {hash}: {reason}"));
        }
        if let Some(apart) = &self.per_variable {
            details.add(apart.details(whole));
        }
        if !self.narrower.is_empty() {
            details.add(self.narrower_details());
        }
        details.say(self.copied.clone());
        details.add(modes_text::details(self.modes, self.tensor_copies));
        details.add(self.on_sm.details());
        details.add(self.put_into_ptx.details());
        details.add(changes::details(&self.suggestions, self.subject.all));
        for (s, costs) in self
            .suggestions
            .iter()
            .filter_map(|s| Some((s, s.costs_as_much()?)))
        {
            details.toned(Tone::Doubt, format!("{} on {}: {costs}.", s.hash, s.array));
        }
        details.add(changes::left_alone(&self.left_alone, |left| {
            self.may_rewrite(&left.hash)
        }));
        details.note(self.doubt.clone().unwrap_or_default());
        details.gap();
        details.note(crate::cli::machine::rule_line(self.machine));
        details
    }

    fn hints(&self) -> Vec<Hint> {
        let Some(again) = self.subject.again.as_ref() else {
            return Vec::new();
        };
        let best = self.whole.best();
        let mut hints = Vec::new();
        let rewrites = self.rewrites();
        let input = crate::quote::shell(self.subject.input.name());
        let apart = self.better_apart().filter(|_| rewrites);
        let apart = apart.filter(|_| !self.put_into_ptx.per_variable_is_vain());
        if let Some(hashes) = apart.and_then(Apart::options) {
            let command = rewrite(&input, &hashes, "fast.ptx", again);
            hints.push(Hint::new("next, each variable with its own", command));
        }
        if best.conflicts >= self.whole.unmapped() || self.whole.is_vain() {
            return hints;
        }
        let rewrites = self.may_rewrite(&best.hash);
        let hash = crate::quote::shell(best.hash.to_string());
        if rewrites && !self.put_into_ptx.whole_is_vain() {
            let command = rewrite(&input, &format!(" --hash {hash}"), "fast.ptx", again);
            hints.push(Hint::new("next, without touching the source", command));
        }
        let command = format!("spadkit encode {hash} --as cuda {again}");
        hints.push(Hint::new(
            "as code; also --as opencl, ptx, cute, triton",
            command,
        ));
        hints
    }
}

impl SoftwareRanking<'_> {
    /// Whether the kernel is one that `rewrite` may change.
    fn rewrites(&self) -> bool {
        let is_fixed = self.tensor_copies || self.whole.has_matrices;
        self.subject.launched.is_some() && !is_fixed
    }

    /// Whether nothing is known that keeps a mapping out of the PTX.
    fn may_rewrite(&self, hash: &LayoutSpec) -> bool {
        self.rewrites() && !self.on_sm.refuses(hash)
    }

    /// A mapping for each variable, where that leaves fewer conflicts than one for
    /// all of shared memory.
    pub fn better_apart(&self) -> Option<&Apart<'_>> {
        let least = self.whole.best().conflicts.min(self.whole.unmapped());
        let apart = self.per_variable.as_ref();
        apart.filter(|apart| apart.conflicts < least)
    }

    /// Vectors against conflicts: fewer instructions or fewer wavefronts.
    fn narrower_details(&self) -> Details {
        let others = self.narrower.iter().map(|n| (n.bytes_at_most, &n.own));
        let all = std::iter::once((self.whole.vector_bytes, &self.whole)).chain(others);
        let table = Columns::of(all)
            .left("accesses of", |(bytes, _)| {
                format!("up to {} bits", 8 * bytes)
            })
            .right("instructions", |(_, found)| found.accesses)
            .left("mapping", |(_, found)| found.best().hash.to_string())
            .right("conflicts", |(_, found)| found.best().conflicts)
            .right("wavefronts", |(_, found)| found.best().wavefronts)
            .right("ideal", |(_, found)| found.best().ideal_wavefronts)
            .right("added", |(_, found)| found.best().added_per_access)
            .left("optimal", |(_, found)| found.best().proved())
            .minor(&["ideal", "optimal"])
            .table();
        let mut details = Details::new();
        details.heading(
            "vectors against conflicts, with wide loads and stores split (ldmatrix cannot be):",
        );
        details.table(table);
        details
    }
}
