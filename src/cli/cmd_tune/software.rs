//! `spadkit tune --software`: what a programmer picks from.

use super::modes_text::{self, ModesOf};
use super::ranking::{LeftOut, Ranking, WORD};
use super::resources::{Launched, OnSm};
use crate::capture::statics::Indices;
use crate::cli::changes;
use crate::cli::names::readable_list;
use crate::cli::printer::{CommandResult, Printer};
use crate::cli::source_text::SourceText;
use crate::config::Config;
use crate::error::Result;
use crate::interrupt;
use crate::page::{Columns, Details, Hint, Table, Tone};
use crate::ptx::analysis::plain_name;
use crate::ptx::ast::Instruction;
use crate::ptx::names::Word;
use crate::ptx::opcodes::Opcode;
use crate::search::{Control, Update};
use crate::software::LayoutSpec;
use crate::software::choice::{
    Array, Choices, Effort, MappingKind, Narrower, PerVariable, VariableChoices, choices, narrower,
    per_variable,
};
use crate::suggest::{Suggestion, Tuned, suggestions};
use crate::trace::AccessTrace;
use serde::Serialize;
use std::time::Duration;

/// A kernel's accesses, and what its text says of them.
pub(in crate::cli) struct Subject<'a> {
    pub trace: &'a AccessTrace,
    /// The indices that its PTX computes; empty where there is no PTX.
    pub indices: &'a Indices,
    /// Source files are looked for beside this, too.
    pub input: &'a str,
    /// The kernel and its launch, where they are known.
    pub launched: Option<Launched<'a>>,
    /// The option that names the machine, where commands can be typed.
    pub again: Option<String>,
    /// Every mapping is shown.
    pub all: bool,
}

impl Subject<'_> {
    fn has_tensor_copies(&self) -> bool {
        let is_copy = |i: &Instruction| i.opcode == Opcode::Cp && i.has(Word::Tensor);
        let functions = self.launched.iter().flat_map(|l| &l.module.functions);
        functions.flat_map(|f| &f.instructions).any(is_copy)
    }
}

/// Searches mappings of `kinds`, all where none is named, with `budget` for
/// each optimal search.
pub(in crate::cli) fn run(
    kinds: &[MappingKind],
    budget: Duration,
    subject: &Subject,
    machine: &Config,
    printer: &Printer,
) -> Result<()> {
    let trace = subject.trace;
    let searched = Searched::of(kinds, budget, trace, machine, printer)?;
    let Searched {
        array,
        whole,
        apart,
        narrower,
        modes,
    } = &searched;
    let apart = apart.as_ref();
    let on_sm = OnSm::of(
        (trace, subject.launched.as_ref()),
        machine,
        array,
        whole,
        printer,
    );
    let rule = machine.conflict_rule();
    let tuned = Tuned {
        trace,
        geometry: machine.geometry,
        rule,
        whole: (array, whole),
        apart,
        indices: subject.indices,
    };
    let mut source = SourceText::beside(subject.input);
    let suggestions = suggestions(&tuned, &mut |place| source.line(place));
    printer.show(&Found {
        whole: Ranking::of(array, whole),
        rule: rule.name(),
        rule_text: rule.describe(),
        per_variable: apart.map(|apart| Apart::of(apart, whole)),
        narrower: narrower.iter().map(Split::of).collect(),
        modes,
        on_sm,
        suggestions,
        trace,
        machine,
        tensor_copies: subject.has_tensor_copies(),
        copied: copied_text(array, apart),
        subject,
    })
}

/// What was searched.
struct Searched {
    /// All of shared memory.
    array: Array,
    whole: Choices,
    /// With several variables: each with a mapping of its own.
    apart: Option<PerVariable>,
    /// With wide accesses split.
    narrower: Vec<Narrower>,
    /// The swizzle modes of tensor copies.
    modes: Vec<ModesOf>,
}

impl Searched {
    fn of(
        kinds: &[MappingKind],
        budget: Duration,
        trace: &AccessTrace,
        machine: &Config,
        printer: &Printer,
    ) -> Result<Self> {
        let kinds = if kinds.is_empty() {
            MappingKind::all()
        } else {
            kinds.to_vec()
        };
        let progress = printer.progress(1, "tune --software");
        let report = |update: Update| {
            let best = update.best.map(|c| format!("{c} conflicts so far"));
            progress.set_total(update.total);
            progress.set(update.done, best.unwrap_or_default());
        };
        let effort = Effort {
            control: Control::none()
                .stop_when(&interrupt::requested)
                .progress(&report),
            budget,
        };
        let rule = machine.conflict_rule();
        let (geometry, room) = (machine.geometry, machine.block_words);
        let array = Array::new(trace, geometry, rule, room);
        let whole = choices(&array, &kinds, &effort)?;
        let apart = per_variable(trace, geometry, rule, room, &kinds, &effort)?;
        // Where wide accesses count as one word there is nothing to gain.
        let (narrower, modes) = if rule.wide.in_phases() {
            (
                narrower(trace, geometry, rule, (&array, &whole), &kinds, &effort)?,
                modes_text::of(&array, apart.as_ref())?,
            )
        } else {
            Default::default()
        };
        Ok(Searched {
            array,
            whole,
            apart,
            narrower,
            modes,
        })
    }
}

/// The arrays that tensor copies go through: the variables, or all of shared
/// memory where there are not several.
fn copied_text(array: &Array, apart: Option<&PerVariable>) -> String {
    let Some(apart) = apart else {
        return modes_text::copied_text("all of shared memory", array);
    };
    let text =
        |v: &VariableChoices| modes_text::copied_text(plain_name(&v.variable.name), &v.array);
    apart.variables.iter().map(text).collect()
}

/// The mappings that a programmer picks from.
#[derive(Serialize)]
struct Found<'a> {
    #[serde(flatten)]
    whole: Ranking<'a>,
    rule: &'static str,
    rule_text: String,
    /// With several variables: a mapping for each.
    per_variable: Option<Apart<'a>>,
    /// With wide accesses that leave conflicts: the same, split.
    narrower: Vec<Split<'a>>,
    /// The swizzle modes of tensor copies, of each array that has conflicts.
    modes: &'a [ModesOf],
    /// What blocks take of an SM under the mappings of the front.
    on_sm: OnSm,
    /// What to type.
    suggestions: Vec<Suggestion>,
    #[serde(skip)]
    trace: &'a AccessTrace,
    #[serde(skip)]
    machine: &'a Config,
    /// Whether the kernel has tensor copies.
    #[serde(skip)]
    tensor_copies: bool,
    /// What can be chosen for the arrays that they go through.
    #[serde(skip)]
    copied: String,
    #[serde(skip)]
    subject: &'a Subject<'a>,
}

/// A mapping for each variable, against one for all.
#[derive(Serialize)]
struct Apart<'a> {
    variables: Vec<OfVariable<'a>>,
    conflicts: u64,
    max_degree: u32,
    added_per_access: f64,
    wasted_bytes: u32,
    single: Single<'a>,
}

/// The mappings of a variable.
#[derive(Serialize)]
struct OfVariable<'a> {
    #[serde(flatten)]
    own: Ranking<'a>,
    name: &'a str,
    offset: u32,
    /// Of the variable; accesses may go to fewer.
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
struct Split<'a> {
    #[serde(flatten)]
    own: Ranking<'a>,
    bytes_at_most: u32,
}

impl<'a> Apart<'a> {
    fn of(apart: &'a PerVariable, whole: &'a Choices) -> Self {
        let single = whole.best();
        let variable = |v: &'a VariableChoices| OfVariable {
            own: Ranking::of(&v.array, &v.choices),
            name: &v.variable.name,
            offset: v.variable.offset,
            declared_bytes: v.variable.bytes,
        };
        Apart {
            variables: apart.variables.iter().map(variable).collect(),
            conflicts: apart.count.conflicts,
            max_degree: apart.count.max_degree,
            added_per_access: apart.added,
            wasted_bytes: apart.wasted_words * WORD,
            single: Single {
                hash: single.layout.spec(),
                conflicts: single.conflicts,
                added_per_access: single.added,
                wasted_bytes: single.wasted_words * WORD,
            },
        }
    }

    /// What `rewrite` takes for these mappings; `None` where a variable has not one
    /// name alone.
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
        let line = |v: &OfVariable| {
            let best = v.own.best();
            vec![
                readable_list(v.name),
                v.declared_bytes.to_string(),
                v.own.accesses.to_string(),
                v.own.unmapped().to_string(),
                best.hash.to_string(),
                best.conflicts.to_string(),
                best.added_per_access.to_string(),
                best.wasted_bytes.to_string(),
                best.proved().to_owned(),
            ]
        };
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
        let rows = self.variables.iter().map(line).chain([
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

impl<'a> Split<'a> {
    fn of(narrower: &'a Narrower) -> Self {
        Split {
            own: Ranking::of(&narrower.array, &narrower.choices),
            bytes_at_most: narrower.bytes,
        }
    }
}

impl CommandResult for Found<'_> {
    fn verdict(&self) -> String {
        match &self.per_variable {
            // One mapping for all of shared memory is not what is suggested.
            Some(apart) if apart.conflicts < self.whole.best().conflicts => {
                let (left, all) = (apart.conflicts, self.whole.unmapped());
                let what = match left {
                    0 => format!("removes all {all} conflicts"),
                    left => format!("leaves {left} of {all} conflicts"),
                };
                format!(
                    "A mapping for each variable {what}; one for all of shared memory leaves {}.",
                    self.whole.best().conflicts
                )
            }
            _ => format!("{} {}", self.whole.answer(), self.whole.proof()),
        }
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
            crate::cli::names::readable_words(&self.trace.name),
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
        details.add(changes::details(&self.suggestions));
        details.gap();
        details.note(crate::cli::rule_line(self.machine));
        details
    }

    fn hints(&self) -> Vec<Hint> {
        let Some(again) = self.subject.again.as_ref() else {
            return Vec::new();
        };
        let best = self.whole.best();
        let mut hints = Vec::new();
        let rewrites = self.subject.launched.is_some() && !self.tensor_copies;
        let input = crate::quote::shell(self.subject.input);
        let apart = self.per_variable.as_ref().filter(|apart| {
            let least = best.conflicts.min(self.whole.unmapped());
            rewrites && apart.conflicts < least
        });
        if let Some(hashes) = apart.and_then(Apart::options) {
            let command = format!("spadkit rewrite {input}{hashes} {again} -o fast.ptx");
            hints.push(Hint::new("next, each variable with its own", command));
        }
        if best.conflicts >= self.whole.unmapped() {
            return hints;
        }
        let hash = crate::quote::shell(best.hash.to_string());
        if rewrites {
            let command = format!("spadkit rewrite {input} --hash {hash} {again} -o fast.ptx");
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

impl Found<'_> {
    /// Vectors against conflicts: fewer instructions or fewer wavefronts.
    fn narrower_details(&self) -> Details {
        let others = self.narrower.iter().map(|n| (n.bytes_at_most, &n.own));
        let all = std::iter::once((self.whole.vector_bytes, &self.whole)).chain(others);
        let table = Columns::of(all)
            .left("accesses of", |(bytes, _)| {
                format!("up to {} bits", 8 * bytes)
            })
            .right("instructions", |(_, found)| found.accesses)
            .left("mapping", |(_, found)| found.best().hash)
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
