//! Values by cases.

use super::{Expr, Operand, Signal};
use crate::size::Size;
use crate::tree::{Statement, Tree};

/// `target` by the code that `of` has: a statement for all of its values.
#[track_caller]
pub(crate) fn table<const N: usize>(
    target: Signal,
    of: Signal,
    values: [(Expr, Expr); N],
    otherwise: Expr,
) -> Statement {
    let value = |value: Expr| Operand::Expr(value).beside(target.width).tree;
    let coded = |(code, of_code): (Expr, Expr)| {
        let code = Operand::Expr(code).beside(of.width);
        (code.tree, value(of_code))
    };
    Statement::Table {
        target: Tree::Name(target.name),
        of: Tree::Name(of.name),
        cases: values.into_iter().map(coded).collect(),
        otherwise: value(otherwise),
    }
}

/// A value by cases: that of the first whose condition holds.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) cases: Vec<(Expr, Operand)>,
    pub(crate) otherwise: Option<Operand>,
}

/// `value` where `condition` holds; `otherwise` says what else.
pub(crate) fn when(condition: impl Into<Expr>, value: impl Into<Operand>) -> Value {
    let cases = vec![(condition.into(), value.into())];
    Value {
        cases,
        otherwise: None,
    }
}

impl Value {
    /// The value with another case: else `value` where `condition` holds.
    pub(crate) fn when(mut self, condition: impl Into<Expr>, value: impl Into<Operand>) -> Self {
        self.cases.push((condition.into(), value.into()));
        self
    }

    /// The value with its last case: else `value`.
    pub(crate) fn otherwise(mut self, value: impl Into<Operand>) -> Self {
        self.otherwise = Some(value.into());
        self
    }

    /// `target = value;`
    #[track_caller]
    pub(crate) fn assigned_to(self, target: &Expr) -> Statement {
        let width = target.width;
        let otherwise = self.otherwise.expect("the value of no case");
        let case = |(when, value): (Expr, Operand)| (when.tree, value.beside(width).tree);
        Statement::Choice {
            target: target.tree.clone(),
            cases: self.cases.into_iter().map(case).collect(),
            otherwise: otherwise.beside(width).tree,
        }
    }

    /// The width of the first value that has one of its own.
    #[track_caller]
    pub(crate) fn width(&self) -> Size {
        let values = self.cases.iter().map(|(_, value)| value);
        let width = values.chain(&self.otherwise).find_map(|value| match value {
            Operand::Expr(value) => Some(value.width),
            _ => None,
        });
        width.expect("a value of numbers alone has no width")
    }
}

impl<T: Into<Operand>> From<T> for Value {
    fn from(value: T) -> Self {
        Value {
            cases: Vec::new(),
            otherwise: Some(value.into()),
        }
    }
}
