//! `spadkit completions`: shell completions and man pages.

use super::printer::{CommandResult, Printer};
use super::{Cli, Example, Execute, Global};
use crate::config::PRESETS;
use crate::error::{Error, Result};
use crate::hash::HashKind;
use crate::output::write_file;
use crate::rtl::Design;
use crate::synth::TechnologyPreset;
use crate::terminal::{Details, Tone};
use clap::Command;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, CommandFactory, ValueHint};
use clap_complete::Shell;
use clap_mangen::Man;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Print the completions of a shell, or write man pages
///
/// Put the output where the shell looks for it:
///
///   spadkit completions bash > ~/.local/share/bash-completion/completions/spadkit
///   spadkit completions zsh > ~/.zfunc/_spadkit
///   spadkit completions fish > ~/.config/fish/completions/spadkit.fish
///
/// `make install` installs these and the man pages.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(required_unless_present = "man")]
    shell: Option<Shell>,
    /// Write a man page for each command into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "shell")]
    man: Option<PathBuf>,
}

impl Execute for CompletionsArgs {
    fn examples() -> &'static [Example] {
        &[
            ("for this shell", "completions bash"),
            ("man pages", "completions --man man/man1"),
        ]
    }

    fn execute(&self, _global: &Global, printer: &Printer) -> Result<()> {
        match (&self.man, self.shell) {
            (Some(dir), _) => printer.show(&pages(dir)?),
            (None, Some(shell)) => printer.show(&script(shell)),
            (None, None) => Err(Error::usage("no shell", "expected a shell, or --man DIR")),
        }
    }
}

/// The script with which a shell completes the command line.
#[derive(Serialize)]
struct Script {
    shell: String,
    script: String,
}

impl CommandResult for Script {
    /// The text is the script alone: a shell reads it.
    fn verdict(&self) -> String {
        String::new()
    }

    fn details(&self) -> Details {
        let mut details = Details::new();
        details.verbatim(Tone::Plain, self.script.clone());
        details
    }
}

fn script(shell: Shell) -> Script {
    let mut script = Vec::new();
    let mut command = Cli::command().mut_subcommands(|command| command.mut_args(completed));
    command = command.mut_args(completed);
    clap_complete::generate(shell, &mut command, "spadkit", &mut script);
    Script {
        shell: shell.to_string(),
        script: String::from_utf8_lossy(&script).into_owned(),
    }
}

/// An argument with what a shell offers for it: names that the parsers know, else files
/// or folders, else nothing.
fn completed(arg: Arg) -> Arg {
    let all = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let names: Vec<String> = match arg.get_id().as_str() {
        "preset" => all(&PRESETS),
        "tech" => (TechnologyPreset::all().into_iter())
            .map(|technology| technology.name)
            .collect(),
        "units" => Design::all_units(),
        "kinds" => all(&HashKind::ALL.map(HashKind::name)),
        _ => Vec::new(),
    };
    if !names.is_empty() {
        return arg.value_parser(PossibleValuesParser::new(names));
    }
    let has_values = arg.get_action().takes_values() && arg.get_possible_values().is_empty();
    let value = arg.get_value_names().and_then(|names| names.first());
    let value = value.map_or("", |name| name.as_str());
    let is_input = arg.is_positional() && arg.get_id() != "shell";
    let hint = if value.starts_with("DIR") {
        ValueHint::DirPath
    } else if value.contains("FILE") || value == "INPUT" || is_input {
        ValueHint::FilePath
    } else {
        ValueHint::Other
    };
    if has_values {
        arg.value_hint(hint)
    } else {
        arg
    }
}

/// The man pages that were written.
#[derive(Serialize)]
struct Pages {
    files: Vec<String>,
}

impl CommandResult for Pages {
    fn verdict(&self) -> String {
        format!("Wrote {} man pages.", self.files.len())
    }

    fn details(&self) -> Details {
        let mut details = Details::new();
        details.verbatim(Tone::Plain, self.files.join("\n"));
        details
    }
}

/// `spadkit.1`, and `spadkit-COMMAND.1` for each command.
fn pages(dir: &Path) -> Result<Pages> {
    std::fs::create_dir_all(dir).map_err(|e| Error::io("create", dir, e))?;
    let mut all = super::full_command();
    // Global options belong to the page of each command, too.
    all.build();
    let commands = all.get_subcommands().filter(|c| c.get_name() != "help");
    let mut files = Vec::new();
    for command in std::iter::once(&all).chain(commands) {
        let name = command.get_display_name().unwrap_or("spadkit");
        let path = dir.join(format!("{name}.1"));
        let page = page(command).map_err(|e| Error::io("write", &path, e))?;
        write_file(&path, page.as_bytes())?;
        files.push(path.display().to_string());
    }
    Ok(Pages { files })
}

/// The sections that are common to all commands.
const COMMON: &str = r#".SH "EXIT STATUS"
.IP 0
Done.
.IP 1
A check failed, or a limit is exceeded.
.IP 2
Wrong usage or input.
.IP 3
An external tool is missing or failed.
.IP 4
A defect of spadkit.
.IP "129, 130, 143"
Ended by SIGHUP, SIGINT or SIGTERM.
"#;

/// A man page.
fn page(command: &Command) -> std::io::Result<String> {
    let source = concat!("spadkit ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(source).manual("spadkit");
    let mut page = Vec::new();
    man.render(&mut page)?;
    let page = String::from_utf8_lossy(&page);
    // The section after the options has the examples.
    let page = page.replace(".SH EXTRA\n", ".SH EXAMPLES\n");
    let is_main = command
        .get_display_name()
        .is_none_or(|name| name == "spadkit");
    let also = if is_main { "spadkit\\-run" } else { "spadkit" };
    let also = format!(".SH \"SEE ALSO\"\n.BR {also} (1)\n");
    Ok(match page.find(".SH VERSION") {
        Some(version) => format!("{}{COMMON}{}{also}", &page[..version], &page[version..]),
        None => format!("{page}{COMMON}{also}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_offer_the_names_that_the_parsers_know() {
        let bash = script(Shell::Bash).script;
        for names in [
            "fermi gt200 small",
            "nangate45 osu018",
            "spad_hash_xor",
            "bitwise-xor matrix",
        ] {
            assert!(bash.contains(names), "{names}");
        }
        let zsh = script(Shell::Zsh).script;
        assert!(zsh.contains("'*::more -- More inputs:_files'"));
        let free = zsh.lines().find(|line| line.contains("--fail-on="));
        assert!(
            free.is_some_and(|line| !line.contains("_files")),
            "{free:?}"
        );
    }

    #[test]
    fn pages_have_the_sections_of_a_man_page() {
        let dir = tempfile::tempdir().unwrap();
        pages(dir.path()).unwrap();
        for (name, also) in [("spadkit", "spadkit\\-run"), ("spadkit-gate", "spadkit")] {
            let page = std::fs::read_to_string(dir.path().join(format!("{name}.1"))).unwrap();
            for section in [
                "NAME",
                "SYNOPSIS",
                "OPTIONS",
                "\"EXIT STATUS\"",
                "\"SEE ALSO\"",
            ] {
                assert!(
                    page.contains(&format!(".SH {section}\n")),
                    "{name}: {section}"
                );
            }
            assert!(page.contains(&format!(".BR {also} (1)")), "{name}");
            assert!(!page.contains("EXTRA"), "{name}");
        }
    }
}
