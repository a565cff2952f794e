//! A thin layer over rust-hdl's expression tree.
//!
//! rust-hdl writes expressions without parentheses, so every operator here
//! parenthesises its result: what is built is what Verilog means. Bit indices
//! are constants, which keeps the emitted text readable and free of width
//! warnings.

use rust_hdl::core::ast::{
    Verilog, VerilogExpression, VerilogOp, VerilogOpUnary, VerilogStatement,
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

/// The constant 0 of one bit.
pub(crate) fn zero() -> Expr {
    vector("1'b0")
}

/// `name == value`, both `width` bits wide.
pub(crate) fn equals(name: &str, width: usize, value: usize) -> Expr {
    binary(
        vector(name).0,
        VerilogOp::Eq,
        vector(&format!("{width}'d{value}")).0,
    )
}

/// `a + b`, modulo the width of the two.
pub(crate) fn sum(a: Expr, b: Expr) -> Expr {
    binary(a.0, VerilogOp::Add, b.0)
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
    let inner = VerilogExpression::Binary(Box::new(a), op, Box::new(b));
    Expr(VerilogExpression::Paren(Box::new(inner)))
}

/// One pair of parentheses around `a op b op c`: equal operators associate.
fn chain(terms: impl IntoIterator<Item = Expr>, op: fn() -> VerilogOp) -> Expr {
    let mut terms = terms.into_iter();
    let Some(first) = terms.next() else {
        return zero();
    };
    let mut count = 1;
    let joined = terms.fold(first.0, |a, b| {
        count += 1;
        VerilogExpression::Binary(Box::new(a), op(), Box::new(b.0))
    });
    match count {
        1 => Expr(joined),
        _ => Expr(VerilogExpression::Paren(Box::new(joined))),
    }
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
