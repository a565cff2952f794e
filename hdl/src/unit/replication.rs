//! Replication: the loops and choices of `generate`.

use super::UnitBuilder;
use crate::drivers::Scope;
use crate::item::{Item, Loop, Written};
use crate::number::{Number, Operator};
use crate::signal::{Expr, Signal};
use crate::size::Size;
use crate::tree::Tree;

/// An index of loops.
#[derive(Clone, Copy)]
pub(crate) struct Index(&'static str);

impl UnitBuilder {
    /// Indices for loops, declared here if they are used.
    #[track_caller]
    pub(crate) fn indices<const N: usize>(&self, names: [&'static str; N]) -> [Index; N] {
        self.add(Item::Indices(names.to_vec()));
        names.map(Index)
    }

    /// The text between `generate` and `endgenerate`.
    #[track_caller]
    pub(crate) fn generate<R>(&self, body: impl FnOnce() -> R) -> R {
        let (items, result) = self.block(body);
        self.add(Item::Generate(items));
        result
    }

    /// Repeats `body` for the index from `from` to below `to`.
    #[track_caller]
    pub(crate) fn each<R>(
        &self,
        label: &'static str,
        Index(index): Index,
        (from, to): (impl Into<Size>, impl Into<Size>),
        body: impl FnOnce(Size) -> R,
    ) -> R {
        let (from, to): (Size, Size) = (from.into(), to.into());
        let iteration = Size::index(index, from, to);
        let entered = Loop {
            label,
            index,
            from,
            to,
        };
        let (items, result) = self.scope(Scope::Loop(entered), || body(iteration));
        self.add(Item::Loop(entered, items));
        result
    }

    /// The signal in iteration `index` of the loop that declares it.
    #[track_caller]
    pub(crate) fn of_iteration(&self, signal: Signal, index: impl Into<Size>) -> Expr {
        let index = index.into();
        let state = self.state.borrow();
        let scopes = state.signals[signal.id].scopes.iter().rev();
        let mut loops = scopes.filter_map(|scope| match *scope {
            Scope::Loop(Loop { label, to, .. }) => Some((label, to)),
            Scope::Where { .. } => None,
        });
        let innermost = loops.next();
        let (label, end) = innermost.unwrap_or_else(|| panic!("{} is in no loop", signal.name));
        let fits = (index + 1).within(end);
        assert!(fits, "{label} has no iteration {index}");
        let name = signal.name;
        Expr {
            selectable: true,
            ..Expr::new(Tree::Iteration { label, index, name }, signal.width)
        }
    }

    /// One block for the first iteration of a loop, and another for the others.
    #[track_caller]
    pub(crate) fn first(
        &self,
        index: Size,
        (first, in_first): (&'static str, impl FnOnce(Size)),
        (others, in_others): (&'static str, impl FnOnce(Size)),
    ) {
        self.either(
            (Operator::Equal, index, 0.into()),
            (first, || in_first(index)),
            (others, || in_others(index.after_first())),
        );
    }

    /// One block for the iterations of a loop below `end`, except the last, and
    /// another for the last.
    #[track_caller]
    pub(crate) fn last(
        &self,
        (index, end): (Size, Size),
        (before, in_others): (&'static str, impl FnOnce(Size)),
        (last, in_last): (&'static str, impl FnOnce(Size)),
    ) {
        self.either(
            (Operator::Less, index + 1, end),
            (before, || in_others(index.before_last())),
            (last, || in_last(index)),
        );
    }

    /// One block if a parameter is not 0, and another if it is.
    #[track_caller]
    pub(crate) fn where_set(
        &self,
        parameter: Size,
        set: (&'static str, impl FnOnce()),
        otherwise: (&'static str, impl FnOnce()),
    ) {
        self.either((Operator::Unequal, parameter, 0.into()), set, otherwise);
    }

    #[track_caller]
    fn either(
        &self,
        (operator, a, b): (Operator, Size, Size),
        (label, body): (&'static str, impl FnOnce()),
        (otherwise_label, otherwise): (&'static str, impl FnOnce()),
    ) {
        let condition = Number::binary(operator, a.number(), b.number());
        let when = |holds| Scope::Where { condition, holds };
        let one = (label, self.scope(when(true), body).0);
        let other = (otherwise_label, self.scope(when(false), otherwise).0);
        self.add(Item::Either(condition, [one, other]));
    }

    /// The items of a block that is a loop or a choice.
    fn scope<R>(&self, scope: Scope, body: impl FnOnce() -> R) -> (Vec<Written>, R) {
        self.state.borrow_mut().scopes.push(scope);
        let block = self.block(body);
        self.state.borrow_mut().scopes.pop();
        block
    }

    /// The items of a block, and what its description returns.
    pub(crate) fn block<R>(&self, body: impl FnOnce() -> R) -> (Vec<Written>, R) {
        self.state.borrow_mut().blocks.push(Vec::new());
        let result = body();
        let items = self.state.borrow_mut().blocks.pop();
        (items.expect("it has been pushed"), result)
    }
}
