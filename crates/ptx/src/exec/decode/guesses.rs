//! Loads of what a compare-and-swap is tried with: `old = *p; do { ... } while (the swap of *p
//! from old fails)`, as the CUDA C++ Programming Guide writes atomics that the hardware lacks.
//!
//! The value is a guess: a stale one makes the swap fail, which returns the right one. Such a
//! load is as good as a relaxed one, although it is written as a weak one.

use super::awaited::{computes, is_access, may_wait};
use super::ignored::places_after;
use super::info::accessed;
use crate::ast::{Base, Function, Instruction, Operand};
use crate::cfg::{Cfg, Flow, flow};
use crate::names::Word;
use crate::opcodes::Class;
use std::collections::HashSet;

/// Marks these loads.
pub(super) fn find(body: &Function, cfg: &Cfg, guessed: &mut [bool]) {
    if !body.instructions.iter().any(is_swap) {
        return;
    }
    for (at, i) in body.instructions.iter().enumerate() {
        guessed[at] = is_weak_load(i) && is_guess(body, cfg, at);
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

/// Where the value of a load goes.
#[derive(Default)]
struct Value {
    /// Registers that have it, or what is computed from it.
    known: HashSet<u32>,
    /// Registers with the result of a swap that it is compared by.
    results: HashSet<u32>,
}

/// Whether nothing but a swap of as many bytes takes the value of a load, computation and the
/// question whether the swap found it aside.
fn is_guess(body: &Function, cfg: &Cfg, load: usize) -> bool {
    let places = places_after(cfg, load);
    let instruction = |at: &usize| &body.instructions[*at];
    let size = bytes(instruction(&load));
    let mut value = Value::default();
    let written = accessed(instruction(&load)).1;
    value.known.extend(written.iter().map(|r| r.0));
    let mut before = (0, 0);
    while before != value.counts() {
        before = value.counts();
        places
            .iter()
            .for_each(|at| value.follow(instruction(at), size));
    }
    !value.results.is_empty()
        && (places.iter()).all(|at| value.is_harmless_in(body, instruction(at), size))
}

impl Value {
    fn counts(&self) -> (usize, usize) {
        (self.known.len(), self.results.len())
    }

    /// Whether a swap compares the place with the value.
    fn is_tried_by(&self, i: &Instruction, size: Option<u32>) -> bool {
        let compared = i.operands.get(2);
        let is_value = matches!(compared, Some(Operand::Register(r)) if self.known.contains(&r.0));
        is_swap(i) && bytes(i) == size && is_value
    }

    /// Whether it asks if a swap found the value.
    fn is_test(&self, reads: &[crate::ast::Register], i: &Instruction) -> bool {
        let is_either = |r: u32| self.known.contains(&r) || self.results.contains(&r);
        let has = |of: &HashSet<u32>| reads.iter().any(|r| of.contains(&r.0));
        compares(i)
            && has(&self.known)
            && has(&self.results)
            && reads.iter().all(|r| is_either(r.0))
    }

    /// Follows the value through an instruction.
    fn follow(&mut self, i: &Instruction, size: Option<u32>) {
        let (reads, writes) = accessed(i);
        let writes = writes.iter().map(|r| r.0);
        if self.is_tried_by(i, size) {
            self.results.extend(writes);
        } else if computes(i) && !compares(i) && reads.iter().any(|r| self.known.contains(&r.0)) {
            self.known.extend(writes);
        }
    }

    /// Whether an instruction does nothing with the value but to compute and to swap.
    fn is_harmless_in(&self, body: &Function, i: &Instruction, size: Option<u32>) -> bool {
        let (reads, _) = accessed(i);
        if !reads.iter().any(|r| self.known.contains(&r.0)) {
            return true;
        }
        let is_addressed = i.operands.iter().any(|operand| {
            matches!(operand, Operand::Address(Base::Register(r), _) if self.known.contains(&r.0))
        });
        let turns = flow(body, i) != Flow::Next;
        let is_known_use = if compares(i) {
            self.is_test(&reads, i)
        } else {
            self.is_tried_by(i, size) || computes(i)
        };
        !is_addressed && !turns && is_known_use
    }
}
