//! Loads and tests whose value a thread may wait for, and what depends on it.

use super::info::accessed;
use crate::ast::{Function, Instruction};
use crate::names::{Space, Word};
use crate::opcodes::Class;

/// Accesses that see what others write meanwhile.
pub(in crate::exec) fn may_wait(i: &Instruction) -> bool {
    let strong = [Word::Volatile, Word::Relaxed, Word::Acquire, Word::Mmio];
    match i.opcode.class() {
        Class::Atomic => true,
        Class::Load => i.one_of(&strong).is_some(),
        _ => false,
    }
}

/// A load or an atomic of memory that others see.
pub(super) fn is_access(i: &Instruction) -> bool {
    let own = [Space::Param, Space::Const, Space::Local];
    let is_own = i.space().is_some_and(|space| own.contains(&space));
    matches!(i.opcode.class(), Class::Load | Class::Atomic) && !is_own
}

pub(super) fn tests_barrier(i: &Instruction) -> bool {
    i.opcode.class() == Class::Mbarrier && i.one_of(&[Word::TestWait, Word::TryWait]).is_some()
}

/// Whether a loop of such instructions does nothing but wait.
pub(super) fn is_harmless(i: &Instruction) -> bool {
    !matches!(
        i.opcode.class(),
        Class::Store
            | Class::StoreMatrix
            | Class::Copy
            | Class::Barrier
            | Class::Call
            | Class::Return
            | Class::Exit
            | Class::Trap
            | Class::Tensor
            | Class::Mbarrier
            | Class::TensorMap
            | Class::Texture
            | Class::Warp
            | Class::IndexedBranch
    )
}

/// Whether an instruction that `ends` accepts depends on what that at `from`
/// gives, by the instructions of `places`.
pub(super) fn decides(
    body: &Function,
    places: &[usize],
    from: usize,
    ends: impl Fn(usize) -> bool,
) -> bool {
    let mut known: Vec<u32> = accessed(&body.instructions[from])
        .1
        .iter()
        .map(|r| r.0)
        .collect();
    let mut before = 0;
    while known.len() != before {
        before = known.len();
        for &place in places.iter().filter(|&&p| p != from) {
            let i = &body.instructions[place];
            let (reads, writes) = accessed(i);
            if !reads.iter().any(|r| known.contains(&r.0)) {
                continue;
            }
            if ends(place) {
                return true;
            }
            let new = writes.iter().map(|w| w.0);
            let new: Vec<u32> = new.filter(|w| !known.contains(w)).collect();
            known.extend(new);
        }
    }
    false
}

/// A weak store to global memory, such as of a flag that says whether the phase was complete.
pub(super) fn reports(i: &Instruction) -> bool {
    let strong = [Word::Volatile, Word::Relaxed, Word::Release, Word::Mmio];
    let weak = i.one_of(&strong).is_none();
    i.opcode.class() == Class::Store && i.space() == Some(Space::Global) && weak
}

/// Whether it works on registers alone, or loads what nobody writes.
pub(super) fn computes(i: &Instruction) -> bool {
    match i.opcode.class() {
        Class::Load => matches!(i.space(), Some(Space::Param | Space::Const)),
        Class::Atomic | Class::LoadMatrix => false,
        _ => is_harmless(i),
    }
}
