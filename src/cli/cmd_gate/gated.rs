//! All kernels, with what was checked.

use super::baseline::Known;
use super::fix::Fix;
use super::limits::{Limit, Metric};
use super::measure::Measured;
use crate::cli::machine::MachineNote;
use crate::cli::printer::Printer;
use crate::error::{Error, Result};
use crate::quote::shell;
use crate::readable::readable;
use crate::workload::Input;
use serde::Serialize;
use std::collections::BTreeMap;

/// All kernels with what was checked.
#[derive(Default, Serialize)]
pub(super) struct Gated {
    failed: bool,
    pub kernels: Vec<GatedKernel>,
    /// Kernels that could not be judged.
    #[serde(rename = "errors", skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
}

/// A kernel that could not be read or run.
#[derive(Serialize)]
pub(super) struct Unread {
    pub input: String,
    /// The error, and its place.
    pub error: String,
}

/// A kernel that `spadkit-gate.toml` leaves out.
#[derive(Serialize)]
pub(super) struct Skipped {
    pub input: String,
    pub reason: String,
}

impl Unread {
    pub fn new(input: &Input, error: &Error) -> Self {
        Unread {
            input: input.to_string(),
            error: error.to_string(),
        }
    }
}

impl Skipped {
    pub fn new(input: &Input, reason: String) -> Self {
        Skipped {
            input: input.to_string(),
            reason,
        }
    }
}

impl Gated {
    pub fn add(&mut self, kernel: GatedKernel) {
        self.failed |= kernel.failed();
        self.kernels.push(kernel);
    }

    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Kernels that the baseline does not have.
    pub fn new_kernels(&self) -> Vec<String> {
        let new = self.kernels.iter().filter(|k| k.before.is_none());
        new.map(|k| k.input.clone()).collect()
    }

    pub fn show(&self, printer: &Printer) -> Result<()> {
        // One machine is named once, above; several beside the kernels.
        match self.one_machine().cloned() {
            Some(machine) => printer.clone().of_machine(machine).show(self),
            None => printer.show(self),
        }
    }

    /// Shows the kernels that were measured; no file is written.
    pub fn interrupted(&self, printer: &Printer) -> Result<()> {
        if !self.kernels.is_empty() {
            self.show(printer)?;
        }
        Err(Error::Interrupted {
            what: "gate".to_owned(),
        })
    }

    /// The machine of all kernels, if it is one.
    pub fn one_machine(&self) -> Option<&MachineNote> {
        MachineNote::of_all(self.kernels.iter().map(|k| &k.machine))
    }

    pub fn first_failure(&self) -> Option<(&GatedKernel, &Check)> {
        let failure = |k: &'_ GatedKernel| k.checks.iter().position(|c| c.failed);
        let found = self.kernels.iter().find_map(|k| Some((k, failure(k)?)));
        found.map(|(kernel, at)| (kernel, &kernel.checks[at]))
    }

    /// The kernels with a limit that fails, as the command's error; none if all hold. The
    /// text of the command has the limits and what to change, so the error of another
    /// format states the first.
    pub fn failure(&self, shows_text: bool) -> Option<Error> {
        let (kernel, check) = self.first_failure()?;
        let failed = self.kernels.iter().filter(|k| k.failed());
        let failed: Vec<&str> = failed.map(|k| k.input.as_str()).collect();
        if shows_text {
            let what = match failed[..] {
                [one] => format!("{one} exceeds a limit"),
                _ => format!(
                    "{} kernels exceed a limit: {}",
                    failed.len(),
                    failed.join(", ")
                ),
            };
            return Some(Error::CheckFailed { what, help: None });
        }
        let (what, command) = kernel.advice(check);
        let others = match &failed[1..] {
            [] => String::new(),
            [one] => format!("; {one} fails, too"),
            others => format!(
                "; {} more kernels fail: {}",
                others.len(),
                others.join(", ")
            ),
        };
        Some(Error::check(
            format!("{}: {}{others}", kernel.input, check.text()),
            format!("see {what} with: {command}"),
        ))
    }

    /// The command's error where kernels could not be judged; `first` is that of the
    /// first.
    pub fn not_judged(&self, first: Error) -> Error {
        match &self.unread[..] {
            [_] => first,
            unread => {
                let names: Vec<&str> = unread.iter().map(|u| u.input.as_str()).collect();
                let (n, names) = (unread.len(), names.join(", "));
                let help = "spadkit-gate.toml beside a kernel can leave it out: \
                            [kernel.\"FILE.toml\"] skip = \"the reason\"";
                Error::usage(
                    format!("{n} kernels cannot be judged: {names}; the first: {first}"),
                    help,
                )
            }
        }
    }
}

/// A kernel.
#[derive(Serialize)]
pub(super) struct GatedKernel {
    pub input: String,
    pub machine: MachineNote,
    #[serde(flatten)]
    pub measured: Measured,
    pub checks: Vec<Check>,
    /// Results of the baseline with their numbers, if it has the kernel.
    #[serde(skip)]
    pub before: Option<BTreeMap<String, u64>>,
    /// Fixes that remove the conflicts, where a limit on them is exceeded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fixes: Vec<Fix>,
    /// A note on the fixes, or the reason why there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix_note: Option<String>,
    /// The parts of `fix_note`: one is of this kernel, the other of the tools.
    #[serde(skip)]
    pub note: Option<String>,
    #[serde(skip)]
    pub doubt: Option<String>,
    /// The accesses of the machine code are counted.
    pub machine_code: bool,
    /// The option that names the machine.
    #[serde(skip)]
    pub again: String,
}

impl GatedKernel {
    pub fn failed(&self) -> bool {
        self.checks.iter().any(|check| check.failed)
    }

    /// The purpose of a command that shows more about a failure, and the command.
    pub fn advice(&self, check: &Check) -> (&'static str, String) {
        let input = shell(&self.input);
        match (check.limit.metric, check.value) {
            (Metric::Area, _) => ("what the units take", self.synthesis()),
            (Metric::Conflicts | Metric::Excess, Some(_)) => {
                let by = if self.machine_code {
                    " --machine-code"
                } else {
                    ""
                };
                let command = format!("spadkit tune {input} --software{by} {}", self.again);
                ("what to change", command)
            }
            (Metric::Cycles, Some(_)) => {
                let command = format!("spadkit sim {input} --source {}", self.again);
                ("where they go", command.trim_end().to_owned())
            }
            _ => ("what it finds", format!("spadkit run {input} --races")),
        }
    }

    /// The command that shows the units of its area.
    fn synthesis(&self) -> String {
        let units = self.measured.hardware.iter().flat_map(|h| &h.units);
        let units: Vec<&str> = units.map(String::as_str).collect();
        let command = format!("spadkit synth {} {}", units.join(" "), self.again);
        command.trim_end().to_owned()
    }

    /// The kernel's name in the source.
    pub fn name(&self) -> String {
        readable(&self.measured.name)
    }
}

/// A limit with the number that it is of.
#[derive(Serialize)]
pub(super) struct Check {
    pub limit: Limit,
    /// Null where it could not be measured: the kernel has a fault.
    pub value: Option<u64>,
    /// The number of the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// Faults or warnings that the baseline does not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<u64>,
    /// The number is above the limit, or unknown.
    pub exceeded: bool,
    /// Whether it is exceeded, and also worse than the baseline.
    pub failed: bool,
}

impl Check {
    /// `before` is the kernel in the baseline, if it is there.
    pub fn new(limit: Limit, measured: &Measured, before: Option<&Known>) -> Self {
        let value = measured.value(limit.metric);
        let exceeded = value.is_none_or(|value| limit.exceeded(value));
        let known_before = before.map(|b| b.get(limit.metric));
        let new = before.and_then(|b| {
            let results = measured.results_of(limit.metric)?;
            Some(results.filter(|r| !b.results().contains_key(*r)).count() as u64)
        });
        let worse = match (known_before, value, new) {
            (None, ..) => true,
            // Other faults in the place of known ones are no less bad.
            (Some(_), _, Some(new)) => new > 0,
            (Some(before), None, _) => before.is_some(),
            (Some(before), Some(value), _) => before.is_none_or(|before| value > before),
        };
        Check {
            limit,
            value,
            before: known_before.flatten(),
            new,
            exceeded,
            failed: exceeded && worse,
        }
    }

    /// `conflicts is 56, and conflicts > 0 fails`.
    pub fn text(&self) -> String {
        let unknown = || "unknown because the kernel has a fault".to_owned();
        let value = self.value.map_or_else(unknown, |v| v.to_string());
        let before = self.before.map_or(String::new(), |b| format!(", was {b}"));
        let new = match self.new {
            Some(new @ 1..) => format!(", {new} of them new"),
            _ => String::new(),
        };
        format!(
            "{} is {value}{before}{new}, and {} fails",
            self.limit.metric, self.limit
        )
    }
}
