//! `spadkit tune --software`: the search.

use super::modes_text::{self, ModesOf};
use super::put_into_ptx::PutIntoPtx;
use super::ranking::Ranking;
use super::report;
use super::resources::OnSm;
use super::software::{Apart, SoftwareRanking, Split, Subject};
use crate::cli::printer::Printer;
use crate::config::Config;
use crate::error::Result;
use crate::interrupt;
use crate::output::write_result;
use crate::ptx::analysis::plain_name;
use crate::readable::readable_list;
use crate::search::{Control, Update};
use crate::software::Layout;
use crate::software::choice::{
    Array, Choices, Effort, MappingKind, Narrower, PerVariable, VariableChoices,
};
use crate::suggest::{FunctionNames, Search, Searched, SourceFiles, SplitWide, Tuned};
use crate::trace::{AccessTrace, BulkCopy, SharedVariable};
use std::time::Duration;

/// Searches mappings of `kinds`, all where none is named, with `budget` for
/// each optimal search.
pub(in crate::cli) fn run(
    kinds: &[MappingKind],
    budget: Duration,
    subject: &Subject,
    machine: &Config,
    printer: &Printer,
) -> Result<()> {
    let searched = search(kinds, budget, subject, machine, printer)?;
    let modes = if machine.conflict_rule().wide.in_phases() {
        modes_text::of(&searched.array, searched.apart.as_ref())?
    } else {
        Vec::new()
    };
    let tuned = searched.tuned(subject.indices, subject.judgement.trace());
    let found = ranking(
        &tuned,
        &searched.narrower,
        &modes,
        subject,
        (machine, printer),
    );
    printer.show(&found)?;
    if let Some(file) = subject.report {
        let layout = Layout::new(&found.whole.best().hash, machine.geometry)?;
        let page = report::of(&found, &layout)?.render()?;
        printer.wrote(&write_result(
            file,
            page.as_bytes(),
            !interrupt::requested(),
        )?);
    }
    Ok(())
}

fn search<'a>(
    kinds: &[MappingKind],
    budget: Duration,
    subject: &Subject<'a>,
    machine: &Config,
    printer: &Printer,
) -> Result<Searched<'a>> {
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
    let search = Search {
        trace: subject.trace,
        geometry: machine.geometry,
        rule: machine.conflict_rule(),
        room: subject.room,
        kinds: &kinds,
        effort: &effort,
    };
    search.run(SplitWide::UnlessClear)
}

/// The ranking to show, with the changes of the source.
fn ranking<'a>(
    tuned: &Tuned<'a>,
    narrower: &'a [Narrower],
    modes: &'a [ModesOf],
    subject: &'a Subject<'a>,
    (machine, printer): (&'a Config, &Printer),
) -> SoftwareRanking<'a> {
    let Tuned {
        trace,
        rule,
        whole: (array, whole),
        apart,
        ..
    } = *tuned;
    let launched = subject.launched.as_ref();
    let on_sm = OnSm::of((trace, launched), machine, array, whole, printer);
    let judged = launched.filter(|_| subject.judgement.is_by_machine_code());
    let put_into_ptx = judged.map(|l| PutIntoPtx::of(l, machine, whole, apart));
    let mut source = SourceFiles::beside(subject.input.name());
    let names = &mut FunctionNames::default();
    let suggestions = source.suggestions_of(tuned, narrower, names);
    // If a variable keeps its layout, the suggestion is not a mapping of the whole.
    let changes: Vec<_> = suggestions.changes.iter().collect();
    let all = apart.is_none_or(|apart| apart.variables.len() == changes.len());
    let of_whole = if all { &changes[..] } else { &[] };
    SoftwareRanking {
        put_into_ptx: put_into_ptx.unwrap_or_default(),
        whole: Ranking::of(array, whole).with_declared(array, of_whole),
        rule: rule.name(),
        rule_text: rule.describe(),
        per_variable: apart.map(|apart| Apart::of(apart, whole, &suggestions.changes)),
        narrower: narrower.iter().map(Split::of).collect(),
        modes,
        on_sm,
        doubt: subject.judgement.doubt(&suggestions.changes),
        suggestions: suggestions.changes,
        left_alone: suggestions.left,
        trace,
        machine,
        tensor_copies: subject.has_tensor_copies(),
        copied: copied_text(array, apart),
        in_order: in_order_text(tuned),
        subject,
    }
}

/// The arrays with conflicts whose words bulk copies keep in their order, a sentence for each.
fn in_order_text(tuned: &Tuned) -> String {
    let (array, whole) = tuned.whole;
    let before = |choices: &Choices| {
        let mut ranked = choices.ranked.iter();
        let unmapped = ranked.find(|c| c.kind == MappingKind::Mod);
        unmapped.map_or(0, |c| c.conflicts)
    };
    let all: Vec<(String, &Array)> = match tuned.apart {
        Some(apart) => {
            let variables = apart.variables.iter();
            let conflicts = variables.filter(|v| before(&v.choices) > 0);
            let named = conflicts.map(|v| (readable_list(&v.variable.name), &v.array));
            named.collect()
        }
        None if before(whole) > 0 => vec![(copied_variables(tuned.trace), array)],
        None => Vec::new(),
    };
    let text = |(name, array): (String, &Array)| {
        let reason = BulkCopy::reason(array.bulk_copies().first()?.stores);
        Some(format!("{name} has no mapping: {reason}."))
    };
    let texts: Vec<String> = all.into_iter().filter_map(text).collect();
    texts.join(" ")
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
