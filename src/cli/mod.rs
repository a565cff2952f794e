//! The command line: one file per command, [`Printer`] for all output.

pub mod answers;
mod campaign;
mod changes;
mod classify_static;
mod cmd_classify;
mod cmd_completions;
mod cmd_conflicts;
mod cmd_congestion;
mod cmd_cosim;
mod cmd_doctor;
mod cmd_emit;
mod cmd_encode;
mod cmd_flow;
mod cmd_gate;
mod cmd_init;
mod cmd_mutate;
mod cmd_prove;
mod cmd_reproduce;
mod cmd_rewrite;
mod cmd_run;
mod cmd_share;
mod cmd_sim;
mod cmd_synth;
mod cmd_trace;
mod cmd_tune;
mod commands;
mod configuration;
mod conflicts_lines;
mod conflicts_text;
mod defect;
mod error_text;
mod examples;
mod execute;
mod groups;
mod kernel_registers;
mod line_slots;
mod machine_code;
mod overrides;
mod paths_text;
mod printer;
mod source_rows;
mod strides_text;
mod synthesis_text;
mod threads;
mod without_machine;

pub use printer::{Format, MachineNote, Printer, Progress};

use crate::capture::{LaunchInput, LaunchRun};
use crate::claims;
use crate::config::{Config, PRESETS};
use crate::cuda::{MAX_BLOCK, MAX_GRID, MAX_THREADS};
use crate::error::{Error, Result};
use crate::hash::HashKind;
use crate::interrupt;
use crate::quote::{shell, shown};
use crate::terminal::Screen;
use crate::trace::AccessTrace;
use crate::workload::{Input, LaunchWorkload, RunOptions};
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser};
use commands::{Command, Needs};
use error_text::error_text;
use execute::{Example, Execute};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Findings that are not treated as faults.
#[derive(Args, Clone)]
pub struct Allow {
    /// Continue in spite of this finding: out-of-bounds-read, reads outside
    /// buffers, which return zeros.
    #[arg(long, value_name = "FINDING", value_parser = ["out-of-bounds-read"])]
    allow: Vec<String>,
}

impl Allow {
    /// How kernels run: reads outside buffers may be allowed, with a warning.
    fn run(&self, printer: &Printer) -> RunOptions {
        let zeros_beyond = !self.allow.is_empty();
        if zeros_beyond {
            printer.warn("reads outside buffers are allowed and return zeros (--allow)");
        }
        RunOptions {
            zeros_beyond,
            ..RunOptions::default()
        }
    }
}

/// Hardware design kit for the scratchpad (shared memory) path of a GPU SM.
#[derive(Parser)]
#[command(name = "spadkit", version, max_term_width = 80)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(Args, Clone)]
#[command(next_help_heading = "Common options")]
pub struct Global {
    /// Output for people or for programs.
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[arg(long, global = true, value_name = "NAME", conflicts_with = "config",
          help = preset_help())]
    preset: Option<String>,
    /// Machine from a configuration file.
    #[arg(long, global = true, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// Tables with all of their columns, however wide they are.
    #[arg(long, global = true)]
    wide: bool,
    /// No progress and no log on standard error.
    #[arg(short, long, global = true)]
    quiet: bool,
}

impl Global {
    /// The option that names the machine, for commands that repeat a run;
    /// quoted for a shell.
    fn machine_option(&self) -> String {
        match &self.config {
            Some(path) => format!("--config {}", shell(path)),
            None => format!("--preset {}", shell(self.preset())),
        }
    }

    /// `command` about the same units of the same machine, those of `rtl` if they
    /// are from there.
    fn about_units(&self, command: &str, units: &[String], rtl: Option<&Path>) -> String {
        let units: String = units.iter().map(|u| format!(" {}", shell(u))).collect();
        let rtl = rtl.map_or(String::new(), |dir| format!(" --rtl {}", shell(dir)));
        format!("spadkit {command}{units}{rtl} {}", self.machine_option())
    }

    /// The name of the preset, or several where that is allowed.
    fn preset(&self) -> &str {
        self.preset.as_deref().unwrap_or(DEFAULT_PRESET)
    }

    /// The machine of the target of `input`'s PTX, where none is named.
    fn of_target(&self, input: &Input) -> Option<MachineNote> {
        if self.preset.is_some() || self.config.is_some() {
            return None;
        }
        let (ptx, sm) = input.target()?;
        let file = ptx.file_name().unwrap_or_default();
        MachineNote::of_target(sm, &file.display().to_string())
    }

    /// The machine, and why it is taken; the options that name it where nothing
    /// but the target of `input`'s PTX does.
    fn resolved(&self, input: Option<&Input>) -> (Self, MachineNote) {
        if let Some(note) = input.and_then(|input| self.of_target(input)) {
            let global = Global {
                preset: Some(note.preset.clone()),
                ..self.clone()
            };
            return (global, note);
        }
        let note = match (&self.config, &self.preset) {
            (Some(path), _) => MachineNote::of_file(path),
            (None, Some(preset)) => MachineNote::named(preset, "--preset"),
            (None, None) => MachineNote::default(DEFAULT_PRESET),
        };
        (self.clone(), note)
    }

    /// The machine that the command works on.
    fn machine(&self) -> Result<Config> {
        match &self.config {
            Some(path) => Config::load(path),
            None => Config::preset(self.preset()),
        }
    }
}

/// The machine where none is named and none is chosen by a PTX.
const DEFAULT_PRESET: &str = "fermi";

fn preset_help() -> String {
    format!(
        "Machine: {} [default: {DEFAULT_PRESET}; classify, conflicts, flow, gate, rewrite, \
         share, sim and tune choose that of the .target of the PTX, from sm_70]",
        alternatives(&PRESETS, "or")
    )
}

/// Parses the command line, runs the command, reports errors.
///
/// Exit status: 0 done; 1 a check failed; 2 bad usage or bad input; 3 an
/// external tool is missing or failed; 4 a defect of the kit; 130 and 143 after
/// SIGINT and SIGTERM, also where what there is has been printed.
pub fn main() -> ExitCode {
    defect::end_on_panic();
    interrupt::install();
    claims::keep();
    let cli = parse();
    let printer = Printer::new(cli.global.format, cli.global.wide, cli.global.quiet);
    threads::start(&printer);
    let status = match run(&cli, &printer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(error),
    };
    interrupt::exit_status().map_or(status, ExitCode::from)
}

/// The whole command line.
fn full_command() -> clap::Command {
    // `-1` as a value is refused as a value, not taken for an option.
    let values = |arg: clap::Arg| {
        let takes_values = arg.get_action().takes_values();
        arg.allow_negative_numbers(takes_values)
    };
    let command = Cli::command().mut_subcommands(|command| command.mut_args(values));
    examples::with_examples(without_machine::hide_options(command))
}

/// Parses the arguments; clap exits with status 2 on bad usage.
fn parse() -> Cli {
    let command = groups::with_groups(full_command());
    let matches = command.clone().try_get_matches();
    let parsed = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.unwrap_or_else(|error| {
        let error = error.with_cmd(&command);
        if error.use_stderr() {
            let screen = Screen::of_stderr();
            let text = if screen.color {
                error.render().ansi().to_string()
            } else {
                error.render().to_string()
            };
            printer::to_stderr(&screen.folded(&with_shown_arguments(text), 0));
            std::process::exit(error.exit_code())
        } else {
            error.exit()
        }
    })
}

/// clap repeats arguments as they are; a line end in one must not begin a line
/// that reads as another message.
fn with_shown_arguments(mut text: String) -> String {
    for argument in std::env::args_os().skip(1) {
        let argument = argument.to_string_lossy();
        let value = argument.split_once('=').map(|(_, value)| value);
        for part in [Some(&*argument), value].into_iter().flatten() {
            if let std::borrow::Cow::Owned(safe) = shown(part) {
                text = text.replace(part, &safe);
            }
        }
    }
    text
}

/// A value of the command line, as clap wants it: the error in one text, with
/// what was expected.
fn parsed<T: std::str::FromStr<Err = Error>>(text: &str) -> std::result::Result<T, String> {
    text.parse().map_err(|error: Error| in_one_line(&error))
}

/// A parser of files alone, whatever their names are made of.
fn file_input() -> impl TypedValueParser<Value = Input> {
    PathBufValueParser::new().map(Input::from)
}

/// The kinds of hash unit in a sentence: `a, b or c`.
fn hash_kinds(conjunction: &str) -> String {
    alternatives(&HashKind::ALL.map(HashKind::name), conjunction)
}

/// Names in a sentence: `a, b or c`.
fn alternatives(names: &[&str], conjunction: &str) -> String {
    let (last, others) = names.split_last().expect("there is a name");
    format!("{} {conjunction} {last}", others.join(", "))
}

fn in_one_line(error: &Error) -> String {
    match error {
        Error::Usage {
            what,
            help: Some(help),
        } => format!("{what}; {help}"),
        other => other.to_string(),
    }
}

/// `X`, `X,Y` or `X,Y,Z`, within CUDA's limits.
fn parse_block(text: &str) -> std::result::Result<[u32; 3], String> {
    let block = parse_dimensions(text, MAX_BLOCK)?;
    match block.iter().product::<u32>() {
        ..=MAX_THREADS => Ok(block),
        _ => Err(format!("expected at most {MAX_THREADS} threads in all")),
    }
}

/// Reads a grid's size, `X[,Y[,Z]]`.
fn parse_grid(text: &str) -> std::result::Result<[u32; 3], String> {
    parse_dimensions(text, MAX_GRID)
}

/// Reads one to three dimensions, at least 1 and at most `most` each.
fn parse_dimensions(text: &str, most: [u32; 3]) -> std::result::Result<[u32; 3], String> {
    let [x, y, z] = most;
    let expected = || format!("expected X, X,Y or X,Y,Z, at most {x}, {y} and {z}");
    let sizes: Option<Vec<u32>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    let sizes = sizes.filter(|s| s.len() <= 3).ok_or_else(expected)?;
    let mut all = [1; 3];
    all[..sizes.len()].copy_from_slice(&sizes);
    let fits = |(&n, most): (&u32, u32)| (1..=most).contains(&n);
    if all.iter().zip(most).all(fits) {
        Ok(all)
    } else {
        Err(expected())
    }
}

/// Reads INPUT for `machine`, which must have its addresses; warns where the
/// two were not made for each other.
fn load_for(
    input: &Input,
    run: RunOptions,
    machine: &Config,
    printer: &Printer,
) -> Result<AccessTrace> {
    let trace = input.accesses(run)?;
    admit(input, &trace, machine, printer)?;
    Ok(trace)
}

/// The accesses and the programs of a launch, from one run where that can be.
fn load_both(
    input: &Input,
    launch: &LaunchRun,
    machine: &Config,
    printer: &Printer,
) -> Result<(AccessTrace, LaunchWorkload)> {
    let (trace, workload) = LaunchWorkload::open_both(launch)?;
    admit(input, &trace, machine, printer)?;
    let workload = workload.map_or_else(|| LaunchWorkload::open(launch), Ok)?;
    Ok((trace, workload))
}

/// Refuses accesses that `machine` does not have; warns where the two were not made
/// for each other.
fn admit(input: &Input, trace: &AccessTrace, machine: &Config, printer: &Printer) -> Result<()> {
    note_launches(input, printer);
    for note in machine.admit(trace)? {
        printer.warn(note);
    }
    Ok(())
}

/// Says which launch of a launch file with several INPUT is.
fn note_launches(input: &Input, printer: &Printer) {
    if let Some(note) = input.launch().and_then(LaunchInput::note) {
        printer.warn(note);
    }
}

/// The command that runs, as the shell was given it.
fn this_command() -> String {
    let args = std::env::args_os().skip(1);
    format!("spadkit {}", crate::quote::shell_line(args))
}

/// A line that names the rule by which `machine` counts conflicts.
fn rule_line(machine: &Config) -> String {
    format!("conflicts by: {}", machine.conflict_rule().describe())
}

fn run(cli: &Cli, printer: &Printer) -> Result<()> {
    let (command, row) = (cli.command.get(), cli.command.row());
    let needs_none = row.needs == Needs::Nothing;
    if needs_none {
        cli.global.note_no_effect(&row.name(), printer)?;
    }
    if needs_none || !command.has_machine() {
        return command.execute(&cli.global, printer);
    }
    let (global, machine) = cli.global.resolved(command.kernel());
    command.execute(&global, &printer.clone().of_machine(machine))
}

fn report(error: Error) -> ExitCode {
    let screen = Screen::of_stderr();
    printer::to_stderr(&error_text(&error, &screen));
    ExitCode::from(error.exit_status())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Command lines in a help text are lines that can be pasted.
    #[test]
    fn help_keeps_the_lines_of_commands() {
        for (name, lines) in [
            (
                "completions",
                "\n  spadkit completions zsh > ~/.zfunc/_spadkit\n",
            ),
            (
                "init",
                "--block 256 \\\n    --arg 0=4096 --arg 2=random:f32:4096\n",
            ),
        ] {
            let mut command = full_command();
            let command = command.find_subcommand_mut(name).expect("it is a command");
            let help = command.render_long_help().to_string();
            assert!(help.contains(lines), "{help}");
        }
    }
}
