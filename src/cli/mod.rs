//! The command line: one file per command, [`Printer`] for all output.

pub mod answers;
mod campaign;
mod cells;
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
mod load;
mod machine;
mod machine_code;
mod overrides;
mod paths_text;
mod printer;
mod source_rows;
mod strides_text;
mod synthesis_text;
mod threads;
mod values;
mod without_machine;

pub use machine::MachineNote;
pub use printer::{Format, Printer, Progress};

use crate::claims;
use crate::error::{Error, Result};
use crate::interrupt;
use crate::quote::shown;
use crate::terminal::Screen;
use crate::workload::RunOptions;
use clap::{Args, CommandFactory, FromArgMatches, Parser};
use commands::{Command, Needs};
use error_text::error_text;
use execute::{Example, Execute};
use std::path::PathBuf;
use std::process::ExitCode;

/// Findings that are not treated as faults.
#[derive(Args, Clone)]
pub struct Allow {
    /// Do not treat this finding as a fault. out-of-bounds-read: a read outside
    /// a buffer returns zeros.
    #[arg(long, value_name = "FINDING", value_parser = ["out-of-bounds-read"])]
    allow: Vec<String>,
}

impl Allow {
    /// Options for running kernels: reads outside of buffers may be allowed, with a warning.
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
          help = commands::preset_help(None))]
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

/// Parses the command line, runs the command, reports errors.
///
/// Exit status: 0 done; 1 a check failed; 2 bad usage or bad input; 3 an
/// external tool is missing or failed; 4 a defect of the kit; 129, 130 and 143 after
/// SIGHUP, SIGINT and SIGTERM, also where partial results have been printed.
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
    examples::with_examples(without_machine::with_options_of_machine(command))
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
            let text = with_plain_reasons(with_shown_arguments(text));
            printer::to_stderr(&screen.folded(&text, 0));
            std::process::exit(error.exit_code())
        } else {
            error.exit()
        }
    })
}

/// clap repeats arguments unchanged; a line end in one must not begin a line
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

/// Why a text is no number: clap has it in the words of Rust's library.
fn with_plain_reasons(text: String) -> String {
    const REASONS: [(&str, &str); 3] = [
        ("invalid digit found in string", "expected a whole number"),
        (
            "cannot parse integer from empty string",
            "expected a whole number",
        ),
        (
            "number too large to fit in target type",
            "the number is too large",
        ),
    ];
    let replaced = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
    REASONS.iter().fold(text, replaced)
}

/// The command that runs, as the shell was given it.
fn this_command() -> String {
    let args = std::env::args_os().skip(1);
    format!("spadkit {}", crate::quote::shell_line(args))
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
    let kernel = command
        .kernel()
        .filter(|_| row.needs == Needs::MachineOrTarget);
    let (global, machine) = cli.global.resolved(kernel);
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
