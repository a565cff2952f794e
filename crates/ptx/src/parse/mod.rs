//! The parser: tokens to [`Module`], names resolved on the way.
//!
//! Recursive descent over the token list. PTX declares before it uses, labels
//! excepted, which are resolved where their scope ends.

mod alias;
mod body;
mod constant;
mod directive;
mod function;
mod initial;
mod instruction;
mod operand;
mod scope;

pub(super) use initial::immediate_bits;

use super::ast::{Modifiers, Module, Span, Statement, StatementKind};
use super::opcodes::Opcode;
use super::token::{Token, TokenKind, tokens};
use spadkit_base::error::{Error, Result};
use std::collections::HashMap;
use std::path::Path;

/// The meaning of a name of module scope.
#[derive(Clone, Copy)]
enum Global {
    Variable(u32),
    Function(u32),
}

struct Parser<'a> {
    text: &'a str,
    path: &'a Path,
    tokens: Vec<Token>,
    at: usize,
    module: Module,
    globals: HashMap<&'a str, Global>,
    /// Functions that are other names, and what they stand for.
    aliases: HashMap<u32, u32>,
    /// Opcode and modifiers of each form seen; a module has some hundred.
    forms: HashMap<&'a str, (Opcode, Modifiers)>,
}

impl Module {
    /// Parses the PTX `text` of the file `name`. NULs at its end are cut off: the size that NVRTC
    /// gives counts one.
    pub fn parse(text: &str, name: &str) -> Result<Module> {
        let text = text.trim_end_matches('\0');
        let path = Path::new(name);
        let mut parser = Parser {
            text,
            path,
            tokens: tokens(text, path)?,
            at: 0,
            module: Module {
                name: name.to_owned(),
                text: text.to_owned(),
                version: (0, 0),
                target: Vec::new(),
                address_size: 32,
                files: Vec::new(),
                variables: Vec::new(),
                functions: Vec::new(),
                statements: Vec::new(),
                units: Vec::new(),
            },
            globals: HashMap::new(),
            aliases: HashMap::new(),
            forms: HashMap::new(),
        };
        parser.module()?;
        Ok(parser.module)
    }
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token {
        self.tokens[self.at]
    }

    fn kind(&self) -> TokenKind {
        self.peek().kind
    }

    fn kind_after(&self, n: usize) -> TokenKind {
        self.tokens
            .get(self.at + n)
            .map_or(TokenKind::End, |t| t.kind)
    }

    fn str_of(&self, token: Token) -> &'a str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// The current token, and steps to the next; stays at the end.
    fn next(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// Steps over a token of that kind if there is one.
    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, kind: TokenKind, expected: &str) -> Result<Token> {
        if self.kind() == kind {
            Ok(self.next())
        } else {
            self.unexpected(expected)
        }
    }

    /// Skips the directive `.text`, if present.
    fn eat_dotted(&mut self, text: &str) -> bool {
        let token = self.peek();
        let found = token.kind == TokenKind::Dotted && self.str_of(token) == text;
        if found {
            self.at += 1;
        }
        found
    }

    fn word(&mut self, expected: &str) -> Result<&'a str> {
        let token = self.expect(TokenKind::Word, expected)?;
        Ok(self.str_of(token))
    }

    /// The current token is not what should be here.
    fn unexpected<T>(&self, expected: &str) -> Result<T> {
        let token = self.peek();
        let what = match token.kind {
            TokenKind::End => "the text ends too early".to_owned(),
            _ => format!("unexpected `{}`", shortened(self.str_of(token))),
        };
        self.error(token, what, format!("expected {expected}"))
    }

    fn error<T>(
        &self,
        token: Token,
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Result<T> {
        let help = Some(help.into());
        let at = token.start as usize;
        Err(Error::input(what, help, self.path, self.text, at))
    }

    /// The span from `start` to the token before the current one.
    fn span_from(&self, start: Token) -> Span {
        let end = self.tokens[self.at.saturating_sub(1)].end;
        Span {
            start: start.start,
            end: end.max(start.start),
            line: start.line,
        }
    }

    fn statement(&mut self, kind: StatementKind, start: Token, function: Option<u32>) {
        let span = self.span_from(start);
        self.module.statements.push(Statement {
            kind,
            span,
            function,
        });
    }
}

/// Short enough for a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}
