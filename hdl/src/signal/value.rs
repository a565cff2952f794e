//! Values by cases.

use super::{Expr, Operand, Signal};
use crate::adapter;
use crate::size::Size;
use rust_hdl::core::ast::{
    VerilogBlockOrConditional, VerilogCase, VerilogConditional, VerilogMatch, VerilogStatement,
};

/// `target` by the code that `of` has: a statement for all of its values.
#[track_caller]
pub(crate) fn table<const N: usize>(
    target: Signal,
    of: Signal,
    values: [(Expr, Expr); N],
    otherwise: Expr,
) -> VerilogStatement {
    let target = Expr::from(target);
    let case = |condition: String, value: Expr| VerilogCase {
        condition,
        block: vec![Value::from(value).assigned_to(&target)],
    };
    let coded = |(code, value): (Expr, Expr)| {
        let code = Operand::Expr(code).beside(of.width);
        case(adapter::text(&code.tree), value)
    };
    let mut cases: Vec<_> = values.into_iter().map(coded).collect();
    cases.push(case("default".into(), otherwise));
    VerilogStatement::Match(VerilogMatch {
        test: Expr::from(of).tree,
        cases,
    })
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
    /// Else `value` where `condition` holds.
    pub(crate) fn when(mut self, condition: impl Into<Expr>, value: impl Into<Operand>) -> Self {
        self.cases.push((condition.into(), value.into()));
        self
    }

    /// Else `value`.
    pub(crate) fn otherwise(mut self, value: impl Into<Operand>) -> Self {
        self.otherwise = Some(value.into());
        self
    }

    /// `target = value;`
    #[track_caller]
    pub(crate) fn assigned_to(self, target: &Expr) -> VerilogStatement {
        let write = |value: Expr| VerilogStatement::Assignment(target.tree.clone(), value.tree);
        let width = target.width;
        let last = self.otherwise.expect("the value of no case");
        let last = write(last.beside(width));
        let cases = self.cases.into_iter().rev();
        cases.fold(last, |rest, (condition, value)| {
            let otherwise = match rest {
                VerilogStatement::If(_) => VerilogBlockOrConditional::Conditional(Box::new(rest)),
                rest => VerilogBlockOrConditional::Block(vec![rest]),
            };
            VerilogStatement::If(VerilogConditional {
                test: condition.tree,
                then: vec![write(value.beside(width))],
                otherwise,
            })
        })
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
