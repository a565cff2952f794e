//! The Verilog text of modules, one dialect for all: the opening with its
//! ports, and expressions, from rust-hdl's syntax tree.

use crate::lines::{CODE_WIDTH, Lines};
use crate::origin::Origin;
use crate::parameter::Parameter;
use crate::port::{Dir, Port};
use crate::size::Size;
use crate::vector::Vector;
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
    /// For each line, the line of the description that wrote it; `None` for lines
    /// that the kit adds, such as the header.
    pub origins: Vec<Option<Origin>>,
}

/// `module NAME #( parameters ) ( ports );`: parameters have their defaults, and numbers
/// in a comment what they may be; the lint of unused bits is waived where there are some.
pub(crate) fn opening(
    module: &str,
    (numbers, vectors): (&[Parameter], &[Vector]),
    ports: &[Port],
) -> Vec<Line> {
    let comma = |i, of| if i + 1 < of { "," } else { "" };
    let count = numbers.len() + vectors.len();
    let numbers = numbers.iter().enumerate();
    let numbers = numbers.map(|(i, number)| number.declared(comma(i, count)));
    let before = numbers.len();
    let vectors = vectors.iter().enumerate();
    let vectors = vectors.map(|(i, vector)| vector.declared(comma(before + i, count)));
    let parameters: Vec<String> = numbers.chain(vectors).collect();
    let mut out = Vec::new();
    if parameters.is_empty() {
        out.push((format!("module {module} ("), None));
    } else {
        out.push((format!("module {module} #("), None));
        for parameter in parameters {
            out.push((format!("    {parameter}"), None));
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
pub(crate) fn broken(opening: &str, value: &VerilogExpression) -> String {
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
pub(crate) fn operand(value: &VerilogExpression, op: Option<&VerilogOp>) -> String {
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
pub(crate) fn indent(text: &str) -> usize {
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

pub(crate) fn is_comparison(value: &VerilogExpression) -> bool {
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
