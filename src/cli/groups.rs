//! `spadkit --help`: the commands in groups, by what a user wants to do.

use super::commands::ROWS;
use clap::Command;
use std::fmt::Write;

/// Columns of the help. `max_term_width` makes it narrower on narrow terminals.
const WIDTH: usize = 80;

/// `command` with a help page that lists its subcommands in groups.
pub(super) fn with_groups(command: Command) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\n{{all-args}}\n\n\
         Examples:\n  \
         spadkit conflicts mykernel.toml --source    # bank conflicts by source line\n  \
         spadkit tune mykernel.toml --software       # what removes them\n  \
         spadkit help COMMAND                        # options of a command\n",
        listed(&command)
    );
    // Listed by the template; clap would list them again among all arguments.
    let hidden = command.mut_subcommands(|command| command.hide(true));
    hidden
        .override_usage("spadkit [OPTIONS] <COMMAND>")
        .help_template(template)
}

fn listed(command: &Command) -> String {
    let mut text = String::new();
    let mut group = "";
    for row in ROWS {
        if row.group != group {
            group = row.group;
            let _ = writeln!(text, "\n{group}:");
        }
        let name = row.name();
        let about = command.find_subcommand(&name).and_then(Command::get_about);
        list(&mut text, &name, &about.expect("a command").to_string());
    }
    list(&mut text, "help", "Print the help of a command");
    text
}

fn list(text: &mut String, name: &str, about: &str) {
    let _ = writeln!(text, "  {name:12}{}", hanging(about, 14));
}

/// `text` in lines of [`WIDTH`] columns, each but the first indented by `indent`.
fn hanging(text: &str, indent: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is a line");
        if last.is_empty() {
            last.push_str(word);
        } else if indent + last.chars().count() + 1 + word.chars().count() <= WIDTH {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join(&format!("\n{:indent$}", ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_help_lists_each_command_once_within_80_columns() {
        let help = with_groups(crate::cli::Cli::command())
            .render_help()
            .to_string();
        let count = |start: &str| help.lines().filter(|l| l.starts_with(start)).count();
        for row in ROWS {
            assert_eq!(
                count(&format!("{}:", row.group)),
                1,
                "{}: {help}",
                row.group
            );
            let name = row.name();
            assert_eq!(count(&format!("  {name} ")), 1, "{name}: {help}");
        }
        let widest = help.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(WIDTH), "{help}");
    }
}
