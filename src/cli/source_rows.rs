//! Lines of the source in a table, each with the calls that were inlined
//! around them.

use crate::suggest::{SourceFiles, split};
use crate::toolkit::Users;
use crate::trace::{Line, calls_text, ptx_text, without_folder};
use serde::Serialize;

/// A line of the source, or where that is not known of the PTX.
#[derive(Serialize)]
pub(super) struct SourceRow {
    /// `file:line`.
    source: Option<String>,
    inlined_at: Vec<String>,
    ptx_line: Option<u32>,
    text: Option<String>,
    /// The user's line and what stands there, where `source` is in a header of the
    /// toolkit.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_text: Option<String>,
    /// File of the PTX, where several are linked.
    #[serde(skip_serializing_if = "Option::is_none")]
    ptx_file: Option<String>,
    /// The user's line, for people.
    #[serde(skip)]
    place: String,
    /// The calls around that.
    #[serde(skip)]
    calls: Vec<String>,
    /// The line of the toolkit that it leads to.
    #[serde(skip)]
    through: Option<String>,
    /// The statement in the user's line, with the following lines that belong to it.
    #[serde(skip)]
    statement: Option<String>,
    /// The line of the innermost call that is not inside of an `asm` statement,
    /// where `text` is.
    #[serde(skip)]
    call_text: Option<String>,
}

impl SourceRow {
    /// `site` says what a program counter without a line is of.
    pub fn of(line: &Line, site: &str, text: &mut SourceFiles) -> Self {
        let (source, calls) = match line {
            Line::Source(source, calls) => (Some(source), &calls[..]),
            _ => (None, &[][..]),
        };
        let (file, ptx) = match line {
            Line::Ptx(file, line) => (file.as_ref(), Some(*line)),
            _ => (None, None),
        };
        let users = source.map(|s| Users::of(s, calls));
        let through = users.and_then(|u| u.through);
        let users_own = users.and_then(|u| text.line(u.line));
        let around = users.map_or(&[][..], |u| u.calls);
        let is_asm_of = users_own.as_deref().is_some_and(is_asm);
        let mut of_calls = around.iter().filter(|_| is_asm_of);
        let call = of_calls.find(|call| text.line(call).is_some_and(|line| !is_asm(&line)));
        SourceRow {
            call_text: call.and_then(|call| statement(call, text)),
            source: source.cloned(),
            inlined_at: calls.to_vec(),
            ptx_line: ptx,
            statement: users.and_then(|u| statement(u.line, text)),
            text: source.and_then(|s| text.line(s)),
            user_source: through.and(users).map(|u| u.line.to_owned()),
            user_text: through.and(users_own),
            ptx_file: file.cloned(),
            place: users.map_or_else(
                || place_of(line, site),
                |u| without_folder(u.line).to_owned(),
            ),
            calls: around.to_vec(),
            through: through.map(|(header, _)| without_folder(header).to_owned()),
        }
    }

    /// `file:line` of the source, where it is known: the user's.
    pub fn location(&self) -> Option<&str> {
        self.user_source.as_deref().or(self.source.as_deref())
    }

    /// The calls through which that line came into the kernel, as `file:line`, the
    /// innermost first.
    pub fn calls(&self) -> &[String] {
        &self.calls
    }

    /// The line in a cell, its file without the folder.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The line as a phrase: of an `asm` statement, with the call of its function;
    /// with the header of the toolkit that it calls; of a line that was inlined into
    /// the kernel at `several` calls, with the call in the kernel.
    pub fn phrase(&self, several: bool) -> String {
        let place = &self.place;
        match (self.calls.first(), &self.call_text, &self.through) {
            (_, _, Some(header)) => format!("{place} (through {header})"),
            (Some(call), Some(_), _) => format!("{place} (called in {})", without_folder(call)),
            (Some(_), None, _) if several => {
                let outermost = self.calls.last().map_or("", |call| without_folder(call));
                format!("{place} (called in {outermost})")
            }
            _ => place.clone(),
        }
    }

    /// The line, the calls through which it was inlined into the kernel, and
    /// below them the statement.
    pub fn cell(&self) -> String {
        let mut cell = self.place.clone();
        if let Some(header) = &self.through {
            cell += &format!("  through {header}");
        }
        cell += &calls_text(&self.calls);
        let text = self.call_text.as_ref().or(self.statement.as_ref());
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            cell += &format!("\n{}", shortened(text));
        }
        cell
    }
}

/// Further lines of a statement that are shown, at most.
const MOST_LINES: usize = 4;

/// The text of line `place`, to the end of the statement if that is near.
fn statement(place: &str, files: &mut SourceFiles) -> Option<String> {
    let first = files.line(place)?;
    let is_whole = |text: &str| {
        let code = text.split("//").next().unwrap_or_default().trim_end();
        code.is_empty() || code.ends_with([';', '{', '}', ':', '\\'])
    };
    // The following lines are not complete code by themselves.
    if is_whole(&first) || is_asm(&first) || first.starts_with(['#', '*', '/']) {
        return Some(first);
    }
    let (file, number) = split(place)?;
    let is_python = file.ends_with(".py");
    let lines = files.lines(file)?;
    let mut text = first.clone();
    for line in lines.iter().skip(number as usize).take(MOST_LINES) {
        if is_python && open_brackets(&text) <= 0 {
            return Some(text);
        }
        text += &format!(" {}", line.trim());
        if !is_python && is_whole(line) {
            return Some(text);
        }
    }
    Some(first)
}

/// Number of brackets still open at the end of Python code, in which case the statement continues.
fn open_brackets(code: &str) -> i32 {
    let depth = |c| match c {
        '(' | '[' | '{' => 1,
        ')' | ']' | '}' => -1,
        _ => 0,
    };
    code.chars().map(depth).sum()
}

/// Whether a line begins an `asm` statement or continues one: its access is
/// explained where the function is called.
fn is_asm(line: &str) -> bool {
    let begins = ["asm", "__asm", ":", "\""];
    begins.iter().any(|b| line.starts_with(b))
}

/// A line, its file without the folder.
fn place_of(line: &Line, site: &str) -> String {
    match line {
        Line::Source(source, _) => without_folder(source).to_owned(),
        Line::Ptx(file, line) => without_folder(&ptx_text(file.as_deref(), *line)).to_owned(),
        Line::Site(pc) => format!("{site} {pc}"),
    }
}

/// Source text for a table.
fn shortened(line: &str) -> String {
    const MOST: usize = 240;
    match line.char_indices().nth(MOST) {
        None => line.to_owned(),
        Some((end, _)) => format!("{}...", &line[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_shown_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let text = "f(a,\n  b[j],\n  c);\nif (x)\n{\n  y = z; // why,\nnever,\nends,\nin,\nfour,\nlines,\n";
        std::fs::write(dir.path().join("k.cu"), text).unwrap();
        let mut files = SourceFiles::beside(&dir.path().join("k.toml"));
        let mut at = |n: u32| statement(&format!("k.cu:{n}"), &mut files).unwrap();
        assert_eq!(at(1), "f(a, b[j], c);");
        assert_eq!(at(2), "b[j], c);");
        assert_eq!(at(4), "if (x) {");
        assert_eq!(at(6), "y = z; // why,");
        assert_eq!(at(7), "never,");
        // Python has no end of a statement but that of its line.
        let text = "acc = tl.dot(a,\n  b[k],\n  acc)\nx = y\ndef other(c):\n";
        std::fs::write(dir.path().join("k.py"), text).unwrap();
        let mut at = |n: u32| statement(&format!("k.py:{n}"), &mut files).unwrap();
        assert_eq!(at(1), "acc = tl.dot(a, b[k], acc)");
        assert_eq!(at(4), "x = y");
    }
}
