//! Order that an instruction makes: by the qualifiers of an access, and by groups of
//! copies.

use super::Decoder;
use super::operand::Reason;
use crate::ast::{Immediate, Instruction, Operand};
use crate::exec::image::MemoryOrder;
use crate::exec::image::form::Step;
use crate::exec::ordering::{Scope, Strength};
use crate::names::{Type, Word};

impl Decoder<'_> {
    /// Whether a copy is none, but about groups of copies.
    pub(super) fn only_waits(&self, i: &Instruction) -> bool {
        i.one_of(&[Word::CommitGroup, Word::WaitGroup, Word::WaitAll])
            .is_some()
    }

    /// `cp.async.commit_group`, `.wait_group N`, `.wait_all`.
    pub(super) fn wait(&mut self, i: &Instruction) -> Result<(), Reason> {
        let number = match i.operands.first() {
            Some(Operand::Immediate(Immediate::Integer(n))) => *n as u32,
            _ => 0,
        };
        self.step(if i.has(Word::CommitGroup) {
            Step::Commit
        } else {
            Step::Wait {
                left: (!i.has(Word::WaitAll)).then_some(number),
            }
        });
        Ok(())
    }
}

/// The strength of a load or store, and the order that it makes.
pub(super) fn memory_order(i: &Instruction) -> MemoryOrder {
    ordered(i, strength(i))
}

/// The order that an access of that strength makes.
pub(super) fn ordered(i: &Instruction, strength: Strength) -> MemoryOrder {
    MemoryOrder {
        strength,
        scope: match i.one_of(&[Word::Cta, Word::Cluster]) {
            Some(Word::Cluster) => Scope::Cluster,
            Some(_) => Scope::Block,
            None => Scope::Wide,
        },
        acquire: orders(i, Word::Acquire),
        release: orders(i, Word::Release),
        // The waits of the whole function tell.
        unread: false,
        fixed: i.has(Word::Nc),
        whole: i.ty(0) == Some(Type::B128),
        halves: matches!(i.ty(0), Some(Type::F16x2 | Type::Bf16x2)),
    }
}

/// The strength of a load or store.
fn strength(i: &Instruction) -> Strength {
    let strong = [Word::Relaxed, Word::Acquire, Word::Release, Word::Mmio];
    match i.one_of(&strong) {
        Some(_) => Strength::Strong,
        None if i.has(Word::Volatile) => Strength::Volatile,
        None => Strength::Weak,
    }
}

/// Whether it acquires, or releases.
fn orders(i: &Instruction, word: Word) -> bool {
    i.has(word) || i.has(Word::AcqRel)
}
