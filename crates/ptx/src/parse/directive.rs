//! Directives of module scope, declarations of variables.

use super::body::Attributes;
use super::{Global, Parser};
use crate::ast::{Linkage, Location, Span, StatementKind, Variable};
use crate::names::{Space, Type};
use crate::token::{Token, TokenKind};
use spadkit_base::error::Result;

impl<'a> Parser<'a> {
    /// The whole module.
    pub(super) fn module(&mut self) -> Result<()> {
        if !(self.kind() == TokenKind::Dotted && self.str_of(self.peek()) == ".version") {
            return self.unexpected("`.version`, the first directive of every PTX module");
        }
        while self.kind() != TokenKind::End {
            self.module_statement()?;
        }
        self.follow_aliases();
        Ok(())
    }

    fn module_statement(&mut self) -> Result<()> {
        let start = self.peek();
        if self.eat(TokenKind::Semicolon) {
            self.statement(StatementKind::Directive, start, None);
            return Ok(());
        }
        let directive = self.expect(TokenKind::Dotted, "a directive, as `.visible .entry`")?;
        match self.str_of(directive) {
            ".version" => self.version()?,
            ".target" => loop {
                let name = self.word("a target, as `sm_80`")?;
                self.module.target.push(name.to_owned());
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            },
            ".address_size" => {
                let size = self.peek();
                self.module.address_size = self.number("32 or 64")?;
                if ![32, 64].contains(&self.module.address_size) {
                    return self.error(size, "bad address size", "expected 32 or 64");
                }
            }
            ".file" => self.file()?,
            ".section" => self.section()?,
            ".loc" => drop(self.location()?),
            ".pragma" => self.skip_statement()?,
            ".alias" => self.alias()?,
            _ => {
                self.at -= 1;
                return self.declaration(start);
            }
        }
        self.statement(StatementKind::Directive, start, None);
        Ok(())
    }

    fn version(&mut self) -> Result<()> {
        let token = self.expect(TokenKind::Decimal, "a version, as `8.5`")?;
        let parts = self.str_of(token).split_once('.');
        let version = parts.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        match version {
            Some(version) => self.module.version = version,
            None => return self.error(token, "bad version", "expected a version such as `8.5`"),
        }
        Ok(())
    }

    /// `.file 1 ["folder"] "name" [, time, size]`
    pub(super) fn file(&mut self) -> Result<()> {
        let number = self.number("the number of a file")?;
        let token = self.expect(TokenKind::Text, "the name of a file in quotes")?;
        let mut name = self.str_of(token).trim_matches('"').to_owned();
        // clang writes the folder apart, as DWARF 5 has it.
        if self.kind() == TokenKind::Text {
            let token = self.next();
            let file = self.str_of(token).trim_matches('"');
            let whole = file.starts_with('/') || name.is_empty();
            name = if whole {
                file.to_owned()
            } else {
                format!("{}/{file}", name.trim_end_matches('/'))
            };
        }
        self.module.files.push((number, name));
        while self.eat(TokenKind::Comma) {
            self.integer("a time stamp or a size")?;
        }
        self.eat(TokenKind::Semicolon);
        Ok(())
    }

    /// `.section .name { ... }`: debug information, of no use here.
    pub(super) fn section(&mut self) -> Result<()> {
        match self.kind() {
            TokenKind::Dotted | TokenKind::Word => drop(self.next()),
            _ => return self.unexpected("the name of a section"),
        }
        self.expect(TokenKind::CurlyOpen, "`{`")?;
        let mut depth = 1;
        while depth > 0 {
            match self.next().kind {
                TokenKind::CurlyOpen => depth += 1,
                TokenKind::CurlyClose => depth -= 1,
                TokenKind::End => return self.unexpected("`}` at the end of the section"),
                _ => {}
            }
        }
        Ok(())
    }

    /// `.loc file line column [, function_name label [+ n] , inlined_at ...]`
    pub(super) fn location(&mut self) -> Result<Location> {
        let [file, line, column] = self.place_in_source()?;
        let mut inlined_at = None;
        while self.eat(TokenKind::Comma) {
            let word = self.word("`function_name` or `inlined_at`")?;
            if word == "inlined_at" {
                inlined_at = Some(self.place_in_source()?);
            } else {
                self.word("a label")?;
                if self.eat(TokenKind::Plus) {
                    self.number("an offset")?;
                }
            }
        }
        self.eat(TokenKind::Semicolon);
        Ok(Location {
            file,
            line,
            column,
            inlined_at,
        })
    }

    fn place_in_source(&mut self) -> Result<[u32; 3]> {
        Ok([
            self.number("the number of a file")?,
            self.number("a line")?,
            self.number("a column")?,
        ])
    }

    /// Everything up to and including the `;`.
    pub(super) fn skip_statement(&mut self) -> Result<()> {
        loop {
            match self.next().kind {
                TokenKind::Semicolon => return Ok(()),
                TokenKind::End => return self.unexpected("`;`"),
                _ => {}
            }
        }
    }

    /// A variable or function, from its linkage on.
    fn declaration(&mut self, start: Token) -> Result<()> {
        let linkage = self.linkage();
        if self.eat_dotted(".entry") {
            return self.function(start, linkage, true);
        }
        if self.eat_dotted(".func") {
            return self.function(start, linkage, false);
        }
        let attributes = self.attributes(linkage)?;
        loop {
            let token = self.peek();
            let (name, variable) = self.declarator(attributes, true)?;
            self.global_variable(token, name, variable)?;
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::Semicolon, "`;` after the variable")?;
        self.statement(StatementKind::Directive, start, None);
        Ok(())
    }

    /// A variable of module scope. The definition of one that is declared
    /// `.extern` takes its place, so that what refers to it has the definition.
    fn global_variable(&mut self, token: Token, name: &'a str, variable: Variable) -> Result<()> {
        let variables = &mut self.module.variables;
        let known = match self.globals.get(name) {
            None => {
                let index = variables.len() as u32;
                self.globals.insert(name, Global::Variable(index));
                variables.push(variable);
                return Ok(());
            }
            Some(Global::Variable(at)) => &mut variables[*at as usize],
            Some(_) => return self.declared_twice(token, name),
        };
        if known.linkage != Linkage::Extern {
            return self.declared_twice(token, name);
        }
        if variable.linkage == Linkage::Extern {
            known.align = known.align.max(variable.align);
            return Ok(());
        }
        let (differs, line) = (known.differs_from(&variable), known.span.line);
        *known = variable;
        match differs {
            None => Ok(()),
            Some(what) => {
                let help = format!("expected it as declared in line {line}");
                self.error(token, format!("{name} {what}"), help)
            }
        }
    }

    fn declared_twice<T>(&mut self, token: Token, name: &str) -> Result<T> {
        let help = "expected a name not yet defined in this module";
        self.error(token, format!("{name} is declared twice"), help)
    }

    pub(super) fn linkage(&mut self) -> Linkage {
        let mut linkage = Linkage::Internal;
        while let Some(found) = Linkage::of_directive(self.str_of(self.peek())) {
            linkage = found;
            self.at += 1;
        }
        linkage
    }

    /// Space, alignment, vector and type, in any order, `.ptr` included.
    pub(super) fn attributes(&mut self, linkage: Linkage) -> Result<Attributes> {
        let token = self.expect(TokenKind::Dotted, "a state space, as `.shared`")?;
        let text = self.str_of(token);
        let Some(space) = Space::from_text(&text[1..]) else {
            let help =
                "expected a directive or a state space: .reg .const .global .shared .local .param";
            return self.error(token, format!("unknown directive `{text}`"), help);
        };
        let (mut ty, mut vector, mut align, mut pointer) = (None, 1, None, false);
        while self.kind() == TokenKind::Dotted {
            let token = self.next();
            match &self.str_of(token)[1..] {
                "align" => {
                    let value = self.number("an alignment in bytes")?;
                    if !value.is_power_of_two() {
                        return self.error(token, "bad alignment", "expected a power of two");
                    }
                    // After `.ptr` it is the alignment of what is pointed to.
                    if !pointer {
                        align = Some(value);
                    }
                }
                "v2" => vector = 2,
                "v4" => vector = 4,
                "v8" => vector = 8,
                "ptr" => pointer = true,
                "attribute" => self.attribute()?,
                name => match (Type::from_text(name), Space::from_text(name)) {
                    (Some(found), _) if !found.is_element() => ty = Some(found),
                    (_, Some(_)) if pointer => {}
                    // Textures, samplers and surfaces are handles of 64 bits.
                    _ if ["texref", "samplerref", "surfref"].contains(&name) => {
                        ty = Some(Type::B64)
                    }
                    _ => {
                        let help = "expected a type, as `.f32`, `.align`, `.v2` or `.v4`";
                        return self.error(token, format!("unknown `.{name}`"), help);
                    }
                },
            }
        }
        let Some(ty) = ty else {
            return self.unexpected("a type, as `.f32`");
        };
        Ok(Attributes {
            space,
            ty,
            vector,
            align,
            linkage,
        })
    }

    /// `.attribute(.managed)`
    fn attribute(&mut self) -> Result<()> {
        self.expect(TokenKind::RoundOpen, "`(`")?;
        while !self.eat(TokenKind::RoundClose) {
            if self.next().kind == TokenKind::End {
                return self.unexpected("`)`");
            }
        }
        Ok(())
    }

    /// Name, dimensions and initial value.
    pub(super) fn declarator(
        &mut self,
        attributes: Attributes,
        initialised: bool,
    ) -> Result<(&'a str, Variable)> {
        let token = self.peek();
        let name = self.word("the name of a variable")?;
        let mut dimensions = Vec::new();
        while self.eat(TokenKind::SquareOpen) {
            let size = match self.kind() {
                TokenKind::SquareClose => 0,
                _ => self.integer("the size of a dimension")?,
            };
            dimensions.push(size as u64);
            self.expect(TokenKind::SquareClose, "`]`")?;
        }
        let element = u64::from(attributes.ty.bytes()) * u64::from(attributes.vector);
        // Of a first dimension that the initialiser gives, there may be one or more.
        let inner = (dimensions.iter().skip(1)).try_fold(element, |a, &b| a.checked_mul(b));
        let outer = dimensions.first().copied().unwrap_or(1);
        let is_possible = |&s: &u64| s < 1 << 48;
        let inner = inner.filter(is_possible);
        let bytes = inner.and_then(|inner| inner.checked_mul(outer));
        let (Some(inner), Some(bytes)) = (inner, bytes.filter(is_possible)) else {
            return self.error(
                token,
                format!("{name} is too large"),
                "expected less than 2^48 bytes",
            );
        };
        let mut variable = Variable {
            name: name.to_owned(),
            space: attributes.space,
            ty: attributes.ty,
            vector: attributes.vector,
            align: attributes.align.unwrap_or(element.max(1) as u32),
            dimensions,
            bytes,
            linkage: attributes.linkage,
            initial: None,
            span: Span::default(),
        };
        if initialised && self.eat(TokenKind::Equals) {
            let initial = self.initial(&variable)?;
            if variable.dimensions.first() == Some(&0) {
                variable.dimensions[0] = (initial.bytes.len() as u64).div_ceil(inner.max(1));
                variable.bytes = variable.dimensions[0] * inner;
            }
            variable.initial = Some(initial);
        }
        variable.span = self.span_from(token);
        Ok((name, variable))
    }
}
