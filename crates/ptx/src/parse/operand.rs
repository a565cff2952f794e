//! Operands.

use super::Global;
use super::Parser;
use super::body::Body;
use super::scope::{Named, Pending, Place, find};
use crate::ast::{Base, Immediate, Operand, Register, Symbol};
use crate::names::{Selector, Special};
use crate::token::TokenKind;
use spadkit_base::error::Result;

impl<'a> Parser<'a> {
    /// Operand number `position` of the instruction that is being parsed;
    /// with `call`, `( )` is a list.
    pub(super) fn operand(
        &mut self,
        body: &mut Body<'a>,
        call: bool,
        position: usize,
    ) -> Result<Operand> {
        match self.kind() {
            TokenKind::RoundOpen if call => {
                let items = self.list(body, TokenKind::RoundOpen, TokenKind::RoundClose)?;
                Ok(Operand::List(items))
            }
            TokenKind::CurlyOpen => {
                let items = self.list(body, TokenKind::CurlyOpen, TokenKind::CurlyClose)?;
                self.paired(body, Operand::Vector(items))
            }
            TokenKind::SquareOpen => self.address(body),
            TokenKind::Word => {
                let named = self.named(body, Some(position))?;
                self.paired(body, named)
            }
            // Of `vmad`, which negates registers.
            TokenKind::Minus if self.kind_after(1) == TokenKind::Word => {
                self.next();
                self.next();
                Ok(Operand::Other)
            }
            _ => self.simple(body),
        }
    }

    /// `d|p`
    fn paired(&mut self, body: &mut Body<'a>, first: Operand) -> Result<Operand> {
        if !self.eat(TokenKind::Pipe) {
            return Ok(first);
        }
        let second = self.simple(body)?;
        Ok(Operand::Pair(Box::new((first, second))))
    }

    /// Parses an operand that a list may contain: a name, `!p`, a constant.
    fn simple(&mut self, body: &mut Body<'a>) -> Result<Operand> {
        match self.kind() {
            TokenKind::Word => self.named(body, None),
            TokenKind::Not if self.kind_after(1) == TokenKind::Word => {
                let not = self.next();
                match self.named(body, None)? {
                    Operand::Register(register) => Ok(Operand::Negated(register)),
                    _ => self.error(
                        not,
                        "`!` before something that is not a register",
                        "expected a predicate",
                    ),
                }
            }
            TokenKind::Integer
            | TokenKind::Single
            | TokenKind::Double
            | TokenKind::Decimal
            | TokenKind::Minus
            | TokenKind::Plus
            | TokenKind::Tilde
            | TokenKind::Not
            | TokenKind::RoundOpen => Ok(Operand::Immediate(self.constant()?)),
            _ => self.unexpected("an operand"),
        }
    }

    fn list(
        &mut self,
        body: &mut Body<'a>,
        open: TokenKind,
        close: TokenKind,
    ) -> Result<Box<[Operand]>> {
        self.expect(open, "a list")?;
        let mut items = Vec::new();
        while !self.eat(close) {
            items.push(self.simple(body)?);
            if !self.eat(TokenKind::Comma) && self.kind() != close {
                return self.unexpected("`,` or the end of the list");
            }
        }
        Ok(items.into_boxed_slice())
    }

    /// A name and what may be added to it. Unknown names may be labels where
    /// `position` says which operand of the instruction this is.
    fn named(&mut self, body: &mut Body<'a>, position: Option<usize>) -> Result<Operand> {
        let token = self.next();
        let name = self.str_of(token);
        if name == "_" {
            return Ok(Operand::Discard);
        }
        if let Some(named) = find(&mut body.scopes, &mut body.function, name) {
            return Ok(match named {
                Named::Register(register) => Operand::Register(register),
                Named::Vector(first, n) => {
                    let element = |i| Operand::Register(Register(first.0 + i));
                    Operand::Vector((0..n).map(element).collect())
                }
                Named::Variable(index) => {
                    Operand::Variable(Symbol::Local(index), self.added_offset()?)
                }
                Named::Module(index) => {
                    Operand::Variable(Symbol::Module(index), self.added_offset()?)
                }
                Named::Declared(..) => unreachable!("found registers are added"),
            });
        }
        match self.globals.get(name) {
            Some(Global::Variable(index)) => {
                let symbol = Symbol::Module(*index);
                return Ok(Operand::Variable(symbol, self.added_offset()?));
            }
            Some(Global::Function(index)) => return Ok(Operand::Function(*index)),
            None => {}
        }
        if position.is_some()
            && let Some(selected) = selected(body, name)
        {
            return Ok(selected);
        }
        if name == "WARP_SZ" {
            return Ok(Operand::Immediate(Immediate::Integer(32)));
        }
        if let Some(elements) = special_vector(name) {
            return Ok(Operand::Vector(elements));
        }
        if let Some(special) = Special::named(name) {
            return Ok(Operand::Special(special));
        }
        if is_last_element(name) {
            return Ok(Operand::Immediate(Immediate::Integer(0)));
        }
        match position {
            Some(operand) => {
                let place = Place::Operand(body.function.instructions.len(), operand);
                body.pending.push(Pending { name, token, place });
                Ok(Operand::Label(u32::MAX))
            }
            None => self.error(token, format!("unknown name {}", super::shortened(name)), {
                "expected a register or variable that is declared above"
            }),
        }
    }

    fn added_offset(&mut self) -> Result<i64> {
        match self.kind() {
            TokenKind::Plus | TokenKind::Minus => self.integer("an offset in bytes"),
            _ => Ok(0),
        }
    }

    /// `[base + offset]`
    fn address(&mut self, body: &mut Body<'a>) -> Result<Operand> {
        let open = self.next();
        let start = self.at;
        let base = match self.kind() {
            TokenKind::Word => match self.named(body, None)? {
                Operand::Register(register) => Some((Base::Register(register), 0)),
                Operand::Variable(symbol, offset) => Some((Base::Variable(symbol), offset)),
                _ => None,
            },
            TokenKind::Integer => Some((Base::Absolute, self.integer("an address")?)),
            _ => None,
        };
        if let Some((base, offset)) = base {
            let added = match self.kind() {
                TokenKind::Plus | TokenKind::Minus if self.kind_after(1) != TokenKind::Word => {
                    self.integer("an offset in bytes")?
                }
                _ => 0,
            };
            if self.eat(TokenKind::SquareClose) {
                return Ok(Operand::Address(base, offset.wrapping_add(added)));
            }
        }
        self.at = start;
        if self.kind() == TokenKind::Word && self.kind_after(1) == TokenKind::Comma {
            return self.indexed(body);
        }
        // Whatever it is: to the matching bracket.
        let mut depth = 1;
        while depth > 0 {
            match self.next().kind {
                TokenKind::SquareOpen => depth += 1,
                TokenKind::SquareClose => depth -= 1,
                TokenKind::End | TokenKind::Semicolon => {
                    return self.error(open, "`[` without `]`", "expected [register + offset]");
                }
                _ => {}
            }
        }
        Ok(Operand::Other)
    }

    /// `texture, {x, y}]`, after the bracket.
    fn indexed(&mut self, body: &mut Body<'a>) -> Result<Operand> {
        let mut items = vec![self.named(body, None)?];
        while self.eat(TokenKind::Comma) {
            items.push(match self.kind() {
                TokenKind::CurlyOpen => {
                    Operand::Vector(self.list(body, TokenKind::CurlyOpen, TokenKind::CurlyClose)?)
                }
                _ => self.simple(body)?,
            });
        }
        self.expect(TokenKind::SquareClose, "`,` or `]`")?;
        Ok(Operand::Indexed(items.into_boxed_slice()))
    }
}

/// `%r1.b0`: a register and its parts.
fn selected<'a>(body: &mut Body<'a>, name: &'a str) -> Option<Operand> {
    let (register, parts) = name.rsplit_once('.')?;
    let selector = Selector::from_text(parts)?;
    match find(&mut body.scopes, &mut body.function, register)? {
        Named::Register(register) => Some(Operand::Selected(register, selector)),
        _ => None,
    }
}

/// The elements of a special register of four, such as `%tid`: the last one is zero.
fn special_vector(name: &str) -> Option<Box<[Operand]>> {
    let known = |special: &Special| *special != Special::Other;
    let element = |axis| {
        let special = Special::named(&format!("{name}.{axis}")).filter(known);
        special.map(Operand::Special)
    };
    let last = Operand::Immediate(Immediate::Integer(0));
    Some([element('x')?, element('y')?, element('z')?, last].into())
}

/// Whether this is the last element of a special register of four, such as `%tid.w`: that
/// is zero.
fn is_last_element(name: &str) -> bool {
    let vector = name.strip_suffix(".w");
    vector.is_some_and(|vector| Special::named(&format!("{vector}.x")).is_some())
}
