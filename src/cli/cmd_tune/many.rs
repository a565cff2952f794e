//! `spadkit tune` of several kernels: the best mapping of each. A point is a
//! kernel with all its searches.

use super::TuneArgs;
use crate::assembler::Assembler;
use crate::cli::machine::MachineNote;
use crate::cli::machine_code::JudgeBy;
use crate::cli::printer::{CommandResult, Printer};
use crate::cli::{Global, campaign};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::paths::distinct_ends;
use crate::points::Points;
use crate::quote::shell;
use crate::readable::counted;
use crate::terminal::{Columns, Details, Hint, Tone};
use crate::tool::Toolbox;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::PoisonError;

/// Results that depend on more than the files of a kernel, or on the clock: the
/// source in its folder, times.
const LEFT_OUT: [&str; 3] = ["format_version", "suggestions", "seconds"];

/// Tunes each kernel, and lists them.
pub(super) fn run(args: &TuneArgs, global: &Global, printer: &Printer) -> Result<()> {
    interrupt::listen();
    // Refused options are reported before any kernel runs.
    if !args.software {
        super::units::jobs(args)?;
    }
    let inputs = std::iter::once(&args.input).chain(&args.more);
    let points = args.kept.points()?;
    let key = campaign::point("tune campaign").add("options", args.options());
    let names = inputs.clone().map(ToString::to_string);
    let inputs = args
        .kept
        .part(inputs.clone().collect(), &points, key, names)?;
    let bar = printer.progress(inputs.len() as u64, "tune");
    let mut kernels = Vec::new();
    let mut unread = Vec::new();
    for (done, input) in inputs.into_iter().enumerate() {
        bar.set(done as u64, input.to_string());
        let one = TuneArgs {
            input: input.clone(),
            more: Vec::new(),
            ..args.clone()
        };
        let (own, machine) = global.resolved(Some(input));
        let tuned = match one.known_or_tuned(&own, &machine, &points) {
            Ok(Some(tuned)) => tuned,
            Ok(None) => break,
            Err(error @ (Error::Usage { .. } | Error::Input(_) | Error::Io { .. })) => {
                let tuned = Tuned::failed(&error);
                unread.push(error);
                tuned
            }
            // The others would meet the same.
            Err(error) => return Err(error),
        };
        for warning in &tuned.warnings {
            printer.warn(format!("{input}: {warning}"));
        }
        kernels.push(TunedKernel {
            input: input.to_string(),
            again: own.machine_option(),
            machine,
            tuned,
        });
    }
    drop(bar);
    points.finish()?;
    let software = args.software;
    let all = TunedKernels { software, kernels };
    // A common machine is named once, above the list; otherwise each kernel shows its own.
    let machine = all.one_machine().cloned();
    match machine {
        Some(machine) => printer.clone().of_machine(machine).show(&all)?,
        None => printer.show(&all)?,
    }
    all.failure(unread).map_or(Ok(()), Err)
}

impl TuneArgs {
    /// The stored result of the kernel; else the result of the searches, which
    /// is stored at once, and so is a fault of the kernel, which cannot be traced. None
    /// if an interrupt ended them.
    fn known_or_tuned(
        &self,
        global: &Global,
        machine: &MachineNote,
        points: &Points,
    ) -> Result<Option<Tuned>> {
        let digest = match points.file() {
            Some(_) => Some(self.digest(&global.machine()?)?),
            None => None,
        };
        if let Some(known) = digest.as_ref().and_then(|digest| points.get(digest)) {
            return Ok(Some(known));
        }
        let (printer, collected) = Printer::collecting();
        let done = self.one(global, &printer.of_machine(machine.clone()));
        if interrupt::requested() {
            return Ok(None);
        }
        let mut tuned = match done {
            Ok(()) => Tuned::default(),
            Err(fault @ Error::CheckFailed { .. }) => Tuned::failed(&fault),
            Err(error) => return Err(error),
        };
        let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
        tuned.found = collected.json.take().unwrap_or_default();
        leave_out(&mut tuned.found);
        tuned.warnings = std::mem::take(&mut collected.warnings);
        if let Some(digest) = digest {
            points.add(&digest, &self.input.to_string(), &tuned)?;
        }
        Ok(Some(tuned))
    }

    /// The digest of the kernel and of all that the searches depend on.
    fn digest(&self, machine: &Config) -> Result<String> {
        let key = campaign::of_input("tune", &self.input, &self.allow)?
            .add("machine", format!("{machine:?}"))
            .add("options", self.options())
            .add("assembler", self.assembler(machine)?);
        Ok(campaign::digest(key))
    }

    /// The options that the searches depend on.
    fn options(&self) -> String {
        let options = (
            (&self.kinds, self.software, self.method, self.budget()),
            (
                self.pruned,
                self.as_published,
                self.fits,
                self.has_fixed_rows(),
            ),
            (self.sharing, self.judge.by() == JudgeBy::Ptx),
        );
        format!("{options:?}")
    }

    /// The assembler that counts the registers of mappings in software.
    fn assembler(&self, machine: &Config) -> Result<String> {
        let Some(launch) = self.input.launch().filter(|_| self.software) else {
            return Ok(String::new());
        };
        let module = launch.module()?;
        let found = Assembler::find(&Toolbox::new(), module, machine.compute_capability)?;
        Ok(found.map_or(String::new(), |assembler| assembler.id().to_string()))
    }
}

/// Leaves out what a point does not name.
fn leave_out(found: &mut Value) {
    match found {
        Value::Object(fields) => {
            fields.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
            fields.values_mut().for_each(leave_out);
        }
        Value::Array(values) => values.iter_mut().for_each(leave_out),
        _ => {}
    }
}

/// A kernel as a point keeps it.
#[derive(Default, Serialize, Deserialize)]
struct Tuned {
    /// The JSON of the kernel alone, without times.
    found: Value,
    warnings: Vec<String>,
    /// Why there is none: a fault of the kernel, with its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The best mapping of a kernel.
struct Best<'a> {
    hash: &'a str,
    /// Conflicts of the unchanged kernel.
    before: u64,
    left: u64,
    proved: bool,
}

impl Tuned {
    fn failed(error: &Error) -> Self {
        Tuned {
            error: Some(error.to_string()),
            ..Tuned::default()
        }
    }

    /// The result with the fewest conflicts; of equals, a proved one, then the first.
    fn best(&self) -> Option<Best<'_>> {
        let results = self.found["results"].as_array()?;
        // A hash unit is set to mappings alone.
        let usable = |r: &&Value| r.get("configuration").is_none_or(|c| !c.is_null());
        let left = |r: &Value| r["conflicts"].as_u64();
        let optimal = |r: &Value| r["optimal"].as_bool().unwrap_or(false);
        let usable = results.iter().filter(usable);
        let best = usable.min_by_key(|r| (left(r), !optimal(r)))?;
        let unmapped = results.iter().find(|r| r["hash"] == "mod").and_then(left);
        Some(Best {
            hash: best["hash"].as_str()?,
            before: best["baseline_conflicts"].as_u64().or(unmapped)?,
            left: left(best)?,
            proved: optimal(best) || left(best) == Some(0) || self.is_proved(best),
        })
    }

    /// Whether it is proved, for mappings in software, that no XOR, no padding, or no
    /// mapping at all leaves fewer.
    fn is_proved(&self, best: &Value) -> bool {
        let fewest = self.found["fewest_proved"].as_bool().unwrap_or(false);
        fewest || self.found.get("conflicts_no_mapping_avoids") == Some(&best["conflicts"])
    }
}

/// A kernel of the list.
struct TunedKernel {
    input: String,
    machine: MachineNote,
    /// The option that names the machine.
    again: String,
    tuned: Tuned,
}

impl Serialize for TunedKernel {
    /// Writes its input, then the result of `tune` for it alone, or why there is none.
    fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let mut fields = Map::new();
        fields.insert("input".to_owned(), self.input.as_str().into());
        if let Value::Object(found) = &self.tuned.found {
            fields.extend(found.clone());
        }
        if let Some(error) = &self.tuned.error {
            fields.insert("error".to_owned(), error.as_str().into());
        }
        fields.serialize(s)
    }
}

/// All kernels.
#[derive(Serialize)]
struct TunedKernels {
    kernels: Vec<TunedKernel>,
    #[serde(skip)]
    software: bool,
}

impl TunedKernels {
    fn best(&self) -> impl Iterator<Item = Best<'_>> {
        self.kernels.iter().filter_map(|k| k.tuned.best())
    }

    /// The kernels without a result, and why.
    fn failed(&self) -> impl Iterator<Item = (&str, &str)> {
        let failed = |k: &'_ TunedKernel| k.tuned.error.is_some();
        let failed = self.kernels.iter().filter(move |k| failed(k));
        failed.filter_map(|k| Some((k.input.as_str(), k.tuned.error.as_deref()?)))
    }

    /// The error with which the command ends, if there are kernels without a result;
    /// `unread` are the errors of those that could not be read.
    fn failure(&self, unread: Vec<Error>) -> Option<Error> {
        let failed: Vec<_> = self.failed().collect();
        let (_, first) = failed.first()?;
        let names: Vec<&str> = failed.iter().map(|(name, _)| *name).collect();
        let what = match names.len() {
            1 => format!("{} cannot be tuned: {first}", names[0]),
            n => format!(
                "{n} kernels cannot be tuned: {}; the first: {first}",
                names.join(", ")
            ),
        };
        if unread.is_empty() {
            return Some(Error::CheckFailed { what, help: None });
        }
        let mut unread = unread.into_iter();
        unread.next().filter(|_| names.len() == 1).or_else(|| {
            let help = "expected kernels that can be read and run; name only those";
            Some(Error::usage(what, help))
        })
    }

    /// The machine of all kernels, if it is one.
    fn one_machine(&self) -> Option<&MachineNote> {
        MachineNote::of_all(self.kernels.iter().map(|k| &k.machine))
    }
}

impl CommandResult for TunedKernels {
    fn verdict(&self) -> String {
        let with = self.best().filter(|b| b.before > 0).count();
        let without = self.best().filter(|b| b.before > 0 && b.left == 0).count();
        let kernels = counted(self.kernels.len(), "kernel");
        let what = if self.software {
            "a mapping in software"
        } else {
            "a hash unit"
        };
        let failed = match self.failed().count() {
            0 => String::new(),
            n => format!("; {n} cannot be tuned"),
        };
        match with {
            0 => format!("None of {kernels} has bank conflicts{failed}."),
            _ => format!(
                "{with} of {kernels} have bank conflicts; {what} removes all of them in \
                 {without}{failed}."
            ),
        }
    }

    fn tone(&self) -> Tone {
        if self.failed().next().is_some() {
            Tone::Bad
        } else if self.best().all(|b| b.left == 0) {
            Tone::Good
        } else {
            Tone::Plain
        }
    }

    fn details(&self) -> Details {
        let of = |k: &TunedKernel, text: &dyn Fn(&Best) -> String| {
            k.tuned.best().as_ref().map_or("?".to_owned(), text)
        };
        let proved = |b: &Best| if b.proved { "yes" } else { "no" }.to_owned();
        let names = distinct_ends(self.kernels.iter().map(|k| k.input.as_str()));
        let tuned = self.kernels.iter().filter(|k| k.tuned.error.is_none());
        let mut columns = Columns::of(tuned)
            .left("kernel", |k| names[k.input.as_str()].clone())
            .right("conflicts", |k| of(k, &|b| b.before.to_string()))
            .left("best mapping", |k| of(k, &|b| b.hash.to_owned()))
            .right("left", |k| of(k, &|b| b.left.to_string()))
            .left("proved", |k| of(k, &proved));
        if self.one_machine().is_none() {
            columns = columns.left("machine", |k| k.machine.preset.clone());
        }
        let mut details = Details::of(columns.table().readable("best mapping", 30));
        for (input, error) in self.failed() {
            details.heading(format!("{input} cannot be tuned:"));
            details.toned(Tone::Bad, format!("  {error}"));
        }
        details
    }

    fn hints(&self) -> Vec<Hint> {
        let software = if self.software { " --software" } else { "" };
        let worst = self.kernels.iter().max_by_key(|k| {
            let best = k.tuned.best();
            best.map_or(0, |b| b.before)
        });
        let command = |k: &TunedKernel| {
            let (input, again) = (shell(&k.input), &k.again);
            format!("spadkit tune {input}{software} {again}")
        };
        let hint = |k: &TunedKernel| Hint::new("one of them in full", command(k));
        worst.map(hint).into_iter().collect()
    }
}
