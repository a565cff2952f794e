//! Values that only go to a shuffle, through moves and calls: code that is not optimised
//! calls a function for each shuffle. What lanes hand on there and no lane takes is not read.

use super::callees::{Call, Cell};
use crate::ast::{Base, Function, Instruction, Module, Operand, Parameter, Register, Symbol};
use crate::names::Space;
use crate::opcodes::{Class, Opcode};
use crate::operands;

/// Moves and calls on the way to a shuffle, at most.
const DEPTH: u32 = 6;

/// Whether an instruction, which is no shuffle itself, does nothing with a register but hand
/// it on to shuffles.
pub fn is_handed_on(module: &Module, body: &Function, i: &Instruction, register: Register) -> bool {
    i.opcode != Opcode::Shfl && goes_on(module, body, (i, register), DEPTH)
}

fn goes_on(
    module: &Module,
    body: &Function,
    (i, register): (&Instruction, Register),
    depth: u32,
) -> bool {
    let guards = i.guard.is_some_and(|g| g.register == register);
    if depth == 0 || guards {
        return false;
    }
    let is = |operand: &Operand| *operand == Operand::Register(register);
    match (i.opcode, &i.operands[..]) {
        (Opcode::Mov, [Operand::Register(to), from]) if is(from) => {
            all_go_on(module, body, *to, depth - 1)
        }
        (Opcode::Shfl, [_, data, others @ ..]) => is(data) && !others.iter().any(is),
        (Opcode::St, [Operand::Address(Base::Variable(to), 0), data])
            if i.space() == Some(Space::Param) && is(data) =>
        {
            is_passed_on(module, body, *to, depth - 1)
        }
        _ => false,
    }
}

/// Whether something reads a register, and all that do so hand it on.
fn all_go_on(module: &Module, body: &Function, register: Register, depth: u32) -> bool {
    let reads = |i: &&Instruction| operands::reads(i).contains(&register);
    let mut readers = body.instructions.iter().filter(reads).peekable();
    readers.peek().is_some() && readers.all(|i| goes_on(module, body, (i, register), depth))
}

/// Whether the calls that pass a variable are of functions that only hand it on.
fn is_passed_on(module: &Module, body: &Function, variable: Symbol, depth: u32) -> bool {
    let is = |operand: &Operand| *operand == Operand::Variable(variable, 0);
    let passes = |i: &&Instruction| {
        let list = i
            .operands
            .iter()
            .any(|o| matches!(o, Operand::List(l) if l.iter().any(is)));
        i.opcode.class() == Class::Call && list
    };
    let mut calls = body.instructions.iter().filter(passes).peekable();
    calls.peek().is_some()
        && calls.all(|i| {
            Call::of(i).is_some_and(|call| {
                let callee = &module.functions[call.callee as usize];
                let mut places = call
                    .places(|cell| cell == Cell::Variable(variable))
                    .into_iter();
                callee.defined && places.all(|n| is_taken_on(module, callee, n, depth))
            })
        })
}

/// Whether a function loads a parameter only to hand it on.
fn is_taken_on(module: &Module, callee: &Function, n: usize, depth: u32) -> bool {
    let variable = match callee.params.get(n) {
        Some(Parameter::Variable(at)) => Symbol::Local(*at),
        Some(Parameter::Register(register)) => return all_go_on(module, callee, *register, depth),
        None => return false,
    };
    let names = |o: &Operand| match o {
        Operand::Address(Base::Variable(symbol), _) | Operand::Variable(symbol, _) => {
            *symbol == variable
        }
        _ => false,
    };
    let uses = |i: &&Instruction| i.operands.iter().any(names);
    let mut uses = callee.instructions.iter().filter(uses).peekable();
    uses.peek().is_some()
        && uses.all(|i| match (i.opcode, &i.operands[..]) {
            (Opcode::Ld, [Operand::Register(to), Operand::Address(_, 0)]) => {
                all_go_on(module, callee, *to, depth)
            }
            _ => false,
        })
}
