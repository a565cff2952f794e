//! Rules of `ptxas` for what is uniform, by GPU.
//!
//! Seen in the machine code of ptxas 13.5 for sm_75, sm_80, sm_86, sm_90 and sm_100:
//! atomics at such an address are done by one lane, which the crate of launch files
//! follows (`capture/aggregated.rs`). A loop whose lanes go apart has counters that
//! differ, although all lanes that are in it together have counted alike.

use super::Uniformity;
use crate::analysis::Definition;
use crate::ast::{Immediate, Instruction, Module, Operand};
use crate::names::{Special, Word};
use crate::opcodes::{Class, Opcode};
use std::collections::HashMap;

/// The rules of a GPU.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// Compute capability of the GPU: 80 for 8.0.
    sm: u32,
}

impl Rules {
    /// The rules of the module's target.
    pub fn of(module: &Module) -> Self {
        Rules {
            sm: module.sm().unwrap_or(u32::MAX),
        }
    }

    /// Whether votes, reductions and shuffles from one lane give one value.
    fn knows_votes(self) -> bool {
        self.sm >= 90
    }

    /// Whether a loop around one that lanes leave at different times goes apart, too.
    fn goes_apart_around(self) -> bool {
        self.sm < 90
    }

    /// Whether a loop goes apart that is in `parent` and that not all lanes enter.
    fn enters_apart(self, parent: Option<u32>) -> bool {
        match self.sm {
            0..90 => true,
            90..100 => parent.is_none(),
            _ => false,
        }
    }

    /// Whether a special register that an instruction reads is the same in all lanes,
    /// where it is not as elsewhere.
    pub fn special(self, i: &Instruction) -> Option<bool> {
        i.operands.iter().find_map(|operand| match operand {
            Operand::Special(Special::Warpid) => Some(self.sm >= 90),
            Operand::Special(Special::Clock | Special::ClockHi | Special::Clock64) => Some(true),
            _ => None,
        })
    }
}

/// The bits of the last operand of `shfl` that say how many lanes are together: none
/// where it is the whole warp.
const SEGMENT: i128 = 0x1f00;

impl Uniformity<'_> {
    /// Whether an instruction of the warp gives all lanes one value, whatever its
    /// operands are.
    pub(super) fn gives_one_value(&self, at: u32, i: &Instruction) -> bool {
        let Some(rules) = self.machine.filter(|_| i.opcode.class() == Class::Warp) else {
            return false;
        };
        let knows = rules.knows_votes();
        match i.opcode {
            Opcode::Activemask => rules.sm >= 80,
            Opcode::Vote | Opcode::Redux => knows,
            Opcode::Match => knows && i.has(Word::All),
            Opcode::Shfl => knows && i.has(Word::Idx) && self.is_from_one_lane(at, i),
            _ => false,
        }
    }

    /// Whether a `shfl.idx` takes the value of one lane for the whole warp.
    fn is_from_one_lane(&self, at: u32, i: &Instruction) -> bool {
        let [_, _, lane, segment, ..] = &i.operands[..] else {
            return false;
        };
        let one = match lane {
            Operand::Register(r) => !self.differs[self.values.read(at, *r).0 as usize],
            _ => true,
        };
        one && self
            .constant(at, segment)
            .is_some_and(|bits| bits & SEGMENT == 0)
    }

    /// The constant that an operand is, or that its register was set to.
    fn constant(&self, at: u32, operand: &Operand) -> Option<i128> {
        match operand {
            Operand::Immediate(Immediate::Integer(n)) => Some(i128::from(*n)),
            Operand::Register(r) => {
                let value = self.values.read(at, *r);
                let Definition::Instruction { at, .. } = self.values.definition(value) else {
                    return None;
                };
                let set = &self.function.instructions[*at as usize];
                match (set.opcode, &set.operands[..]) {
                    (Opcode::Mov, [_, Operand::Immediate(Immediate::Integer(n))]) => {
                        Some(i128::from(*n))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Lanes leave a loop at different times.
    pub(super) fn leave_apart(&mut self, index: u32) {
        if std::mem::replace(&mut self.ragged[index as usize], true) {
            return;
        }
        let Some(rules) = self.machine else {
            return;
        };
        self.go_apart(index);
        let mut around = self.loops.list[index as usize].parent;
        while let Some(outer) = around.filter(|_| rules.goes_apart_around()) {
            self.go_apart(outer);
            around = self.loops.list[outer as usize].parent;
        }
    }

    /// Some lanes enter the loops on the ways from a branch of `block` to where all
    /// meet; `around` has the loops around it, the innermost first.
    pub(super) fn enter_apart(&mut self, block: u32, around: &[u32], ways: &HashMap<u32, u32>) {
        let Some(rules) = self.machine else {
            return;
        };
        // Lanes that are done are no longer there.
        let end = self.cfg.post_dominator[block as usize];
        if end == self.cfg.exit() || self.is_end(end) {
            return;
        }
        let parent = around.first().copied();
        for index in 0..self.loops.list.len() as u32 {
            let one = &self.loops.list[index as usize];
            let enters = ways.contains_key(&one.header) && one.header != end;
            if enters && one.parent == parent && rules.enters_apart(parent) {
                self.go_apart(index);
            }
        }
    }

    /// Whether a block does nothing but end the kernel.
    fn is_end(&self, block: u32) -> bool {
        let first = self.cfg.blocks[block as usize].start as usize;
        let first = self.function.instructions.get(first);
        first.is_some_and(|i| matches!(i.opcode.class(), Class::Return | Class::Exit))
    }

    /// Notes that the counts of a loop differ between lanes.
    fn go_apart(&mut self, index: u32) {
        let header = self.loops.list[index as usize].header;
        for at in 0..self.values.phis(header).len() {
            let phi = self.values.phis(header)[at];
            if self.is_choice(phi) {
                self.mark(phi);
            }
        }
    }
}
