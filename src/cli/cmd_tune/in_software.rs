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
use crate::search::{Control, Update};
use crate::software::Layout;
use crate::software::choice::{Array, Effort, MappingKind, Narrower, PerVariable, VariableChoices};
use crate::suggest::{FunctionNames, Search, Searched, SourceFiles, SplitWide, Tuned};
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
        in_order: tuned.in_order(),
        subject,
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
