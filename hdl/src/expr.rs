//! A thin layer over rust-hdl's expression tree.
//!
//! What is built is a tree; the printer (`print`) puts the parentheses. Bit
//! indices are constants, which keeps the emitted text readable and free of
//! width warnings.

use rust_hdl::core::ast::{
    Verilog, VerilogExpression, VerilogOp, VerilogOpUnary, VerilogStatement,
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

/// `width` copies of a bit: a number of one bit with its sign extended.
pub(crate) fn copies(width: usize, bit: impl Into<Expr>) -> Expr {
    let signed = VerilogExpression::Signed(Box::new(bit.into().0));
    Expr(VerilogExpression::Cast(Box::new(signed), width))
}

/// The value where a bit is set, else 0; both `width` bits wide.
pub(crate) fn gated(width: usize, value: impl Into<Expr>, bit: impl Into<Expr>) -> Expr {
    value.into() & copies(width, bit)
}

/// The constant 0 of one bit.
pub(crate) fn zero() -> Expr {
    wire("1'b0")
}

/// `name == value`, both `width` bits wide.
pub(crate) fn equals(name: &str, width: usize, value: usize) -> Expr {
    binary(wire(name).0, VerilogOp::Eq, number(width, value).0)
}

/// `a + b`, modulo the width of the two.
pub(crate) fn sum(a: impl Into<Expr>, b: impl Into<Expr>) -> Expr {
    binary(a.into().0, VerilogOp::Add, b.into().0)
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
