//! Converts expressions to rust-hdl's syntax tree, right before they are
//! printed; constructs that its tree lacks are added here.
//!
//! Its operators are used unchanged. It has no name for a width and no index that a loop
//! computes (`Slice` and `Cast` hold a number), no concatenation and no replication, so
//! these are leaves of the tree, `Signal`s that hold their text, with a line break where
//! a long line may be broken. Its statements are those of a procedural block. It has no
//! continuous assignment, so a value by cases is a statement of `tree`; declarations,
//! clocked blocks, `generate` and instances with port expressions are items (`item`).

use crate::number::{Form, Spaces};
use crate::print;
use crate::reset::Reset;
use crate::size::Size;
use crate::tree::{Select, Tree};
use rust_hdl::ast::{VerilogExpression, VerilogOpUnary};
use std::fmt;

/// An expression as rust-hdl has it, in a module with that reset.
pub(crate) fn expression(tree: &Tree, reset: Reset) -> VerilogExpression {
    let side = |tree| Box::new(expression(tree, reset));
    match tree {
        Tree::Unary(VerilogOpUnary::Not, value) if reset.is_low() && value.is_reset() => {
            VerilogExpression::Signal(reset.port().into())
        }
        value if reset.is_low() && value.is_reset() => {
            let low = VerilogExpression::Signal(reset.port().into());
            VerilogExpression::Unary(VerilogOpUnary::Not, Box::new(low))
        }
        Tree::Binary(a, op, b) => VerilogExpression::Binary(side(a), op.clone(), side(b)),
        Tree::Unary(op, value) => VerilogExpression::Unary(op.clone(), side(value)),
        leaf => VerilogExpression::Signal(leaf_text(leaf, reset)),
    }
}

/// The text of an expression, in one line.
pub(crate) fn text(tree: &Tree, reset: Reset) -> String {
    print::text(&expression(tree, reset))
}

/// The expression in one line, for an active-high reset.
impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self, Reset::Sync))
    }
}

fn leaf_text(leaf: &Tree, reset: Reset) -> String {
    let text = |tree: &Tree| text(tree, reset);
    match leaf {
        Tree::Name(name) => (*name).to_owned(),
        Tree::Iteration { label, index, name } => format!("{label}[{index}].{name}"),
        Tree::Bit(bit) => format!("1'b{}", u8::from(*bit)),
        Tree::Decimal { width, value } => format!("{width}'d{value}"),
        Tree::OneHot { width, index } => {
            let digit = |i| if i == *index { '1' } else { '0' };
            format!(
                "{width}'b{}",
                (0..*width).rev().map(digit).collect::<String>()
            )
        }
        Tree::Number(number) => number.compared(Spaces::default()),
        Tree::Copies(count, bit) => copies(*count, &text(bit)),
        Tree::Bits(all, select) => format!("{}[{}]", text(all), selected(select, reset)),
        Tree::Concat(parts) => {
            let parts: Vec<_> = parts.iter().map(text).collect();
            format!("{{{}}}", parts.join(",\n"))
        }
        Tree::Call(function, value) => format!("{function}({})", text(value)),
        Tree::Binary(..) | Tree::Unary(..) => unreachable!("no leaf: {leaf:?}"),
    }
}

fn selected(select: &Select, reset: Reset) -> String {
    match select {
        Select::At(index) => index.text(),
        Select::By(index) => text(index, reset),
        Select::Range(high, low) => format!("{high}:{low}"),
        Select::From(from, count) => format!("{from} +: {count}"),
    }
}

fn copies(count: Size, bit: &str) -> String {
    let text = count.text();
    match count.number().form() {
        Form::Literal | Form::Name => format!("{{{text}{{{bit}}}}}"),
        _ => format!("{{({text}){{{bit}}}}}"),
    }
}
