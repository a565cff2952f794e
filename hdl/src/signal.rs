//! Handles of signals, and expressions of them.
//!
//! A handle has a width, and so has every expression: what does not fit
//! together is refused where it is written, with the line of the description.

mod operators;
mod value;

pub(crate) use operators::Bits;
pub(crate) use value::{Value, table, when};

use crate::codes::Field;
use crate::size::{Size, interned};
use crate::tree::Tree;
use rust_hdl::ast::VerilogOp;
use std::fmt;

/// A port, wire or register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    /// Index of the signal in its unit.
    pub(crate) id: usize,
    pub(crate) name: &'static str,
    pub(crate) width: Size,
}

/// The name of the register `name` in the Verilog.
#[must_use]
pub fn register_name(name: &str) -> String {
    format!("{name}_q")
}

impl Signal {
    pub(crate) fn new(id: usize, name: &str, width: Size) -> Self {
        let name = interned(name);
        Signal { id, name, width }
    }

    /// The name in the unit's terms: a register without the suffix.
    pub(crate) fn stem(self) -> &'static str {
        self.name.strip_suffix("_q").unwrap_or(self.name)
    }

    /// The name of a register's next state.
    pub(crate) fn next_state(self) -> String {
        format!("{}_d", self.stem())
    }
}

/// Bits of a signal: all, or this many from one on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Index of the signal in the unit.
    pub(crate) signal: usize,
    pub(crate) bits: Option<(Size, Size)>,
}

impl Part {
    /// All bits of a signal.
    pub(crate) fn all(signal: Signal) -> Self {
        Part {
            signal: signal.id,
            bits: None,
        }
    }
}

/// An expression with its width.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) tree: Tree,
    pub(crate) width: Size,
    /// The signal that this is, or the part of one; several that lie side by side.
    pub(crate) of: Vec<Part>,
    /// Verilog can select bits of it: a whole signal, or a word of a memory.
    pub(crate) selectable: bool,
}

/// An operand: an expression, or a number as wide as the other operand.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Expr(Expr),
    Number(usize),
    Index(Size),
}

impl Operand {
    /// The operand, as wide as the other operand of `width` bits.
    #[track_caller]
    pub(crate) fn beside(self, width: Size) -> Expr {
        match self {
            Operand::Number(value) => Expr::new(Tree::constant(width.plain(), value), width),
            Operand::Index(size) => Expr::new(Tree::Number(size.number()), width),
            Operand::Expr(value) => {
                let own = value.width;
                assert!(own.same(width), "{value} has {own} bits beside {width}");
                value
            }
        }
    }
}

impl From<usize> for Operand {
    fn from(value: usize) -> Self {
        Operand::Number(value)
    }
}

impl From<Size> for Operand {
    fn from(size: Size) -> Self {
        Operand::Index(size)
    }
}

impl<T: Into<Expr>> From<T> for Operand {
    fn from(value: T) -> Self {
        Operand::Expr(value.into())
    }
}

impl From<Signal> for Expr {
    fn from(signal: Signal) -> Self {
        Expr {
            of: vec![Part::all(signal)],
            selectable: true,
            ..Expr::new(Tree::Name(signal.name), signal.width)
        }
    }
}

/// The constant `value` of `width` bits, as a decimal in every width.
pub(crate) fn number(width: usize, value: usize) -> Expr {
    Expr::new(Tree::Decimal { width, value }, width.into())
}

/// The constant of which all bits are `bit`.
pub(crate) fn all_bits(width: Size, bit: bool) -> Expr {
    Expr::new(Tree::all_bits(width, bit), width)
}

/// Whether two indices of loops are the same.
pub(crate) fn same(index: Size, other: Size) -> Expr {
    compared(index, VerilogOp::Eq, other)
}

/// Whether an index of a loop is below another.
pub(crate) fn below(index: Size, other: Size) -> Expr {
    compared(index, VerilogOp::Lt, other)
}

fn compared(index: Size, op: VerilogOp, other: Size) -> Expr {
    let [index, other] = [index, other].map(|size| Box::new(Tree::Number(size.number())));
    Expr::new(Tree::Binary(index, op, other), 1.into())
}

/// The constant of which one bit is set.
pub(crate) fn one_hot(width: Size, index: usize) -> Expr {
    let bits = width.value().expect("a constant has one width");
    Expr::new(Tree::OneHot { width: bits, index }, width)
}

/// The code of that value.
pub(crate) fn code(field: &Field, value: u8) -> Expr {
    Expr::new(
        Tree::Number(place(field, value).number()),
        field.width.into(),
    )
}

/// The code of that value as a number, which can index a bit.
pub(crate) fn place(field: &Field, value: u8) -> Size {
    let code = field.codes.iter().find(|(_, own)| *own == value);
    let (name, _) = code.unwrap_or_else(|| panic!("{} has no code {value}", field.prefix));
    Size::named(&field.name(name), value.into())
}

/// The bits of all parts side by side, the first in the high bits; of signals
/// alone, it can be given a value.
pub(crate) fn concat(parts: impl IntoIterator<Item = Expr>) -> Expr {
    let parts: Vec<Expr> = parts.into_iter().collect();
    let width = parts.iter().map(|part| part.width).reduce(|a, b| a + b);
    let signals = parts.iter().all(|part| !part.of.is_empty());
    let (trees, of): (_, Vec<_>) = parts.into_iter().map(|part| (part.tree, part.of)).unzip();
    let of = of.into_iter().flatten().filter(|_| signals);
    Expr {
        of: of.collect(),
        ..Expr::new(
            Tree::Concat(trees),
            width.expect("a concatenation has parts"),
        )
    }
}

/// OR of all terms, of which there is at least one.
#[track_caller]
pub(crate) fn or_all(terms: impl IntoIterator<Item = Expr>) -> Expr {
    let joined = terms.into_iter().reduce(|a, b| a | b);
    joined.expect("cannot OR an empty list: it has no width")
}

/// XOR of all terms, of which there is at least one.
#[track_caller]
pub(crate) fn xor_all(terms: impl IntoIterator<Item = Expr>) -> Expr {
    let joined = terms.into_iter().reduce(|a, b| a ^ b);
    joined.expect("an XOR of nothing has no width")
}

/// An AND-OR multiplexer: OR over (select, data) of both.
#[track_caller]
pub(crate) fn and_or(terms: impl IntoIterator<Item = (Expr, Expr)>) -> Expr {
    or_all(terms.into_iter().map(|(select, data)| select & data))
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tree.fmt(f)
    }
}

impl Expr {
    pub(crate) fn new(tree: Tree, width: Size) -> Self {
        Expr {
            tree,
            width,
            of: Vec::new(),
            selectable: false,
        }
    }
}
