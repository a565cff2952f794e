//! How registers are reset: with the clock or at any time, by a high or a low
//! level.

use serde::Serialize;

/// The style of reset of a design.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reset {
    /// While `rst` is high, with the rising edge of the clock.
    #[default]
    Sync,
    /// As soon as `rst` is high. It has to fall away from the clock's edge.
    Async,
    /// While `rst_n` is low, with the rising edge of the clock.
    SyncLow,
    /// As soon as `rst_n` is low. It has to rise away from the clock's edge.
    AsyncLow,
}

/// The reset of the styles in which it is active low.
pub(crate) const LOW: &str = "rst_n";

impl Reset {
    /// Whether registers do not wait for the clock.
    pub fn is_async(self) -> bool {
        matches!(self, Reset::Async | Reset::AsyncLow)
    }

    /// Whether the reset is active low.
    pub fn is_low(self) -> bool {
        matches!(self, Reset::SyncLow | Reset::AsyncLow)
    }

    /// The same with a reset that is active low.
    pub fn low(self) -> Self {
        if self.is_async() {
            Reset::AsyncLow
        } else {
            Reset::SyncLow
        }
    }

    /// The name of the port.
    pub fn port(self) -> &'static str {
        if self.is_low() { LOW } else { "rst" }
    }

    /// The style of Verilog that was emitted with one.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Self {
        let any = |part: &str| texts.clone().any(|text| text.contains(part));
        let styles = [
            ("or negedge rst_n)", Reset::AsyncLow),
            ("input wire rst_n", Reset::SyncLow),
            ("or posedge rst)", Reset::Async),
        ];
        let found = styles.into_iter().find(|(text, _)| any(text));
        found.map_or(Reset::Sync, |(_, style)| style)
    }

    /// What is said of the port, from what is said of a synchronous one.
    pub(super) fn doc(self, doc: &str) -> String {
        let style = match self {
            Reset::Sync => "synchronous reset",
            Reset::Async => "asynchronous reset",
            Reset::SyncLow => "synchronous reset, active low",
            Reset::AsyncLow => "asynchronous reset, active low",
        };
        doc.replace("synchronous reset", style)
    }

    /// The text of a module with this style in the place of [`Reset::Sync`]; the
    /// line where that would change more than the reset.
    pub(super) fn styled(self, text: &str) -> std::result::Result<String, usize> {
        let text = if self.is_async() {
            asynchronous(text)?
        } else {
            text.to_owned()
        };
        let text = self.doc(&text);
        if self.is_low() {
            active_low(&text)
        } else {
            Ok(text)
        }
    }
}

/// The opening of a process.
const CLOCKED: &str = "always @(posedge clk)";
const CLOCKED_OR_RESET: &str = "always @(posedge clk or posedge rst)";

/// `text` with asynchronous resets; the line of a process where that would
/// change more than the reset.
fn asynchronous(text: &str) -> std::result::Result<String, usize> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::with_capacity(text.len() + text.len() / 32);
    for (i, line) in lines.iter().enumerate() {
        if line.contains(CLOCKED) && resets(&lines[i..]).ok_or(i + 1)? {
            out.push_str(&line.replace(CLOCKED, CLOCKED_OR_RESET))
        } else {
            out.push_str(line)
        }
        out.push('\n');
    }
    Ok(out)
}

/// What a text says of an active-high reset, and of an active-low one.
const LEVELS: [(&str, &str); 7] = [
    (".rst(rst)", ".rst_n(rst_n)"),
    ("posedge rst", "negedge rst_n"),
    ("if (rst)", "if (!rst_n)"),
    ("iff (rst)", "iff (!rst_n)"),
    ("~rst", "rst_n"),
    ("input wire rst", "input wire rst_n"),
    ("input logic rst", "input logic rst_n"),
];

/// `text` with a reset that is active low, or the line that uses it in a way
/// that is not known here.
fn active_low(text: &str) -> std::result::Result<String, usize> {
    let mut out = String::with_capacity(text.len() + text.len() / 32);
    for (i, line) in text.lines().enumerate() {
        let (code, comment) = line.split_at(line.find("//").unwrap_or(line.len()));
        let levels = LEVELS.iter().fold(code.to_owned(), |code, (high, low)| {
            with_words(&code, high, low)
        });
        if with_words(&levels, "rst", LOW) != levels {
            return Err(i + 1);
        }
        out.push_str(&levels);
        // The columns of the header stay where they are.
        let comment = comment.replace("  rst   ", "  rst_n ");
        out.push_str(&with_words(&comment, "rst", LOW));
        out.push('\n');
    }
    Ok(out)
}

/// `text` with `new` for `old` where `old` does not go on as a longer name.
fn with_words(text: &str, old: &str, new: &str) -> String {
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(old) {
        let (before, behind) = (&rest[..at], &rest[at + old.len()..]);
        let joined = before.ends_with(in_word) && old.starts_with(in_word);
        let longer = behind.starts_with(in_word) && old.ends_with(in_word);
        out.push_str(before);
        out.push_str(if joined || longer { old } else { new });
        rest = behind;
    }
    out + rest
}

/// Whether the process that `lines` begin with has a reset: `if (rst)` as its
/// only statement, with an `else` for everything that the clock does. `None`
/// if it has one of another form.
fn resets(lines: &[&str]) -> Option<bool> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let first = lines[0];
    let statements: Vec<&str> = if first.ends_with("begin") {
        let ends = |line: &&&str| indent(line) > indent(first) || line.trim().is_empty();
        let inside = lines[1..].iter().take_while(ends).copied();
        inside
            .filter(|line| indent(line) == indent(first) + 4)
            .collect()
    } else {
        return (!first.contains("(rst")).then_some(false);
    };
    let reset = |line: &&str| line.trim_start().starts_with("if (rst)");
    if !statements.first().is_some_and(reset) {
        let resets = |line: &&str| line.trim_start().starts_with("if (rst");
        return (!statements.iter().any(resets)).then_some(false);
    }
    let goes_on = |line: &&str| {
        ["end", "else"]
            .iter()
            .any(|word| line.trim_start().starts_with(word))
    };
    statements[1..].iter().all(goes_on).then_some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_active_low_reset_has_another_name_and_level() {
        let text = "// in  rst   1  synchronous reset; first, rst\n    input wire rst,\n    \
                    always @(posedge clk or posedge rst) begin\n        if (rst) a <= 1'b0;\n    \
                    part p (.rst(rst), .first(first));\n    if (en & ~rst) begin // rst\n";
        let expected = "// in  rst_n 1  synchronous reset; first, rst_n\n    input wire rst_n,\n    \
                        always @(posedge clk or negedge rst_n) begin\n        \
                        if (!rst_n) a <= 1'b0;\n    part p (.rst_n(rst_n), .first(first));\n    \
                        if (en & rst_n) begin // rst_n\n";
        assert_eq!(active_low(text).unwrap(), expected);
        // A use that is not known is no reset by chance.
        for text in ["a = b & rst;", "a = rst ? b : c;", "if (rst | clear)"] {
            assert_eq!(active_low(&format!("// rst\n{text}")), Err(2), "{text}");
        }
    }

    #[test]
    fn processes_with_a_reset_alone_become_sensitive_to_it() {
        let text = "    always @(posedge clk) begin\n        if (rst) a <= 1'b0;\n        \
                    else if (b) a <= 1'b1;\n    end\n    always @(posedge clk) if (b) d <= e;\n";
        let expected = text.replacen(CLOCKED, CLOCKED_OR_RESET, 1);
        assert_eq!(asynchronous(text), Ok(expected));
        // What else the clock does would happen at the reset, too.
        let mixed = "always @(posedge clk) begin\n    if (rst) a <= 1'b0;\n    d <= e;\nend\n";
        assert_eq!(asynchronous(mixed), Err(1));
        let shared = "always @(posedge clk) begin\n    if (rst | clear) a <= 1'b0;\n    \
                      else a <= b;\nend\n";
        assert_eq!(asynchronous(shared), Err(1));
        let late = "always @(posedge clk) begin\n    d <= e;\n    if (rst) a <= 1'b0;\nend\n";
        assert_eq!(asynchronous(late), Err(1));
    }
}
