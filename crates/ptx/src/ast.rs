//! The module that a PTX text stands for: names resolved, places kept.
//!
//! An instruction is an opcode, modifiers, operands and a span. Registers,
//! variables, functions and labels are indices: [`Register`] into
//! [`Function::registers`], [`Symbol`] into [`Module::variables`] or
//! [`Function::variables`], labels into [`Function::labels`]. Nested scopes
//! may reuse names; indices do not. Every byte of the text that is neither
//! white space nor a comment belongs to exactly one [`Statement`], in order.

mod instruction;
mod location;

pub use instruction::{Base, Guard, Immediate, Instruction, Modifiers, Operand};
pub use location::Location;

use super::names::{Space, Type};
use spadkit_base::error::{Error, Result};
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
    /// Position of its start in [`Module::text`].
    pub start: u32,
}

/// The kind of a statement.
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
    /// Kind of the statement.
    pub kind: StatementKind,
    /// Span of the statement, its `;` included.
    pub span: Span,
    /// The function that it is part of, as index of [`Module::functions`].
    pub function: Option<u32>,
}

/// The visibility of a name in other modules.
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

impl Linkage {
    /// The directives of PTX; a name without one is internal.
    const DIRECTIVES: [(&str, Linkage); 4] = [
        (".visible", Linkage::Visible),
        (".extern", Linkage::Extern),
        (".weak", Linkage::Weak),
        (".common", Linkage::Common),
    ];

    /// The linkage that a directive states, if it does.
    pub(super) fn of_directive(text: &str) -> Option<Self> {
        let mut directives = Self::DIRECTIVES.into_iter();
        directives.find(|d| d.0 == text).map(|d| d.1)
    }

    /// The PTX directive of the linkage; `None` for internal linkage.
    pub(super) fn directive(self) -> Option<&'static str> {
        let mut directives = Self::DIRECTIVES.into_iter();
        directives.find(|d| d.1 == self).map(|d| d.0)
    }
}

/// A variable in memory, or a parameter in `.param` space.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Name of the item.
    pub name: String,
    /// State space of the variable.
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
    /// Linkage of the variable.
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
    /// Place of the address, in bytes from the start of the variable.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u32,
    /// The variable or function whose address it is.
    pub target: Target,
    /// Added to the address.
    pub addend: i64,
    /// Whether the generic address is wanted, `generic(x)`.
    pub generic: bool,
    /// The part of the address, `0xff00(x)`: the bits of the mask, moved
    /// down; all ones otherwise.
    pub mask: u64,
}

/// The target of an address in an initialiser.
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
    /// Name of the register, with the `%`.
    pub name: String,
    /// Type of the register.
    pub ty: Type,
}

/// A parameter or return value of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A parameter in `.param` space: index in [`Function::variables`].
    Variable(u32),
    /// A parameter in a register.
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
    /// Name of the variable or function.
    pub name: String,
    /// Whether it is an `.entry`.
    pub is_entry: bool,
    /// Linkage of the function.
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

/// A name before a colon.
#[derive(Clone, Debug)]
pub struct Label {
    /// Name of the label.
    pub name: String,
    /// Meaning of the label.
    pub kind: LabelKind,
    /// Position of the label.
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

/// The compute capability of a GPU's name in a `.target`: 90 of `sm_90a`.
pub fn sm_number(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("sm_")?;
    digits.trim_end_matches(['a', 'f']).parse().ok()
}

impl Module {
    /// The compute capability of the `.target`: 90 of `sm_90a`.
    pub fn sm(&self) -> Option<u32> {
        self.target.iter().find_map(|name| sm_number(name))
    }

    /// The name of the GPU in the `.target`: `sm_90a`.
    pub fn gpu(&self) -> Option<&str> {
        let mut names = self.target.iter().map(String::as_str);
        names.find(|name| sm_number(name).is_some())
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
