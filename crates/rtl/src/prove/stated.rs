//! The line of a circuit's template that states a property.

use spadkit_hdl::Origin;

/// The line of the template in `file` that assigns `signal`; else the line that
/// declares it as an output, whose comment states its meaning. If there are several,
/// the one that the filled-in template `circuit` contains; `None` if that leaves more
/// than one.
pub(super) fn stated_at(
    (file, text): (&'static str, &str),
    circuit: &str,
    signal: &str,
) -> Option<Origin> {
    let value = format!("assign {signal} = ");
    let output = format!("output wire {signal}");
    let is_output = |line: &str| {
        let rest = line.strip_prefix(&output);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ' ']))
    };
    let one = |is_it: &dyn Fn(&str) -> bool| {
        let lines = (1..).zip(text.lines().map(str::trim_start));
        let all: Vec<_> = lines.filter(|(_, line)| is_it(line)).collect();
        let there = all.iter().filter(|(_, line)| circuit.contains(line));
        match (&all[..], &there.collect::<Vec<_>>()[..]) {
            ([(one, _)], _) | (_, [(one, _)]) => Some(*one),
            _ => None,
        }
    };
    let line = one(&|line| line.starts_with(&value)).or_else(|| one(&is_output))?;
    Some(Origin { file, line })
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
        let circuit = "output wire check_a, // a\nassign check_ab = check_a;\n";
        let line = |signal| stated_at(("t.v.tera", text), circuit, signal).map(|at| at.line);
        assert_eq!(line("check_ab"), Some(10));
        assert_eq!(line("check_a"), Some(2));
        assert_eq!(line("twice"), None);
        let chosen = stated_at(("t.v.tera", text), "    assign check_a = 0;", "check_a");
        assert_eq!(chosen.map(|at| at.line), Some(8));
        assert_eq!(line("check_"), None);
    }
}
