//! Functions: their parameters, their performance-tuning directives, prototypes.

use super::body::Body;
use super::{Global, Parser};
use crate::ast::{Function, Linkage, Parameter, Prototype, Span, StatementKind, Tuning, Variable};
use crate::token::{Token, TokenKind};
use spadkit_base::cuda::MAX_PARAMETER_BYTES;
use spadkit_base::error::Result;

impl<'a> Parser<'a> {
    /// `( values )` of a prototype: bytes and alignment of each.
    fn prototype_list(&mut self) -> Result<Vec<(u64, u32)>> {
        self.expect(TokenKind::RoundOpen, "`(`")?;
        let mut list = Vec::new();
        while !self.eat(TokenKind::RoundClose) {
            let attributes = self.attributes(Linkage::Internal)?;
            let (_, variable) = self.declarator(attributes, false)?;
            list.push((variable.bytes, variable.align));
            if !self.eat(TokenKind::Comma) && self.kind() != TokenKind::RoundClose {
                return self.unexpected("`,` or `)`");
            }
        }
        Ok(list)
    }

    /// `.callprototype (returns) _ (params);` after its name.
    pub(super) fn prototype(&mut self) -> Result<Prototype> {
        let mut prototype = Prototype::default();
        if self.kind() == TokenKind::RoundOpen {
            prototype.returns = self.prototype_list()?;
        }
        self.word("`_`")?;
        if self.kind() == TokenKind::RoundOpen {
            prototype.params = self.prototype_list()?;
        }
        self.skip_statement()?;
        Ok(prototype)
    }

    /// An entry or a function after `.entry` or `.func`.
    pub(super) fn function(
        &mut self,
        start: Token,
        linkage: Linkage,
        is_entry: bool,
    ) -> Result<()> {
        let mut body = Body::new(Function {
            name: String::new(),
            is_entry,
            linkage,
            params: Vec::new(),
            returns: Vec::new(),
            registers: Vec::new(),
            variables: Vec::new(),
            labels: Vec::new(),
            instructions: Vec::new(),
            locations: Vec::new(),
            tuning: Tuning::default(),
            defined: false,
            span: Span::default(),
        });
        if self.kind() == TokenKind::RoundOpen {
            body.function.returns = self.parameters(&mut body)?;
        }
        let token = self.peek();
        let name = self.word("the name of a function")?;
        body.function.name = name.to_owned();
        if self.kind() == TokenKind::RoundOpen {
            let open = self.peek();
            body.function.params = self.parameters(&mut body)?;
            if is_entry {
                self.check_parameter_space(open, &body.function.variables)?;
            }
        }
        self.tuning(&mut body.function.tuning)?;
        body.function.span = self.span_from(start);
        let index = self.declare_function(token, name, &body.function)?;
        let head = StatementKind::FunctionHead(index);
        body.index = index;
        if self.kind() == TokenKind::Semicolon {
            self.next();
            self.statement(head, start, Some(index));
            if self.module.functions[index as usize].defined {
                return Ok(());
            }
        } else if self.kind() == TokenKind::CurlyOpen {
            self.statement(head, start, Some(index));
            body.function.defined = true;
            self.body(&mut body)?;
        } else {
            return self.unexpected("`{` or `;` after the head of the function");
        }
        self.module.functions[index as usize] = body.function;
        Ok(())
    }

    /// Refuses more parameters than a kernel can have.
    fn check_parameter_space(&self, open: Token, params: &[Variable]) -> Result<()> {
        let bytes: u64 = params.iter().map(|p| p.bytes).sum();
        if bytes <= MAX_PARAMETER_BYTES {
            return Ok(());
        }
        let what = format!("the kernel has {bytes} bytes of parameters");
        self.error(
            open,
            what,
            format!("expected at most {MAX_PARAMETER_BYTES}"),
        )
    }

    /// Index of the function, which may be declared several times.
    fn declare_function(&mut self, token: Token, name: &'a str, head: &Function) -> Result<u32> {
        match self.globals.get(name) {
            None => {
                let index = self.module.functions.len() as u32;
                self.globals.insert(name, Global::Function(index));
                self.module.functions.push(Function {
                    registers: Vec::new(),
                    ..head.clone()
                });
                Ok(index)
            }
            Some(Global::Function(index))
                if !(self.module.functions[*index as usize].defined
                    && self.kind() == TokenKind::CurlyOpen) =>
            {
                Ok(*index)
            }
            Some(_) => {
                let help = "expected a name not yet defined in this module";
                self.error(token, format!("{name} is defined twice"), help)
            }
        }
    }

    fn parameters(&mut self, body: &mut Body<'a>) -> Result<Vec<Parameter>> {
        self.expect(TokenKind::RoundOpen, "`(`")?;
        let mut list = Vec::new();
        while !self.eat(TokenKind::RoundClose) {
            let attributes = self.attributes(Linkage::Internal)?;
            let token = self.peek();
            let (name, variable) = self.declarator(attributes, false)?;
            list.push(self.add_parameter(body, token, name, variable)?);
            if !self.eat(TokenKind::Comma) && self.kind() != TokenKind::RoundClose {
                return self.unexpected("`,` or `)`");
            }
        }
        Ok(list)
    }

    /// Directives between head and body.
    fn tuning(&mut self, tuning: &mut Tuning) -> Result<()> {
        while self.kind() == TokenKind::Dotted {
            let token = self.next();
            let text = self.str_of(token);
            if text == ".pragma" {
                self.skip_statement()?;
                continue;
            }
            let mut values = [1; 3];
            let mut count = 0;
            while self.kind() == TokenKind::Integer && count < 3 {
                values[count] = self.number("a number")?;
                count += 1;
                self.eat(TokenKind::Comma);
            }
            match text {
                ".maxntid" => tuning.maxntid = Some(values),
                ".reqntid" => tuning.reqntid = Some(values),
                ".minnctapersm" => tuning.minnctapersm = Some(values[0]),
                ".maxnreg" => tuning.maxnreg = Some(values[0]),
                ".noreturn" => tuning.noreturn = true,
                ".reqnctapercluster" => tuning.cluster = Some(values),
                ".maxnctapersm"
                | ".explicitcluster"
                | ".maxclusterrank"
                | ".blocksareclusters"
                | ".abi_preserve"
                | ".abi_preserve_control" => {}
                _ => {
                    let help = "expected `{`, `;` or a directive as `.maxntid`";
                    return self.error(token, format!("unknown directive `{text}`"), help);
                }
            }
        }
        Ok(())
    }
}
