//! The operands of an instruction that may be addresses of shared memory, and
//! what an address touches.

use super::super::context::is_any_shared;
use super::super::{Affine, Term};
use super::origin::Origin;
use super::{Touches, is_dynamic};
use crate::ast::{Function, Immediate, Instruction, Module, Operand};
use crate::names::{Modifier, Space, Word};
use crate::opcodes::{Class, Opcode};

/// The kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// `ld`
    Load,
    /// `st`
    Store,
    /// `atom`, `red`
    Atomic,
    /// `cp.async`: it writes shared memory.
    Copy,
    /// `ldmatrix`
    LoadMatrix,
    /// `stmatrix`
    StoreMatrix,
    /// A call of a function that accesses shared memory.
    Call,
    /// An instruction of another kind: it may read and write.
    Other,
}

impl AccessKind {
    /// Whether it may write.
    pub fn writes(self) -> bool {
        !matches!(self, AccessKind::Load | AccessKind::LoadMatrix)
    }

    /// Whether it may read.
    pub fn reads(self) -> bool {
        use AccessKind::*;
        !matches!(self, Store | StoreMatrix | Copy)
    }
}

/// An address operand that may be one of shared memory.
pub(super) struct Site<'a> {
    pub kind: AccessKind,
    /// Index of the operand.
    pub at: usize,
    pub bytes: u32,
    pub operand: &'a Operand,
    /// The instruction says `.shared`.
    pub shared: bool,
}

/// The address operands of an instruction that may be of shared memory.
pub(super) fn sites(i: &Instruction) -> Vec<Site<'_>> {
    use AccessKind as K;
    let elements = match i.one_of(&[Word::V2, Word::V4, Word::V8]) {
        Some(Word::V2) => 2,
        Some(Word::V4) => 4,
        Some(Word::V8) => 8,
        _ => 1,
    };
    let own = i.ty(0).map_or(0, |t| t.bytes());
    let bulk = i
        .one_of(&[Word::Bulk, Word::Tensor, Word::Mbarrier])
        .is_some();
    let (kind, bytes) = match i.opcode.class() {
        Class::Load => (K::Load, own * elements),
        Class::Store => (K::Store, own * elements),
        Class::Atomic => (K::Atomic, own * elements),
        Class::Copy if !bulk => (K::Copy, copied(i)),
        Class::LoadMatrix => (K::LoadMatrix, 16),
        Class::StoreMatrix => (K::StoreMatrix, 16),
        // A fence may name a tensor map, which is in global memory.
        Class::Hint | Class::Fence => return Vec::new(),
        _ => (K::Other, 0),
    };
    let spaces: Vec<_> = i
        .modifiers
        .iter()
        .filter_map(|m| match m {
            Modifier::Space(space) => Some(*space),
            _ => None,
        })
        .collect();
    // A copy by a tensor map has its place in global memory in no address.
    let by_map = i.has(Word::Bulk) && i.has(Word::Tensor);
    let mut sites = Vec::new();
    let operands = i.operands.iter().enumerate();
    let addresses = operands.filter(|(_, o)| matches!(o, Operand::Address(..)));
    for (n, (at, operand)) in addresses.enumerate() {
        let space = match spaces[..] {
            _ if by_map => Some(Space::Shared),
            [one] if n == 0 || kind == K::Other => Some(one),
            _ => spaces.get(n).copied(),
        };
        // Behind the first address of a known instruction nothing is shared.
        let only = !matches!(kind, K::Other) && n > 0;
        match space {
            Some(space) if is_any_shared(space) => sites.push((at, operand, true)),
            None if !only => sites.push((at, operand, false)),
            _ => {}
        }
    }
    let site = |(at, operand, shared)| Site {
        kind,
        at,
        bytes,
        operand,
        shared,
    };
    sites.into_iter().map(site).collect()
}

/// The form in which a product of a warpgroup names shared memory.
pub(super) const DESCRIPTOR: &str = "a descriptor of `wgmma`";

/// The operands of a product of a warpgroup that are descriptors of matrices in
/// shared memory.
pub(super) fn descriptors(function: &Function, i: &Instruction) -> Vec<usize> {
    if i.opcode != Opcode::Wgmma || !i.has(Word::MmaAsync) {
        return Vec::new();
    }
    let is_wide = |o: &Operand| match o {
        Operand::Register(r) => function.registers[r.0 as usize].ty.bits() == 64,
        _ => false,
    };
    // The sum, a and b; a may be in registers.
    let factors = [1, 2].into_iter();
    factors
        .filter(|at| i.operands.get(*at).is_some_and(is_wide))
        .collect()
}

/// The memory that a descriptor of that origin may touch: an address is a part of it.
pub(super) fn described(at: u32, origin: &Origin) -> Touches {
    let known = origin.unknown.is_none() && origin.parameters.is_empty();
    if known && !origin.variables.is_empty() {
        return Touches::Variables(origin.variables.clone());
    }
    let reason = DESCRIPTOR;
    Touches::All { at, reason }
}

/// Bytes that `cp.async` copies.
fn copied(i: &Instruction) -> u32 {
    match i.operands.get(2) {
        Some(Operand::Immediate(Immediate::Integer(n))) => *n as u32,
        _ => 0,
    }
}

/// The memory that an address of that origin may touch.
pub(super) fn touches(
    module: &Module,
    function: &Function,
    at: u32,
    origin: &Origin,
    address: Option<&Affine>,
) -> Touches {
    if let Some((at, reason)) = origin.unknown {
        return Touches::All { at, reason };
    }
    if !origin.parameters.is_empty() {
        let reason = "an address that the caller passes";
        return Touches::All { at, reason };
    }
    if origin.variables.is_empty() {
        let reason = "an address that belongs to no variable";
        return Touches::All { at, reason };
    }
    match address.and_then(|a| outside(module, function, a)) {
        Some(reason) => Touches::All { at, reason },
        None => Touches::Variables(origin.variables.clone()),
    }
}

/// Whether the address is that of a variable plus a constant that leads out of
/// it.
fn outside(module: &Module, function: &Function, address: &Affine) -> Option<&'static str> {
    let [(Term::Base(symbol), 1)] = address.terms[..] else {
        return None;
    };
    let variable = module.variable(function, symbol);
    let inside = address.constant >= 0
        && (is_dynamic(variable) || (address.constant as u64) < variable.bytes);
    (!inside).then_some("a constant offset that leads out of the variable")
}
