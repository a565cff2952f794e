//! `spadkit completions`: shell completions and man pages.

use super::printer::{CommandResult, Printer};
use super::{Cli, Example, Execute, Global};
use crate::error::{Error, Result};
use crate::output::write_file;
use crate::terminal::{Details, Tone};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
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
/// `make install` puts these and the man pages in place.
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

/// What a shell reads to complete the command line.
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
    clap_complete::generate(shell, &mut Cli::command(), "spadkit", &mut script);
    Script {
        shell: shell.to_string(),
        script: String::from_utf8_lossy(&script).into_owned(),
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
        let mut page = Vec::new();
        let rendered = clap_mangen::Man::new(command.clone()).render(&mut page);
        rendered.map_err(|e| Error::io("write", &path, e))?;
        write_file(&path, &page)?;
        files.push(path.display().to_string());
    }
    Ok(Pages { files })
}
