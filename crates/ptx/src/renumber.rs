//! Functions and variables of a module under other numbers, wherever they are
//! named: for aliases, and for modules that are linked.

use super::ast::{Base, Function, Initial, LabelKind, Operand, Symbol, Target};

/// The new number of each function and of each variable of module scope.
pub(super) struct Numbers {
    pub functions: Vec<u32>,
    pub variables: Vec<u32>,
}

impl Numbers {
    /// Renumbers the names in a function.
    pub fn in_function(&self, function: &mut Function) {
        for instruction in &mut function.instructions {
            for operand in &mut instruction.operands {
                self.in_operand(operand);
            }
        }
        for label in &mut function.labels {
            if let LabelKind::Calls(targets) = &mut label.kind {
                targets.iter_mut().for_each(|f| self.function(f));
            }
        }
        let own = function.variables.iter_mut();
        own.flat_map(|v| &mut v.initial)
            .for_each(|i| self.in_initial(i));
    }

    /// Renumbers the names in an initial value.
    pub fn in_initial(&self, initial: &mut Initial) {
        for relocation in &mut initial.relocations {
            match &mut relocation.target {
                Target::Variable(at) => self.variable(at),
                Target::Function(at) => self.function(at),
            }
        }
    }

    fn in_operand(&self, operand: &mut Operand) {
        match operand {
            Operand::Variable(Symbol::Module(at), _)
            | Operand::Address(Base::Variable(Symbol::Module(at)), _) => self.variable(at),
            Operand::Function(at) => self.function(at),
            Operand::Vector(items) | Operand::List(items) | Operand::Indexed(items) => {
                items.iter_mut().for_each(|o| self.in_operand(o));
            }
            Operand::Pair(pair) => {
                self.in_operand(&mut pair.0);
                self.in_operand(&mut pair.1);
            }
            _ => {}
        }
    }

    fn function(&self, at: &mut u32) {
        *at = self.functions.get(*at as usize).copied().unwrap_or(*at);
    }

    fn variable(&self, at: &mut u32) {
        *at = self.variables.get(*at as usize).copied().unwrap_or(*at);
    }
}
