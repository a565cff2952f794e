//! Colour by meaning, and the width of the output.

use super::wrap::{command_lines, wrapped};
use std::io::IsTerminal;
use std::os::fd::AsFd;

/// The meaning of a piece of text; a terminal shows it as a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing in particular.
    #[default]
    Plain,
    /// Good news: green.
    Good,
    /// A fault, or a cost: red.
    Bad,
    /// A warning, or something that is not known: yellow.
    Doubt,
    /// The answer, or a heading: bold.
    Strong,
    /// Explanations: dim.
    Quiet,
    /// A command to type: cyan.
    Command,
}

impl Tone {
    /// `text` with the tone's colour, where `screen` has colours.
    pub fn paint(self, text: &str, screen: &Screen) -> String {
        let code = match self {
            Tone::Plain => return text.to_owned(),
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Doubt => "33",
            Tone::Strong => "1",
            Tone::Quiet => "2",
            Tone::Command => "36",
        };
        if screen.color && !text.trim().is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// The properties of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Columns of a line.
    pub width: usize,
    /// Columns of a line of prose: long lines are hard to read.
    pub prose: usize,
    /// Tables show all of their columns, however wide they are.
    pub wide: bool,
    /// Colours are shown.
    pub color: bool,
}

/// Columns where no terminal says how many there are.
const USUAL: usize = 80;
/// Columns of errors and warnings in a file or a pipe.
const LOG: usize = 200;
/// Columns of prose at most, on a wide terminal.
const READABLE: usize = 100;
/// Narrower outputs are not served: nothing would be readable.
const LEAST: usize = 40;

impl Screen {
    /// Standard output. `COLUMNS` says its width, else the terminal, else it has
    /// 80 columns. It has colours if it is a terminal and `NO_COLOR` is not set,
    /// or if `CLICOLOR_FORCE` is.
    pub fn of_stdout(wide: bool) -> Self {
        Self {
            wide,
            ..Self::of(&std::io::stdout())
        }
    }

    /// Standard error. Where it goes to a file or a pipe and `COLUMNS` says nothing, its
    /// lines are long, for those who search in them.
    pub fn of_stderr() -> Self {
        let screen = Self::of(&std::io::stderr());
        if std::io::stderr().is_terminal() || std::env::var_os("COLUMNS").is_some() {
            return screen;
        }
        Screen {
            width: LOG,
            prose: LOG,
            ..screen
        }
    }

    fn of(stream: &(impl AsFd + IsTerminal)) -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let named = set("COLUMNS").and_then(|columns| columns.parse().ok());
        let terminal = terminal_size::terminal_size_of(stream);
        let width = named.or(terminal.map(|(width, _)| usize::from(width.0)));
        let forced = set("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let dumb = set("TERM").is_some_and(|term| term == "dumb");
        let shows = stream.is_terminal() && !dumb;
        let width = width.filter(|w| *w > 0).unwrap_or(USUAL).max(LEAST);
        Screen {
            width,
            // A width that the user set overrides the readable maximum.
            prose: named.unwrap_or(READABLE).max(LEAST).min(width),
            wide: false,
            color: set("NO_COLOR").is_none() && (forced || shows),
        }
    }

    /// A command in lines of this width less `indent`, which a shell joins.
    pub fn command(&self, command: &str, indent: usize) -> String {
        command_lines(command, self.prose.saturating_sub(indent), 0).join("\n")
    }

    /// `text` with its sentences within this width less `indent`. Indented lines,
    /// such as a usage, are kept. Colours count as columns.
    pub fn folded(&self, text: &str, indent: usize) -> String {
        let fold = |line: &str| {
            if line.starts_with([' ', '\t']) {
                return line.to_owned();
            }
            wrapped(line, self.prose.saturating_sub(indent), 0).join("\n")
        };
        text.split('\n').map(fold).collect::<Vec<_>>().join("\n")
    }
}
