//! Text of `gate`.

use super::gated::{Check, Gated, GatedKernel};
use super::limits::Metric;
use crate::cli::conflicts_lines::cost_tone;
use crate::cli::printer::CommandResult;
use crate::paths::distinct_ends;
use crate::readable::readable_words;
use crate::terminal::{Columns, Details, Hint, Tone};
use std::collections::BTreeSet;

impl CommandResult for Gated {
    fn verdict(&self) -> String {
        let all = self.kernels.len();
        let checks = self.kernels.iter().flat_map(|k| &k.checks);
        let old = checks.filter(|c| c.exceeded && !c.failed).count();
        let old = match old {
            0 => String::new(),
            1 => "; 1 limit was exceeded before, too".to_owned(),
            n => format!("; {n} limits were exceeded before, too"),
        };
        let failed = self.kernels.iter().filter(|k| k.failed()).count();
        let mut verdict = match (&self.kernels[..], failed) {
            ([], _) => "No kernel was judged".to_owned(),
            ([one], 0) => format!("{} is within its limits{old}", one.input),
            ([one], _) => format!("{} exceeds a limit{old}", one.input),
            (_, 0) => format!("All {all} kernels are within their limits{old}"),
            (_, 1) => format!("1 of {all} kernels exceeds a limit{old}"),
            (_, n) => format!("{n} of {all} kernels exceed a limit{old}"),
        };
        for (count, what) in [
            (self.unread.len(), "cannot be judged"),
            (self.skipped.len(), "left out"),
        ] {
            if count > 0 {
                verdict += &format!("; {count} {what}");
            }
        }
        verdict + "."
    }

    fn tone(&self) -> Tone {
        if self.has_failed() || !self.unread.is_empty() {
            Tone::Bad
        } else {
            Tone::Good
        }
    }

    fn details(&self) -> Details {
        let number = |k: &&GatedKernel, metric| {
            let check = k.checks.iter().find(|c| c.limit.metric == metric);
            let before = check.and_then(|c| c.before);
            let value = k.measured.value(metric);
            let value = value.map_or("?".to_owned(), |v| v.to_string());
            match before {
                Some(before) if value != before.to_string() => format!("{before} -> {value}"),
                _ => value,
            }
        };
        use super::limits::Metric::{Area, Conflicts, Cycles, Excess, Findings, Warnings};
        let names = distinct_ends(self.kernels.iter().map(|k| k.input.as_str()));
        let mut columns = Columns::of(&self.kernels)
            .left("kernel", |k| names[k.input.as_str()].clone())
            .left("limits", |k| if k.failed() { "FAIL" } else { "pass" })
            .toned(|k| if k.failed() { Tone::Bad } else { Tone::Good })
            .right("conflicts", |k| number(k, Conflicts))
            .toned(|k| cost_tone(k.measured.value(Conflicts).unwrap_or(0)))
            .right("excess", |k| number(k, Excess))
            .right("findings", |k| number(k, Findings))
            .right("warnings", |k| number(k, Warnings));
        if self
            .kernels
            .iter()
            .any(|k| k.measured.value(Cycles).is_some())
        {
            columns = columns.right("cycles", |k| number(k, Cycles));
        }
        if self.kernels.iter().any(|k| k.measured.hardware.is_some()) {
            columns = columns.right("NAND2", |k| number(k, Area));
        }
        if self.one_machine().is_none() {
            columns = columns.left("machine", |k| k.machine.preset.clone());
        }
        let mut details = Details::of(columns.minor(&["warnings", "excess"]).table());
        for kernel in self.kernels.iter().filter(|k| k.failed()) {
            details.heading(format!("{} ({}):", kernel.input, kernel.name()));
            let failed = || kernel.checks.iter().filter(|c| c.failed);
            for check in failed() {
                details.toned(Tone::Bad, format!("  {}", kernel.reason(check)));
            }
            if failed().any(|c| c.limit.metric.is_of_conflicts()) {
                details.say(
                    kernel
                        .remedy()
                        .map_or(String::new(), |text| format!("  {text}")),
                );
            }
        }
        for doubt in self.doubts() {
            details.toned(Tone::Doubt, format!("{doubt}."));
        }
        for unread in &self.unread {
            details.heading(format!("{} cannot be judged:", unread.input));
            details.toned(Tone::Bad, format!("  {}", unread.error));
        }
        for skipped in &self.skipped {
            details.heading(format!("{} is left out: {}", skipped.input, skipped.reason));
        }
        details
    }

    fn hints(&self) -> Vec<Hint> {
        let Some((kernel, check)) = self.first_failure() else {
            return Vec::new();
        };
        let (what, command) = kernel.advice(check);
        vec![Hint::new(what, command)]
    }
}

impl Gated {
    /// Sentences that are said once of the fixes of all kernels.
    fn doubts(&self) -> BTreeSet<&String> {
        let failed = self.kernels.iter().filter(|k| k.failed());
        failed.filter_map(|k| k.doubt.as_ref()).collect()
    }
}

impl GatedKernel {
    /// Why a check fails: the number, the worst place, and what helps.
    pub fn explanation(&self, check: &Check) -> String {
        let mut text = self.reason(check);
        if check.limit.metric.is_of_conflicts() {
            for fix in &self.fixes {
                text += &format!("; {}", fix.text);
            }
            if let Some(note) = &self.fix_note {
                text += &format!(". {note}");
            }
        }
        text
    }

    /// A sentence on what removes the conflicts, whatever limit they exceed.
    fn remedy(&self) -> Option<String> {
        let fixes: Vec<&str> = self.fixes.iter().map(|fix| fix.text.as_str()).collect();
        let fixes = (!fixes.is_empty()).then(|| format!("{}.", fixes.join("; ")));
        let note = self.note.as_ref().map(|note| format!("{note}."));
        let all: Vec<String> = fixes.into_iter().chain(note).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// Why a check fails: the number, and the worst place.
    fn reason(&self, check: &Check) -> String {
        let mut text = check.text();
        let measured = &self.measured;
        match check.limit.metric {
            metric if metric.is_of_conflicts() => {
                if let Some(worst) = measured.lines.first() {
                    text += &format!(
                        "; {} of them at {}, up to {} ways",
                        worst.conflicts,
                        worst.line.place(),
                        worst.max_degree
                    );
                }
            }
            Metric::Area => {
                if let Some(hardware) = &measured.hardware {
                    text += &format!(
                        "; NAND2 equivalents of {} in one SM, {}",
                        hardware.units.join(" and "),
                        hardware.tech
                    );
                }
            }
            Metric::Findings => {
                // One that the baseline does not have, if there is one.
                let is_known = |identity: &str| {
                    self.before
                        .as_ref()
                        .is_some_and(|b| b.contains_key(identity))
                };
                let own = measured.own_faults(false);
                let first = own.min_by_key(|(_, identity)| is_known(identity));
                if let Some((fault, _)) = first {
                    let message = readable_words(&fault.message);
                    let which = if check.new > Some(0) {
                        "first new one"
                    } else {
                        "first"
                    };
                    text += &format!("; the {which}: {}, {message}", fault.kind.text());
                } else if !measured.wrong_outputs.is_empty() {
                    let names = measured.wrong_outputs.join(", ");
                    text += &format!("; not as expected: {names}");
                }
            }
            _ => {}
        }
        text
    }
}
