//! Assertions: what holds inside a unit, and what its neighbours have to keep.
//!
//! Assertions are in the module, next to the logic that they are about, but
//! only in its SystemVerilog flavour, and not for synthesis.

use crate::item::{Item, Property};
use crate::signal::{Expr, Signal};
use crate::tree::Tree;
use crate::unit::UnitBuilder;

impl UnitBuilder {
    /// Everything that `body` describes exists only with the assertions:
    /// properties, and the registers and wires that they need.
    #[track_caller]
    pub(crate) fn assertions<R>(&self, body: impl FnOnce() -> R) -> R {
        let (items, result) = self.block(body);
        self.add(Item::Assertions(items));
        result
    }

    /// At each clock edge outside of a reset at which `when` holds, `then`
    /// holds, too. `message` says what is wrong if not.
    #[track_caller]
    pub(crate) fn property(
        &self,
        name: &'static str,
        when: impl Into<Expr>,
        then: impl Into<Expr>,
        message: &'static str,
    ) {
        self.add(Item::Property(Property {
            name,
            when: when.into(),
            then: then.into(),
            message,
        }));
    }
}

/// The signals, or parts of them, have the values of the previous clock edge.
pub(crate) fn stable<T: Into<Expr>>(signals: impl IntoIterator<Item = T>) -> Expr {
    let same = |signal: T| call("$stable", signal.into().tree);
    let all = signals.into_iter().map(same).reduce(|a, b| a & b);
    all.expect("there is a signal")
}

/// At most one of the signals is set.
pub(crate) fn one_at_most(signals: impl IntoIterator<Item = Signal>) -> Expr {
    let names = signals.into_iter().map(|signal| Tree::Name(signal.name));
    call("$onehot0", Tree::Concat(names.collect()))
}

/// A system function that makes one bit of a value.
fn call(function: &'static str, value: Tree) -> Expr {
    Expr::new(Tree::Call(function, Box::new(value)), 1.into())
}

/// A source keeps its offer, `valid` and `payload`, until it is taken. The
/// register `waits` notes an offer that was not taken.
#[track_caller]
pub(crate) fn offer_is_held<T: Into<Expr>>(
    u: &UnitBuilder,
    (name, message): (&'static str, &'static str),
    waits: &str,
    (valid, taken): (impl Into<Expr>, impl Into<Expr>),
    payload: impl IntoIterator<Item = T>,
) {
    let valid = valid.into();
    let waits = u.register(waits, 1).reset(0);
    u.at_clock().next(waits, valid.clone() & !taken.into());
    u.property(name, waits, valid & stable(payload), message);
}
