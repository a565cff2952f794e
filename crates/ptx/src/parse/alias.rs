//! `.alias`: another name of a function.

use super::{Global, Parser};
use crate::renumber::Numbers;
use crate::token::TokenKind;
use spadkit_base::error::Result;

impl Parser<'_> {
    /// `.alias name, function;`, both declared above.
    pub(super) fn alias(&mut self) -> Result<()> {
        let name = self.known_function()?;
        self.expect(TokenKind::Comma, "`,`")?;
        let token = self.peek();
        let function = self.known_function()?;
        self.expect(TokenKind::Semicolon, "`;`")?;
        if self.aliased(function) == name {
            let help = "expected a function with a body";
            return self.error(token, "an alias of itself", help);
        }
        self.aliases.insert(name, function);
        Ok(())
    }

    fn known_function(&mut self) -> Result<u32> {
        let token = self.peek();
        let name = self.word("the name of a function")?;
        match self.globals.get(name) {
            Some(Global::Function(index)) => Ok(*index),
            _ => {
                let help = "expected a function that is declared above";
                self.error(token, format!("unknown function {name}"), help)
            }
        }
    }

    /// The function that an alias stands for; any other is itself.
    fn aliased(&self, mut function: u32) -> u32 {
        while let Some(next) = self.aliases.get(&function) {
            function = *next;
        }
        function
    }

    /// Names the function itself wherever an alias of it is named.
    pub(super) fn follow_aliases(&mut self) {
        if self.aliases.is_empty() {
            return;
        }
        let functions = 0..self.module.functions.len() as u32;
        let numbers = Numbers {
            functions: functions.map(|f| self.aliased(f)).collect(),
            variables: (0..self.module.variables.len() as u32).collect(),
        };
        for function in &mut self.module.functions {
            numbers.in_function(function);
        }
        for variable in &mut self.module.variables {
            if let Some(initial) = &mut variable.initial {
                numbers.in_initial(initial);
            }
        }
    }
}
