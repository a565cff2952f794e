//! Commands whose options are those of the command line: a launch in memory is their input.

use super::{Answer, Launch};
use crate::capture::LaunchInput;
use crate::cli::cmd_gate::GateArgs;
use crate::cli::cmd_share::ShareArgs;
use crate::cli::cmd_sim::SimArgs;
use crate::cli::printer::Format;
use crate::cli::{Execute, Global};
use crate::error::{Error, Result};
use crate::workload::Input;
use clap::{Args, CommandFactory, FromArgMatches, Parser};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// `spadkit sim`.
    Sim,
    /// `spadkit share`.
    Share,
    /// `spadkit gate`.
    Gate,
}

/// The options of one command.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Alone<T: Args> {
    #[command(flatten)]
    args: T,
}

/// The placeholder for the input when options are parsed.
const INPUT: &str = "launch.toml";

fn parsed<T: Args>(options: &[String]) -> Result<T> {
    let all = options.iter().map(String::as_str).chain([INPUT]);
    let matches = Alone::<T>::command().try_get_matches_from(all);
    let found = matches.and_then(|matches| Alone::<T>::from_arg_matches(&matches));
    found.map(|alone| alone.args).map_err(|error| {
        let text = error.to_string();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.next().unwrap_or_default();
        let what = first.strip_prefix("error: ").unwrap_or(first).to_owned();
        let values = lines
            .next()
            .filter(|line| line.starts_with("[possible values"));
        Error::usage(
            what,
            values
                .unwrap_or("expected what the command line takes")
                .to_owned(),
        )
    })
}

impl Launch {
    /// The answer of a command with these options. If `gate` finds a limit exceeded, that
    /// is the answer's verdict.
    pub fn command(
        &self,
        command: Command,
        machine: Option<&str>,
        options: &[String],
    ) -> Result<Answer> {
        let (config, note) = self.kernel.machine(machine)?;
        let is_file = machine.is_some_and(|name| name.ends_with(".toml"));
        let global = Global {
            format: Format::Json,
            preset: (!is_file).then(|| config.name.clone()),
            config: machine.filter(|_| is_file).map(PathBuf::from),
            wide: false,
            quiet: true,
        };
        let name = Path::new(self.kernel.name());
        let module = self.kernel.module.clone();
        let input = LaunchInput::given(name, self.file.clone(), module);
        let input = Input::Launch(Arc::new(input));
        let run =
            |args: &dyn Execute| Answer::of(Some(note), |printer| args.execute(&global, printer));
        match command {
            Command::Sim => {
                let mut args: SimArgs = parsed(options)?;
                args.input = input;
                run(&args)
            }
            Command::Share => {
                let mut args: ShareArgs = parsed(options)?;
                args.input = input;
                run(&args)
            }
            Command::Gate => {
                let mut args: GateArgs = parsed(options)?;
                args.inputs = vec![input];
                run(&args)
            }
        }
    }
}
