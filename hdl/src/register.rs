//! Registers: each is stated once, with its reset value and its next state.

use crate::item::{Declaration, Item, Next, Update};
use crate::origin::Origin;
use crate::port::Dir;
use crate::signal::{Bits, Expr, Operand, Signal, Value, all_bits, register_name, when};
use crate::size::{Size, interned};
use crate::tree::Tree;
use crate::unit::{Kind, UnitBuilder};

/// Builds a register. It needs a reset value, or the valid bit that covers it.
#[must_use]
pub(crate) struct Register<'u> {
    unit: &'u UnitBuilder,
    name: &'u str,
    width: Size,
    /// Description of the port, for an output.
    doc: Option<&'u str>,
    /// The line that names it.
    at: Origin,
}

impl<'u> Register<'u> {
    #[track_caller]
    pub(crate) fn new(
        unit: &'u UnitBuilder,
        name: &'u str,
        width: Size,
        doc: Option<&'u str>,
    ) -> Self {
        Register {
            unit,
            name,
            width,
            doc,
            at: Origin::caller(),
        }
    }

    /// The register, named by another line.
    pub(crate) fn named_at(self, at: Origin) -> Self {
        Register { at, ..self }
    }

    /// A reset sets it to `value`.
    #[track_caller]
    pub(crate) fn reset(self, value: impl Into<Operand>) -> Signal {
        let value = match value.into() {
            Operand::Number(0) => all_bits(self.width, false),
            value => value.beside(self.width),
        };
        self.state(Ok(value))
    }

    /// A reset sets all of its bits.
    #[track_caller]
    pub(crate) fn reset_to_ones(self) -> Signal {
        let ones = all_bits(self.width, true);
        self.state(Ok(ones))
    }

    /// No reset: it is used only while `valid`, which has one, is set.
    #[track_caller]
    pub(crate) fn covered_by(self, valid: Signal) -> Signal {
        let (name, valid_name) = (self.name, valid.name);
        assert!(
            self.unit.may_be_reset(valid),
            "{valid_name}, which covers {name}, has no reset"
        );
        self.without_reset(&format!("`{valid_name}` covers it"))
    }

    /// No reset, for a reason that completes `no reset: `.
    #[track_caller]
    pub(crate) fn without_reset(self, reason: &str) -> Signal {
        assert!(self.doc.is_none(), "the output {} has no reset", self.name);
        let reason = Err(interned(reason));
        self.state(reason)
    }

    /// Declares it with what a reset makes of it, or why it has none; of an output,
    /// also the port that shows it.
    #[track_caller]
    fn state(self, reset: Result<Expr, &'static str>) -> Signal {
        let Register {
            unit, name, width, ..
        } = self;
        let no_reset = reset.as_ref().err().copied();
        let kind = Kind::Register(reset.ok());
        let own = register_name(name);
        let Some(doc) = self.doc else {
            let signal = unit.signal(&own, width, kind);
            let declaration = Declaration {
                no_reset,
                ..Declaration::new("reg", signal)
            };
            unit.add_from(self.at, Item::Declaration(declaration));
            return signal;
        };
        let port = unit.port(self.at, name, (Dir::Out, Kind::Wire), width, doc);
        let register = unit.signal(&own, width, kind);
        unit.drive(&port.into());
        unit.shown_by(port, register, self.at);
        register
    }
}

/// An update that is being written.
#[derive(Clone, Copy)]
pub(crate) struct Clocked<'u>(&'u UnitBuilder);

impl Clocked<'_> {
    /// Lets the registers change in cycles with `condition` only.
    pub(crate) fn when(self, condition: impl Into<Expr>) -> Self {
        let condition = condition.into();
        self.change(|update| update.when = Some(condition))
    }

    /// Lets the registers start again, as from a reset, in cycles with `condition`.
    pub(crate) fn clear(self, condition: impl Into<Expr>) -> Self {
        let condition = condition.into();
        self.change(|update| update.clear = Some(condition))
    }

    /// The next state of `register`, or of a part of it. If it has cases and
    /// none applies, the register keeps its value.
    #[track_caller]
    pub(crate) fn next(self, register: impl Into<Expr>, value: impl Into<Value>) -> Self {
        let register = register.into();
        let reset = self.0.drive_register(&register);
        let reset = reset.map(|value| (register.tree.clone(), value));
        self.becomes(register, reset, value.into())
    }

    /// The next state of bit `index` of `register`. A reset clears all bits.
    #[track_caller]
    pub(crate) fn next_bit(
        self,
        register: Signal,
        index: impl Into<Expr>,
        value: impl Into<Value>,
    ) -> Self {
        let reset = self.0.drive_register(&register.into());
        let reset = reset.map(|value| (Tree::Name(register.name), value));
        self.becomes(register.select(index), reset, value.into())
    }

    #[track_caller]
    fn becomes(self, register: Expr, reset: Option<(Tree, Tree)>, value: Value) -> Self {
        let width = register.width;
        let case = |(condition, value): (Expr, Operand)| (condition, value.beside(width));
        let next = Next {
            at: Origin::caller(),
            reset,
            register,
            cases: value.cases.into_iter().map(case).collect(),
            value: value.otherwise.map(|value| value.beside(width)),
            bytes: None,
        };
        self.change(|update| update.next.push(next))
    }

    /// The bytes of `word` that `enable` has, a bit for each, become those of
    /// `data`.
    #[track_caller]
    pub(crate) fn next_bytes(self, word: Expr, enable: Signal, data: Signal) -> Self {
        let (bytes, width) = (8 * enable.width.plain(), word.width);
        assert!(bytes.same(width.plain()), "{} for {word:?}", enable.name);
        self.next(word, data).change(|update| {
            update.next.last_mut().expect("it is there").bytes = Some(enable);
        })
    }

    fn change(self, change: impl FnOnce(&mut Update)) -> Self {
        self.0.change_last(|item| match item {
            Item::Update(update) => change(update),
            other => panic!("a clocked block, not {other:?}"),
        });
        self
    }
}

impl UnitBuilder {
    /// A register; the returned builder requires a reset.
    #[track_caller]
    pub(crate) fn register<'u>(&'u self, name: &'u str, width: impl Into<Size>) -> Register<'u> {
        Register::new(self, name, width.into(), None)
    }

    /// An output that is a register.
    #[track_caller]
    pub(crate) fn output_register<'u>(
        &'u self,
        name: &'u str,
        width: impl Into<Size>,
        doc: &'u str,
    ) -> Register<'u> {
        Register::new(self, name, width.into(), Some(doc))
    }

    /// A register that counts from 0: up in cycles with `up`, down in those with
    /// `down`, neither with both.
    #[track_caller]
    pub(crate) fn counter(
        &self,
        name: &str,
        width: impl Into<Size>,
        up: impl Into<Expr>,
        down: impl Into<Expr>,
    ) -> Signal {
        let count = self.register(name, width).reset(0);
        self.at_clock().next(count, counted(count, up, down));
        count
    }

    /// Registers that change at clock edges.
    #[track_caller]
    pub(crate) fn at_clock(&self) -> Clocked<'_> {
        self.add(Item::Update(Update::default()));
        Clocked(self)
    }
}

/// The next state of a count: one more with `up`, one less with `down`; with
/// neither or both it is unchanged, and there is no case.
pub(crate) fn counted(count: Signal, up: impl Into<Expr>, down: impl Into<Expr>) -> Value {
    let (up, down) = (up.into(), down.into());
    when(up.clone() & !down.clone(), count + 1).when(down & !up, count - 1)
}
