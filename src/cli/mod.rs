//! The command line: one file per command, [`Printer`] for all output.

mod cmd_classify;
mod cmd_conflicts;
mod cmd_congestion;
mod cmd_cosim;
mod cmd_doctor;
mod cmd_emit;
mod cmd_encode;
mod cmd_flow;
mod cmd_mutate;
mod cmd_synth;
mod cmd_trace;
mod cmd_tune;
mod output;
mod printer;
mod synthesis;
mod synthesis_text;

pub use output::write_file;
pub use printer::{Format, Printer, Progress};

use crate::config::Config;
use crate::error::{Error, Result};
use clap::{Args, Parser, Subcommand};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// Hardware design kit for the scratchpad (shared memory) path of a GPU SM.
#[derive(Parser)]
#[command(name = "spadkit", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(Args, Clone)]
pub struct Global {
    /// Output for people or for programs.
    #[arg(long, global = true, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Machine: fermi, gt200 or small.
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        default_value = "fermi",
        conflicts_with = "config"
    )]
    preset: String,
    /// Machine from a configuration file.
    #[arg(long, global = true, value_name = "FILE.toml")]
    config: Option<PathBuf>,
    /// No progress and no log on standard error.
    #[arg(short, long, global = true)]
    quiet: bool,
}

impl Global {
    /// The machine that the command works on.
    fn machine(&self) -> Result<Config> {
        match &self.config {
            Some(path) => Config::load(path),
            None => Config::preset(&self.preset),
        }
    }
}

#[derive(Subcommand)]
enum Command {
    Classify(cmd_classify::ClassifyArgs),
    Conflicts(cmd_conflicts::ConflictsArgs),
    Cosim(cmd_cosim::CosimArgs),
    Congestion(cmd_congestion::CongestionArgs),
    Doctor(cmd_doctor::DoctorArgs),
    Emit(cmd_emit::EmitArgs),
    Encode(cmd_encode::EncodeArgs),
    Flow(cmd_flow::FlowArgs),
    Mutate(cmd_mutate::MutateArgs),
    Synth(cmd_synth::SynthArgs),
    Trace(cmd_trace::TraceArgs),
    Tune(cmd_tune::TuneArgs),
}

/// Parses the command line, runs the command, reports errors.
///
/// Exit status: 0 done; 1 a check failed; 2 bad usage or bad input; 3 an
/// external tool is missing or failed.
pub fn main() -> ExitCode {
    let cli = Cli::parse(); // clap exits with status 2 on bad usage
    let printer = Printer::new(cli.global.format, cli.global.quiet);
    match run(&cli, &printer) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(error),
    }
}

fn run(cli: &Cli, printer: &Printer) -> Result<()> {
    let global = &cli.global;
    match &cli.command {
        Command::Classify(args) => cmd_classify::run(args, printer),
        Command::Conflicts(args) => cmd_conflicts::run(args, global, printer),
        Command::Cosim(args) => cmd_cosim::run(args, global, printer),
        Command::Congestion(args) => cmd_congestion::run(args, printer),
        Command::Doctor(args) => cmd_doctor::run(args, printer),
        Command::Emit(args) => cmd_emit::run(args, global, printer),
        Command::Encode(args) => cmd_encode::run(args, global, printer),
        Command::Flow(args) => cmd_flow::run(args, global, printer),
        Command::Mutate(args) => cmd_mutate::run(args, global, printer),
        Command::Synth(args) => cmd_synth::run(args, global, printer),
        Command::Trace(args) => cmd_trace::run(args, printer),
        Command::Tune(args) => cmd_tune::run(args, global, printer),
    }
}

fn report(error: Error) -> ExitCode {
    let status = error.exit_status();
    let color = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let theme = match color {
        true => miette::GraphicalTheme::unicode(),
        false => miette::GraphicalTheme::unicode_nocolor(),
    };
    let mut text = String::new();
    let rendered =
        miette::GraphicalReportHandler::new_themed(theme).render_report(&mut text, &error);
    match rendered {
        Ok(()) => eprint!("error:{text}"),
        Err(_) => eprintln!("error: {error}"),
    }
    ExitCode::from(status)
}
