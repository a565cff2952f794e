//! A thin layer over rust-hdl's expression tree.
//!
//! What is built is a tree; the printer (`print`) puts the parentheses. Bit
//! indices are constants, which keeps the emitted text readable and free of
//! width warnings.

use rust_hdl::core::ast::{
    Verilog, VerilogBlockOrConditional, VerilogConditional, VerilogExpression, VerilogOp,
    VerilogOpUnary, VerilogStatement,
};
use std::ops::{BitAnd, BitOr, BitXor, Not};

/// A one-bit (or, for [`sum`] and [`vector`], wider) Verilog expression.
#[derive(Clone, Debug)]
pub(crate) struct Expr(VerilogExpression);

/// Bit `index` of the signal `name`.
pub(crate) fn bit(name: &str, index: usize) -> Expr {
    Expr(index_of(name, index))
}

/// The whole signal `name`.
pub(crate) fn vector(name: &str) -> Expr {
    Expr(VerilogExpression::Signal(name.to_owned()))
}

/// `width` bits of the signal `name` from bit `from` on.
pub(crate) fn slice(name: &str, from: usize, width: usize) -> Expr {
    let from = Box::new(vector(&from.to_string()).0);
    Expr(VerilogExpression::Slice(
        Box::new(vector(name).0),
        width,
        from,
    ))
}

/// The constant `value` of `width` bits.
pub(crate) fn number(width: usize, value: usize) -> Expr {
    vector(&format!("{width}'d{value}"))
}

/// Some bit of the signal `name` is set.
pub(crate) fn any(name: &str) -> Expr {
    reduce(VerilogOpUnary::Any, name)
}

/// Every bit of the signal `name` is set.
pub(crate) fn all(name: &str) -> Expr {
    reduce(VerilogOpUnary::All, name)
}

fn reduce(op: VerilogOpUnary, name: &str) -> Expr {
    Expr(VerilogExpression::Unary(op, Box::new(vector(name).0)))
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
    binary(vector(name).0, op, vector(code).0)
}

/// The constant 0 of one bit.
pub(crate) fn zero() -> Expr {
    vector("1'b0")
}

/// `name == value`, both `width` bits wide.
pub(crate) fn equals(name: &str, width: usize, value: usize) -> Expr {
    binary(vector(name).0, VerilogOp::Eq, number(width, value).0)
}

/// `a + b`, modulo the width of the two.
pub(crate) fn sum(a: Expr, b: Expr) -> Expr {
    binary(a.0, VerilogOp::Add, b.0)
}

/// `a - b`, modulo the width of the two.
pub(crate) fn difference(a: Expr, b: Expr) -> Expr {
    binary(a.0, VerilogOp::Sub, b.0)
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

/// `name = value;`
pub(crate) fn assign(name: &str, value: Expr) -> VerilogStatement {
    VerilogStatement::Assignment(vector(name).0, value.0)
}

/// `name` is the value of the first case whose condition holds, or `otherwise`.
pub(crate) fn choose(
    name: &str,
    cases: impl DoubleEndedIterator<Item = (Expr, Expr)>,
    otherwise: Expr,
) -> VerilogStatement {
    let last = assign(name, otherwise);
    cases.rev().fold(last, |rest, (condition, value)| {
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

/// A combinational block.
pub(crate) fn combinational(statements: Vec<VerilogStatement>) -> Verilog {
    Verilog::Combinatorial(statements)
}

fn index_of(name: &str, index: usize) -> VerilogExpression {
    VerilogExpression::Index(
        Box::new(vector(name).0),
        // A plain decimal; a literal would be printed with 64 bits.
        Box::new(vector(&index.to_string()).0),
    )
}

fn binary(a: VerilogExpression, op: VerilogOp, b: VerilogExpression) -> Expr {
    Expr(VerilogExpression::Binary(Box::new(a), op, Box::new(b)))
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
        Expr(VerilogExpression::Unary(
            VerilogOpUnary::Not,
            Box::new(self.0),
        ))
    }
}
