//! Instructions: guard, opcode, modifiers, operands.

use super::Parser;
use super::body::Body;
use super::scope::{Named, find};
use crate::ast::{Guard, Instruction, Modifiers, Operand, StatementKind};
use crate::names::Modifier;
use crate::opcodes::Opcode;
use crate::token::TokenKind;
use spadkit_base::error::Result;

impl<'a> Parser<'a> {
    pub(super) fn instruction(&mut self, body: &mut Body<'a>) -> Result<StatementKind> {
        let start = self.peek();
        let guard = if self.eat(TokenKind::At) {
            Some(self.guard(body)?)
        } else {
            None
        };
        let (opcode, modifiers) = self.form()?;
        let mut operands = Vec::with_capacity(4);
        if self.kind() != TokenKind::Semicolon {
            loop {
                let operand = self.operand(body, opcode == Opcode::Call, operands.len())?;
                operands.push(operand);
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
        }
        self.expect(TokenKind::Semicolon, "`,` or `;` after the operand")?;
        let index = body.function.instructions.len();
        if opcode == Opcode::Call {
            operands = self.call(body, operands, index, start)?;
        }
        let location = body.function.locations.len().checked_sub(1);
        body.function.instructions.push(Instruction {
            opcode,
            modifiers,
            guard,
            operands: operands.into_boxed_slice(),
            span: self.span_from(start),
            location: location.map(|at| at as u32),
        });
        Ok(StatementKind::Instruction(index as u32))
    }

    fn guard(&mut self, body: &mut Body<'a>) -> Result<Guard> {
        let negated = self.eat(TokenKind::Not);
        let token = self.peek();
        let name = self.word("a predicate register")?;
        match find(&mut body.scopes, &mut body.function, name) {
            Some(Named::Register(register)) => Ok(Guard { register, negated }),
            _ => self.error(token, format!("unknown register {name}"), {
                "expected a predicate register that is declared above"
            }),
        }
    }

    /// Opcode and modifiers.
    fn form(&mut self) -> Result<(Opcode, Modifiers)> {
        let token = self.expect(TokenKind::Word, "an opcode")?;
        let text = self.str_of(token);
        let (opcode, mut modifiers) = match self.forms.get(text) {
            Some(form) => *form,
            None => {
                let mut words = text.split('.');
                let first = words.next().unwrap_or("");
                let opcode = Opcode::from_text(first).unwrap_or(Opcode::Other);
                let mut modifiers = Modifiers::EMPTY;
                for word in words {
                    self.push(&mut modifiers, word)?;
                }
                self.forms.insert(text, (opcode, modifiers));
                (opcode, modifiers)
            }
        };
        // `add .u32` with white space between.
        while self.kind() == TokenKind::Dotted {
            let word = self.str_of(self.peek());
            self.push(&mut modifiers, &word[1..])?;
            self.next();
        }
        Ok((opcode, modifiers))
    }

    fn push(&self, modifiers: &mut Modifiers, word: &str) -> Result<()> {
        if modifiers.push(Modifier::from_text(word)) {
            Ok(())
        } else {
            self.error(
                self.tokens[self.at.saturating_sub(1)],
                "too many modifiers",
                format!("expected at most {}", Modifiers::LIMIT),
            )
        }
    }

    /// The four operands of a call: results, function, arguments, prototype.
    fn call(
        &mut self,
        body: &mut Body<'a>,
        operands: Vec<Operand>,
        index: usize,
        start: crate::token::Token,
    ) -> Result<Vec<Operand>> {
        let mut rest = operands.into_iter().peekable();
        let empty = || Operand::List(Box::default());
        let is_list = |o: &Operand| matches!(o, Operand::List(_));
        let mut moved = 0;
        let mut list = |rest: &mut std::iter::Peekable<std::vec::IntoIter<Operand>>| {
            let found = rest.next_if(is_list);
            moved += usize::from(found.is_none());
            found.unwrap_or_else(empty)
        };
        let returns = list(&mut rest);
        let Some(function) = rest.next().filter(|o| !is_list(o)) else {
            return self.error(start, "a call without a function", "expected its name");
        };
        let params = list(&mut rest);
        let prototype = rest.next().unwrap_or(Operand::Discard);
        if rest.next().is_some() {
            return self.error(start, "too many operands of a call", {
                "expected (results), function, (arguments), prototype"
            });
        }
        // The prototype is a label; it moves by the lists that were left out.
        for pending in body.pending.iter_mut().rev() {
            if let super::scope::Place::Operand(at, operand) = &mut pending.place
                && *at == index
                && *operand > 0
            {
                *operand += moved;
            } else {
                break;
            }
        }
        Ok(vec![returns, function, params, prototype])
    }
}
