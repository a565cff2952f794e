//! How registers are reset: with the clock, or at any time.

use serde::Serialize;

/// The style of reset of a design.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Reset {
    /// With the rising edge of the clock.
    #[default]
    Sync,
    /// As soon as `rst` is high. It has to fall away from the clock's edge.
    Async,
}

/// The opening of a process.
const CLOCKED: &str = "always @(posedge clk)";
const CLOCKED_OR_RESET: &str = "always @(posedge clk or posedge rst)";

/// `text` with asynchronous resets; the line of a process where that would
/// change more than the reset.
pub(super) fn asynchronous(text: &str) -> std::result::Result<String, usize> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::with_capacity(text.len() + text.len() / 32);
    for (i, line) in lines.iter().enumerate() {
        if line.contains(CLOCKED) && resets(&lines[i..]).ok_or(i + 1)? {
            out.push_str(&line.replace(CLOCKED, CLOCKED_OR_RESET))
        } else {
            out.push_str(&line.replace("synchronous reset", "asynchronous reset"))
        }
        out.push('\n');
    }
    Ok(out)
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
