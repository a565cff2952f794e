//! `spadkit tune --software`: what a programmer picks from.

use super::modes_text::{self, ModesOf};
use super::resources::{Launched, OnSm};
use crate::capture::statics::Indices;
use crate::cli::printer::{Printer, table};
use crate::cli::source_text::SourceText;
use crate::config::Config;
use crate::error::Result;
use crate::interrupt;
use crate::ptx::analysis::plain_name;
use crate::ptx::ast::Instruction;
use crate::ptx::names::Word;
use crate::ptx::opcodes::Opcode;
use crate::search::{Control, Update};
use crate::software::choice::{
    Array, Choice, Choices, Effort, Kind, Narrower, PerVariable, VariableChoices, choices,
    narrower, per_variable,
};
use crate::software::{Language, render};
use crate::suggest::{self, Suggestion, Tuned, suggestions};
use crate::trace::{AccessTrace, Wide};
use serde_json::{Value, json};
use std::fmt::Write;
use std::time::Duration;

/// Bytes of a word of shared memory.
const WORD: u32 = 4;

/// A kernel's accesses, and what its text says of them.
pub(in crate::cli) struct Subject<'a> {
    pub trace: &'a AccessTrace,
    /// The indices that its PTX computes; empty where there is no PTX.
    pub indices: &'a Indices,
    /// Source files are looked for beside this, too.
    pub input: &'a str,
    /// The kernel and its launch, where they are known.
    pub launched: Option<Launched<'a>>,
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
    kinds: &[Kind],
    budget: Duration,
    subject: &Subject,
    machine: &Config,
    printer: &Printer,
) -> Result<()> {
    let trace = subject.trace;
    let kinds = if kinds.is_empty() {
        Kind::all()
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
    let narrower = match rule.wide {
        Wide::Phases | Wide::PhasesMerged => {
            narrower(trace, geometry, rule, (&array, &whole), &kinds, &effort)?
        }
        Wide::FirstWord => Vec::new(),
    };
    let modes = match rule.wide {
        Wide::Phases | Wide::PhasesMerged => modes_text::of(&array, apart.as_ref())?,
        Wide::FirstWord => Vec::new(),
    };
    let copied = copied_text(&array, apart.as_ref())?;
    drop(progress);
    let on_sm = OnSm::of(
        (trace, subject.launched.as_ref()),
        machine,
        &array,
        &whole,
        printer,
    );
    let tuned = Tuned {
        trace,
        geometry,
        rule,
        whole: (&array, &whole),
        apart: apart.as_ref(),
        indices: subject.indices,
    };
    let mut source = SourceText::beside(subject.input);
    let suggestions = suggestions(&tuned, &mut |place| source.line(place));
    let found = Found {
        trace,
        machine,
        array,
        whole,
        apart,
        narrower,
        modes,
        tensor_copies: subject.has_tensor_copies(),
        copied,
        on_sm,
        suggestions,
    };
    printer.result(found.json(), || found.text())
}

/// The arrays that tensor copies go through: the variables, or all of shared
/// memory where there are not several.
fn copied_text(array: &Array, apart: Option<&PerVariable>) -> Result<String> {
    let Some(apart) = apart else {
        return modes_text::copied_text("all of shared memory", array);
    };
    let text =
        |v: &VariableChoices| modes_text::copied_text(plain_name(&v.variable.name), &v.array);
    apart.variables.iter().map(text).collect()
}

struct Found<'a> {
    trace: &'a AccessTrace,
    machine: &'a Config,
    array: Array,
    whole: Choices,
    /// With several variables: a mapping for each.
    apart: Option<PerVariable>,
    /// With wide accesses that leave conflicts: the same, split.
    narrower: Vec<Narrower>,
    /// The swizzle modes of tensor copies, of each array that has conflicts.
    modes: Vec<ModesOf>,
    /// Whether the kernel has tensor copies.
    tensor_copies: bool,
    /// What can be chosen for the arrays that they go through.
    copied: String,
    /// What blocks take of an SM under the mappings of the front.
    on_sm: OnSm,
    /// What to type.
    suggestions: Vec<Suggestion>,
}

impl Found<'_> {
    fn json(&self) -> Value {
        let rule = self.machine.conflict_rule();
        let mut json = self.array_json(&self.array, &self.whole);
        json["rule"] = json!(rule.name());
        json["rule_text"] = json!(rule.describe());
        json["per_variable"] = match &self.apart {
            None => Value::Null,
            Some(apart) => self.apart_json(apart),
        };
        let split = |n: &Narrower| {
            let mut json = self.array_json(&n.array, &n.choices);
            json["bytes_at_most"] = json!(n.bytes);
            json
        };
        json["narrower"] = self.narrower.iter().map(split).collect();
        json["modes"] = self.modes.iter().map(ModesOf::json).collect();
        json["on_sm"] = self.on_sm.json();
        json["suggestions"] = json!(self.suggestions);
        json
    }

    fn array_json(&self, array: &Array, found: &Choices) -> Value {
        let left_out = found.left_out.iter();
        json!({
            "bytes": array.words() * WORD,
            "vector_bytes": array.vector_words() * WORD,
            "accesses": array.accesses(),
            "conflicts_no_mapping_avoids": found.any_floor,
            "conflicts_no_whole_vectors_avoid": found.floor,
            "fewest_proved": found.fewest_proved,
            "tensor_copies": array.tensor_copies(),
            "left_out": left_out
                .map(|(spec, why)| json!({"hash": spec, "reason": why.to_string()}))
                .collect::<Vec<_>>(),
            "results": found.ranked.iter()
                .map(|choice| self.choice_json(array, found, choice))
                .collect::<Vec<_>>(),
        })
    }

    fn choice_json(&self, array: &Array, found: &Choices, choice: &Choice) -> Value {
        json!({
            "hash": choice.layout.spec(),
            "kind": choice.kind.name(),
            "method": choice.method,
            "conflicts": choice.conflicts,
            "baseline_conflicts": unmapped(found),
            "max_degree": choice.max_degree,
            "wavefronts": choice.wavefronts,
            "ideal_wavefronts": self.ideal(array),
            "lower_bound": choice.lower_bound,
            "evaluated": choice.evaluated,
            "optimal": choice.optimal(),
            "fits": fits(array, choice),
            "seconds": choice.seconds,
            "added_per_access": choice.added,
            "wasted_bytes": choice.wasted_words * WORD,
            "front": choice.front,
            "code": render(&choice.layout, Language::Cuda).code,
        })
    }

    fn apart_json(&self, apart: &PerVariable) -> Value {
        let single = self.whole.best();
        let variable = |v: &VariableChoices| {
            let mut json = self.array_json(&v.array, &v.choices);
            json["name"] = json!(v.variable.name);
            json["offset"] = json!(v.variable.offset);
            json
        };
        json!({
            "variables": apart.variables.iter().map(variable).collect::<Vec<_>>(),
            "conflicts": apart.count.conflicts,
            "max_degree": apart.count.max_degree,
            "added_per_access": apart.added,
            "wasted_bytes": apart.wasted_words * WORD,
            "single": {
                "hash": single.layout.spec(),
                "conflicts": single.conflicts,
                "added_per_access": single.added,
                "wasted_bytes": single.wasted_words * WORD,
            },
        })
    }

    fn ideal(&self, array: &Array) -> u64 {
        let banks = self.machine.geometry.banks();
        array.profile().ideal_wavefronts(banks)
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{}: {} conflicts as it is, {}\n",
            crate::quote::shown(&self.trace.name),
            unmapped(&self.whole),
            describe(&self.array)
        );
        text += &self.ranking(&self.array, &self.whole);
        text += &proof(&self.array, &self.whole);
        for (spec, why) in &self.whole.left_out {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "left out: {spec}: {why}");
        }
        if let Some(apart) = &self.apart {
            text += &self.apart_text(apart);
        }
        if !self.narrower.is_empty() {
            text += &self.narrower_text();
        }
        text += &self.copied;
        text += &modes_text::text(&self.modes, self.tensor_copies);
        text += &self.on_sm.text();
        text += &crate::cli::rule_line(self.machine);
        text += &suggest::text(&self.suggestions);
        text + "code: spadkit encode SPEC --as cuda, opencl, ptx, cute or triton\n"
    }

    fn ranking(&self, array: &Array, found: &Choices) -> String {
        let header = [
            "front",
            "mapping",
            "kind",
            "conflicts",
            "max degree",
            "wavefronts",
            "ideal",
            "added",
            "wasted bytes",
            "optimal",
            "evaluated",
            "time",
        ];
        let right = [&header[3..9], &header[10..]].concat();
        let ideal = self.ideal(array);
        let shown: Vec<&Choice> = found.ranked.iter().filter(|c| is_shown(found, c)).collect();
        let hidden = found.ranked.len() - shown.len();
        let rows = shown.into_iter().map(|choice| {
            vec![
                if choice.front { "*" } else { "" }.to_owned(),
                choice.layout.spec().to_string(),
                choice.kind.to_string(),
                choice.conflicts.to_string(),
                choice.max_degree.to_string(),
                choice.wavefronts.to_string(),
                ideal.to_string(),
                choice.added.to_string(),
                (choice.wasted_words * WORD).to_string(),
                proved(choice),
                choice.evaluated.to_string(),
                format!("{:.3} s", choice.seconds),
            ]
        });
        let table = table(&header, &right, rows);
        match hidden {
            0 => table,
            _ => {
                format!(
                    "{table}{hidden} more that waste fewer bytes but leave more conflicts, in --format json\n"
                )
            }
        }
    }

    /// A line per variable, and all of them against one mapping.
    fn apart_text(&self, apart: &PerVariable) -> String {
        let header = [
            "variable",
            "bytes",
            "accesses",
            "as it is",
            "mapping",
            "conflicts",
            "added",
            "wasted bytes",
            "optimal",
        ];
        let right = [&header[1..4], &header[5..8]].concat();
        let line = |v: &VariableChoices| {
            let best = v.choices.best();
            vec![
                v.variable.name.clone(),
                v.variable.bytes.to_string(),
                v.array.accesses().to_string(),
                unmapped(&v.choices).to_string(),
                best.layout.spec().to_string(),
                best.conflicts.to_string(),
                best.added.to_string(),
                (best.wasted_words * WORD).to_string(),
                proved(best),
            ]
        };
        let single = self.whole.best();
        let sum = |name: &str, mapping: String, conflicts: u64, added: String, wasted: u32| {
            let as_it_is = unmapped(&self.whole).to_string();
            let (bytes, accesses) = (self.array.words() * WORD, self.array.accesses());
            let wasted = wasted * WORD;
            vec![
                name.to_owned(),
                bytes.to_string(),
                accesses.to_string(),
                as_it_is,
                mapping,
                conflicts.to_string(),
                added,
                wasted.to_string(),
                String::new(),
            ]
        };
        let rows = apart.variables.iter().map(line).chain([
            sum(
                "all, each its own",
                String::new(),
                apart.count.conflicts,
                format!("{:.2}", apart.added),
                apart.wasted_words,
            ),
            sum(
                "all, one mapping",
                single.layout.spec().to_string(),
                single.conflicts,
                single.added.to_string(),
                single.wasted_words,
            ),
        ]);
        format!(
            "a mapping for each variable:\n{}",
            table(&header, &right, rows)
        )
    }
    /// Vectors against conflicts: fewer instructions or fewer wavefronts.
    fn narrower_text(&self) -> String {
        let header = [
            "accesses of",
            "instructions",
            "mapping",
            "conflicts",
            "wavefronts",
            "ideal",
            "added",
            "optimal",
        ];
        let right = [&header[1..2], &header[3..7]].concat();
        let line = |bytes: u32, array: &Array, found: &Choices| {
            let best = found.best();
            vec![
                format!("up to {} bits", 8 * bytes),
                array.accesses().to_string(),
                best.layout.spec().to_string(),
                best.conflicts.to_string(),
                best.wavefronts.to_string(),
                self.ideal(array).to_string(),
                best.added.to_string(),
                proved(best),
            ]
        };
        let own = line(self.array.vector_words() * WORD, &self.array, &self.whole);
        let others = self.narrower.iter();
        let others = others.map(|n| line(n.bytes, &n.array, &n.choices));
        let rows = std::iter::once(own).chain(others);
        format!(
            "vectors against conflicts, with wide loads and stores split (ldmatrix cannot be):\n{}",
            table(&header, &right, rows)
        )
    }
}

/// The table has the front, of each kind the mapping that leaves the fewest
/// conflicts, and the fixed ones.
fn is_shown(found: &Choices, choice: &Choice) -> bool {
    let first = found.ranked.iter().find(|c| c.kind == choice.kind);
    let is_first = first.is_some_and(|c| std::ptr::eq(c, choice));
    choice.front || is_first || choice.method == "fixed"
}

/// Whether it is proved to be the best of its kind: no question for fixed ones.
fn proved(choice: &Choice) -> String {
    match (choice.optimal(), choice.method) {
        (true, _) => "yes",
        (false, "fixed") => "",
        (false, _) => "no",
    }
    .to_owned()
}

/// Conflicts without a mapping.
fn unmapped(found: &Choices) -> u64 {
    let identity = found.ranked.iter().find(|c| c.kind == Kind::Mod);
    identity.map_or(0, |c| c.conflicts)
}

fn fits(array: &Array, choice: &Choice) -> bool {
    array.words() + choice.wasted_words <= array.room()
}

fn describe(array: &Array) -> String {
    let vectors = match array.vector_words() {
        1 => String::new(),
        words => format!(", of up to {} bits: these stay whole", 32 * words),
    };
    format!(
        "{} accesses to {} bytes{vectors}",
        array.accesses(),
        array.words() * WORD
    )
}

/// What is proved of the ends of the front.
fn proof(array: &Array, found: &Choices) -> String {
    let best = found.best().conflicts;
    let vectors = match array.vector_words() {
        1 => String::new(),
        words => format!(" that keeps vectors of {} bytes whole", words * WORD),
    };
    let fewest = if best == found.any_floor {
        "no mapping at all leaves fewer, proved".to_owned()
    } else if best == found.floor {
        format!("no mapping{vectors} leaves fewer, proved")
    } else if !array.tensor_copies().is_empty() && found.fewest_proved {
        "no other mode of the tensor copies leaves fewer, proved".to_owned()
    } else if found.fewest_proved {
        "no XOR of index bits and no padding leaves fewer, proved".to_owned()
    } else {
        let least = found.floor;
        format!("not proved: at least {least} are left by any mapping{vectors}")
    };
    format!(
        "front, fewest conflicts ({best}): {fewest}; cheapest: the unchanged index adds no instruction\n"
    )
}
