//! Examples at the end of the help of each command.

use super::commands::ROWS;
use super::execute::Example;
use clap::Command;
use std::fmt::Write;

/// `command` with examples for each of its subcommands.
pub(super) fn with_examples(command: Command) -> Command {
    ROWS.iter().fold(command, |command, row| {
        let text = text((row.examples)());
        command.mut_subcommand(row.name(), |c| c.after_help(text))
    })
}

fn text(examples: &[Example]) -> String {
    let width = examples.iter().map(|(_, line)| line.len()).max();
    let width = width.unwrap_or(0);
    let mut text = "Examples:".to_owned();
    for (what, line) in examples {
        if width + what.len() <= 62 {
            let _ = write!(text, "\n  spadkit {line:width$}  # {what}");
        } else {
            let _ = write!(text, "\n  # {what}\n  spadkit {line}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::full_command;

    /// The words of a line, as a shell splits them.
    fn words(line: &str) -> Vec<String> {
        let parts = line.split('\'').enumerate();
        let words = parts.flat_map(|(i, part)| match i % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        });
        words.collect()
    }

    #[test]
    fn every_command_has_examples_that_parse() {
        let command = full_command();
        for row in ROWS {
            let (name, examples) = (row.name(), (row.examples)());
            assert!(!examples.is_empty(), "{name}");
            for (_, line) in examples {
                let words = words(line);
                assert_eq!(words[0], name);
                let all = std::iter::once("spadkit".to_owned()).chain(words);
                let parsed = command.clone().try_get_matches_from(all);
                assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn the_help_of_every_command_ends_with_its_examples_within_80_columns() {
        for row in ROWS {
            let (name, examples) = (row.name(), (row.examples)());
            let mut command = full_command();
            let command = command.find_subcommand_mut(&name).unwrap();
            let help = command.render_long_help().to_string();
            assert!(help.trim_end().ends_with(&text(examples)), "{help}");
            let widest = text(examples).lines().map(str::len).max();
            assert!(widest <= Some(80), "{name}");
        }
    }
}
