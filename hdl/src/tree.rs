//! Expressions and statements as data, until they are printed.

use crate::number::Number;
use crate::size::Size;
use rust_hdl::ast::{VerilogOp, VerilogOpUnary};

/// An expression; `adapter` makes rust-hdl's tree of it.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    /// A signal, or a memory.
    Name(&'static str),
    /// A signal of the loop `label`, in one of its iterations.
    Iteration {
        label: &'static str,
        index: Size,
        name: &'static str,
    },
    /// `1'b1`
    Bit(bool),
    /// `4'd7`
    Decimal {
        width: usize,
        value: usize,
    },
    /// `4'b0100`
    OneHot {
        width: usize,
        index: usize,
    },
    /// A parameter, an index, a code, or what is computed of them.
    Number(&'static Number),
    /// Copies of a bit.
    Copies(Size, Box<Tree>),
    /// Bits of a signal, or a word of a memory.
    Bits(Box<Tree>, Select),
    /// Side by side, the first in the high bits.
    Concat(Vec<Tree>),
    /// A system function.
    Call(&'static str, Box<Tree>),
    Binary(Box<Tree>, VerilogOp, Box<Tree>),
    Unary(VerilogOpUnary, Box<Tree>),
}

/// The bits of a signal that are selected.
#[derive(Clone, Debug)]
pub(crate) enum Select {
    /// The one of that number.
    At(Size),
    /// The one whose number is a value.
    By(Box<Tree>),
    /// Bits from the highest one to the lowest one.
    Range(Size, Size),
    /// This many bits from one on.
    From(Size, Size),
}

impl Tree {
    /// The constant `value` of `width` bits: 0 is copied to a width with a name,
    /// since a literal's width is a number in Verilog.
    #[track_caller]
    pub(crate) fn constant(width: Size, value: usize) -> Self {
        let bits = width.value().filter(|_| width.is_number());
        let fits = bits.is_none_or(|bits| value.checked_shr(bits as u32).is_none_or(|v| v == 0));
        assert!(fits, "{value} does not fit into {width} bits");
        match bits {
            Some(1) => Tree::Bit(value == 1),
            Some(width) => Tree::Decimal { width, value },
            None if value == 0 => Tree::Copies(width, Box::new(Tree::Bit(false))),
            None => panic!("{value} of {width} bits"),
        }
    }

    /// The constant of `width` bits that are all `bit`.
    pub(crate) fn all_bits(width: Size, bit: bool) -> Self {
        if !bit {
            Tree::constant(width, 0)
        } else if width.is_bit() {
            Tree::Bit(true)
        } else {
            Tree::Copies(width, Box::new(Tree::Bit(true)))
        }
    }

    /// The common value of all bits of a constant, if they are the same.
    pub(crate) fn uniform(&self) -> Option<bool> {
        match self {
            Tree::Bit(bit) => Some(*bit),
            Tree::Decimal { value: 0, .. } => Some(false),
            Tree::Copies(_, bit) => bit.uniform(),
            _ => None,
        }
    }

    /// Whether it is the reset of the module.
    pub(crate) fn is_reset(&self) -> bool {
        matches!(self, Tree::Name("rst"))
    }

    /// Calls `each` with the names of numbers, and of signals.
    pub(crate) fn names(&self, each: &mut impl FnMut(&'static str)) {
        match self {
            Tree::Name(name) => each(name),
            Tree::Iteration { index, name, .. } => {
                index.number().names(each);
                each(name);
            }
            Tree::Bit(_) | Tree::Decimal { .. } | Tree::OneHot { .. } => {}
            Tree::Number(number) => number.names(each),
            Tree::Copies(count, bit) => {
                count.number().names(each);
                bit.names(each);
            }
            Tree::Bits(all, select) => {
                all.names(each);
                match select {
                    Select::At(index) => index.number().names(each),
                    Select::By(index) => index.names(each),
                    Select::Range(a, b) | Select::From(a, b) => {
                        a.number().names(each);
                        b.number().names(each);
                    }
                }
            }
            Tree::Concat(parts) => parts.iter().for_each(|part| part.names(each)),
            Tree::Call(_, value) | Tree::Unary(_, value) => value.names(each),
            Tree::Binary(a, _, b) => {
                a.names(each);
                b.names(each);
            }
        }
    }
}

/// An assignment to a signal, or to a part of it.
#[derive(Debug)]
pub(crate) enum Statement {
    /// The value of the first case whose condition holds.
    Choice {
        target: Tree,
        cases: Vec<(Tree, Tree)>,
        otherwise: Tree,
    },
    /// A case statement: the value for each code of `of`.
    Table {
        target: Tree,
        of: Tree,
        cases: Vec<(Tree, Tree)>,
        otherwise: Tree,
    },
}

impl Statement {
    /// Calls `each` with every expression.
    pub(crate) fn trees<'s>(&'s self, mut each: impl FnMut(&'s Tree)) {
        let (Statement::Choice {
            target,
            cases,
            otherwise,
        }
        | Statement::Table {
            target,
            cases,
            otherwise,
            ..
        }) = self;
        if let Statement::Table { of, .. } = self {
            each(of);
        }
        each(target);
        cases.iter().flat_map(|(a, b)| [a, b]).for_each(&mut each);
        each(otherwise);
    }
}
