//! All output of the command line goes through here: tables or JSON on
//! standard output, messages and progress on standard error.

use crate::config::Config;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::quote::{shown, shown_lines};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use serde_json::Value;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Output for people or for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Tables.
    Text,
    /// One JSON object with `format_version`.
    Json,
}

/// A machine that the user has not named, and why it was taken.
#[derive(Clone, Debug, Serialize)]
pub struct MachineNote {
    /// Name of the preset.
    pub preset: &'static str,
    /// What in the input says so.
    pub from: String,
}

impl MachineNote {
    /// The machine of PTX for `sm_SM`, which is called `name` in messages; none
    /// before sm_70.
    pub fn of_target(sm: u32, name: &str) -> Option<Self> {
        let preset = Config::preset_of_target(sm)?;
        let from = format!(".target sm_{sm} of {name}");
        Some(MachineNote { preset, from })
    }
}

/// What a command found. Both forms of its output have the same fields: the
/// object of `--format json` is its serialisation.
pub(super) trait CommandResult: Serialize {
    /// The output of `--format text`.
    fn text(&self) -> String;
}

/// The object of `--format json`.
#[derive(Serialize)]
struct Object<'a, R: Serialize> {
    format_version: u32,
    #[serde(flatten)]
    result: &'a R,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<&'a MachineNote>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interrupted: Option<bool>,
}

/// Writes results to standard output and everything else to standard error.
#[derive(Clone, Debug)]
pub struct Printer {
    format: Format,
    quiet: bool,
    machine: Option<MachineNote>,
    /// Where results and warnings go that are not to be printed.
    collected: Option<Arc<Mutex<Collected>>>,
}

/// What a command would have printed.
#[derive(Debug, Default)]
pub(super) struct Collected {
    /// The object of `--format json`.
    pub json: Option<Value>,
    pub warnings: Vec<String>,
}

impl Printer {
    /// A printer for one command.
    pub fn new(format: Format, quiet: bool) -> Self {
        Printer {
            format,
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
            ..Printer::new(Format::Json, true)
        };
        (printer, collected)
    }

    /// The same, with a machine that every result names.
    pub fn of_machine(self, machine: MachineNote) -> Self {
        Printer {
            machine: Some(machine),
            ..self
        }
    }

    /// Prints the result of the command, in the form that is wanted: the JSON
    /// gets `"format_version": 1` in front. After an interrupt, what is printed
    /// is what there is: the JSON gets `"interrupted": true`.
    pub(super) fn show(&self, result: &impl CommandResult) -> Result<()> {
        if interrupt::requested() {
            self.warn("interrupted: partial results");
        }
        if let Some(collected) = &self.collected {
            let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
            collected.json = Some(self.object(result));
            return Ok(());
        }
        let out = match self.format {
            Format::Json => {
                let object = self.object(result);
                serde_json::to_string_pretty(&object).expect("a JSON value") + "\n"
            }
            Format::Text => {
                let mut text = result.text();
                if let Some(MachineNote { preset, from }) = &self.machine {
                    text += &format!("machine: {preset}, for {from}; override with --preset\n");
                }
                shown_lines(&text).into_owned()
            }
        };
        self.write(&out)
    }

    /// The object that `--format json` prints.
    fn object(&self, result: &impl CommandResult) -> Value {
        let object = Object {
            format_version: 1,
            result,
            machine: self.machine.as_ref(),
            interrupted: interrupt::requested().then_some(true),
        };
        serde_json::to_value(object).expect("fields with names")
    }

    /// Prints a part of the text that is known before the rest; JSON is one
    /// object, which waits for all of it.
    pub fn early(&self, text: impl FnOnce() -> String) -> Result<()> {
        match self.format {
            Format::Json => Ok(()),
            Format::Text => self.write(&shown_lines(&text())),
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
            to_stderr(&format!("{}\n", shown_lines(message.as_ref())));
        }
    }

    /// Something that the user should know although the command goes on.
    /// Shown even when quiet.
    pub fn warn(&self, message: impl AsRef<str>) {
        if let Some(collected) = &self.collected {
            let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
            collected.warnings.push(message.as_ref().to_owned());
            return;
        }
        to_stderr(&format!("warning: {}\n", shown(message.as_ref())));
    }

    /// A progress bar of `total` steps, drawn only on a terminal.
    pub fn progress(&self, total: u64, what: &str) -> Progress {
        if self.quiet || !std::io::stderr().is_terminal() {
            return Progress(None);
        }
        let bar = indicatif::ProgressBar::new(total);
        let style = "{prefix} [{bar:30}] {pos}/{len}, {eta} left {msg}";
        bar.set_style(
            indicatif::ProgressStyle::with_template(style)
                .expect("the template is valid")
                .progress_chars("=> "),
        );
        bar.set_prefix(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress(Some(bar))
    }
}

/// Writes to standard error; if that is closed or full there is no way to tell
/// (`eprintln!` would panic).
pub(super) fn to_stderr(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// A progress bar, or nothing.
pub struct Progress(Option<indicatif::ProgressBar>);

impl Progress {
    /// The number of steps has turned out to be `total`.
    pub fn set_total(&self, total: u64) {
        if let Some(bar) = &self.0 {
            bar.set_length(total);
        }
    }

    /// A bar of `steps` steps, with `message` beside it.
    pub fn set(&self, steps: u64, message: impl Into<String>) {
        if let Some(bar) = &self.0 {
            bar.set_position(steps);
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

/// A table with a header; columns whose name is in `right` are right-aligned.
pub(super) fn table<R, C>(header: &[&str], right: &[&str], rows: R) -> String
where
    R: IntoIterator<Item = Vec<C>>,
    C: ToString,
{
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_header(header.to_vec());
    for row in rows {
        let cells = row.iter().map(|cell| shown(&cell.to_string()).into_owned());
        table.add_row(cells.collect::<Vec<_>>());
    }
    for (i, name) in header.iter().enumerate() {
        if right.contains(name)
            && let Some(column) = table.column_mut(i)
        {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!("{table}\n")
}

/// A table with a row for each of some values, made column by column.
pub(super) struct Columns<R> {
    of: Vec<R>,
    header: Vec<&'static str>,
    right: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl<R> Columns<R> {
    /// No columns yet.
    pub fn of(values: impl IntoIterator<Item = R>) -> Self {
        let of: Vec<R> = values.into_iter().collect();
        Columns {
            rows: vec![Vec::new(); of.len()],
            of,
            header: Vec::new(),
            right: Vec::new(),
        }
    }

    /// Adds a column of words.
    pub fn left<C: ToString>(mut self, title: &'static str, cell: impl Fn(&R) -> C) -> Self {
        self.header.push(title);
        for (value, row) in self.of.iter().zip(&mut self.rows) {
            row.push(cell(value).to_string());
        }
        self
    }

    /// Adds a column of numbers, right-aligned.
    pub fn right<C: ToString>(mut self, title: &'static str, cell: impl Fn(&R) -> C) -> Self {
        self.right.push(title);
        self.left(title, cell)
    }

    pub fn text(self) -> String {
        table(&self.header, &self.right, self.rows)
    }
}
