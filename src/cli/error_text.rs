//! An error on the screen: the message, the lines of the file that it is about, what
//! to do. Sentences are within the width; a command to type can be pasted whole.

use crate::error::Error;
use crate::terminal::Screen;
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};
use std::fmt;

/// Columns before the text of a line: those of `error:  × `, and of `  help: `.
const BEFORE_MESSAGE: usize = 10;
const BEFORE_HELP: usize = 8;

/// The begins of the commands in a help.
const PROGRAMS: [&str; 2] = ["spadkit ", "nvcc "];

/// The text of `error` for a screen, with the line end.
pub fn error_text(error: &Error, screen: &Screen) -> String {
    let theme = if screen.color {
        GraphicalTheme::unicode()
    } else {
        GraphicalTheme::unicode_nocolor()
    };
    // The messages hold their cause already.
    let handler = GraphicalReportHandler::new_themed(theme)
        .without_cause_chain()
        .with_wrap_lines(false)
        .with_width(screen.prose);
    let mut text = String::new();
    match handler.render_report(&mut text, &Folded { error, screen }) {
        Ok(()) => format!("error:{text}"),
        Err(_) => format!("error: {error}\n"),
    }
}

/// An error within the width. The command at the end of its help is on lines of its
/// own if it does not fit after the sentence.
struct Folded<'a> {
    error: &'a Error,
    screen: &'a Screen,
}

impl Folded<'_> {
    /// `what to do: spadkit ...`, or sentences with a command on an indented line each.
    fn help(&self, help: &str) -> String {
        let command = |line: &'_ str| {
            let command = line.strip_prefix("  ")?;
            let is_one = PROGRAMS.iter().any(|program| command.starts_with(program));
            is_one.then(|| self.screen.command(command, BEFORE_HELP))
        };
        if help.lines().any(|line| command(line).is_some()) {
            let fold = |line: &str| self.screen.folded(line, BEFORE_HELP);
            let line = |line: &str| command(line).unwrap_or_else(|| fold(line));
            return help.lines().map(line).collect::<Vec<_>>().join("\n");
        }
        let width = self.screen.prose.saturating_sub(BEFORE_HELP);
        match help.rsplit_once(": spadkit ") {
            Some((what, arguments)) if help.len() > width && !arguments.contains('\n') => {
                let command = self
                    .screen
                    .command(&format!("spadkit {arguments}"), BEFORE_HELP);
                let what = self.screen.folded(&format!("{what}:"), BEFORE_HELP);
                format!("{what}\n{command}")
            }
            _ => self.screen.folded(help, BEFORE_HELP),
        }
    }
}

impl fmt::Debug for Folded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.error, f)
    }
}

impl fmt::Display for Folded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.screen.folded(&self.error.to_string(), BEFORE_MESSAGE))
    }
}

impl std::error::Error for Folded<'_> {}

impl Diagnostic for Folded<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = self.error.help()?.to_string();
        Some(Box::new(Folded::help(self, &help)))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.error.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.error.labels()
    }
}
