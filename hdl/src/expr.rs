//! A thin layer over rust-hdl's expression tree.
//!
//! What is built is a tree; the printer (`print`) puts the parentheses. Bit
//! indices are constants, which keeps the emitted text readable and free of
//! width warnings.

use rust_hdl::core::ast::{
    Verilog, VerilogBlockOrConditional, VerilogCase, VerilogConditional, VerilogExpression,
    VerilogMatch, VerilogOp, VerilogOpUnary, VerilogStatement,
};
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// A Verilog expression; its width follows from the signals in it (`widths`).
#[derive(Clone, Debug)]
pub(crate) struct Expr(VerilogExpression);

/// A signal by its name.
impl From<&str> for Expr {
    fn from(name: &str) -> Self {
        wire(name)
    }
}

/// Bit `index` of the signal `name`.
pub(crate) fn bit(name: &str, index: usize) -> Expr {
    Expr(index_of(name, index))
}

/// The whole signal `name`.
pub(crate) fn wire(name: &str) -> Expr {
    Expr(VerilogExpression::Signal(name.to_owned()))
}

/// `width` bits of the signal `name` from bit `from` on.
pub(crate) fn slice(name: &str, from: usize, width: usize) -> Expr {
    let from = Box::new(wire(&from.to_string()).0);
    Expr(VerilogExpression::Slice(
        Box::new(wire(name).0),
        width,
        from,
    ))
}

/// The constant `value` of `width` bits.
pub(crate) fn number(width: usize, value: usize) -> Expr {
    wire(&format!("{width}'d{value}"))
}

/// Some bit of the value is set.
pub(crate) fn any(value: impl Into<Expr>) -> Expr {
    unary(VerilogOpUnary::Any, value.into())
}

/// Every bit of the value is set.
pub(crate) fn all(value: impl Into<Expr>) -> Expr {
    unary(VerilogOpUnary::All, value.into())
}

/// `width` copies of a bit: a number of one bit with its sign extended.
pub(crate) fn copies(width: usize, bit: impl Into<Expr>) -> Expr {
    let signed = VerilogExpression::Signed(Box::new(bit.into().0));
    Expr(VerilogExpression::Cast(Box::new(signed), width))
}

/// The value where a bit is set, else 0; both `width` bits wide.
pub(crate) fn gated(width: usize, value: impl Into<Expr>, bit: impl Into<Expr>) -> Expr {
    value.into() & copies(width, bit)
}

/// The value with zeros in front, `width` bits.
pub(crate) fn extended(width: usize, value: impl Into<Expr>) -> Expr {
    Expr(VerilogExpression::Cast(Box::new(value.into().0), width))
}

/// `value << by`, as wide as the value.
pub(crate) fn up(value: impl Into<Expr>, by: usize) -> Expr {
    binary(value.into().0, VerilogOp::Shl, wire(&by.to_string()).0)
}

/// `a == b`
pub(crate) fn same(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    binary(a.into().0, VerilogOp::Eq, b.into().0)
}

/// `a >= b`
pub(crate) fn reaches(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    binary(a.into().0, VerilogOp::Ge, b.into().0)
}

/// `name == code`, a code by its Verilog name (`codes`).
pub(crate) fn is(name: &str, code: &str) -> Expr {
    compare(name, VerilogOp::Eq, code)
}

/// `name >= code`
pub(crate) fn at_least(name: &str, code: &str) -> Expr {
    compare(name, VerilogOp::Ge, code)
}

/// `name > code`
pub(crate) fn above(name: &str, code: &str) -> Expr {
    compare(name, VerilogOp::Gt, code)
}

/// `name <= code`
pub(crate) fn at_most(name: &str, code: &str) -> Expr {
    compare(name, VerilogOp::Le, code)
}

fn compare(name: &str, op: VerilogOp, code: &str) -> Expr {
    binary(wire(name).0, op, wire(code).0)
}

/// The constant 0 of one bit.
pub(crate) fn zero() -> Expr {
    wire("1'b0")
}

/// The constant 1 of one bit.
pub(crate) fn one() -> Expr {
    wire("1'b1")
}

/// `name == value`, both `width` bits wide.
pub(crate) fn equals(name: &str, width: usize, value: usize) -> Expr {
    binary(wire(name).0, VerilogOp::Eq, number(width, value).0)
}

/// `a + b`, modulo the width of the two.
pub(crate) fn sum(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    binary(a.into().0, VerilogOp::Add, b.into().0)
}

/// `a * b`, modulo the width of the two.
pub(crate) fn product(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    binary(a.into().0, VerilogOp::Mul, b.into().0)
}

/// OR of all terms; 0 if there is none.
pub(crate) fn or_all(terms: impl IntoIterator<Item = Expr>) -> Expr {
    chain(terms, || VerilogOp::BitOr)
}

/// XOR of all terms; 0 if there is none.
pub(crate) fn xor_all(terms: impl IntoIterator<Item = Expr>) -> Expr {
    chain(terms, || VerilogOp::BitXor)
}

/// An AND-OR multiplexer: OR over (select, data) of both.
pub(crate) fn and_or(terms: impl IntoIterator<Item = (Expr, Expr)>) -> Expr {
    or_all(terms.into_iter().map(|(select, data)| select & data))
}

/// `name[index] = value;`
pub(crate) fn assign_bit(name: &str, index: usize, value: Expr) -> VerilogStatement {
    VerilogStatement::Assignment(index_of(name, index), value.0)
}

/// `name = value;`. What is no port and not declared is a wire, as wide as the
/// value.
pub(crate) fn assign(name: &str, value: impl Into<Expr>) -> VerilogStatement {
    VerilogStatement::Assignment(wire(name).0, value.into().0)
}

/// A parameter of `width` bits, `localparam NAME = value;`: what follows reads
/// it like a signal.
pub(crate) fn constant(name: &str, width: usize, value: usize) -> VerilogStatement {
    let value = VerilogExpression::Unsigned(Box::new(number(width, value).0));
    VerilogStatement::Assignment(wire(name).0, value)
}

/// A comment in front of the statements that follow.
pub(crate) fn note(text: &str) -> VerilogStatement {
    VerilogStatement::Comment(text.to_owned())
}

/// `name` is the value of the first case whose condition holds, or `otherwise`.
pub(crate) fn choose<C>(name: &str, cases: C, otherwise: impl Into<Expr>) -> VerilogStatement
where
    C: IntoIterator<Item = (Expr, Expr), IntoIter: DoubleEndedIterator>,
{
    let last = assign(name, otherwise);
    cases
        .into_iter()
        .rev()
        .fold(last, |rest, (condition, value)| {
            let otherwise = match rest {
                VerilogStatement::If(_) => VerilogBlockOrConditional::Conditional(Box::new(rest)),
                rest => VerilogBlockOrConditional::Block(vec![rest]),
            };
            VerilogStatement::If(VerilogConditional {
                test: condition.0,
                then: vec![assign(name, value)],
                otherwise,
            })
        })
}

/// `name`, a wire inside, is the value beside the code that the signal `of`
/// has, or `otherwise`.
pub(crate) fn table(
    name: &str,
    of: &str,
    cases: Vec<(&str, Expr)>,
    otherwise: impl Into<Expr>,
) -> VerilogStatement {
    let case = |(condition, value): (&str, Expr)| VerilogCase {
        condition: condition.to_owned(),
        block: vec![assign(name, value)],
    };
    let last = ("default", otherwise.into());
    VerilogStatement::Match(VerilogMatch {
        test: wire(of).0,
        cases: cases.into_iter().chain([last]).map(case).collect(),
    })
}

/// A combinational block.
pub(crate) fn combinational(statements: Vec<VerilogStatement>) -> Verilog {
    Verilog::Combinatorial(statements)
}

fn index_of(name: &str, index: usize) -> VerilogExpression {
    VerilogExpression::Index(
        Box::new(wire(name).0),
        // A plain decimal; a literal would be printed with 64 bits.
        Box::new(wire(&index.to_string()).0),
    )
}

fn binary(a: VerilogExpression, op: VerilogOp, b: VerilogExpression) -> Expr {
    Expr(VerilogExpression::Binary(Box::new(a), op, Box::new(b)))
}

fn unary(op: VerilogOpUnary, value: Expr) -> Expr {
    Expr(VerilogExpression::Unary(op, Box::new(value.0)))
}

fn chain(terms: impl IntoIterator<Item = Expr>, op: fn() -> VerilogOp) -> Expr {
    let joined = terms.into_iter().reduce(|a, b| binary(a.0, op(), b.0));
    joined.unwrap_or_else(zero)
}

impl BitAnd for Expr {
    type Output = Expr;
    fn bitand(self, other: Expr) -> Expr {
        binary(self.0, VerilogOp::BitAnd, other.0)
    }
}

impl BitOr for Expr {
    type Output = Expr;
    fn bitor(self, other: Expr) -> Expr {
        binary(self.0, VerilogOp::BitOr, other.0)
    }
}

impl BitXor for Expr {
    type Output = Expr;
    fn bitxor(self, other: Expr) -> Expr {
        binary(self.0, VerilogOp::BitXor, other.0)
    }
}

impl Not for Expr {
    type Output = Expr;
    fn not(self) -> Expr {
        match self.0 {
            VerilogExpression::Binary(a, VerilogOp::Eq, b) => binary(*a, VerilogOp::Ne, *b),
            _ => unary(VerilogOpUnary::Not, self),
        }
    }
}
