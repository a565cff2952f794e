//! The line of a circuit's template that states a property.

use spadkit_hdl::Origin;

/// The one line of the template in `file` that gives `signal` its value; else the one
/// that declares it as an output, beside which its meaning is. `None` if several do.
pub(super) fn stated_at(file: &'static str, text: &str, signal: &str) -> Option<Origin> {
    let value = format!("assign {signal} = ");
    let output = format!("output wire {signal}");
    let is_output = |line: &str| {
        let rest = line.strip_prefix(&output);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ' ']))
    };
    let line = one_line(text, |line| line.starts_with(&value));
    let line = line.or_else(|| one_line(text, is_output))?;
    Some(Origin { file, line })
}

/// The number of the only line that `is_it` accepts without its indent.
fn one_line(text: &str, is_it: impl Fn(&str) -> bool) -> Option<u32> {
    let lines = (1..).zip(text.lines());
    let mut found = lines.filter(|(_, line)| is_it(line.trim_start()));
    let (number, _) = found.next()?;
    found.next().is_none().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_named_where_it_is_the_only_one() {
        let text = "module miter (\n    output wire check_a, // a\n    output wire check_ab\n);\n\
                    {% if x %}\n    assign check_a = 1;\n{% else %}\n    assign check_a = 0;\n\
                    {% endif %}\n    assign check_ab = check_a;\n    assign twice = 1;\n    \
                    assign twice = 1;\n";
        let line = |signal| stated_at("t.v.tera", text, signal).map(|at| at.line);
        assert_eq!(line("check_ab"), Some(10));
        assert_eq!(line("check_a"), Some(2));
        assert_eq!(line("twice"), None);
        assert_eq!(line("check_"), None);
    }
}
