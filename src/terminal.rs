//! The text output of a command: the answer in a sentence, the machine, tables
//! and notes, and commands to run next, all within the width of the screen.

mod style;
mod table;
mod wrap;

pub use style::{Screen, Tone};
pub use table::{Columns, Table, csv_cell};

use crate::quote::{shown, shown_lines};
use wrap::{command_lines, wrapped};

/// The parts after the answer, in order.
#[derive(Clone, Debug, Default)]
pub struct Details {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    /// Lines of prose, which are wrapped.
    Prose(Tone, String),
    /// Lines that are not wrapped, such as code.
    Verbatim(Tone, String),
    Table(Table),
    Gap,
}

/// A command to type, and its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The purpose: `what removes them`.
    pub about: String,
    /// The whole command, quoted for a shell.
    pub command: String,
}

impl Hint {
    /// A command and its purpose.
    pub fn new(about: impl Into<String>, command: impl Into<String>) -> Self {
        Hint {
            about: about.into(),
            command: command.into(),
        }
    }
}

impl Details {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One table.
    pub fn of(table: Table) -> Self {
        let mut details = Self::new();
        details.table(table);
        details
    }

    /// Adds prose: each of its lines is wrapped at words.
    pub fn say(&mut self, text: impl Into<String>) {
        self.toned(Tone::Plain, text);
    }

    /// Adds prose that explains the rest.
    pub fn note(&mut self, text: impl Into<String>) {
        self.toned(Tone::Quiet, text);
    }

    /// Adds prose in a tone.
    pub fn toned(&mut self, tone: Tone, text: impl Into<String>) {
        let text: String = text.into();
        let text = text.trim_end_matches('\n');
        if !text.is_empty() {
            self.parts.push(Part::Prose(tone, text.to_owned()));
        }
    }

    /// Adds a heading.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.gap();
        self.toned(Tone::Strong, text);
    }

    /// Adds lines that are not wrapped.
    pub fn verbatim(&mut self, tone: Tone, text: impl Into<String>) {
        let text: String = text.into();
        let text = text.trim_end_matches('\n').to_owned();
        self.parts.push(Part::Verbatim(tone, text));
    }

    /// Adds a table; one without rows is left out.
    pub fn table(&mut self, table: Table) {
        if !table.is_empty() {
            self.parts.push(Part::Table(table));
        }
    }

    /// Adds an empty line, unless there is one.
    pub fn gap(&mut self) {
        self.parts.push(Part::Gap);
    }

    /// Adds all of `other`.
    pub fn add(&mut self, other: Details) {
        self.parts.extend(other.parts);
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The tables as CSV, with an empty line between two.
    pub fn csv(&self) -> String {
        let tables = self.parts.iter().filter_map(|part| match part {
            Part::Table(table) => Some(table.csv()),
            _ => None,
        });
        tables.collect::<Vec<_>>().join("\n")
    }

    /// The lines for `screen`.
    pub fn text(&self, screen: &Screen) -> String {
        let mut lines: Vec<String> = Vec::new();
        for part in &self.parts {
            match part {
                Part::Gap => blank(&mut lines),
                Part::Prose(tone, text) => {
                    for line in prose(text, screen) {
                        lines.push(tone.paint(&line, screen));
                    }
                }
                Part::Verbatim(tone, text) => {
                    let text = shown_lines(text);
                    lines.extend(text.lines().map(|line| tone.paint(line, screen)));
                }
                Part::Table(table) => {
                    // A heading stands on its table.
                    lines.extend(table.lines(screen));
                }
            }
        }
        joined(lines)
    }
}

/// Adds an empty line if there is none, and something before it.
fn blank(lines: &mut Vec<String>) {
    if lines.last().is_some_and(|last| !last.is_empty()) {
        lines.push(String::new());
    }
}

fn joined(lines: Vec<String>) -> String {
    let lines = lines.into_iter().map(|line| line + "\n");
    lines.collect()
}

/// Lines of prose; those that follow in a paragraph are indented like its first.
fn prose(text: &str, screen: &Screen) -> Vec<String> {
    let text = shown_lines(text);
    let wrap = |line: &str| {
        let indent = line.len() - line.trim_start().len();
        wrapped(line, screen.prose, indent)
    };
    text.lines().flat_map(wrap).collect()
}

/// The answer of a command, and everything around it.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// One sentence.
    pub verdict: String,
    /// Whether it is good or bad news.
    pub tone: Tone,
    /// The machine, if any.
    pub machine: Option<String>,
    /// What the numbers count, if it is less than the kernel.
    pub counted: Option<String>,
    /// Tables and notes.
    pub details: Details,
    /// Commands to run next.
    pub hints: Vec<Hint>,
    /// The start of a comment, if `details` are code.
    pub comment: Option<&'static str>,
}

impl Page {
    /// The text for `screen`.
    pub fn text(&self, screen: &Screen) -> String {
        let mut lines = Vec::new();
        let comment = self
            .comment
            .map(|mark| format!("{mark} "))
            .unwrap_or_default();
        let columns = screen.prose.saturating_sub(comment.len());
        let verdict = wrapped(&shown(&self.verdict), columns, 0);
        let tone = match self.tone {
            Tone::Plain => Tone::Strong,
            tone => tone,
        };
        if !self.verdict.is_empty() {
            let verdict = verdict.iter().map(|line| format!("{comment}{line}"));
            lines.extend(verdict.map(|line| tone.paint(&line, screen)));
        }
        for (head, text) in [("machine", &self.machine), ("counted", &self.counted)] {
            let Some(text) = text else {
                continue;
            };
            let text = wrapped(&shown(&format!("{head}: {text}")), columns, 2);
            let text = text.iter().map(|line| format!("{comment}{line}"));
            lines.extend(text.map(|line| Tone::Quiet.paint(&line, screen)));
        }
        let details = self.details.text(screen);
        if !details.is_empty() {
            blank(&mut lines);
            lines.extend(details.lines().map(str::to_owned));
        }
        if !self.hints.is_empty() {
            blank(&mut lines);
        }
        for hint in &self.hints {
            lines.extend(wrapped(
                &format!("{}:", shown(&hint.about)),
                screen.prose,
                0,
            ));
            let command = command_lines(&shown(&hint.command), screen.width, 2).into_iter();
            lines.extend(command.map(|line| Tone::Command.paint(&line, screen)));
        }
        joined(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: Screen = Screen {
        width: 60,
        prose: 60,
        wide: false,
        color: false,
    };

    fn page() -> Page {
        let mut details = Details::new();
        details.table(
            Columns::of([1, 2])
                .left("word", |_| "a")
                .right("number", |n| *n)
                .table(),
        );
        details.note("how it counts");
        Page {
            verdict: "Two numbers were counted.".to_owned(),
            machine: Some("sm80, 32 banks (--preset)".to_owned()),
            hints: vec![Hint::new(
                "again",
                "spadkit conflicts 'a b.toml' --preset sm80 --source",
            )],
            details,
            ..Page::default()
        }
    }

    #[test]
    fn the_answer_is_first_and_the_command_last() {
        let expected = "\
Two numbers were counted.
machine: sm80, 32 banks (--preset)

 word  number
 a          1
 a          2
how it counts

again:
  spadkit conflicts 'a b.toml' --preset sm80 --source
";
        assert_eq!(page().text(&SCREEN), expected);
    }

    #[test]
    fn colours_are_there_only_where_they_are_shown() {
        let color = Screen {
            color: true,
            ..SCREEN
        };
        let text = page().text(&color);
        assert!(text.starts_with("\x1b[1mTwo numbers"), "{text}");
        let mut plain = text.replace("\x1b[0m", "");
        for code in ["\x1b[1m", "\x1b[2m", "\x1b[36m"] {
            assert!(plain.contains(code), "{code:?}");
            plain = plain.replace(code, "");
        }
        assert_eq!(plain, page().text(&SCREEN));
    }

    #[test]
    fn names_with_control_characters_are_shown() {
        let mut page = page();
        page.verdict = "a\x1b[31mb\nc".to_owned();
        assert!(page.text(&SCREEN).starts_with("a\\x1b[31mb\\nc\n"));
    }
}
