//! The Verilog text of modules, one dialect for all: the opening with its
//! ports, and the statements of what is described through rust-hdl's syntax tree.

use crate::port::{Dir, Port};
use rust_hdl::core::ast::{
    VerilogBlockOrConditional, VerilogConditional, VerilogExpression, VerilogOp, VerilogOpUnary,
    VerilogStatement,
};

/// Columns of code before an expression is broken into lines.
const CODE_WIDTH: usize = 96;

/// A signal inside a module.
pub(crate) struct Local {
    pub name: String,
    pub width: usize,
}

/// `module NAME ( ports );`: outputs named in `registers` are registers, and
/// the lint of unused bits is waived where `unused` has a reason.
pub(crate) fn opening(
    module: &str,
    ports: &[Port],
    registers: &[String],
    unused: &[(String, String)],
) -> String {
    let mut out = format!("module {module} (\n");
    for (i, port) in ports.iter().enumerate() {
        let dir = match port.dir {
            Dir::In => "input wire",
            Dir::Out if registers.contains(&port.name) => "output reg",
            Dir::Out => "output wire",
        };
        let comma = if i + 1 < ports.len() { "," } else { "" };
        let line = format!("    {dir} {}{}{comma}\n", range(port.width), port.name);
        match unused.iter().find(|(name, _)| *name == port.name) {
            None => out.push_str(&line),
            Some((_, reason)) => out.push_str(&format!(
                "    /* verilator lint_off UNUSEDSIGNAL */ // {reason}\n{line}    \
                 /* verilator lint_on UNUSEDSIGNAL */\n"
            )),
        }
    }
    out.push_str(");");
    out
}

/// The statements of a combinational block, each a continuous assignment; a
/// signal inside that is written at once is declared where it is.
pub(crate) fn body(locals: &[Local], statements: &[VerilogStatement]) -> String {
    let mut out = String::new();
    let whole = |local: &&Local| statements.iter().any(|s| target(s) == Some(&local.name));
    let (at_once, bitwise): (Vec<_>, Vec<_>) = locals.iter().partition(whole);
    for local in bitwise {
        out.push_str(&format!("    wire {}{};\n", range(local.width), local.name));
    }
    for statement in statements {
        let local = at_once.iter().find(|l| target(statement) == Some(&l.name));
        let opening = match local {
            Some(local) => format!("    wire {}", range(local.width)),
            None => "    assign ".to_owned(),
        };
        out.push_str(&assignment(&opening, statement));
        out.push('\n');
    }
    out
}

fn range(width: usize) -> String {
    match width {
        1 => String::new(),
        width => format!("[{}:0] ", width - 1),
    }
}

/// The signal that a statement writes as a whole.
fn target(statement: &VerilogStatement) -> Option<&String> {
    match statement {
        VerilogStatement::Assignment(VerilogExpression::Signal(name), _) => Some(name),
        VerilogStatement::If(choice) => choice.then.first().and_then(target),
        _ => None,
    }
}

fn assignment(opening: &str, statement: &VerilogStatement) -> String {
    match statement {
        VerilogStatement::Assignment(target, value) => {
            let opening = format!("{opening}{} = ", text(target));
            format!("{};", broken(&opening, value))
        }
        VerilogStatement::If(choice) => {
            let name = target(statement).map_or("", String::as_str);
            format!("{opening}{name} = {};", cases(choice).join("\n        : "))
        }
        other => unreachable!("not built by `expr`: {other:?}"),
    }
}

/// `condition ? value` of each case, and the value of none.
fn cases(choice: &VerilogConditional) -> Vec<String> {
    let value = |statements: &[VerilogStatement]| match statements {
        [VerilogStatement::Assignment(_, value)] => text(value),
        other => unreachable!("not built by `expr`: {other:?}"),
    };
    let test = operand(&choice.test, None);
    let mut lines = vec![format!("{test} ? {}", value(&choice.then))];
    match &choice.otherwise {
        VerilogBlockOrConditional::Block(statements) => lines.push(value(statements)),
        VerilogBlockOrConditional::Conditional(next) => {
            if let VerilogStatement::If(next) = next.as_ref() {
                lines.extend(cases(next));
            }
        }
        VerilogBlockOrConditional::None => {}
    }
    lines
}

/// An expression behind `opening`, broken before the operators of its
/// outermost chain where it is long.
fn broken(opening: &str, value: &VerilogExpression) -> String {
    let (mut lines, mut line) = (String::new(), opening.to_owned());
    for (i, term) in terms(value).into_iter().enumerate() {
        if i > 0 && line.len() + 1 + term.len() > CODE_WIDTH {
            lines.push_str(&line);
            lines.push('\n');
            line = format!("        {term}");
        } else {
            line.push_str(if i > 0 { " " } else { "" });
            line.push_str(&term);
        }
    }
    lines + &line
}

/// The outermost chain of an expression, from the second term on with the
/// operator in front.
fn terms(value: &VerilogExpression) -> Vec<String> {
    match value {
        VerilogExpression::Paren(inner) => terms(inner),
        VerilogExpression::Binary(a, op, b) if is_associative(op) => {
            let mut all = match same(a, op) {
                true => terms(a),
                false => vec![operand(a, Some(op))],
            };
            let mut right = match same(b, op) {
                true => terms(b),
                false => vec![operand(b, Some(op))],
            };
            right[0] = format!("{} {}", symbol(op), right[0]);
            all.append(&mut right);
            all
        }
        _ => vec![text(value)],
    }
}

fn text(value: &VerilogExpression) -> String {
    match value {
        VerilogExpression::Signal(name) => name.clone(),
        VerilogExpression::Paren(inner) => text(inner),
        VerilogExpression::Binary(a, op, b) => {
            let (a, b) = (operand(a, Some(op)), operand(b, Some(op)));
            format!("{a} {} {b}", symbol(op))
        }
        VerilogExpression::Unary(op, a) => format!("{}{}", unary_symbol(op), operand(a, None)),
        VerilogExpression::Index(signal, index) => format!("{}[{}]", text(signal), text(index)),
        VerilogExpression::Slice(signal, width, from) => {
            let from: usize = text(from).parse().unwrap_or_default();
            format!("{}[{}:{from}]", text(signal), from + width - 1)
        }
        other => unreachable!("not built by `expr`: {other:?}"),
    }
}

/// An expression as an operand of `op`: what has another operator is in
/// parentheses.
fn operand(value: &VerilogExpression, op: Option<&VerilogOp>) -> String {
    match value {
        VerilogExpression::Paren(inner) => operand(inner, op),
        VerilogExpression::Binary(..) => match op.is_some_and(|op| same(value, op)) {
            true => text(value),
            false => format!("({})", text(value)),
        },
        // `&x` behind an `&` would read as `&&`.
        VerilogExpression::Unary(VerilogOpUnary::Any | VerilogOpUnary::All, _) => {
            format!("({})", text(value))
        }
        _ => text(value),
    }
}

/// Whether it is a chain of the associative operator `op`.
fn same(value: &VerilogExpression, op: &VerilogOp) -> bool {
    match value {
        VerilogExpression::Paren(inner) => same(inner, op),
        VerilogExpression::Binary(_, own, _) => is_associative(op) && symbol(own) == symbol(op),
        _ => false,
    }
}

fn is_associative(op: &VerilogOp) -> bool {
    matches!(op, VerilogOp::BitAnd | VerilogOp::BitOr | VerilogOp::BitXor)
}

fn symbol(op: &VerilogOp) -> &'static str {
    match op {
        VerilogOp::Add => "+",
        VerilogOp::Sub => "-",
        VerilogOp::BitXor => "^",
        VerilogOp::BitAnd => "&",
        VerilogOp::BitOr => "|",
        VerilogOp::Eq => "==",
        VerilogOp::Le => "<=",
        VerilogOp::Ge => ">=",
        VerilogOp::Gt => ">",
        other => unreachable!("not built by `expr`: {other:?}"),
    }
}

fn unary_symbol(op: &VerilogOpUnary) -> &'static str {
    match op {
        VerilogOpUnary::Not => "~",
        VerilogOpUnary::All => "&",
        VerilogOpUnary::Any => "|",
        other => unreachable!("not built by `expr`: {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Expr, any, assign, bit, choose, is, number, sum, vector};

    fn printed(value: Expr) -> String {
        body(&[], &[assign("out", value)])
    }

    #[test]
    fn parentheses_stand_where_operators_meet() {
        let (a, b, c) = (bit("a", 1), vector("b"), vector("c"));
        let chain = a.clone() & b.clone() & !(any("c") | c.clone());
        assert_eq!(printed(chain), "    assign out = a[1] & b & ~((|c) | c);\n");
        let mixed = (a & b) | is("kind", "KIND_ALU");
        let expected = "    assign out = (a[1] & b) | (kind == KIND_ALU);\n";
        assert_eq!(printed(mixed), expected);
    }

    #[test]
    fn long_chains_break_between_terms() {
        let name = |i: usize| vector(&format!("a_rather_long_name_of_a_signal_{i}"));
        let chain = (0..4).map(|i| name(i) & name(i)).reduce(|a, b| a | b);
        let text = printed(chain.unwrap());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[1].starts_with("        | (a_rather") && lines[1].ends_with(')'));
    }

    #[test]
    fn a_choice_has_a_line_per_case() {
        let cases = [(vector("up"), sum(vector("x"), number(2, 1)))];
        let local = Local {
            name: "next".into(),
            width: 2,
        };
        let statement = choose("next", cases.into_iter(), vector("x"));
        let expected = "    wire [1:0] next = up ? x + 2'd1\n        : x;\n";
        assert_eq!(body(&[local], &[statement]), expected);
    }
}
