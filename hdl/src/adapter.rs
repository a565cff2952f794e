//! From expressions to rust-hdl's syntax tree, right before they are printed;
//! what that tree cannot say is here.
//!
//! Its operators and statements are used as they are. It has no name for a
//! width and no index that a loop computes (`Slice` and `Cast` hold a number),
//! no concatenation and no replication, so these are leaves of the tree,
//! `Signal`s that hold their text, with a line break where a long line may be
//! broken. Its statements are those of one combinational block: declarations,
//! clocked blocks, `generate` and instances with port expressions are items
//! around them (`item`).

use crate::number::{Form, Spaces};
use crate::print;
use crate::signal::{Select, Statement, Tree};
use crate::size::Size;
use rust_hdl::core::ast::{
    VerilogBlockOrConditional, VerilogCase, VerilogConditional, VerilogExpression, VerilogMatch,
    VerilogStatement,
};

/// An expression as rust-hdl has it.
pub(crate) fn expression(tree: &Tree) -> VerilogExpression {
    let side = |tree| Box::new(expression(tree));
    match tree {
        Tree::Binary(a, op, b) => VerilogExpression::Binary(side(a), op.clone(), side(b)),
        Tree::Unary(op, value) => VerilogExpression::Unary(op.clone(), side(value)),
        leaf => VerilogExpression::Signal(leaf_text(leaf)),
    }
}

/// The text of an expression, in one line.
pub(crate) fn text(tree: &Tree) -> String {
    print::text(&expression(tree))
}

fn leaf_text(leaf: &Tree) -> String {
    match leaf {
        Tree::Name(name) => (*name).to_owned(),
        Tree::Iteration { label, index, name } => format!("{label}[{}].{name}", index.text()),
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
        Tree::Bits(all, select) => format!("{}[{}]", text(all), selected(select)),
        Tree::Concat(parts) => {
            let parts: Vec<_> = parts.iter().map(text).collect();
            format!("{{{}}}", parts.join(",\n"))
        }
        Tree::Call(function, value) => format!("{function}({})", text(value)),
        Tree::Binary(..) | Tree::Unary(..) => unreachable!("no leaf: {leaf:?}"),
    }
}

fn selected(select: &Select) -> String {
    match select {
        Select::At(index) => index.text(),
        Select::By(index) => text(index),
        Select::Range(high, low) => format!("{}:{}", high.text(), low.text()),
        Select::From(from, count) => format!("{} +: {}", from.text(), count.text()),
    }
}

fn copies(count: Size, bit: &str) -> String {
    let text = count.text();
    match count.number().form() {
        Form::Literal | Form::Name => format!("{{{text}{{{bit}}}}}"),
        _ => format!("{{({text}){{{bit}}}}}"),
    }
}

/// A statement as rust-hdl has it.
pub(crate) fn statement(statement: &Statement) -> VerilogStatement {
    let write = |target: &Tree, value: &Tree| {
        VerilogStatement::Assignment(expression(target), expression(value))
    };
    match statement {
        Statement::Choice {
            target,
            cases,
            otherwise,
        } => {
            let cases = cases.iter().rev();
            cases.fold(write(target, otherwise), |rest, (condition, value)| {
                let otherwise = match rest {
                    VerilogStatement::If(_) => {
                        VerilogBlockOrConditional::Conditional(Box::new(rest))
                    }
                    rest => VerilogBlockOrConditional::Block(vec![rest]),
                };
                VerilogStatement::If(VerilogConditional {
                    test: expression(condition),
                    then: vec![write(target, value)],
                    otherwise,
                })
            })
        }
        Statement::Table {
            target,
            of,
            cases,
            otherwise,
        } => {
            let case = |condition, value| VerilogCase {
                condition,
                block: vec![write(target, value)],
            };
            let coded = cases.iter().map(|(code, value)| case(text(code), value));
            let last = case("default".into(), otherwise);
            VerilogStatement::Match(VerilogMatch {
                test: expression(of),
                cases: coded.chain([last]).collect(),
            })
        }
    }
}
