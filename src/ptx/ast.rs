//! The module that a PTX text stands for: names resolved, places kept.
//!
//! An instruction is an opcode, modifiers, operands and a span. Registers,
//! variables, functions and labels are indices: [`Register`] into
//! [`Function::registers`], [`Symbol`] into [`Module::variables`] or
//! [`Function::variables`], labels into [`Function::labels`]. Nested scopes
//! may reuse names; indices do not. Every byte of the text that is neither
//! white space nor a comment belongs to exactly one [`Statement`], in order.

use super::names::{Modifier, Selector, Space, Special, Type, Word};
use super::opcodes::Opcode;
use crate::error::{Error, Result};
use std::path::Path;

/// A byte range of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// 1-based line of the first byte.
    pub line: u32,
}

impl Span {
    /// The begin of the text.
    pub const TOP: Span = Span {
        start: 0,
        end: 0,
        line: 1,
    };

    /// The part of `text` that the span covers.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize)
            .unwrap_or("")
    }
}

/// A PTX module.
#[derive(Clone, Debug)]
pub struct Module {
    /// Name of the file, for messages.
    pub name: String,
    /// The whole text; spans index it.
    pub text: String,
    /// `.version`: major, minor.
    pub version: (u32, u32),
    /// `.target`: `sm_80`, `texmode_independent`, ...
    pub target: Vec<String>,
    /// `.address_size`: 32 or 64 bits.
    pub address_size: u32,
    /// `.file` numbers and names.
    pub files: Vec<(u32, String)>,
    /// Variables of module scope.
    pub variables: Vec<Variable>,
    /// Entries and device functions, also those only declared.
    pub functions: Vec<Function>,
    /// Statements of module scope and of all bodies, in the order of the text.
    /// In a linked module what another definition stands for has none.
    pub statements: Vec<Statement>,
    /// The texts that a linked module consists of; empty for a single one.
    pub units: Vec<Unit>,
}

/// A text of a linked module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Name of its file.
    pub name: String,
    /// Where it begins in [`Module::text`].
    pub start: u32,
}

/// What a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// A directive: `.version`, `.reg`, a variable, `.loc`, ...
    Directive,
    /// The head of a function up to its `{` or `;`, without it.
    FunctionHead(u32),
    /// `{` of a body or a nested scope.
    Open,
    /// `}`
    Close,
    /// `name:`; the index in [`Function::labels`].
    Label(u32),
    /// The index in [`Function::instructions`].
    Instruction(u32),
}

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// Where it is, its `;` included.
    pub span: Span,
    /// The function that it is part of, as index of [`Module::functions`].
    pub function: Option<u32>,
}

/// How a name is seen by other modules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Linkage {
    #[default]
    Internal,
    Visible,
    Extern,
    Weak,
    Common,
}

/// A variable in memory, or a parameter in `.param` space.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Where it lives.
    pub space: Space,
    /// Type of an element.
    pub ty: Type,
    /// Elements of a vector: 1, 2, 4 or 8.
    pub vector: u32,
    /// Alignment in bytes.
    pub align: u32,
    /// Dimensions of an array, empty for a scalar; 0 for `[]`.
    pub dimensions: Vec<u64>,
    /// Size in bytes; 0 for an array of unknown size.
    pub bytes: u64,
    /// How it is linked.
    pub linkage: Linkage,
    /// Initial bytes, where there is an initialiser.
    pub initial: Option<Initial>,
    /// The declaration.
    pub span: Span,
}

/// The initial value of a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Initial {
    /// The bytes; zero where a relocation goes.
    pub bytes: Vec<u8>,
    /// Addresses to be filled in.
    pub relocations: Vec<Relocation>,
}

/// An address in an initialiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where, in bytes from the start of the variable.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u32,
    /// Whose address.
    pub target: Target,
    /// Added to the address.
    pub addend: i64,
    /// Whether the generic address is wanted, `generic(x)`.
    pub generic: bool,
    /// The part of the address, `0xff00(x)`: the bits of the mask, moved
    /// down; all ones otherwise.
    pub mask: u64,
}

/// What an address in an initialiser is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A variable of module scope.
    Variable(u32),
    /// A function.
    Function(u32),
}

/// A variable's place: module scope or a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Symbol {
    /// Index in [`Module::variables`].
    Module(u32),
    /// Index in [`Function::variables`].
    Local(u32),
}

/// Index in [`Function::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register(pub u32);

/// A declared register that the function names at least once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterInfo {
    /// Its name, with the `%`.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// A parameter or return value of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// In `.param` space: index in [`Function::variables`].
    Variable(u32),
    /// In a register.
    Register(Register),
}

/// Performance directives of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// `.maxntid`
    pub maxntid: Option<[u32; 3]>,
    /// `.reqntid`
    pub reqntid: Option<[u32; 3]>,
    /// `.minnctapersm`
    pub minnctapersm: Option<u32>,
    /// `.reqnctapercluster`
    pub cluster: Option<[u32; 3]>,
    /// `.maxnreg`
    pub maxnreg: Option<u32>,
    /// `.noreturn`
    pub noreturn: bool,
}

/// An entry or a device function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Whether it is an `.entry`.
    pub is_entry: bool,
    /// How it is linked.
    pub linkage: Linkage,
    /// Parameters in order.
    pub params: Vec<Parameter>,
    /// Return values in order.
    pub returns: Vec<Parameter>,
    /// Registers that the body names, in the order of first use.
    pub registers: Vec<RegisterInfo>,
    /// Parameters and variables of the body.
    pub variables: Vec<Variable>,
    /// Labels of the body.
    pub labels: Vec<Label>,
    /// Instructions of the body in the order of the text.
    pub instructions: Vec<Instruction>,
    /// Places in the source, of `.loc`.
    pub locations: Vec<Location>,
    /// Performance directives.
    pub tuning: Tuning,
    /// Whether there is a body.
    pub defined: bool,
    /// The head.
    pub span: Span,
}

/// A place in the source, of a `.loc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// Number of the `.file`.
    pub file: u32,
    /// 1-based line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// Where the function that this place lies in was inlined: file, line and
    /// column of the call.
    pub inlined_at: Option<[u32; 3]>,
}

/// A name before a colon.
#[derive(Clone, Debug)]
pub struct Label {
    /// Its name.
    pub name: String,
    /// Its meaning.
    pub kind: LabelKind,
    /// Its position.
    pub span: Span,
}

/// The meaning of a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LabelKind {
    /// A place in the code: the next instruction (one past the last at the end).
    Code(u32),
    /// `.branchtargets`: indices of labels.
    Branches(Vec<u32>),
    /// `.calltargets`: indices of functions.
    Calls(Vec<u32>),
    /// `.callprototype`
    Prototype(Prototype),
}

/// Types of the values of an indirect call: bytes and alignment each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prototype {
    /// Return values.
    pub returns: Vec<(u64, u32)>,
    /// Parameters.
    pub params: Vec<(u64, u32)>,
}

/// The predicate before an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// A predicate register.
    pub register: Register,
    /// `@!p`
    pub negated: bool,
}

/// Modifiers in their order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Modifiers {
    items: [Modifier; Modifiers::LIMIT],
    len: u8,
}

impl Modifiers {
    /// More than any instruction has.
    pub const LIMIT: usize = 15;

    /// No modifiers.
    pub const EMPTY: Modifiers = Modifiers {
        items: [Modifier::Word(Word::Other); Modifiers::LIMIT],
        len: 0,
    };

    /// Appends one; false where there is no room.
    pub fn push(&mut self, modifier: Modifier) -> bool {
        let room = usize::from(self.len) < Self::LIMIT;
        if room {
            self.items[usize::from(self.len)] = modifier;
            self.len += 1;
        }
        room
    }
}

impl std::ops::Deref for Modifiers {
    type Target = [Modifier];

    fn deref(&self) -> &[Modifier] {
        &self.items[..usize::from(self.len)]
    }
}

impl std::fmt::Debug for Modifiers {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.iter().try_for_each(|m| write!(f, ".{}", m.text()))
    }
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Its first word.
    pub opcode: Opcode,
    /// Its other words.
    pub modifiers: Modifiers,
    /// `@p` before it.
    pub guard: Option<Guard>,
    /// Operands in the order of the text. Of a call always four: results as
    /// [`Operand::List`], function, arguments as list, and the prototype or
    /// list of targets, [`Operand::Discard`] where there is none.
    pub operands: Box<[Operand]>,
    /// From the guard to the `;`.
    pub span: Span,
    /// The `.loc` before it, as index of [`Function::locations`].
    pub location: Option<u32>,
}

impl Instruction {
    /// Whether it has the modifier `.word`.
    pub fn has(&self, word: Word) -> bool {
        self.modifiers.contains(&Modifier::Word(word))
    }

    /// Its types in order.
    pub fn types(&self) -> impl Iterator<Item = Type> + '_ {
        self.modifiers.iter().filter_map(|m| match m {
            Modifier::Type(ty) => Some(*ty),
            _ => None,
        })
    }

    /// Its `n`-th type.
    pub fn ty(&self, n: usize) -> Option<Type> {
        self.types().nth(n)
    }

    /// Its first state space; none means generic addresses.
    pub fn space(&self) -> Option<Space> {
        self.modifiers.iter().find_map(|m| match m {
            Modifier::Space(space) => Some(*space),
            _ => None,
        })
    }

    /// The first modifier of `words` that it has.
    pub fn one_of(&self, words: &[Word]) -> Option<Word> {
        self.modifiers.iter().find_map(|m| match m {
            Modifier::Word(word) if words.contains(word) => Some(*word),
            _ => None,
        })
    }
}

/// A constant, as its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Immediate {
    /// An integer, two's complement.
    Integer(i64),
    /// `0f3F800000`: bits of an f32.
    Single(u32),
    /// `0d3FF0000000000000` or `1.0`: bits of an f64.
    Double(u64),
}

/// An operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register.
    Register(Register),
    /// `!p`
    Negated(Register),
    /// `a.b0`, `a.h10`: parts of a register, in video instructions.
    Selected(Register, Selector),
    /// A constant.
    Immediate(Immediate),
    /// A special register.
    Special(Special),
    /// The address of a variable plus bytes; in a list of arguments the
    /// variable itself.
    Variable(Symbol, i64),
    /// `[base + offset]`
    Address(Base, i64),
    /// `{a, b}`
    Vector(Box<[Operand]>),
    /// `d|p`: a value and a predicate, or two predicates.
    Pair(Box<(Operand, Operand)>),
    /// A label.
    Label(u32),
    /// The address of a function.
    Function(u32),
    /// `_`
    Discard,
    /// `(a, b)` of a call.
    List(Box<[Operand]>),
    /// `[texture, {x, y}]`, `[texture, sampler, {x, y}]`: what the brackets
    /// have, in order; lists are [`Operand::Vector`]s.
    Indexed(Box<[Operand]>),
    /// What no supported instruction has.
    Other,
}

/// What an address starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A register.
    Register(Register),
    /// A variable.
    Variable(Symbol),
    /// Nothing: the offset is the address.
    Absolute,
}

impl Module {
    /// The compute capability of the `.target`: 90 of `sm_90a`.
    pub fn sm(&self) -> Option<u32> {
        let number = |text: &String| {
            let digits = text.strip_prefix("sm_")?;
            digits.trim_end_matches(['a', 'f']).parse().ok()
        };
        self.target.iter().find_map(number)
    }

    /// The entries that have a body.
    pub fn entries(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|f| f.is_entry && f.defined)
    }

    /// Index of the entry of that name, which has a body.
    pub fn entry(&self, name: &str) -> Result<u32> {
        let is_entry = |f: &u32| {
            let function = &self.functions[*f as usize];
            function.is_entry && function.defined
        };
        self.function(name).filter(is_entry).ok_or_else(|| {
            let entries: Vec<&str> = self.entries().map(|f| f.name.as_str()).collect();
            let help = if entries.is_empty() {
                "the module has no entry".to_owned()
            } else {
                format!("the module has {}", entries.join(", "))
            };
            Error::usage(format!("{} has no entry {name}", self.name), help)
        })
    }

    /// Index of the function of that name.
    pub fn function(&self, name: &str) -> Option<u32> {
        let at = self.functions.iter().position(|f| f.name == name)?;
        u32::try_from(at).ok()
    }

    /// The variable that `symbol` names in `function`.
    pub fn variable<'a>(&'a self, function: &'a Function, symbol: Symbol) -> &'a Variable {
        match symbol {
            Symbol::Module(at) => &self.variables[at as usize],
            Symbol::Local(at) => &function.variables[at as usize],
        }
    }

    /// `file:line` of the source of an instruction, where `.loc` gives one.
    pub fn source(&self, function: &Function, instruction: &Instruction) -> Option<String> {
        let location = function.locations.get(instruction.location? as usize)?;
        self.line_of_source(location.file, location.line)
    }

    /// The calls through which an instruction came into the function, as
    /// `file:line`, the innermost first; none where nothing was inlined.
    pub fn inlined_at(&self, function: &Function, instruction: &Instruction) -> Vec<String> {
        let location = instruction.location.map(|at| at as usize);
        let location = location.and_then(|at| function.locations.get(at));
        let (mut calls, mut next) = (Vec::new(), location.and_then(|l| l.inlined_at));
        // A call that was inlined itself has a `.loc` of its own. What a
        // compiler writes has no circle; a text by hand may.
        while let Some([file, line, column]) = next.filter(|_| calls.len() < Self::MOST_CALLS) {
            calls.extend(self.line_of_source(file, line));
            let of_call = |l: &&Location| [l.file, l.line, l.column] == [file, line, column];
            let found = function.locations.iter().find(of_call);
            next = found.and_then(|l| l.inlined_at);
        }
        calls
    }

    /// Inlined calls of one place.
    const MOST_CALLS: usize = 64;

    fn line_of_source(&self, file: u32, line: u32) -> Option<String> {
        let (_, name) = self.files.iter().find(|(n, _)| *n == file)?;
        Some(format!("{name}:{line}"))
    }

    /// The file that a place is in, where several are linked; lines count in
    /// that file.
    pub fn file_of(&self, span: Span) -> Option<&str> {
        let at = self.units.partition_point(|u| u.start <= span.start);
        Some(&self.units[at.checked_sub(1)?].name)
    }

    /// An error at a place.
    pub fn error_at(&self, span: Span, what: impl Into<String>, help: Option<String>) -> Error {
        let at = self.units.partition_point(|u| u.start <= span.start);
        let (name, start) = match at.checked_sub(1) {
            Some(unit) => (&self.units[unit].name, self.units[unit].start as usize),
            None => (&self.name, 0),
        };
        let end = self
            .units
            .get(at)
            .map_or(self.text.len(), |u| u.start as usize);
        let text = &self.text[start..end];
        let offset = (span.start as usize).saturating_sub(start);
        Error::input(what, help, Path::new(name), text, offset)
    }

    /// The text of an instruction.
    pub fn text_of(&self, span: Span) -> &str {
        span.of(&self.text)
    }
}
