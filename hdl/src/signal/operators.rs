//! Operations on signals and expressions: bits, comparisons, operators.

use super::{Expr, Operand, Part, Signal};
use crate::size::Size;
use crate::tree::{Select, Tree};
use rust_hdl::ast::{VerilogOp, VerilogOpUnary};
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Not, Sub};

/// Operations that a signal has in common with any expression.
pub(crate) trait Bits: Into<Expr> {
    /// Bit `index`.
    #[track_caller]
    fn at(self, index: impl Into<Size>) -> Expr {
        let (all, index): (Expr, Size) = (self.into(), index.into());
        let fits = (index + 1).within(all.width);
        assert!(fits, "{all} has no bit {index}");
        if all.width.is_bit() {
            all
        } else {
            all.part_of(Select::At(index), 1.into(), Some(index))
        }
    }

    /// `width` bits from bit `from` on.
    #[track_caller]
    fn part(self, from: impl Into<Size>, width: impl Into<Size>) -> Expr {
        let (all, from, width): (Expr, Size, Size) = (self.into(), from.into(), width.into());
        let fits = (from + width).within(all.width);
        assert!(fits, "{all} has no {width} bits from {from}");
        match (from.value(), width.value()) {
            (Some(0), _) if from.is_number() && width.same(all.width) => all,
            _ if width.is_bit() => all.part_of(Select::At(from), width, Some(from)),
            (Some(_), Some(_)) if from.is_number() && width.is_number() => {
                all.part_of(Select::Range(from + width - 1, from), width, Some(from))
            }
            _ => all.part_of(Select::From(from, width), width, Some(from)),
        }
    }

    /// The bits below bit `end`.
    #[track_caller]
    fn low(self, end: impl Into<Size>) -> Expr {
        let (all, end): (Expr, Size) = (self.into(), end.into());
        let fits = end.within(all.width);
        assert!(fits, "{all} has no bits below {end}");
        all.part_of(Select::Range(end - 1, 0.into()), end, Some(0.into()))
    }

    /// The bits from bit `start` up.
    #[track_caller]
    fn high(self, start: impl Into<Size>) -> Expr {
        let (all, start): (Expr, Size) = (self.into(), start.into());
        let fits = start.within(all.width);
        assert!(fits, "{all} has no bit {start}");
        let select = Select::Range(all.width - 1, start);
        let width = all.width - start;
        all.part_of(select, width, Some(start))
    }

    /// The bit whose number is `index`, which can number no bit outside.
    #[track_caller]
    fn select(self, index: impl Into<Expr>) -> Expr {
        let (all, index): (Expr, Expr) = (self.into(), index.into());
        let (bits, width) = (index.width, all.width);
        assert!(
            bits.numbers_within(width),
            "{index} has {bits} bits, which number more than the {width} bits of {all}"
        );
        all.part_of(Select::By(Box::new(index.tree)), 1.into(), None)
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
        let bits = bit.width;
        assert!(bits.same(1.into()), "copies of {bits} bits");
        if width.is_bit() {
            bit
        } else {
            Expr::new(Tree::Copies(width, Box::new(bit.tree)), width)
        }
    }

    /// The value where a bit is set, else 0.
    #[track_caller]
    fn gated(self, bit: impl Into<Expr>) -> Expr {
        let value = self.into();
        let width = value.width;
        value & bit.into().copies(width)
    }

    /// The value after zeros, `width` bits in all.
    #[track_caller]
    fn extended(self, width: usize) -> Expr {
        let value = self.into();
        let own = value.width.value().filter(|own| *own <= width);
        let own = own.unwrap_or_else(|| panic!("{} bits as {width}", value.width));
        match width - own {
            0 => value,
            zeros => {
                let zeros = Tree::Decimal {
                    width: zeros,
                    value: 0,
                };
                Expr::new(Tree::Concat(vec![zeros, value.tree]), width.into())
            }
        }
    }

    /// The expression with its width written differently, if a loop or a parameter
    /// decides it: Verilator's lint takes both for the same.
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

impl Expr {
    /// The bits that `select` says, of a signal: Verilog selects bits of nothing
    /// else. They begin at `from`, or can be any.
    #[track_caller]
    fn part_of(self, select: Select, width: Size, from: Option<Size>) -> Expr {
        assert!(self.selectable, "no bits can be selected of {self}");
        let bits = from.map(|from| (from, width));
        let of = self.of.into_iter();
        let of = of.map(|part| Part { bits, ..part }).collect();
        Expr {
            of,
            ..Expr::new(Tree::Bits(Box::new(self.tree), select), width)
        }
    }

    #[track_caller]
    fn binary(self, op: VerilogOp, other: Operand) -> Expr {
        let other = other.beside(self.width);
        // Of two texts for one width, the one with names is more informative.
        let width = if self.width.is_number() {
            other.width
        } else {
            self.width
        };
        let tree = Tree::Binary(Box::new(self.tree), op, Box::new(other.tree));
        Expr::new(tree, width)
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
        let by = Expr::new(Tree::Number(by.number()), width);
        self.binary(op, Operand::Expr(by))
    }

    fn unary(self, op: VerilogOpUnary, width: Size) -> Expr {
        Expr::new(Tree::Unary(op, Box::new(self.tree)), width)
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
            Tree::Binary(a, VerilogOp::Eq, b) => Expr {
                tree: Tree::Binary(a, VerilogOp::Ne, b),
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
