//! The Verilog text of modules, one dialect for all: the opening with its
//! ports, and statements, whose expressions are in rust-hdl's syntax tree.

use crate::adapter;
use crate::lines::{CODE_WIDTH, Lines};
use crate::origin::Origin;
use crate::parameter::Parameter;
use crate::port::{Dir, Port};
use crate::reset::Reset;
use crate::size::Size;
use crate::tree::Statement;
use rust_hdl::ast::{VerilogExpression, VerilogOp, VerilogOpUnary};

/// A term of that length does not fit into a line of its own.
const LONG: usize = CODE_WIDTH - 16;

/// A line, and the line of the description that wrote it.
pub(crate) type Line = (String, Option<Origin>);

/// A printed file.
#[derive(Clone, Debug)]
pub struct Printed {
    /// The text.
    pub text: String,
    /// Of each line the line of the description that wrote it; `None` for what the
    /// kit adds around it, such as the header.
    pub origins: Vec<Option<Origin>>,
}

/// `module NAME #( parameters ) ( ports );`: parameters have their defaults, and in a
/// comment what they may be; the lint of unused bits is waived where there are some.
pub(crate) fn opening(module: &str, parameters: &[Parameter], ports: &[Port]) -> Vec<Line> {
    let comma = |i, of| if i + 1 < of { "," } else { "" };
    let mut out = Vec::new();
    if parameters.is_empty() {
        out.push((format!("module {module} ("), None));
    } else {
        out.push((format!("module {module} #("), None));
        for (i, parameter) in parameters.iter().enumerate() {
            let comma = comma(i, parameters.len());
            out.push((format!("    {}", parameter.declared(comma)), None));
        }
        out.push((") (".into(), None));
    }
    for (i, port) in ports.iter().enumerate() {
        let line = |text: &str| (format!("    {text}"), Some(port.at));
        let comma = comma(i, ports.len());
        let declared = line(&format!("{}{comma}", port_declared(port)));
        match &port.unused {
            None => out.push(declared),
            Some(reason) => out.extend([
                line(&format!(
                    "/* verilator lint_off UNUSEDSIGNAL */ // {reason}"
                )),
                declared,
                line("/* verilator lint_on UNUSEDSIGNAL */"),
            ]),
        }
    }
    out.push((");".into(), None));
    out
}

/// `input wire [width-1:0] name`
fn port_declared(port: &Port) -> String {
    let dir = match port.dir {
        Dir::In => "input",
        Dir::Out => "output",
    };
    let range = range(port.size.unwrap_or(port.width.into()));
    format!("{dir} wire {range}{}", port.name)
}

/// `[width-1:0] `, or nothing for one bit.
pub(crate) fn range(width: Size) -> String {
    match (width.is_number(), width.value()) {
        (true, Some(1)) => String::new(),
        (true, Some(bits)) => format!("[{}:0] ", bits - 1),
        _ => format!("[{}:0] ", width.top()),
    }
}

/// A statement that begins with `opening`, in a module with that reset.
pub(crate) fn statement(opening: &str, statement: &Statement, reset: Reset) -> String {
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
            let text = |tree| text(&expression(tree));
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
        text(value)
    }
}

/// `when |-> then` of an assertion, after `opening`.
pub(crate) fn implication(
    opening: &str,
    when: &VerilogExpression,
    then: &VerilogExpression,
) -> String {
    let opening = broken(opening, when) + " |-> ";
    broken(&opening, then)
}

/// An expression after `opening`, broken before the operators of its
/// outermost chain where it is long. A term that is itself too long for a
/// line is broken further in, and what follows it begins a line.
fn broken(opening: &str, value: &VerilogExpression) -> String {
    let terms = terms(value);
    let mut lines = Lines::new(CODE_WIDTH, format!("{opening}{}", terms[0][0]));
    let inner = indent(opening) + 4;
    for (i, term) in terms.iter().enumerate() {
        match i.checked_sub(1).map(|before| terms[before].len()) {
            None => {}
            Some(1) => lines.append(inner, &term[0]),
            Some(_) => lines.begin(inner, &term[0]),
        }
        for piece in &term[1..] {
            lines.append(inner + 4, piece);
        }
    }
    lines.join()
}

/// The outermost chain of an expression, from the second term on with the
/// operator in front; a term that is too long for a line in several pieces.
fn terms(value: &VerilogExpression) -> Vec<Vec<String>> {
    match value {
        VerilogExpression::Binary(a, op, b) if is_associative(op) => {
            let side = |value| {
                if same(value, op) {
                    terms(value)
                } else {
                    vec![pieces(value, op)]
                }
            };
            let (mut all, mut right) = (side(a), side(b));
            right[0][0] = format!("{} {}", symbol(op), right[0][0]);
            all.append(&mut right);
            all
        }
        VerilogExpression::Unary(VerilogOpUnary::Not, inner) if is_binary(inner) => {
            let pieces = bracketed("~(", inner);
            pieces.into_iter().map(|piece| vec![piece]).collect()
        }
        VerilogExpression::Signal(leaf) => {
            let parts = leaf.split('\n');
            parts.map(|part| vec![part.to_owned()]).collect()
        }
        _ => vec![vec![text(value)]],
    }
}

/// An operand of `op`, in several pieces where it is too long for a line.
fn pieces(value: &VerilogExpression, op: &VerilogOp) -> Vec<String> {
    let whole = operand(value, Some(op));
    match value {
        _ if whole.len() < LONG => vec![whole],
        VerilogExpression::Unary(VerilogOpUnary::Not, _) => terms(value).concat(),
        _ => bracketed("(", value),
    }
}

/// The terms of a chain, with `opening` in front of the first and `)`
/// after the last.
fn bracketed(opening: &str, value: &VerilogExpression) -> Vec<String> {
    let mut parts = terms(value).concat();
    parts[0].insert_str(0, opening);
    parts.last_mut().expect("it has a first").push(')');
    parts
}

/// The text of an expression.
pub(crate) fn text(value: &VerilogExpression) -> String {
    match value {
        VerilogExpression::Signal(leaf) => leaf.replace('\n', " "),
        VerilogExpression::Binary(a, op, b) => {
            let (a, b) = (operand(a, Some(op)), operand(b, Some(op)));
            format!("{a} {} {b}", symbol(op))
        }
        VerilogExpression::Unary(op, a) => {
            format!("{}{}", unary_symbol(op), operand(a, None))
        }
        other => unreachable!("not built by `signal`: {other:?}"),
    }
}

/// An expression as an operand of `op`: what has another operator is in
/// parentheses.
fn operand(value: &VerilogExpression, op: Option<&VerilogOp>) -> String {
    match value {
        VerilogExpression::Binary(..) => {
            if op.is_some_and(|op| same(value, op)) {
                text(value)
            } else {
                format!("({})", text(value))
            }
        }
        // `&x` after an `&` would read as `&&`.
        VerilogExpression::Unary(VerilogOpUnary::Any | VerilogOpUnary::All, _) => {
            format!("({})", text(value))
        }
        _ => text(value),
    }
}

/// A connection of a port, `depth` steps in; a long concatenation in several
/// lines.
pub(crate) fn connection(depth: usize, port: &str, to: &VerilogExpression, end: &str) -> String {
    let whole = match to {
        VerilogExpression::Signal(leaf) => leaf.clone(),
        other => text(other),
    };
    let mut parts = whole.split('\n');
    let first = parts.next().unwrap_or_default();
    let indent = 4 * depth;
    let mut lines = Lines::new(CODE_WIDTH, format!("{:indent$}.{port}({first}", ""));
    parts.for_each(|part| lines.append(indent + 4, part));
    lines.join() + ")" + end
}

/// Columns in front of a text.
fn indent(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// Whether it is a chain of the associative operator `op`.
fn same(value: &VerilogExpression, op: &VerilogOp) -> bool {
    matches!(value, VerilogExpression::Binary(_, own, _)
        if is_associative(op) && symbol(own) == symbol(op))
}

fn is_binary(value: &VerilogExpression) -> bool {
    matches!(value, VerilogExpression::Binary(..))
}

fn is_comparison(value: &VerilogExpression) -> bool {
    matches!(value, VerilogExpression::Binary(_, op, _) if compares(op))
}

/// Whether the result of `op` is one bit.
fn compares(op: &VerilogOp) -> bool {
    use VerilogOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq | Ne | Lt | Le | Ge | Gt)
}

fn is_associative(op: &VerilogOp) -> bool {
    matches!(op, VerilogOp::BitAnd | VerilogOp::BitOr | VerilogOp::BitXor)
}

fn symbol(op: &VerilogOp) -> &'static str {
    match op {
        VerilogOp::Add => "+",
        VerilogOp::Sub => "-",
        VerilogOp::Mul => "*",
        VerilogOp::BitXor => "^",
        VerilogOp::BitAnd => "&",
        VerilogOp::BitOr => "|",
        VerilogOp::Shl => "<<",
        VerilogOp::Shr => ">>",
        VerilogOp::Eq => "==",
        VerilogOp::Ne => "!=",
        VerilogOp::Lt => "<",
        VerilogOp::Le => "<=",
        VerilogOp::Ge => ">=",
        VerilogOp::Gt => ">",
        other => unreachable!("not built by `signal`: {other:?}"),
    }
}

fn unary_symbol(op: &VerilogOpUnary) -> &'static str {
    match op {
        VerilogOpUnary::Not => "~",
        VerilogOpUnary::All => "&",
        VerilogOpUnary::Any => "|",
        other => unreachable!("not built by `signal`: {other:?}"),
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
        statement("    assign ", &assigned, Reset::Sync) + "\n"
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
        assert_eq!(statement("    reg [2:0] ", &table, Reset::Sync), expected);
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
        let text = statement("    assign ", &assigned, Reset::Sync);
        let expected = "    assign {a_rather_long_name_of_a_signal_0, \
                        a_rather_long_name_of_a_signal_1,\n        \
                        a_rather_long_name_of_a_signal_2, \
                        a_rather_long_name_of_a_signal_3} = x;";
        assert_eq!(text, expected);
    }
}
