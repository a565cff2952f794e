//! The Verilog text of statements.

use crate::adapter;
use crate::lines::CODE_WIDTH;
use crate::print::{self, broken, indent, is_comparison, operand};
use crate::reset::Reset;
use crate::tree::Statement;
use rust_hdl::ast::VerilogExpression;

/// A statement that begins with `opening`, in a module with that reset.
pub(crate) fn text(opening: &str, statement: &Statement, reset: Reset) -> String {
    let expression = |tree| adapter::expression(tree, reset);
    match statement {
        Statement::Choice {
            target,
            cases,
            otherwise,
        } => {
            let target = broken(opening, &expression(target)) + " = ";
            let otherwise = expression(otherwise);
            if cases.is_empty() {
                return broken(&target, &otherwise) + ";";
            }
            let case = |(when, value)| {
                let when = operand(&expression(when), None);
                format!("{when} ? {}", chosen(&expression(value)))
            };
            let mut values: Vec<_> = cases.iter().map(|(a, b)| case((a, b))).collect();
            values.push(chosen(&otherwise));
            let short = format!("{target}{};", values.join(" : "));
            if cases.len() == 1 && short.len() <= CODE_WIDTH {
                return short;
            }
            let next = format!("\n{:1$}: ", "", indent(opening) + 4);
            format!("{target}{};", values.join(&next))
        }
        Statement::Table {
            target,
            of,
            cases,
            otherwise,
        } => {
            let text = |tree| print::text(&expression(tree));
            let (name, of) = (text(target), text(of));
            let case =
                |code: &str, value| format!("            {code}: {name} = {};\n", text(value));
            let coded = cases.iter().map(|(code, value)| case(&text(code), value));
            let cases: String = coded.chain([case("default", otherwise)]).collect();
            format!(
                "{opening}{name};\n    always @* begin\n        case ({of})\n{cases}        \
                 endcase\n    end"
            )
        }
    }
}

/// A value that a condition chooses.
fn chosen(value: &VerilogExpression) -> String {
    if is_comparison(value) {
        operand(value, None)
    } else {
        print::text(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::kind;
    use crate::signal::{Bits, Expr, Signal, Value, code, when};

    fn signal(name: &str, width: usize) -> Signal {
        Signal::new(0, name, width.into())
    }

    fn printed(value: impl Into<Value>) -> String {
        let value = value.into();
        let out = signal("out", value.width().value().unwrap());
        let assigned = value.assigned_to(&out.into());
        super::text("    assign ", &assigned, Reset::Sync) + "\n"
    }

    fn long(i: usize) -> Expr {
        signal(&format!("a_rather_long_name_of_a_signal_{i}"), 1).into()
    }

    #[test]
    fn parentheses_stand_where_operators_meet() {
        let (a, b, c) = (signal("a", 2).at(1), signal("b", 1), signal("c", 1));
        let chain = a.clone() & b & !(c.any() | c);
        assert_eq!(printed(chain), "    assign out = a[1] & b & ~((|c) | c);\n");
        let alu = code(&kind::FIELD, kind::ALU);
        let mixed = (a & b) | signal("kind", 4).is(alu);
        let expected = "    assign out = (a[1] & b) | (kind == KIND_ALU);\n";
        assert_eq!(printed(mixed), expected);
    }

    #[test]
    fn bits_show_what_they_are_of() {
        let (a, b, one) = (signal("a", 2), signal("b", 3), signal("one", 1));
        let text = |value: Expr| printed(value).replace("    assign out = ", "");
        assert_eq!(text(b.gated(a.at(1))), "b & {3{a[1]}};\n");
        assert_eq!(text(one.gated(signal("other", 1))), "one & other;\n");
        assert_eq!(text(one.at(0) | a.at(0)), "one | a[0];\n");
        assert_eq!(text(b.part(1, 2)), "b[2:1];\n");
    }

    #[test]
    fn a_table_is_a_case() {
        let (next, of) = (signal("next", 3), signal("kind", 4));
        let load = code(&kind::FIELD, kind::LOAD);
        let cases = [(load, signal("b", 3).into())];
        let table = crate::signal::table(next, of, cases, crate::signal::number(3, 0));
        let expected = "    reg [2:0] next;\n    always @* begin\n        case (kind)\n            \
                        KIND_LOAD: next = b;\n            default: next = 3'd0;\n        \
                        endcase\n    end";
        assert_eq!(super::text("    reg [2:0] ", &table, Reset::Sync), expected);
    }

    #[test]
    fn long_chains_break_between_terms() {
        let chain = (0..4).map(|i| long(i) & long(i)).reduce(|a, b| a | b);
        let text = printed(chain.unwrap());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[1].starts_with("        | (a_rather") && lines[1].ends_with(')'));
    }

    #[test]
    fn a_term_longer_than_a_line_breaks_too() {
        let all = (0..4).map(long).reduce(|a, b| a | b).unwrap();
        let text = printed(signal("x", 1) & !all);
        let names = (0..4).map(|i| format!("a_rather_long_name_of_a_signal_{i}"));
        let expected = names.collect::<Vec<_>>().join(" | ");
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(joined, format!("assign out = x & ~({expected});"));
        assert!(text.lines().count() == 2 && text.lines().all(|l| l.len() <= 100));
    }

    #[test]
    fn terms_longer_than_a_line_stand_one_below_the_other() {
        let of = |from: usize| (from..from + 3).map(long).reduce(|a, b| a | b).unwrap();
        let expected = "    assign out = (a_rather_long_name_of_a_signal_0 \
                        | a_rather_long_name_of_a_signal_1\n            \
                        | a_rather_long_name_of_a_signal_2)\n        \
                        ^ (a_rather_long_name_of_a_signal_3 \
                        | a_rather_long_name_of_a_signal_4\n            \
                        | a_rather_long_name_of_a_signal_5)\n        ^ x;\n";
        assert_eq!(printed(of(0) ^ of(3) ^ signal("x", 1)), expected);
    }

    #[test]
    fn a_choice_of_several_has_a_line_per_case() {
        let x = signal("x", 2);
        let up = when(signal("up", 1), x + 1);
        let expected = "    assign out = up ? x + 2'd1 : x;\n";
        assert_eq!(printed(up.clone().otherwise(x)), expected);
        let both = up.when(signal("down", 1), x - 1).otherwise(x);
        let expected = "    assign out = up ? x + 2'd1\n        : down ? x - 2'd1\n        : x;\n";
        assert_eq!(printed(both), expected);
    }

    #[test]
    fn vectors_side_by_side_are_broken_on_both_sides() {
        let all = crate::signal::concat((0..4).map(long));
        let assigned = Value::from(signal("x", 4)).assigned_to(&all);
        let text = super::text("    assign ", &assigned, Reset::Sync);
        let expected = "    assign {a_rather_long_name_of_a_signal_0, \
                        a_rather_long_name_of_a_signal_1,\n        \
                        a_rather_long_name_of_a_signal_2, \
                        a_rather_long_name_of_a_signal_3} = x;";
        assert_eq!(text, expected);
    }
}
