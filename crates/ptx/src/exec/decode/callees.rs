//! What the functions that a function calls do: code that is not optimised calls one for each
//! conversion, atomic and hint, through variables in `.param` space.

use super::awaited::{computes, may_wait, reports, tests_barrier};
use super::info::accessed;
use crate::ast::{Base, Function, Instruction, Module, Operand, Parameter, Register, Symbol};
use crate::cfg::{Flow, flow};
use crate::names::Space;
use crate::opcodes::Class;
use std::cell::RefCell;
use std::collections::HashMap;

/// Calls in each other that are followed.
pub(super) const DEPTH: u32 = 6;

/// Where a value may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cell {
    Register(u32),
    /// A variable in `.param` space.
    Variable(Symbol),
}

impl Cell {
    pub fn of(parameter: Parameter) -> Cell {
        match parameter {
            Parameter::Register(Register(register)) => Cell::Register(register),
            Parameter::Variable(at) => Cell::Variable(Symbol::Local(at)),
        }
    }
}

/// The cell that an operand is, where it is one.
fn cell(operand: &Operand) -> Option<Cell> {
    match operand {
        Operand::Register(register) => Some(Cell::Register(register.0)),
        Operand::Variable(symbol, _) | Operand::Address(Base::Variable(symbol), _) => {
            Some(Cell::Variable(*symbol))
        }
        _ => None,
    }
}

/// Cells that an instruction reads and writes. A variable whose address it takes is read.
pub(super) fn cells(i: &Instruction) -> (Vec<Cell>, Vec<Cell>) {
    let all = |list: Vec<Register>| list.iter().map(|r| Cell::Register(r.0)).collect();
    let (reads, writes) = accessed(i);
    let (mut reads, mut writes): (Vec<Cell>, Vec<Cell>) = (all(reads), all(writes));
    for (at, operand) in i.operands.iter().enumerate() {
        let is_written = at == 0 && (is_param_store(i) || i.opcode.class() == Class::Call);
        let named = match operand {
            Operand::List(list) => &list[..],
            one => std::slice::from_ref(one),
        };
        let variables = named.iter().filter_map(cell);
        let variables = variables.filter(|c| matches!(c, Cell::Variable(_)));
        if is_written {
            writes.extend(variables);
        } else {
            reads.extend(variables);
        }
    }
    (reads, writes)
}

/// A store to a variable in `.param` space, by its name.
pub(super) fn is_param_store(i: &Instruction) -> bool {
    i.opcode.class() == Class::Store
        && i.space() == Some(Space::Param)
        && matches!(
            i.operands.first(),
            Some(Operand::Address(Base::Variable(_), _))
        )
}

/// A load of a variable in `.param` space, by its name.
pub(super) fn is_param_load(i: &Instruction) -> bool {
    i.opcode.class() == Class::Load
        && i.space() == Some(Space::Param)
        && matches!(
            i.operands.get(1),
            Some(Operand::Address(Base::Variable(_), _))
        )
}

/// Whether a function only stores, loads and passes a variable: nothing takes its address.
pub(super) fn is_only_passed(body: &Function, variable: Symbol) -> bool {
    let names = |o: &Operand| cell(o) == Some(Cell::Variable(variable));
    let mut uses = body
        .instructions
        .iter()
        .filter(|i| i.operands.iter().any(names));
    uses.all(|i| is_param_store(i) || is_param_load(i))
}

/// A call of a function by its name.
pub(super) struct Call<'a> {
    pub callee: u32,
    pub arguments: &'a [Operand],
}

impl Call<'_> {
    pub fn of(i: &Instruction) -> Option<Call<'_>> {
        match &i.operands[..] {
            [
                Operand::List(_),
                Operand::Function(callee),
                Operand::List(arguments),
                ..,
            ] if i.opcode.class() == Class::Call => Some(Call {
                callee: *callee,
                arguments,
            }),
            _ => None,
        }
    }

    /// The arguments that are some cells, by their numbers.
    pub fn places(&self, is: impl Fn(Cell) -> bool) -> Vec<usize> {
        let argument = |n: &usize| cell(&self.arguments[*n]).is_some_and(&is);
        (0..self.arguments.len()).filter(argument).collect()
    }
}

/// A function, the arguments that a value is passed as, and its bytes.
pub(super) type Passed = (u32, Vec<usize>, Option<u32>);

/// The functions of a module, and what is known of them.
pub(super) struct Callees<'m> {
    module: &'m Module,
    pure: RefCell<HashMap<u32, bool>>,
    passing: RefCell<HashMap<u32, bool>>,
    swapping: RefCell<HashMap<u32, bool>>,
    /// Whether functions swap what is passed to them.
    pub swaps: RefCell<HashMap<Passed, bool>>,
}

impl<'m> Callees<'m> {
    pub fn new(module: &'m Module) -> Self {
        Callees {
            module,
            pure: RefCell::default(),
            passing: RefCell::default(),
            swapping: RefCell::default(),
            swaps: RefCell::default(),
        }
    }

    /// A function, if it has a body.
    pub fn body(&self, function: u32) -> Option<&'m Function> {
        let body = &self.module.functions[function as usize];
        body.defined.then_some(body)
    }

    /// Whether a function computes results from its parameters, and does nothing else.
    pub fn computes(&self, function: u32, depth: u32) -> bool {
        self.known(&self.pure, function, depth, |body| {
            body.instructions.iter().all(|i| match i.opcode.class() {
                Class::Return => true,
                Class::Load => is_param_load(i),
                Class::Store => is_param_store(i),
                Class::Call => {
                    Call::of(i).is_some_and(|call| self.computes(call.callee, depth - 1))
                }
                _ => computes(i),
            })
        })
    }

    /// Whether a call does not make its thread wait, nor tells it later that there was a call:
    /// there is no barrier, no loop that may wait for what others write, and no store but to
    /// global memory.
    pub fn cannot_wait(&self, i: &Instruction) -> bool {
        Call::of(i).is_some_and(|call| self.passes(call.callee, DEPTH))
    }

    fn passes(&self, function: u32, depth: u32) -> bool {
        self.known(&self.passing, function, depth, |body| {
            let loops = goes_back(body);
            body.instructions.iter().all(|i| match i.opcode.class() {
                Class::Barrier | Class::Exit | Class::Trap | Class::IndexedBranch => false,
                Class::Call => Call::of(i).is_some_and(|call| self.passes(call.callee, depth - 1)),
                Class::Store => is_param_store(i) || reports(i),
                _ => !(tests_barrier(i) || loops && may_wait(i)),
            })
        })
    }

    /// Whether a function, or one that it calls, has an instruction such as `is_swap`.
    pub fn have(&self, body: &Function, is_swap: fn(&Instruction) -> bool, depth: u32) -> bool {
        body.instructions.iter().any(|i| {
            let calls = |call: Call| {
                self.known(&self.swapping, call.callee, depth, |body| {
                    self.have(body, is_swap, depth - 1)
                })
            };
            is_swap(i) || Call::of(i).is_some_and(calls)
        })
    }

    /// What `ask` says of a function that has a body, which is asked once; no beyond the depth.
    fn known(
        &self,
        answers: &RefCell<HashMap<u32, bool>>,
        function: u32,
        depth: u32,
        ask: impl Fn(&Function) -> bool,
    ) -> bool {
        if depth == 0 {
            return false;
        }
        if let Some(known) = answers.borrow().get(&function) {
            return *known;
        }
        let answer = self.body(function).is_some_and(ask);
        answers.borrow_mut().insert(function, answer);
        answer
    }
}

/// Whether a branch of a function may go back in the text.
fn goes_back(body: &Function) -> bool {
    let back = |(at, i): (usize, &Instruction)| match flow(body, i) {
        Flow::Branch(places, _) => places.iter().any(|to| *to as usize <= at),
        _ => false,
    };
    body.instructions.iter().enumerate().any(back)
}
