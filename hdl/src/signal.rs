//! Handles of signals, and expressions of them.
//!
//! A handle has a width, and so has every expression: what does not fit
//! together is refused where it is written, with the line of the description.

use crate::adapter;
use crate::codes::Field;
use crate::size::{Size, interned};
use rust_hdl::core::ast::{
    VerilogBlockOrConditional, VerilogCase, VerilogConditional, VerilogExpression, VerilogMatch,
    VerilogOp, VerilogOpUnary, VerilogStatement,
};
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Sub};

/// A port, wire or register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    /// Its place among the signals of its unit.
    pub(crate) id: usize,
    pub(crate) name: &'static str,
    pub(crate) width: Size,
}

/// A Verilog expression with its width.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) tree: VerilogExpression,
    pub(crate) width: Size,
    /// The signal that this is, or is a part of; several that lie side by side.
    pub(crate) of: Vec<usize>,
}

/// An operand: an expression, or a number as wide as the other operand.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    Expr(Expr),
    Number(usize),
    Index(Size),
}

impl Operand {
    /// The operand beside something of `width` bits.
    #[track_caller]
    pub(crate) fn beside(self, width: Size) -> Expr {
        match self {
            Operand::Number(value) => Expr::leaf(&adapter::number(width.plain(), value), width),
            Operand::Index(size) => Expr::leaf(size.text(), width),
            Operand::Expr(value) => {
                let (own, tree) = (value.width, &value.tree);
                assert!(
                    own.same(width),
                    "{} has {} bits beside {}",
                    adapter::text(tree),
                    own.text(),
                    width.text()
                );
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
            of: vec![signal.id],
            ..Expr::leaf(signal.name, signal.width)
        }
    }
}

/// The constant `value` of `width` bits, as a decimal in every width.
pub(crate) fn number(width: usize, value: usize) -> Expr {
    Expr::leaf(&format!("{width}'d{value}"), width.into())
}

/// The constant of which one bit is set.
pub(crate) fn one_hot(width: Size, index: usize) -> Expr {
    let bits = width.value().expect("a constant has one width");
    let digit = |i| if i == index { '1' } else { '0' };
    let digits: String = (0..bits).rev().map(digit).collect();
    Expr::leaf(&format!("{bits}'b{digits}"), width)
}

/// The code of that value.
pub(crate) fn code(field: &Field, value: u8) -> Expr {
    let code = field.codes.iter().find(|(_, own)| *own == value);
    let (name, _) = code.unwrap_or_else(|| panic!("{} has no code {value}", field.prefix));
    Expr::leaf(&format!("{}_{name}", field.prefix), field.width.into())
}

/// The code of that value as a number: the place of a bit.
pub(crate) fn place(field: &Field, value: u8) -> Size {
    let name = adapter::text(&code(field, value).tree);
    Size::named(&name, value.into())
}

/// The bits of all parts side by side, the first in the high bits; of signals
/// alone, it can be given a value.
pub(crate) fn concat(parts: impl IntoIterator<Item = Expr>) -> Expr {
    let parts: Vec<Expr> = parts.into_iter().collect();
    let width = parts.iter().map(|part| part.width).reduce(|a, b| a + b);
    let texts: Vec<_> = parts.iter().map(|part| adapter::text(&part.tree)).collect();
    let text = format!("{{{}}}", texts.join(", "));
    let signals = parts.iter().all(|part| !part.of.is_empty());
    let of = parts.into_iter().flat_map(|part| part.of);
    Expr {
        of: of.filter(|_| signals).collect(),
        ..Expr::leaf(&text, width.expect("a concatenation has parts"))
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

impl Expr {
    pub(crate) fn leaf(text: &str, width: Size) -> Self {
        Expr {
            tree: VerilogExpression::Signal(text.to_owned()),
            width,
            of: Vec::new(),
        }
    }

    /// The bits named by `select`, of a signal.
    fn part_of(self, select: String, width: Size) -> Expr {
        let text = format!("{}[{select}]", adapter::text(&self.tree));
        let of = self.of;
        Expr {
            of,
            ..Expr::leaf(&text, width)
        }
    }

    #[track_caller]
    fn binary(self, op: VerilogOp, other: Operand) -> Expr {
        let other = other.beside(self.width);
        // Of two texts for one width, the one with names tells more.
        let width = if self.width.is_number() {
            other.width
        } else {
            self.width
        };
        Expr {
            tree: VerilogExpression::Binary(Box::new(self.tree), op, Box::new(other.tree)),
            width,
            of: Vec::new(),
        }
    }

    #[track_caller]
    fn comparison(self, op: VerilogOp, other: Operand) -> Expr {
        let both = self.binary(op, other);
        Expr {
            width: 1.into(),
            ..both
        }
    }

    fn shifted(self, op: VerilogOp, by: Size) -> Expr {
        let width = self.width;
        let by = Expr::leaf(&by.compared(), width);
        self.binary(op, Operand::Expr(by))
    }

    fn unary(self, op: VerilogOpUnary, width: Size) -> Expr {
        let tree = VerilogExpression::Unary(op, Box::new(self.tree));
        Expr {
            tree,
            width,
            of: Vec::new(),
        }
    }
}

/// What can be done with a signal as with any expression.
pub(crate) trait Bits: Into<Expr> {
    /// Bit `index`.
    #[track_caller]
    fn at(self, index: impl Into<Size>) -> Expr {
        let (all, index): (Expr, Size) = (self.into(), index.into());
        let fits = (index + 1).within(all.width);
        assert!(
            fits,
            "{} has no bit {}",
            adapter::text(&all.tree),
            index.text()
        );
        if all.width.is_number() && all.width.value() == Some(1) {
            all
        } else {
            all.part_of(index.text().to_owned(), 1.into())
        }
    }

    /// `width` bits from bit `from` on.
    #[track_caller]
    fn part(self, from: impl Into<Size>, width: impl Into<Size>) -> Expr {
        let (all, from, width): (Expr, Size, Size) = (self.into(), from.into(), width.into());
        let fits = (from + width).within(all.width);
        let name = adapter::text(&all.tree);
        assert!(
            fits,
            "{name} has no {} bits from {}",
            width.text(),
            from.text()
        );
        match (from.value(), width.value()) {
            (Some(0), _) if from.is_number() && width.same(all.width) => all,
            (_, Some(1)) if width.is_number() => all.part_of(from.text().to_owned(), width),
            (Some(low), Some(bits)) if from.is_number() && width.is_number() => {
                all.part_of(format!("{}:{low}", low + bits - 1), width)
            }
            _ => all.part_of(format!("{} +: {}", from.text(), width.text()), width),
        }
    }

    /// The bits below bit `end`.
    #[track_caller]
    fn low(self, end: impl Into<Size>) -> Expr {
        let (all, end): (Expr, Size) = (self.into(), end.into());
        let fits = end.within(all.width);
        assert!(
            fits,
            "{} has no bits below {}",
            adapter::text(&all.tree),
            end.text()
        );
        all.part_of(format!("{}:0", (end - 1).text()), end)
    }

    /// The bits from bit `start` up.
    #[track_caller]
    fn high(self, start: impl Into<Size>) -> Expr {
        let (all, start): (Expr, Size) = (self.into(), start.into());
        let fits = start.within(all.width);
        assert!(
            fits,
            "{} has no bit {}",
            adapter::text(&all.tree),
            start.text()
        );
        let select = format!("{}:{}", (all.width - 1).text(), start.text());
        let width = all.width - start;
        all.part_of(select, width)
    }

    /// The bit whose number is `index`.
    fn select(self, index: impl Into<Expr>) -> Expr {
        let index = adapter::text(&index.into().tree);
        self.into().part_of(index, 1.into())
    }

    /// Some bit is set.
    fn any(self) -> Expr {
        self.into().unary(VerilogOpUnary::Any, 1.into())
    }

    /// Every bit is set.
    fn all(self) -> Expr {
        self.into().unary(VerilogOpUnary::All, 1.into())
    }

    /// `self == other`
    #[track_caller]
    fn is(self, other: impl Into<Operand>) -> Expr {
        self.into().comparison(VerilogOp::Eq, other.into())
    }

    /// `self < other`, both without sign.
    #[track_caller]
    fn less(self, other: impl Into<Operand>) -> Expr {
        self.into().comparison(VerilogOp::Lt, other.into())
    }

    /// `self <= other`
    #[track_caller]
    fn at_most(self, other: impl Into<Operand>) -> Expr {
        self.into().comparison(VerilogOp::Le, other.into())
    }

    /// `self > other`
    #[track_caller]
    fn above(self, other: impl Into<Operand>) -> Expr {
        self.into().comparison(VerilogOp::Gt, other.into())
    }

    /// `self >= other`
    #[track_caller]
    fn at_least(self, other: impl Into<Operand>) -> Expr {
        self.into().comparison(VerilogOp::Ge, other.into())
    }

    /// `width` copies of a bit.
    #[track_caller]
    fn copies(self, width: impl Into<Size>) -> Expr {
        let (bit, width): (Expr, Size) = (self.into(), width.into());
        assert!(
            bit.width.same(1.into()),
            "copies of {} bits",
            bit.width.text()
        );
        if width.is_number() && width.value() == Some(1) {
            bit
        } else {
            Expr::leaf(&adapter::copies(width, &bit.tree), width)
        }
    }

    /// The value where a bit is set, else 0.
    #[track_caller]
    fn gated(self, bit: impl Into<Expr>) -> Expr {
        let value = self.into();
        let width = value.width;
        value & bit.into().copies(width)
    }

    /// The value behind zeros, `width` bits in all.
    #[track_caller]
    fn extended(self, width: usize) -> Expr {
        let value = self.into();
        let own = value.width.value().filter(|own| *own <= width);
        let own = own.unwrap_or_else(|| panic!("{} bits as {width}", value.width.text()));
        match width - own {
            0 => value,
            zeros => {
                let text = format!("{{{zeros}'d0, {}}}", adapter::text(&value.tree));
                Expr::leaf(&text, width.into())
            }
        }
    }

    /// The same with its width in other words, where a loop or a parameter
    /// decides it: Verilator's lint holds them to be the same.
    fn of_width(self, width: impl Into<Size>) -> Expr {
        let width = width.into();
        Expr {
            width,
            ..self.into()
        }
    }

    /// `self << by`, as wide as before.
    fn up(self, by: impl Into<Size>) -> Expr {
        self.into().shifted(VerilogOp::Shl, by.into())
    }

    /// `self >> by`
    fn down(self, by: impl Into<Size>) -> Expr {
        self.into().shifted(VerilogOp::Shr, by.into())
    }
}

impl Bits for Signal {}
impl Bits for Expr {}

/// What the register `name` of a unit is called in its Verilog.
#[must_use]
pub fn register_name(name: &str) -> String {
    format!("{name}_q")
}

impl Signal {
    /// What the unit calls it: a register without the suffix.
    pub(crate) fn stem(self) -> &'static str {
        self.name.strip_suffix("_q").unwrap_or(self.name)
    }

    /// The name of a register's next state.
    pub(crate) fn next_state(self) -> String {
        format!("{}_d", self.stem())
    }

    pub(crate) fn new(id: usize, name: &str, width: Size) -> Self {
        let name = interned(name);
        Signal { id, name, width }
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        impl<T: Into<Operand>> $trait<T> for Expr {
            type Output = Expr;
            #[track_caller]
            fn $method(self, other: T) -> Expr {
                self.binary(VerilogOp::$op, other.into())
            }
        }

        impl<T: Into<Operand>> $trait<T> for Signal {
            type Output = Expr;
            #[track_caller]
            fn $method(self, other: T) -> Expr {
                Expr::from(self).binary(VerilogOp::$op, other.into())
            }
        }
    )*};
}

operators! {
    BitAnd bitand BitAnd;
    BitOr bitor BitOr;
    BitXor bitxor BitXor;
    Add add Add;
    Sub sub Sub;
    Mul mul Mul;
}

impl Not for Expr {
    type Output = Expr;
    fn not(self) -> Expr {
        match self.tree {
            VerilogExpression::Binary(a, VerilogOp::Eq, b) => Expr {
                tree: VerilogExpression::Binary(a, VerilogOp::Ne, b),
                ..self
            },
            _ => {
                let width = self.width;
                self.unary(VerilogOpUnary::Not, width)
            }
        }
    }
}

impl Not for Signal {
    type Output = Expr;
    fn not(self) -> Expr {
        !Expr::from(self)
    }
}

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
