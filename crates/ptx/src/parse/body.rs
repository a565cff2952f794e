//! Bodies of functions: scopes, labels, declarations.

use super::scope::{Named, Pending, Place, Scope};
use super::{Global, Parser};
use crate::ast::{
    Function, Label, LabelKind, Linkage, Operand, Parameter, StatementKind, Variable,
};
use crate::names::{Space, Type};
use crate::token::{Token, TokenKind};
use spadkit_base::error::Result;

/// The parts of a declaration before the name.
#[derive(Clone, Copy)]
pub(super) struct Attributes {
    pub space: Space,
    pub ty: Type,
    pub vector: u32,
    pub align: Option<u32>,
    pub linkage: Linkage,
}

/// A function while it is being parsed.
pub(super) struct Body<'a> {
    pub function: Function,
    pub index: u32,
    pub scopes: Vec<Scope<'a>>,
    pub pending: Vec<Pending<'a>>,
    asm: Asm,
}

/// The place of a statement, as comments of LLVM and nvcc say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asm {
    /// Not in inline assembly.
    Outside,
    /// The first statement of it.
    First,
    /// A later one.
    Inside,
}

/// Scopes in each other beyond which a body is refused.
const DEPTH: usize = 1000;

impl Body<'_> {
    /// A body with the scope of the parameters.
    pub fn new(function: Function) -> Self {
        Body {
            function,
            index: 0,
            scopes: vec![Scope::default()],
            pending: Vec::new(),
            asm: Asm::Outside,
        }
    }
}

impl Asm {
    /// The state at the next statement, which has `comments` before it.
    fn after(self, comments: &str) -> Self {
        let begin = comments.rfind("// begin inline asm");
        let end = comments.rfind("// end inline asm");
        match (begin, end) {
            (Some(begin), end) if end.is_none_or(|end| end < begin) => Asm::First,
            (_, Some(_)) => Asm::Outside,
            _ if self == Asm::First => Asm::Inside,
            _ => self,
        }
    }
}

impl<'a> Parser<'a> {
    /// Parses a body from the `{` to its `}`.
    pub(super) fn body(&mut self, body: &mut Body<'a>) -> Result<()> {
        let outer = body.scopes.len();
        loop {
            let start = self.peek();
            let before = self.at.checked_sub(1).map_or(0, |at| self.tokens[at].end);
            body.asm = body
                .asm
                .after(&self.text[before as usize..start.start as usize]);
            let kind = match start.kind {
                TokenKind::CurlyOpen => {
                    self.next();
                    if body.scopes.len() > DEPTH {
                        return self.error(start, "scopes are nested too deep", "expected fewer");
                    }
                    body.scopes.push(Scope {
                        pending: body.pending.len(),
                        ..Scope::default()
                    });
                    StatementKind::Open
                }
                TokenKind::CurlyClose => {
                    self.next();
                    self.close_scope(body);
                    StatementKind::Close
                }
                TokenKind::Semicolon => {
                    self.next();
                    StatementKind::Directive
                }
                TokenKind::Dotted => self.body_directive(body)?,
                TokenKind::Word if self.kind_after(1) == TokenKind::Colon => self.label(body)?,
                TokenKind::Word | TokenKind::At => self.instruction(body)?,
                _ => return self.unexpected("an instruction, a label, a directive or `}`"),
            };
            self.statement(kind, start, Some(body.index));
            if body.scopes.len() == outer {
                return self.finish(body);
            }
        }
    }

    /// Resolves the labels of the innermost scope, and leaves it.
    fn close_scope(&mut self, body: &mut Body<'a>) {
        let Some(scope) = body.scopes.pop() else {
            return;
        };
        let from = scope.pending.min(body.pending.len());
        for pending in body.pending.split_off(from) {
            match scope.labels.get(pending.name) {
                Some(&label) => set(&mut body.function, pending.place, label),
                None => body.pending.push(pending),
            }
        }
    }

    /// Ends the body. A name that is still unknown is an error.
    fn finish(&mut self, body: &mut Body<'a>) -> Result<()> {
        if let Some(pending) = body.pending.first() {
            return self.error(
                pending.token,
                format!("unknown name {}", super::shortened(pending.name)),
                "expected a register, variable, label or function of this scope",
            );
        }
        let count = body.function.instructions.len() as u32;
        for label in &body.function.labels {
            if let LabelKind::Branches(targets) = &label.kind {
                let code = |&t: &u32| {
                    matches!(body.function.labels[t as usize].kind,
                    LabelKind::Code(at) if at <= count)
                };
                if !targets.iter().all(code) {
                    let token = Token {
                        kind: TokenKind::Word,
                        start: label.span.start,
                        end: label.span.end,
                        line: label.span.line,
                    };
                    return self.error(token, "a branch target is not a label", "expected labels");
                }
            }
        }
        Ok(())
    }

    fn label(&mut self, body: &mut Body<'a>) -> Result<StatementKind> {
        let token = self.next();
        let name = self.str_of(token);
        self.next();
        let index = body.function.labels.len();
        let mut kind = LabelKind::Code(body.function.instructions.len() as u32);
        let mut code = true;
        if self.kind() == TokenKind::Dotted {
            code = false;
            match self.str_of(self.peek()) {
                ".branchtargets" => {
                    self.next();
                    kind = LabelKind::Branches(self.branch_targets(body, index)?);
                }
                ".calltargets" => {
                    self.next();
                    kind = LabelKind::Calls(self.call_targets()?);
                }
                ".callprototype" => {
                    self.next();
                    kind = LabelKind::Prototype(self.prototype()?);
                }
                _ => code = true,
            }
        }
        body.function.labels.push(Label {
            name: name.to_owned(),
            kind,
            span: self.span_from(token),
        });
        let scope = body
            .scopes
            .last_mut()
            .map(|s| s.labels.insert(name, index as u32));
        if scope.flatten().is_some() {
            let help = "expected a label not yet defined in this scope";
            return self.error(token, format!("label {name} is defined twice"), help);
        }
        Ok(if code {
            StatementKind::Label(index as u32)
        } else {
            StatementKind::Directive
        })
    }

    fn branch_targets(&mut self, body: &mut Body<'a>, label: usize) -> Result<Vec<u32>> {
        let mut targets = Vec::new();
        loop {
            let token = self.peek();
            let name = self.word("a label")?;
            body.pending.push(Pending {
                name,
                token,
                place: Place::Branches(label, targets.len()),
            });
            targets.push(0);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::Semicolon, "`;` after the targets")?;
        Ok(targets)
    }

    fn call_targets(&mut self) -> Result<Vec<u32>> {
        let mut targets = Vec::new();
        loop {
            let token = self.peek();
            let name = self.word("a function")?;
            match self.globals.get(name) {
                Some(Global::Function(index)) => targets.push(*index),
                _ => {
                    let help = "expected a function that is declared above";
                    return self.error(token, format!("unknown function {name}"), help);
                }
            }
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::Semicolon, "`;` after the targets")?;
        Ok(targets)
    }

    fn body_directive(&mut self, body: &mut Body<'a>) -> Result<StatementKind> {
        let token = self.next();
        match self.str_of(token) {
            ".loc" => {
                let location = self.location()?;
                // LLVM counts the lines of the assembly's text on from that of the source.
                if body.asm != Asm::Inside {
                    body.function.locations.push(location);
                }
            }
            ".pragma" => self.skip_statement()?,
            ".file" => self.file()?,
            ".section" => self.section()?,
            _ => {
                self.at -= 1;
                let linkage = self.linkage();
                let attributes = self.attributes(linkage)?;
                loop {
                    if attributes.space == Space::Reg {
                        self.registers(body, attributes)?;
                    } else {
                        let token = self.peek();
                        let (name, variable) = self.declarator(attributes, true)?;
                        self.add_parameter(body, token, name, variable)?;
                    }
                    if !self.eat(TokenKind::Comma) {
                        break;
                    }
                }
                self.expect(TokenKind::Semicolon, "`;` after the declaration")?;
            }
        }
        Ok(StatementKind::Directive)
    }

    /// `%r<10>` or `%p` of a `.reg`.
    fn registers(&mut self, body: &mut Body<'a>, attributes: Attributes) -> Result<()> {
        let token = self.peek();
        let name = self.word("the name of a register")?;
        let (ty, vector) = (attributes.ty, attributes.vector);
        if vector > 4 {
            return self.error(
                token,
                "a vector register of 8 elements",
                "expected .v2 or .v4",
            );
        }
        let Some(scope) = body.scopes.last_mut() else {
            return Ok(());
        };
        if self.eat(TokenKind::Less) {
            let count = self.number("how many registers there are")?;
            self.expect(TokenKind::Greater, "`>`")?;
            scope.declare_range(name, u64::from(count), ty, vector);
        } else if !scope.declare(name, Named::Declared(ty, vector)) {
            let help = "expected a name not yet defined in this scope";
            return self.error(token, format!("{name} is declared twice"), help);
        }
        Ok(())
    }

    /// Adds a variable or parameter to the innermost scope.
    pub(super) fn add_parameter(
        &mut self,
        body: &mut Body<'a>,
        token: Token,
        name: &'a str,
        variable: Variable,
    ) -> Result<Parameter> {
        let scope = body.scopes.last_mut();
        if variable.space == Space::Reg {
            scope.map(|s| s.declare(name, Named::Declared(variable.ty, variable.vector)));
            return match super::scope::find(&mut body.scopes, &mut body.function, name) {
                Some(Named::Register(register)) => Ok(Parameter::Register(register)),
                _ => self.error(
                    token,
                    "a vector as a parameter",
                    "expected a scalar register",
                ),
            };
        }
        let of_module = matches!(variable.space, Space::Global | Space::Const);
        let variables = if of_module {
            &mut self.module.variables
        } else {
            &mut body.function.variables
        };
        let index = variables.len() as u32;
        let named = if of_module {
            Named::Module(index)
        } else {
            Named::Variable(index)
        };
        if scope.is_some_and(|s| !s.declare(name, named)) && name != "_" {
            let help = "expected a name not yet defined in this scope";
            return self.error(token, format!("{name} is declared twice"), help);
        }
        variables.push(variable);
        Ok(Parameter::Variable(index))
    }
}

/// Writes the index of a label where it was used.
fn set(function: &mut Function, place: Place, label: u32) {
    match place {
        Place::Operand(instruction, operand) => {
            function.instructions[instruction].operands[operand] = Operand::Label(label);
        }
        Place::Branches(list, at) => {
            if let LabelKind::Branches(targets) = &mut function.labels[list].kind {
                targets[at] = label;
            }
        }
    }
}
