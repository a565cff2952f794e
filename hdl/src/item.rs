//! The items of a module's body, around its expressions.

use crate::number::Number;
use crate::origin::Origin;
use crate::signal::{Expr, Signal};
use crate::size::Size;
use crate::tree::{Statement, Tree};

/// An item, and the line of the description that wrote it.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) item: Item,
    pub(crate) at: Origin,
}

/// An item of a module's body, in the order of the text.
#[derive(Debug)]
pub(crate) enum Item {
    /// A line between two paragraphs.
    Blank,
    /// A comment, in lines of this many columns.
    Comment(String, usize),
    /// A wire or register where it is declared.
    Declaration(Declaration),
    /// Attributes of the declaration that follows.
    Attributes(&'static str),
    /// A memory.
    Memory(Memory),
    /// The memory's words are 0 when a simulation starts that asks for it.
    Zeros(Memory),
    /// A wire where it gets its value, and its width.
    Definition(Size, Statement),
    /// An assignment to what stands elsewhere.
    Assignment(Statement),
    /// Registers that change together.
    Update(Update),
    /// Indices of loops.
    Indices(Vec<&'static str>),
    /// `generate`
    Generate(Vec<Written>),
    /// A loop of `generate`, and the items that it repeats.
    Loop(Loop, Vec<Written>),
    /// Two blocks, of which a condition of `generate` chooses one.
    Either(&'static Number, [(&'static str, Vec<Written>); 2]),
    /// Another module.
    Instance(Instance),
    /// Items that exist only in a module with assertions.
    Assertions(Vec<Written>),
    /// An assertion: holds in every cycle.
    Property(Property),
}

impl Item {
    /// Why some bits of what is declared are not used.
    pub(crate) fn waiver(&self) -> Option<&'static str> {
        match self {
            Item::Declaration(declaration) => declaration.waiver,
            _ => None,
        }
    }
}

/// A wire or register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declaration {
    /// `wire` or `reg`.
    pub(crate) keyword: &'static str,
    pub(crate) signal: Signal,
    /// Why some of its bits are not used.
    pub(crate) waiver: Option<&'static str>,
    /// Why a register has no reset.
    pub(crate) no_reset: Option<&'static str>,
}

impl Declaration {
    pub(crate) fn new(keyword: &'static str, signal: Signal) -> Self {
        Declaration {
            keyword,
            signal,
            waiver: None,
            no_reset: None,
        }
    }
}

/// A loop: its label, and its index from one number to below another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loop {
    pub(crate) label: &'static str,
    pub(crate) index: &'static str,
    pub(crate) from: Size,
    pub(crate) to: Size,
}

/// A concurrent assertion.
#[derive(Debug)]
pub(crate) struct Property {
    pub(crate) name: &'static str,
    /// The cycles in which `then` has to hold.
    pub(crate) when: Expr,
    pub(crate) then: Expr,
    /// The message if it does not hold.
    pub(crate) message: &'static str,
}

/// The macro with which banks hold zeros when a simulation starts.
pub const RAM_ZEROS: &str = "SPADKIT_RAM_ZEROS";

/// A memory: rows of words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    pub(crate) rows: usize,
    /// The words, a signal as wide as one.
    pub(crate) words: Signal,
}

/// Registers that change in the same cycles: one clocked block.
#[derive(Debug, Default)]
pub(crate) struct Update {
    pub(crate) clear: Option<Expr>,
    pub(crate) when: Option<Expr>,
    pub(crate) next: Vec<Next>,
}

/// A register and its next state.
#[derive(Debug)]
pub(crate) struct Next {
    /// The line of the description that says so.
    pub(crate) at: Origin,
    pub(crate) register: Expr,
    /// The target of a reset, and its value.
    pub(crate) reset: Option<(Tree, Tree)>,
    /// Conditions with a value, the first that holds decides.
    pub(crate) cases: Vec<(Expr, Expr)>,
    /// The next state if no case applies.
    pub(crate) value: Option<Expr>,
    /// The bytes of the value that are taken, a bit for each; all if `None`.
    pub(crate) bytes: Option<Signal>,
}

/// An instance with its connections.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) module: String,
    pub(crate) parameters: Vec<(&'static str, Size)>,
    pub(crate) name: &'static str,
    pub(crate) connections: Vec<(String, Tree)>,
}
