//! Whether what is described through the syntax tree fits together: every
//! signal exists before it is read, and operands and targets are as wide as
//! each other.

use rust_hdl::core::ast::{VerilogExpression, VerilogOp, VerilogOpUnary, VerilogStatement};
use std::collections::HashMap;

/// A signal inside a module.
#[derive(Debug)]
pub(crate) struct Local {
    pub name: String,
    pub width: usize,
}

/// The widths of the signals that a block has, by name.
#[derive(Clone, Default)]
pub(crate) struct Widths {
    signals: HashMap<String, usize>,
}

type Checked<T> = std::result::Result<T, String>;

impl Widths {
    pub(crate) fn new(signals: impl IntoIterator<Item = (String, usize)>) -> Self {
        Widths {
            signals: signals.into_iter().collect(),
        }
    }

    pub(crate) fn insert(&mut self, name: &str, width: usize) {
        self.signals.insert(name.to_owned(), width);
    }

    /// Checks statements in their order, and returns the signals that they
    /// write but that were not there. Fails with the first thing that does not
    /// fit.
    pub(crate) fn check(&mut self, statements: &[VerilogStatement]) -> Checked<Vec<Local>> {
        let mut new = Vec::new();
        for statement in statements {
            if let Some((name, value)) = written(statement)
                && !self.signals.contains_key(name)
            {
                let width = self.of(value)?;
                self.insert(name, width);
                new.push(Local {
                    name: name.clone(),
                    width,
                });
            }
            self.statement(statement)?;
        }
        Ok(new)
    }

    fn statement(&self, statement: &VerilogStatement) -> Checked<()> {
        match statement {
            VerilogStatement::Assignment(target, value) => self.equal(target, value).map(drop),
            other => Err(format!("not an assignment: {other:?}")),
        }
    }

    /// The width that two expressions share.
    fn equal(&self, a: &VerilogExpression, b: &VerilogExpression) -> Checked<usize> {
        let (first, second) = (self.of(a)?, self.of(b)?);
        if first == second {
            Ok(first)
        } else {
            Err(format!("{first} and {second} bits: {a:?}, {b:?}"))
        }
    }

    /// Bits of an expression.
    pub(crate) fn of(&self, value: &VerilogExpression) -> Checked<usize> {
        match value {
            VerilogExpression::Cast(inner, width) => match self.of(inner)? {
                1 => Ok(*width),
                bits if bits <= *width && !is_signed(inner) => Ok(*width),
                bits => Err(format!("{bits} bits as {width}: {inner:?}")),
            },
            VerilogExpression::Signed(inner) | VerilogExpression::Unsigned(inner) => self.of(inner),
            VerilogExpression::Signal(name) => self.named(name),
            VerilogExpression::Paren(inner) => self.of(inner),
            VerilogExpression::Unary(VerilogOpUnary::Any | VerilogOpUnary::All, a) => {
                self.of(a)?;
                Ok(1)
            }
            VerilogExpression::Unary(_, a) => self.of(a),
            VerilogExpression::Binary(a, VerilogOp::Shl | VerilogOp::Shr, _) => self.of(a),
            VerilogExpression::Binary(a, op, b) => {
                let width = self.equal(a, b)?;
                Ok(if compares(op) { 1 } else { width })
            }
            VerilogExpression::Index(signal, index) => self.inside(signal, index, 1),
            VerilogExpression::Slice(signal, width, from) => self.inside(signal, from, *width),
            other => Err(format!("not an expression of the kit: {other:?}")),
        }
    }

    /// `width` bits from `from` on, if the signal has them.
    fn inside(
        &self,
        signal: &VerilogExpression,
        from: &VerilogExpression,
        width: usize,
    ) -> Checked<usize> {
        let from = match from {
            VerilogExpression::Signal(digits) => digits.parse::<usize>().ok(),
            _ => None,
        };
        let all = self.of(signal)?;
        match from {
            Some(from) if from + width <= all => Ok(width),
            _ => Err(format!(
                "bits that {signal:?} does not have: {from:?}, {width}"
            )),
        }
    }

    fn named(&self, name: &str) -> Checked<usize> {
        let literal = || name.split_once('\'')?.0.parse().ok();
        let found = self.signals.get(name).copied().or_else(literal);
        found.ok_or_else(|| format!("there is no signal {name}"))
    }
}

/// The signal that a statement writes as a whole, and a value that it gets.
pub(crate) fn written(statement: &VerilogStatement) -> Option<(&String, &VerilogExpression)> {
    match statement {
        VerilogStatement::Assignment(VerilogExpression::Signal(name), value) => Some((name, value)),
        VerilogStatement::If(choice) => choice.then.first().and_then(written),
        VerilogStatement::Match(table) => table.cases.first()?.block.first().and_then(written),
        _ => None,
    }
}

/// Whether the result of `op` is one bit.
pub(crate) fn compares(op: &VerilogOp) -> bool {
    use VerilogOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq | Ne | Lt | Le | Ge | Gt)
}

fn is_signed(value: &VerilogExpression) -> bool {
    matches!(value, VerilogExpression::Signed(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{assign, assign_bit, bit, copies, equals, wire};

    fn known() -> Widths {
        Widths::new([("kind".into(), 4), ("wide".into(), 5), ("one".into(), 1)])
    }

    #[test]
    fn a_signal_that_is_not_there_is_as_wide_as_its_value() {
        let mut widths = known();
        let new = widths.check(&[assign("next", wire("wide"))]).unwrap();
        assert_eq!((new[0].name.as_str(), new[0].width), ("next", 5));
        assert!(widths.check(&[assign("next", wire("kind"))]).is_err());
        let late = [assign("a", wire("b")), assign("b", wire("one"))];
        assert!(widths.check(&late).is_err());
    }

    #[test]
    fn copies_are_of_one_bit() {
        let fits = |value| known().check(&[assign("kind", value)]).is_ok();
        assert!(fits(copies(4, "one")));
        assert!(!fits(copies(4, "kind")));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let fits = |statement| known().check(&[statement]).is_ok();
        assert!(fits(assign("one", equals("kind", 4, 1) & wire("one"))));
        assert!(fits(assign_bit("wide", 4, bit("kind", 3))));
        assert!(!fits(assign("one", wire("kind"))));
        assert!(!fits(assign("one", equals("wide", 4, 1))));
        assert!(!fits(assign("kind", wire("kind") & wire("wide"))));
        assert!(!fits(assign("one", bit("kind", 4))));
        assert!(!fits(assign("one", wire("none"))));
    }
}
