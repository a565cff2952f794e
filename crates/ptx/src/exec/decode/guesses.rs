//! Loads of what a compare-and-swap is tried with: `old = *p; do { ... } while (the swap of *p
//! from old fails)`, as the CUDA C++ Programming Guide writes atomics that the hardware lacks.
//!
//! The value is a guess: a stale one makes the swap fail, which returns the right one. Such a
//! load is as good as a relaxed one, although it is written as a weak one. The value is
//! followed through calls, too: code that is not optimised has one for each conversion, and
//! for the swap.

use super::awaited::{computes, is_access, may_wait};
use super::callees::{
    Call, Callees, Cell, DEPTH, cells, is_only_passed, is_param_load, is_param_store,
};
use super::ignored::places_after;
use super::info::accessed;
use crate::ast::{Base, Function, Instruction, Operand, Parameter, Symbol};
use crate::cfg::{Cfg, Flow, flow};
use crate::names::Word;
use crate::opcodes::{Class, Opcode};
use std::collections::HashSet;

/// Marks these loads.
pub(super) fn find(callees: &Callees, body: &Function, cfg: &Cfg, guessed: &mut [bool]) {
    if !callees.have(body, is_swap, DEPTH) {
        return;
    }
    for (at, i) in body.instructions.iter().enumerate() {
        guessed[at] = is_weak_load(i) && is_guess(callees, body, cfg, at);
    }
}

fn is_swap(i: &Instruction) -> bool {
    i.opcode.class() == Class::Atomic && i.has(Word::Cas)
}

fn is_weak_load(i: &Instruction) -> bool {
    let vector = [Word::V2, Word::V4, Word::V8];
    i.opcode.class() == Class::Load
        && is_access(i)
        && !may_wait(i)
        && i.one_of(&vector).is_none()
        && !i.has(Word::Nc)
}

/// Whether it asks if two values are equal.
fn compares(i: &Instruction) -> bool {
    i.opcode.class() != Class::Atomic && (i.has(Word::Eq) || i.has(Word::Ne))
}

/// Bytes of an element.
fn bytes(i: &Instruction) -> Option<u32> {
    Some(i.ty(0)?.bytes())
}

/// Whether nothing but a swap of as many bytes takes the value of a load, computation and the
/// question whether the swap found it aside.
fn is_guess(callees: &Callees, body: &Function, cfg: &Cfg, load: usize) -> bool {
    let instruction = &body.instructions[load];
    let places = places_after(cfg, load);
    let written = accessed(instruction).1;
    let value = Value {
        callees,
        body,
        size: bytes(instruction),
        depth: DEPTH,
        known: written.iter().map(|r| Cell::Register(r.0)).collect(),
        results: HashSet::new(),
    };
    value.follow(&places).is_some()
}

/// What a call does with values that are passed to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It computes its result from them.
    Computes,
    /// It compares and swaps: the result is what was there.
    Swaps,
}

/// Where the value of a load goes.
struct Value<'a> {
    callees: &'a Callees<'a>,
    body: &'a Function,
    size: Option<u32>,
    /// Calls in each other that are followed from here on.
    depth: u32,
    /// Where it is, or what is computed from it.
    known: HashSet<Cell>,
    /// Where the result of a swap is that it is compared by.
    results: HashSet<Cell>,
}

impl<'a> Value<'a> {
    /// Follows the value through some places: where it, and the results of the swaps, go.
    /// Nothing if no swap takes it, or something else does.
    fn follow(mut self, places: &[usize]) -> Option<Self> {
        let body = self.body;
        let all = || places.iter().map(|at| &body.instructions[*at]);
        let mut before = 0;
        while before != self.known.len() {
            before = self.known.len();
            all().for_each(|i| self.follow_value(i));
        }
        before = usize::MAX;
        while before != self.results.len() {
            before = self.results.len();
            all().for_each(|i| self.follow_result(i));
        }
        let is_guess = !self.results.is_empty() && all().all(|i| self.is_harmless_in(i));
        is_guess.then_some(self)
    }

    fn has_value(&self, operand: Option<&Operand>) -> bool {
        matches!(operand, Some(Operand::Register(r)) if self.known.contains(&Cell::Register(r.0)))
    }

    /// Whether it compares the place with the value, by itself or in the functions that it
    /// calls.
    fn is_tried_by(&self, i: &Instruction) -> bool {
        let by_itself = is_swap(i) && bytes(i) == self.size && self.has_value(i.operands.get(2));
        by_itself || self.effect(i) == Some(Effect::Swaps)
    }

    /// What a call does with the value; nothing if it is no such call.
    fn effect(&self, i: &Instruction) -> Option<Effect> {
        let call = Call::of(i)?;
        let passed = call.places(|cell| self.known.contains(&cell));
        let depth = self.depth.checked_sub(1)?;
        if passed.is_empty() {
            return None;
        }
        if self.callees.computes(call.callee, depth) {
            return Some(Effect::Computes);
        }
        let key = (call.callee, passed, self.size);
        let known = self.callees.swaps.borrow().get(&key).copied();
        let swaps = known.unwrap_or_else(|| {
            let body = self.callees.body(key.0);
            let swaps = body.is_some_and(|body| self.is_swapped_in(body, &key.1, depth));
            self.callees.swaps.borrow_mut().insert(key, swaps);
            swaps
        });
        swaps.then_some(Effect::Swaps)
    }

    /// Whether a function does nothing with some of its arguments but to compare and swap, and
    /// returns what was there.
    fn is_swapped_in(&self, body: &Function, arguments: &[usize], depth: u32) -> bool {
        let parameter = |n: &usize| body.params.get(*n).copied();
        let parameters: Option<Vec<Parameter>> = arguments.iter().map(parameter).collect();
        let is_passed = |p: &Parameter| match p {
            Parameter::Variable(at) => is_only_passed(body, Symbol::Local(*at)),
            Parameter::Register(_) => true,
        };
        let Some(parameters) = parameters.filter(|all| all.iter().all(is_passed)) else {
            return false;
        };
        let value = Value {
            body,
            depth,
            known: parameters.into_iter().map(Cell::of).collect(),
            results: HashSet::new(),
            ..*self
        };
        let places: Vec<usize> = (0..body.instructions.len()).collect();
        let has_swap = self.callees.have(body, is_swap, DEPTH);
        let inside = has_swap.then(|| value.follow(&places)).flatten();
        let mut returns = body.returns.iter().map(|r| Cell::of(*r));
        inside.is_some_and(|inside| returns.all(|cell| inside.is_result(cell, DEPTH)))
    }

    /// Whether all that is ever in a cell is the result of a swap that the value was tried by.
    fn is_result(&self, cell: Cell, depth: u32) -> bool {
        let writes = |i: &&Instruction| cells(i).1.contains(&cell);
        let mut writers = self.body.instructions.iter().filter(writes).peekable();
        depth > 0
            && writers.peek().is_some()
            && writers.all(|i| {
                let from = self.moved(i);
                self.is_tried_by(i) || from.is_some_and(|from| self.is_result(from, depth - 1))
            })
    }

    /// Whether it asks if a swap found the value.
    fn is_test(&self, reads: &[Cell]) -> bool {
        let has = |of: &HashSet<Cell>| reads.iter().any(|r| of.contains(r));
        let is_either = |r: &Cell| self.known.contains(r) || self.results.contains(r);
        has(&self.known) && has(&self.results) && reads.iter().all(is_either)
    }

    /// Follows the value through an instruction.
    fn follow_value(&mut self, i: &Instruction) {
        let (reads, writes) = cells(i);
        if !reads.iter().any(|r| self.known.contains(r)) {
            return;
        }
        let goes_on = computes(i) && !compares(i)
            || is_param_store(i)
            || self.effect(i) == Some(Effect::Computes);
        if goes_on {
            self.known.extend(writes);
        }
    }

    /// Follows what the swaps return: where the value, which goes the same way in the next
    /// round, is not, too.
    fn follow_result(&mut self, i: &Instruction) {
        let writes = cells(i).1;
        if self.is_tried_by(i) {
            self.results.extend(writes);
        } else if self
            .moved(i)
            .is_some_and(|from| self.results.contains(&from))
        {
            let known = &self.known;
            let new = writes.into_iter().filter(|w| !known.contains(w));
            self.results.extend(new);
        }
    }

    /// Whether an instruction does nothing with the value but to compute and to swap.
    fn is_harmless_in(&self, i: &Instruction) -> bool {
        let (reads, writes) = cells(i);
        if !reads.iter().any(|r| self.known.contains(r)) {
            return true;
        }
        let is_known = |cell: Cell| self.known.contains(&cell);
        let is_addressed = i.operands.iter().any(|operand| match operand {
            Operand::Address(Base::Register(r), _) => is_known(Cell::Register(r.0)),
            Operand::Address(Base::Variable(v), _) => {
                is_known(Cell::Variable(*v)) && !is_param_load(i) && !is_param_store(i)
            }
            Operand::Variable(v, _) => is_known(Cell::Variable(*v)),
            _ => false,
        });
        let guard = i.guard.map(|g| Cell::Register(g.register.0));
        let turns = flow(self.body, i) != Flow::Next;
        let is_known_use = match i.opcode.class() {
            Class::Call => self.effect(i).is_some() && !guard.is_some_and(is_known),
            Class::Store => is_param_store(i) && writes.iter().all(|w| self.is_passed(*w)),
            _ if compares(i) => self.is_test(&reads),
            _ => self.is_tried_by(i) || computes(i),
        };
        !is_addressed && !turns && is_known_use
    }

    /// Whether a cell is a variable by which a function is called, not one that is returned.
    fn is_passed(&self, cell: Cell) -> bool {
        match cell {
            Cell::Variable(variable) => {
                let is_returned = self.body.returns.iter().any(|r| Cell::of(*r) == cell);
                !is_returned && is_only_passed(self.body, variable)
            }
            Cell::Register(_) => false,
        }
    }

    /// The cell that an instruction copies to another one, as a whole.
    fn moved(&self, i: &Instruction) -> Option<Cell> {
        let passes = (is_param_load(i) || is_param_store(i)) && bytes(i) == self.size;
        let copies = (i.opcode == Opcode::Mov || passes) && i.guard.is_none();
        match cells(i) {
            (reads, writes) if copies && reads.len() == 1 && writes.len() == 1 => Some(reads[0]),
            _ => None,
        }
    }
}
