//! The Verilog text of modules, one dialect for all: the opening with its
//! ports, and the statements of what is described through rust-hdl's syntax tree.

use crate::lines::{CODE_WIDTH, COMMENT_WIDTH, Lines, wrap};
use crate::port::{Dir, Port};
use crate::widths::{Local, Widths, compares, written};
use rust_hdl::core::ast::{
    VerilogBlockOrConditional, VerilogConditional, VerilogExpression, VerilogMatch, VerilogOp,
    VerilogOpUnary, VerilogStatement,
};

/// A term of that length does not fit into a line of its own.
const LONG: usize = CODE_WIDTH - 16;

/// `module NAME #( parameters ) ( ports );`: parameters have their defaults,
/// outputs named in `registers` are registers, and the lint of unused bits is
/// waived where `unused` has a reason.
pub(crate) fn opening(
    module: &str,
    parameters: &[(&str, usize)],
    ports: &[Port],
    registers: &[String],
    unused: &[(String, String)],
) -> String {
    let set = |(name, value): &(&str, usize)| format!("    parameter {name} = {value}");
    let set: Vec<_> = parameters.iter().map(set).collect();
    let mut out = if set.is_empty() {
        format!("module {module} (\n")
    } else {
        format!("module {module} #(\n{}\n) (\n", set.join(",\n"))
    };
    for (i, port) in ports.iter().enumerate() {
        let dir = match port.dir {
            Dir::In => "input wire",
            Dir::Out if registers.contains(&port.name) => "output reg",
            Dir::Out => "output wire",
        };
        let comma = if i + 1 < ports.len() { "," } else { "" };
        let range = match &port.top {
            Some(top) => format!("[{top}:0] "),
            None => range(port.width),
        };
        let line = format!("    {dir} {range}{}{comma}\n", port.name);
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
pub(crate) fn body(locals: &[Local], statements: &[VerilogStatement], widths: &Widths) -> String {
    let mut out = String::new();
    let printer = Printer(widths);
    let target = |s| written(s).map(|(name, _)| name);
    let whole = |local: &&Local| statements.iter().any(|s| target(s) == Some(&local.name));
    let (at_once, bitwise): (Vec<_>, Vec<_>) = locals.iter().partition(whole);
    for local in bitwise {
        let range = range(local.width);
        out.push_str(&format!("    wire {range}{};\n", local.name));
    }
    for statement in statements {
        if let VerilogStatement::Assignment(name, VerilogExpression::Unsigned(value)) = statement {
            out.push_str(&printer.constant(name, value));
            continue;
        }
        let local = at_once.iter().find(|l| target(statement) == Some(&l.name));
        let opening = match local {
            Some(local) => format!("    wire {}", range(local.width)),
            None => "    assign ".to_owned(),
        };
        out.push_str(&printer.statement(&opening, statement));
        out.push('\n');
    }
    out
}

/// The text of an expression that knows its width.
pub(crate) fn expression(tree: &VerilogExpression) -> String {
    Printer(&Widths::default()).text(tree)
}

/// An assignment that begins with `opening`.
pub(crate) fn statement(opening: &str, statement: &VerilogStatement) -> String {
    Printer(&Widths::default()).statement(opening, statement)
}

fn range(width: usize) -> String {
    match width {
        1 => String::new(),
        width => format!("[{}:0] ", width - 1),
    }
}

/// Prints what has been checked against the widths.
struct Printer<'a>(&'a Widths);

impl Printer<'_> {
    /// A constant, of as many bits as its value has.
    fn constant(&self, name: &VerilogExpression, value: &VerilogExpression) -> String {
        let range = range(self.bits(value));
        let (name, value) = (self.text(name), self.text(value));
        format!("    localparam {range}{name} = {value};\n")
    }

    fn statement(&self, opening: &str, statement: &VerilogStatement) -> String {
        match statement {
            VerilogStatement::Assignment(target, value) => {
                let opening = format!("{opening}{} = ", self.text(target));
                format!("{};", self.broken(&opening, value))
            }
            VerilogStatement::If(choice) => {
                let name = written(statement).map_or("", |(name, _)| name);
                let cases = self.cases(choice);
                let short = format!("{opening}{name} = {};", cases.join(" : "));
                let next = format!("\n{:1$}: ", "", indent(opening) + 4);
                if cases.len() == 2 && short.len() <= CODE_WIDTH {
                    short
                } else {
                    format!("{opening}{name} = {};", cases.join(&next))
                }
            }
            VerilogStatement::Match(table) => self.table(opening, table),
            VerilogStatement::Comment(text) => comment(text),
            other => unreachable!("not built by `expr`: {other:?}"),
        }
    }

    /// `condition ? value` of each case, and the value of none.
    fn cases(&self, choice: &VerilogConditional) -> Vec<String> {
        let test = self.operand(&choice.test, None);
        let value = |statements| match only(statements) {
            value if is_comparison(value) => self.operand(value, None),
            value => self.text(value),
        };
        let mut lines = vec![format!("{test} ? {}", value(&choice.then))];
        match &choice.otherwise {
            VerilogBlockOrConditional::Block(statements) => {
                lines.push(value(statements));
            }
            VerilogBlockOrConditional::Conditional(next) => {
                if let VerilogStatement::If(next) = next.as_ref() {
                    lines.extend(self.cases(next));
                }
            }
            VerilogBlockOrConditional::None => {}
        }
        lines
    }

    /// A `case` over codes. What it writes is declared with `opening`, which
    /// begins with `wire`.
    fn table(&self, opening: &str, table: &VerilogMatch) -> String {
        let name = table.cases[0].block.first().and_then(written);
        let name = name.map_or("", |(name, _)| name);
        let declared = opening.replacen("wire", "reg", 1);
        let test = self.text(&table.test);
        let mut out = format!("{declared}{name};\n    always @* begin\n        case ({test})\n");
        for case in &table.cases {
            let value = self.text(only(&case.block));
            out.push_str(&format!(
                "            {}: {name} = {value};\n",
                case.condition
            ));
        }
        out + "        endcase\n    end"
    }

    /// An expression behind `opening`, broken before the operators of its
    /// outermost chain where it is long. A term that is itself too long for a
    /// line is broken further in, and what follows it begins a line.
    fn broken(&self, opening: &str, value: &VerilogExpression) -> String {
        let terms = self.terms(value);
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
    fn terms(&self, value: &VerilogExpression) -> Vec<Vec<String>> {
        match value {
            VerilogExpression::Paren(inner) => self.terms(inner),
            VerilogExpression::Binary(a, op, b) if is_associative(op) => {
                let side = |value| {
                    if same(value, op) {
                        self.terms(value)
                    } else {
                        vec![self.pieces(value, op)]
                    }
                };
                let (mut all, mut right) = (side(a), side(b));
                right[0][0] = format!("{} {}", symbol(op), right[0][0]);
                all.append(&mut right);
                all
            }
            VerilogExpression::Unary(VerilogOpUnary::Not, inner) if is_binary(inner) => {
                let pieces = self.bracketed("~(", inner);
                pieces.into_iter().map(|piece| vec![piece]).collect()
            }
            VerilogExpression::Signal(text) => {
                let parts = parts(text).into_iter();
                parts.map(|part| vec![part.to_owned()]).collect()
            }
            _ => vec![vec![self.text(value)]],
        }
    }

    /// An operand of `op`, in several pieces where it is too long for a line.
    fn pieces(&self, value: &VerilogExpression, op: &VerilogOp) -> Vec<String> {
        let whole = self.operand(value, Some(op));
        match value {
            _ if whole.len() < LONG => vec![whole],
            VerilogExpression::Unary(VerilogOpUnary::Not, _) => self.terms(value).concat(),
            _ => self.bracketed("(", value),
        }
    }

    /// The terms of a chain, with `opening` in front of the first and `)`
    /// behind the last.
    fn bracketed(&self, opening: &str, value: &VerilogExpression) -> Vec<String> {
        let mut parts = self.terms(value).concat();
        parts[0].insert_str(0, opening);
        parts.last_mut().expect("it has a first").push(')');
        parts
    }

    fn text(&self, value: &VerilogExpression) -> String {
        match value {
            VerilogExpression::Signal(name) => name.clone(),
            VerilogExpression::Paren(inner) => self.text(inner),
            VerilogExpression::Binary(a, op, b) => {
                let (a, b) = (self.operand(a, Some(op)), self.operand(b, Some(op)));
                format!("{a} {} {b}", symbol(op))
            }
            VerilogExpression::Unary(op, a) => {
                format!("{}{}", unary_symbol(op), self.operand(a, None))
            }
            // A signal of one bit has no index in Verilog.
            VerilogExpression::Index(signal, _) if self.bits(signal) == 1 => self.text(signal),
            VerilogExpression::Index(signal, index) => {
                format!("{}[{}]", self.text(signal), self.text(index))
            }
            VerilogExpression::Slice(signal, width, _) if self.bits(signal) == *width => {
                self.text(signal)
            }
            VerilogExpression::Slice(signal, 1, from) => {
                format!("{}[{}]", self.text(signal), self.text(from))
            }
            VerilogExpression::Slice(signal, width, from) => {
                let signal = self.text(signal);
                let from: usize = self.text(from).parse().unwrap_or_default();
                format!("{signal}[{}:{from}]", from + width - 1)
            }
            VerilogExpression::Cast(inner, width) => self.cast(inner, *width),
            other => unreachable!("not built by `expr`: {other:?}"),
        }
    }

    /// Copies of a bit, or a value behind zeros.
    fn cast(&self, inner: &VerilogExpression, width: usize) -> String {
        match inner {
            VerilogExpression::Signed(bit) if width == 1 => self.operand(bit, None),
            VerilogExpression::Signed(bit) => {
                format!("{{{width}{{{}}}}}", self.text(bit))
            }
            _ => match width - self.bits(inner) {
                0 => self.operand(inner, None),
                zeros => format!("{{{zeros}'d0, {}}}", self.text(inner)),
            },
        }
    }

    /// An expression as an operand of `op`: what has another operator is in
    /// parentheses.
    fn operand(&self, value: &VerilogExpression, op: Option<&VerilogOp>) -> String {
        match value {
            VerilogExpression::Paren(inner) => self.operand(inner, op),
            VerilogExpression::Binary(..) => {
                if op.is_some_and(|op| same(value, op)) {
                    self.text(value)
                } else {
                    format!("({})", self.text(value))
                }
            }
            // `&x` behind an `&` would read as `&&`.
            VerilogExpression::Unary(VerilogOpUnary::Any | VerilogOpUnary::All, _) => {
                format!("({})", self.text(value))
            }
            _ => self.text(value),
        }
    }

    fn bits(&self, value: &VerilogExpression) -> usize {
        self.0.of(value).expect("the widths have been checked")
    }
}

/// A connection of a port, `depth` steps in; a long concatenation in several
/// lines.
pub(crate) fn connection(depth: usize, port: &str, to: &str, end: &str) -> String {
    let mut parts = parts(to).into_iter();
    let first = parts.next().unwrap_or_default();
    let indent = 4 * depth;
    let mut lines = Lines::new(CODE_WIDTH, format!("{:indent$}.{port}({first}", ""));
    parts.for_each(|part| lines.append(indent + 4, part));
    lines.join() + ")" + end
}

/// The parts of a concatenation, each with its comma; of another text the whole.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (i, c) in text.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            ',' if depth == 1 && text.starts_with('{') => {
                parts.push(text[start..=i].trim_start());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim_start());
    parts
}

/// Columns in front of a text.
fn indent(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// The value that the one statement of a case gives.
fn only(statements: &[VerilogStatement]) -> &VerilogExpression {
    match statements {
        [VerilogStatement::Assignment(_, value)] => value,
        other => unreachable!("not built by `expr`: {other:?}"),
    }
}

fn comment(text: &str) -> String {
    let lines = wrap(text, COMMENT_WIDTH);
    let lines: Vec<_> = lines.iter().map(|line| format!("    // {line}")).collect();
    lines.join("\n")
}

/// Whether it is a chain of the associative operator `op`.
fn same(value: &VerilogExpression, op: &VerilogOp) -> bool {
    match value {
        VerilogExpression::Paren(inner) => same(inner, op),
        VerilogExpression::Binary(_, own, _) => is_associative(op) && symbol(own) == symbol(op),
        _ => false,
    }
}

fn is_binary(value: &VerilogExpression) -> bool {
    match value {
        VerilogExpression::Paren(inner) => is_binary(inner),
        _ => matches!(value, VerilogExpression::Binary(..)),
    }
}

fn is_comparison(value: &VerilogExpression) -> bool {
    match value {
        VerilogExpression::Paren(inner) => is_comparison(inner),
        VerilogExpression::Binary(_, op, _) => compares(op),
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
    use crate::expr::{Expr, any, assign, bit, choose, constant, extended};
    use crate::expr::{gated, is, number, slice, sum, table, wire};

    fn printed(value: Expr) -> String {
        let widths = Widths::new([("a".into(), 2), ("b".into(), 3), ("one".into(), 1)]);
        body(&[], &[assign("out", value)], &widths)
    }

    #[test]
    fn parentheses_stand_where_operators_meet() {
        let (a, b, c) = (bit("a", 1), wire("b"), wire("c"));
        let chain = a.clone() & b.clone() & !(any("c") | c.clone());
        assert_eq!(printed(chain), "    assign out = a[1] & b & ~((|c) | c);\n");
        let mixed = (a & b) | is("kind", "KIND_ALU");
        let expected = "    assign out = (a[1] & b) | (kind == KIND_ALU);\n";
        assert_eq!(printed(mixed), expected);
    }

    #[test]
    fn widths_show_where_they_change() {
        let text = |value| printed(value).replace("    assign out = ", "");
        assert_eq!(text(gated(3, "b", any("a"))), "b & {3{|a}};\n");
        assert_eq!(text(gated(1, "one", "other")), "one & other;\n");
        let longer = sum(extended(3, "a"), extended(3, "b"));
        assert_eq!(text(longer), "{1'd0, a} + b;\n");
        assert_eq!(text(bit("one", 0) | bit("a", 0)), "one | a[0];\n");
    }

    #[test]
    fn constants_stand_by_their_names() {
        let mut widths = Widths::new([("d".into(), 12), ("a".into(), 4)]);
        let statements = [
            constant("LATENCY", 4, 9),
            assign("late", is("a", "LATENCY")),
            assign("rest", slice("d", 5, 6)),
        ];
        let new = widths.check(&statements).unwrap();
        let expected = "    localparam [3:0] LATENCY = 4'd9;\n    \
                        wire late = a == LATENCY;\n    \
                        wire [5:0] rest = d[10:5];\n";
        assert_eq!(body(&new, &statements, &widths), expected);
    }

    #[test]
    fn a_table_is_a_case() {
        let cases = vec![("KIND_LOAD", wire("b"))];
        let statement = table("next", "kind", cases, number(3, 0));
        let local = Local {
            name: "next".into(),
            width: 3,
        };
        let expected = "    reg [2:0] next;\n    always @* begin\n        case (kind)\n            \
                        KIND_LOAD: next = b;\n            default: next = 3'd0;\n        \
                        endcase\n    end\n";
        assert_eq!(body(&[local], &[statement], &Widths::default()), expected);
    }

    #[test]
    fn long_chains_break_between_terms() {
        let name = |i: usize| wire(&format!("a_rather_long_name_of_a_signal_{i}"));
        let chain = (0..4).map(|i| name(i) & name(i)).reduce(|a, b| a | b);
        let text = printed(chain.unwrap());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[1].starts_with("        | (a_rather") && lines[1].ends_with(')'));
    }

    #[test]
    fn a_term_longer_than_a_line_breaks_too() {
        let name = |i: usize| wire(&format!("a_rather_long_name_of_a_signal_{i}"));
        let long = (0..4).map(name).reduce(|a, b| a | b).unwrap();
        let text = printed(wire("x") & !long);
        let names = (0..4).map(|i| format!("a_rather_long_name_of_a_signal_{i}"));
        let expected = names.collect::<Vec<_>>().join(" | ");
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(joined, format!("assign out = x & ~({expected});"));
        assert!(text.lines().count() == 2 && text.lines().all(|l| l.len() <= 100));
    }

    #[test]
    fn terms_longer_than_a_line_stand_one_below_the_other() {
        let name = |i: usize| wire(&format!("a_rather_long_name_of_a_signal_{i}"));
        let long = |from: usize| (from..from + 3).map(name).reduce(|a, b| a | b).unwrap();
        let expected = "    assign out = (a_rather_long_name_of_a_signal_0 \
                        | a_rather_long_name_of_a_signal_1\n            \
                        | a_rather_long_name_of_a_signal_2)\n        \
                        ^ (a_rather_long_name_of_a_signal_3 \
                        | a_rather_long_name_of_a_signal_4\n            \
                        | a_rather_long_name_of_a_signal_5)\n        ^ x;\n";
        assert_eq!(printed(long(0) ^ long(3) ^ wire("x")), expected);
    }

    #[test]
    fn a_choice_of_several_has_a_line_per_case() {
        let up = (wire("up"), sum("x", number(2, 1)));
        let down = (wire("down"), sum("x", number(2, 3)));
        let one = choose("next", [up.clone()], "x");
        let expected = "    assign next = up ? x + 2'd1 : x;\n";
        assert_eq!(body(&[], &[one], &Widths::default()), expected);
        let local = Local {
            name: "next".into(),
            width: 2,
        };
        let statement = choose("next", [up, down], "x");
        let expected =
            "    wire [1:0] next = up ? x + 2'd1\n        : down ? x + 2'd3\n        : x;\n";
        assert_eq!(body(&[local], &[statement], &Widths::default()), expected);
    }
}
