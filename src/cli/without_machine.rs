//! Commands whose result depends on no machine: every command takes `--preset` and
//! `--config`, and these say that they have no effect.

use super::Global;
use super::commands::{Needs, Row, preset_help};
use super::printer::Printer;
use crate::error::Result;

/// Hides the options for the machine in the help of these commands. In that of the
/// others, `--preset` states the default of the command.
pub(super) fn with_options_of_machine(command: clap::Command) -> clap::Command {
    let of_machine = |arg: &&clap::Arg| ["preset", "config"].contains(&arg.get_id().as_str());
    let options = command.get_arguments().filter(of_machine).cloned();
    let options: Vec<clap::Arg> = options.collect();
    let for_command = |command: &clap::Command, arg: clap::Arg| {
        let needs = Row::of(command.get_name()).map(|row| row.needs);
        match arg.get_id().as_str() {
            _ if needs == Some(Needs::Nothing) => arg.hide(true),
            "preset" => arg.help(preset_help(needs)),
            _ => arg,
        }
    };
    command.mut_subcommands(|command| {
        let own = options
            .iter()
            .cloned()
            .map(|arg| for_command(&command, arg));
        let own: Vec<clap::Arg> = own.collect();
        command.args(own)
    })
}

impl Global {
    /// Says that a machine which is named has no effect; a wrong one is refused all the
    /// same.
    pub(super) fn note_no_effect(&self, command: &str, printer: &Printer) -> Result<()> {
        let option = match (&self.config, &self.preset) {
            (Some(_), _) => "--config",
            (None, Some(_)) => "--preset",
            (None, None) => return Ok(()),
        };
        self.machine()?;
        printer.warn(format!("{option} has no effect on {command}"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::full_command;
    use crate::cli::commands::{Needs, Row};

    #[test]
    fn help_has_the_options_for_the_machine_where_they_have_an_effect() {
        let mut command = full_command();
        command.build();
        for command in command.get_subcommands().filter(|c| c.get_name() != "help") {
            let name = command.get_name();
            let needs_none = Row::of(name).is_some_and(|row| row.needs == Needs::Nothing);
            for option in ["preset", "config"] {
                let arg = command.get_arguments().find(|arg| arg.get_id() == option);
                let hidden = arg.expect("it is an option of every command").is_hide_set();
                assert_eq!(hidden, needs_none, "{name} --{option}");
            }
        }
    }

    #[test]
    fn help_has_the_default_machine_of_the_command() {
        let mut command = full_command();
        command.build();
        for (name, default) in [
            ("encode", "bus [default: fermi]"),
            (
                "sim",
                "bus [default: that of the PTX's .target from sm_70 on, else fermi]",
            ),
        ] {
            let command = command.find_subcommand(name).unwrap();
            let preset = command.get_arguments().find(|arg| arg.get_id() == "preset");
            let help = preset.unwrap().get_help().unwrap().to_string();
            assert!(help.ends_with(default), "{name}: {help}");
        }
    }
}
