//! Commands whose result depends on no machine: every command takes `--preset` and
//! `--config`, and these say that they have no effect.

use super::Global;
use super::commands::{Needs, Row};
use super::printer::Printer;
use crate::error::Result;

/// Whether the result of that command depends on no machine.
fn needs_none(command: &str) -> bool {
    Row::of(command).is_some_and(|row| row.needs == Needs::Nothing)
}

/// Hides the options for the machine in the help of these commands.
pub(super) fn hide_options(command: clap::Command) -> clap::Command {
    let of_machine = |arg: &&clap::Arg| ["preset", "config"].contains(&arg.get_id().as_str());
    let options = command.get_arguments().filter(of_machine).cloned();
    let hidden: Vec<_> = options.map(|arg| arg.hide(true)).collect();
    command.mut_subcommands(|command| {
        if needs_none(command.get_name()) {
            command.args(hidden.clone())
        } else {
            command
        }
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
    use super::needs_none;

    #[test]
    fn help_has_the_options_for_the_machine_where_they_have_an_effect() {
        let mut command = full_command();
        command.build();
        for command in command.get_subcommands().filter(|c| c.get_name() != "help") {
            let name = command.get_name();
            for option in ["preset", "config"] {
                let arg = command.get_arguments().find(|arg| arg.get_id() == option);
                let hidden = arg.expect("it is an option of every command").is_hide_set();
                assert_eq!(hidden, needs_none(name), "{name} --{option}");
            }
        }
    }
}
