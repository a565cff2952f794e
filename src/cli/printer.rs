//! All output of the command line goes through here: tables or JSON on
//! standard output, messages and progress on standard error.

use super::machine::MachineNote;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::quote::{shown, shown_lines};
use crate::terminal::{Details, Hint, Page, Screen, Tone};
use crate::trace::TracedBlock;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Output for people or for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// An answer, tables, and what to type next.
    Text,
    /// One JSON object with `format_version`.
    Json,
    /// The tables, with all columns.
    Csv,
}

/// The result of a command. All forms of its output have the same fields: the
/// object of `--format json` is its serialisation.
pub(super) trait CommandResult: Serialize {
    /// The answer, in one sentence: the first line of `--format text`.
    fn verdict(&self) -> String;

    /// Whether the answer is good or bad news.
    fn tone(&self) -> Tone {
        Tone::Plain
    }

    /// Tables and notes.
    fn details(&self) -> Details;

    /// Commands to run next.
    fn hints(&self) -> Vec<Hint> {
        Vec::new()
    }

    /// If the details are code: the start of a comment in it.
    fn comment(&self) -> Option<&'static str> {
        None
    }

    /// The block that the numbers are of, if they are of one.
    fn counted(&self) -> Option<TracedBlock> {
        None
    }

    /// Whether a part with the machine was printed before.
    fn goes_on(&self) -> bool {
        false
    }
}

/// The only block of a launch needs no words.
fn counted_text(counted: Option<TracedBlock>) -> Option<String> {
    let counted = counted.filter(|traced| traced.blocks > 1)?;
    Some(format!("{counted}; a profiler shows all"))
}

/// Writes results to standard output and everything else to standard error.
#[derive(Clone, Debug)]
pub struct Printer {
    format: Format,
    /// Tables have all of their columns.
    wide: bool,
    quiet: bool,
    machine: Option<MachineNote>,
    /// Collects results and warnings instead of printing them.
    collected: Option<Arc<Mutex<Collected>>>,
}

/// The output of a command that is not printed.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// The object of `--format json`.
    pub json: Option<Value>,
    /// The sentence with which the text begins.
    pub sentence: String,
    pub warnings: Vec<String>,
}

impl Printer {
    /// A printer for one command.
    pub fn new(format: Format, wide: bool, quiet: bool) -> Self {
        Printer {
            format,
            wide,
            quiet,
            machine: None,
            collected: None,
        }
    }

    /// A printer that keeps what there is to say instead of printing it, for
    /// programs that link the library.
    pub(super) fn collecting() -> (Self, Arc<Mutex<Collected>>) {
        let collected = Arc::default();
        let printer = Printer {
            collected: Some(Arc::clone(&collected)),
            ..Printer::new(Format::Json, false, true)
        };
        (printer, collected)
    }

    /// Lets a signal be noted from now on, instead of ending the program. A program
    /// that links the library handles signals itself.
    pub(super) fn listen(&self) {
        if self.collected.is_none() {
            interrupt::listen();
        }
    }

    /// The printer with a machine that every result names.
    pub fn of_machine(self, machine: MachineNote) -> Self {
        Printer {
            machine: Some(machine),
            ..self
        }
    }

    /// Whether results are printed for people.
    pub(super) fn shows_text(&self) -> bool {
        matches!(self.format, Format::Text)
    }

    /// The machine of the command, and why it was taken.
    pub(super) fn machine(&self) -> Option<&MachineNote> {
        self.machine.as_ref()
    }

    /// The `.target` of a PTX that says which machine it is, if one does.
    pub fn target(&self) -> Option<&str> {
        let from = self.machine.as_ref()?.from.as_str();
        from.starts_with(".target").then_some(from)
    }

    /// Prints the result of the command, in the form that is wanted: the JSON
    /// gets `"format_version": 1` in front. After an interrupt, partial
    /// results are printed: the JSON gets `"interrupted": true`.
    pub(super) fn show(&self, result: &impl CommandResult) -> Result<()> {
        if interrupt::requested() {
            self.warn("interrupted: partial results");
        }
        if let Some(collected) = &self.collected {
            let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
            collected.json = Some(self.object(result));
            collected.sentence = result.verdict();
            return Ok(());
        }
        let out = match self.format {
            Format::Json => {
                let object = self.object(result);
                serde_json::to_string_pretty(&object).expect("a JSON value") + "\n"
            }
            Format::Csv => result.details().csv(),
            Format::Text => self.page(result).text(&Screen::of_stdout(self.wide)),
        };
        self.write(&out)
    }

    fn page(&self, result: &impl CommandResult) -> Page {
        let page = Page {
            verdict: result.verdict(),
            tone: result.tone(),
            machine: self.machine_text().filter(|_| !result.goes_on()),
            counted: counted_text(result.counted()).filter(|_| !result.goes_on()),
            details: result.details(),
            hints: result.hints(),
            comment: result.comment(),
        };
        if !interrupt::requested() {
            return page;
        }
        // "All 3 units agree" is no answer about the others, and there is no next step.
        Page {
            verdict: format!(
                "Interrupted; this is what was done until then: {}",
                page.verdict
            ),
            tone: Tone::Bad,
            hints: Vec::new(),
            ..page
        }
    }

    fn machine_text(&self) -> Option<String> {
        self.machine.as_ref().map(MachineNote::text)
    }

    /// The object that `--format json` prints: the result's own fields, and the
    /// machine unless they say it.
    fn object(&self, result: &impl CommandResult) -> Value {
        let mut object = Map::new();
        object.insert("format_version".to_owned(), 1.into());
        if let Value::Object(fields) = serde_json::to_value(result).expect("fields with names") {
            object.extend(fields);
        }
        if let Some(machine) = &self.machine
            && !object.contains_key("machine")
        {
            object.insert("machine".to_owned(), json!(machine));
        }
        if let Some(counted) = result.counted() {
            object.insert("counted".to_owned(), json!(counted));
        }
        if interrupt::requested() {
            object.insert("interrupted".to_owned(), true.into());
        }
        Value::Object(object)
    }

    /// Prints the answer and the details that are known before the rest; JSON is
    /// one object, which waits for all of it.
    pub(super) fn early(
        &self,
        verdict: String,
        counted: Option<TracedBlock>,
        details: impl FnOnce() -> Details,
    ) -> Result<()> {
        match self.format {
            Format::Json => Ok(()),
            Format::Csv => self.write(&(details().csv() + "\n")),
            Format::Text => {
                let page = Page {
                    verdict,
                    machine: self.machine_text(),
                    counted: counted_text(counted),
                    details: details(),
                    ..Page::default()
                };
                self.write(&page.text(&Screen::of_stdout(self.wide)))
            }
        }
    }

    fn write(&self, out: &str) -> Result<()> {
        let mut stdout = std::io::stdout().lock();
        match stdout
            .write_all(out.as_bytes())
            .and_then(|()| stdout.flush())
        {
            // The reader has seen enough (`| head`).
            Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            other => other.map_err(|e| Error::io("write", Path::new("standard output"), e)),
        }
    }

    /// A line of the log.
    pub fn log(&self, message: impl AsRef<str>) {
        if !self.quiet {
            sentence_to_stderr(&shown_lines(message.as_ref()));
        }
    }

    /// Tells people that a file was written; programs know what they asked for.
    pub fn wrote(&self, path: &Path) {
        if self.format == Format::Text {
            self.log(format!("wrote {}", path.display()));
        }
    }

    /// A warning: something that the user should know although the command
    /// continues. Shown even when quiet.
    pub fn warn(&self, message: impl AsRef<str>) {
        if let Some(collected) = &self.collected {
            let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
            collected.warnings.push(message.as_ref().to_owned());
            return;
        }
        sentence_to_stderr(&format!("warning: {}", shown(message.as_ref())));
    }

    /// A progress bar of `total` steps, drawn only on a terminal.
    pub fn progress(&self, total: u64, what: &str) -> Progress {
        if self.quiet || !std::io::stderr().is_terminal() {
            return Progress(None);
        }
        let bar = indicatif::ProgressBar::new(total);
        bar.set_style(style_of(total));
        bar.set_prefix(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress(Some(bar))
    }
}

/// A bar, or for a single step a spinner, because a bar that does not move says
/// nothing. Both show that the step is running, and count the seconds.
fn style_of(total: u64) -> indicatif::ProgressStyle {
    let template = match total {
        0 | 1 => "{spinner} {prefix}, {elapsed} {wide_msg}",
        _ => "{spinner} {prefix} [{bar:24}] {pos}/{len}, {elapsed}, {eta} left {wide_msg}",
    };
    let style = indicatif::ProgressStyle::with_template(template);
    style.expect("the template is valid").progress_chars("=> ")
}

/// Writes to standard error; if that is closed or full there is no way to tell
/// (`eprintln!` would panic).
pub(super) fn to_stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Writes sentences and a line end to standard error, within the width.
fn sentence_to_stderr(text: &str) {
    let text = Screen::of_stderr().folded(text, 0);
    to_stderr(&format!("{text}\n"));
}

/// A progress bar, or nothing.
pub struct Progress(Option<indicatif::ProgressBar>);

impl Progress {
    /// The number of steps has turned out to be `total`.
    pub fn set_total(&self, total: u64) {
        if let Some(bar) = &self.0
            && bar.length() != Some(total)
        {
            bar.set_length(total);
            bar.set_style(style_of(total));
        }
    }

    /// Shows a bar of `steps` steps, with `message`.
    pub fn set(&self, steps: u64, message: impl Into<String>) {
        if let Some(bar) = &self.0 {
            bar.set_position(steps);
            bar.set_message(message.into());
        }
    }

    /// Sets the message of the step in progress.
    pub fn say(&self, message: impl Into<String>) {
        if let Some(bar) = &self.0 {
            bar.set_message(message.into());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
