//! `spadkit --help`: the commands in groups, by what a user wants to do.

use clap::Command;
use std::fmt::Write;

/// Each command is in exactly one group; in a group the order is that in which
/// they are used.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Kernel",
        &[
            "init",
            "run",
            "trace",
            "conflicts",
            "classify",
            "tune",
            "rewrite",
            "encode",
            "share",
            "sim",
            "flow",
        ],
    ),
    ("Hardware", &["emit", "cosim", "prove", "mutate", "synth"]),
    ("Papers", &["reproduce", "merge", "compose", "congestion"]),
    ("Tools", &["doctor", "completions", "help"]),
];

/// Columns of the help, as `max_term_width` has them where it is narrower.
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
    for (title, names) in GROUPS {
        let _ = writeln!(text, "\n{title}:");
        for name in names {
            let _ = writeln!(text, "  {name:12}{}", hanging(&about(command, name), 14));
        }
    }
    text
}

fn about(command: &Command, name: &str) -> String {
    match command.find_subcommand(name).and_then(Command::get_about) {
        Some(about) => about.to_string(),
        None => "The help of a command".to_owned(),
    }
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
    fn every_command_is_in_one_group() {
        let command = crate::cli::Cli::command();
        let mut names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        grouped.retain(|name| *name != "help");
        names.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, names);
    }

    #[test]
    fn the_help_lists_each_command_once_within_80_columns() {
        let help = with_groups(crate::cli::Cli::command())
            .render_help()
            .to_string();
        for (title, names) in GROUPS {
            assert!(help.contains(&format!("\n{title}:\n")), "{help}");
            for name in names {
                let lines = help
                    .lines()
                    .filter(|l| l.starts_with(&format!("  {name} ")));
                assert_eq!(lines.count(), 1, "{name}: {help}");
            }
        }
        let widest = help.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(WIDTH), "{help}");
    }
}
