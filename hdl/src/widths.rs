//! Whether what is described through the syntax tree fits together: every
//! signal exists, and operands and targets are as wide as each other.

use crate::codes::FIELDS;
use rust_hdl::core::ast::{
    VerilogBlockOrConditional, VerilogConditional, VerilogExpression, VerilogOp, VerilogOpUnary,
    VerilogStatement,
};
use std::collections::HashMap;

/// The widths of the signals that a block has, by name.
pub(crate) struct Widths(HashMap<String, usize>);

type Checked<T> = std::result::Result<T, String>;

impl Widths {
    pub(crate) fn new(signals: impl IntoIterator<Item = (String, usize)>) -> Self {
        Widths(signals.into_iter().collect())
    }

    /// Fails with the first thing that does not fit.
    pub(crate) fn check(&self, statements: &[VerilogStatement]) -> Checked<()> {
        statements.iter().try_for_each(|s| self.statement(s))
    }

    fn statement(&self, statement: &VerilogStatement) -> Checked<()> {
        match statement {
            VerilogStatement::Assignment(target, value) => {
                self.equal(target, value)?;
                Ok(())
            }
            VerilogStatement::If(choice) => self.choice(choice),
            other => Err(format!("not an assignment: {other:?}")),
        }
    }

    fn choice(&self, choice: &VerilogConditional) -> Checked<()> {
        if self.of(&choice.test)? != 1 {
            return Err(format!("a condition of several bits: {:?}", choice.test));
        }
        self.check(&choice.then)?;
        match &choice.otherwise {
            VerilogBlockOrConditional::Block(statements) => self.check(statements),
            VerilogBlockOrConditional::Conditional(next) => self.statement(next),
            VerilogBlockOrConditional::None => Err("a choice without its last case".into()),
        }
    }

    /// The width that two expressions share.
    fn equal(&self, a: &VerilogExpression, b: &VerilogExpression) -> Checked<usize> {
        let (first, second) = (self.of(a)?, self.of(b)?);
        match first == second {
            true => Ok(first),
            false => Err(format!("{first} and {second} bits: {a:?}, {b:?}")),
        }
    }

    fn of(&self, value: &VerilogExpression) -> Checked<usize> {
        match value {
            VerilogExpression::Signal(name) => self.named(name),
            VerilogExpression::Paren(inner) => self.of(inner),
            VerilogExpression::Unary(VerilogOpUnary::Any | VerilogOpUnary::All, a) => {
                self.of(a)?;
                Ok(1)
            }
            VerilogExpression::Unary(_, a) => self.of(a),
            VerilogExpression::Binary(a, op, b) => {
                let width = self.equal(a, b)?;
                let compares = matches!(
                    op,
                    VerilogOp::Eq | VerilogOp::Le | VerilogOp::Ge | VerilogOp::Gt
                );
                Ok(if compares { 1 } else { width })
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
        let code = || {
            let named = |code: &str, prefix: &str| name == format!("{prefix}_{code}");
            let field = FIELDS
                .iter()
                .find(|f| f.codes.iter().any(|(code, _)| named(code, f.prefix)))?;
            Some(field.width)
        };
        let found = self.0.get(name).copied().or_else(literal).or_else(code);
        found.ok_or_else(|| format!("there is no signal {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{any, assign, assign_bit, bit, is, vector};

    #[test]
    fn what_does_not_fit_is_refused() {
        let widths = Widths::new([("kind".into(), 4), ("wide".into(), 5), ("one".into(), 1)]);
        let fits = |statement| widths.check(&[statement]).is_ok();
        assert!(fits(assign("one", is("kind", "KIND_LOAD") & any("wide"))));
        assert!(fits(assign_bit("wide", 4, bit("kind", 3))));
        assert!(!fits(assign("one", vector("kind"))));
        assert!(!fits(assign("one", is("wide", "KIND_LOAD"))));
        assert!(!fits(assign("kind", vector("kind") & vector("wide"))));
        assert!(!fits(assign("one", bit("kind", 4))));
        assert!(!fits(assign("one", vector("none"))));
    }
}
