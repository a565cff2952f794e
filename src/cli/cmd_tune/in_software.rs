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
use crate::software::choice::{
    Array, Choices, Effort, MappingKind, Narrower, PerVariable, VariableChoices, choices, narrower,
    per_variable,
};
use crate::suggest::{FunctionNames, SourceFiles, Tuned};
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
    let searched = Searched::of(kinds, budget, subject, machine, printer)?;
    let found = searched.found(subject, machine, printer);
    printer.show(&found)?;
    if let Some(file) = subject.report {
        let page = report::of(&found, &searched.whole.best().layout)?.render()?;
        printer.wrote(&write_result(
            file,
            page.as_bytes(),
            !interrupt::requested(),
        )?);
    }
    Ok(())
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
        subject: &Subject,
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
        let (trace, geometry) = (subject.trace, machine.geometry);
        let room = subject.room;
        let array = Array::new(trace, geometry, rule, room);
        let whole = choices(&array, &kinds, &effort)?;
        let apart = per_variable(trace, geometry, rule, room, &kinds, &effort)?;
        // Where wide accesses count as one word there is nothing to gain.
        let in_phases = rule.wide.in_phases();
        // Nor where a mapping for each variable leaves no conflicts.
        let is_clear = apart.as_ref().is_some_and(|a| a.count.conflicts == 0);
        let narrower = if in_phases && !is_clear {
            narrower(trace, geometry, rule, (&array, &whole), &kinds, &effort)?
        } else {
            Vec::new()
        };
        let modes = if in_phases {
            modes_text::of(&array, apart.as_ref())?
        } else {
            Vec::new()
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

impl Searched {
    /// What to show, with the changes of the source.
    fn found<'a>(
        &'a self,
        subject: &'a Subject<'a>,
        machine: &'a Config,
        printer: &Printer,
    ) -> SoftwareRanking<'a> {
        let (trace, array, whole) = (subject.trace, &self.array, &self.whole);
        let (apart, launched) = (self.apart.as_ref(), subject.launched.as_ref());
        let rule = machine.conflict_rule();
        let tuned = Tuned {
            trace,
            geometry: machine.geometry,
            rule,
            whole: (array, whole),
            apart,
            indices: subject.indices,
            machine_code: subject.judgement.trace(),
        };
        let on_sm = OnSm::of((trace, launched), machine, array, whole, printer);
        let judged = launched.filter(|_| subject.judgement.is_by_machine_code());
        let put_into_ptx = judged.map(|l| PutIntoPtx::of(l, machine, whole, apart));
        let mut source = SourceFiles::beside(subject.input.name());
        let names = &mut FunctionNames::default();
        let suggestions = source.suggestions_of(&tuned, &self.narrower, names);
        // Where a variable stays as it is, a mapping of the whole is not what is suggested.
        let changes: Vec<_> = suggestions.changes.iter().collect();
        let all = apart.is_none_or(|apart| apart.variables.len() == changes.len());
        let of_whole = if all { &changes[..] } else { &[] };
        SoftwareRanking {
            put_into_ptx: put_into_ptx.unwrap_or_default(),
            whole: Ranking::of(array, whole).with_declared(array, of_whole),
            rule: rule.name(),
            rule_text: rule.describe(),
            per_variable: apart.map(|apart| Apart::of(apart, whole, &suggestions.changes)),
            narrower: self.narrower.iter().map(Split::of).collect(),
            modes: &self.modes,
            on_sm,
            doubt: subject.judgement.doubt(&suggestions.changes),
            suggestions: suggestions.changes,
            left_alone: suggestions.left,
            trace,
            machine,
            tensor_copies: subject.has_tensor_copies(),
            copied: copied_text(array, apart),
            subject,
        }
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
