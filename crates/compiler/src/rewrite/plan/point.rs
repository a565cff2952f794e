//! Points in a function at which instructions can be inserted.

use spadkit_ptx::analysis::{Loops, ValueId, Values};
use spadkit_ptx::ast::{Function, Register};
use spadkit_ptx::cfg::{Cfg, Flow, flow};

/// Before an instruction, or at the end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    pub block: u32,
    /// The instruction that follows; the block's end where none does.
    pub at: u32,
}

/// The points of a function.
pub(super) struct Points<'a> {
    function: &'a Function,
    pub(super) cfg: &'a Cfg,
    pub(super) values: &'a Values,
    pub(super) loops: &'a Loops,
}

impl<'a> Points<'a> {
    pub fn new(function: &'a Function, cfg: &'a Cfg, values: &'a Values, loops: &'a Loops) -> Self {
        Points {
            function,
            cfg,
            values,
            loops,
        }
    }

    /// Just before an instruction.
    pub fn before(&self, at: u32) -> Point {
        Point {
            block: self.cfg.block_of[at as usize],
            at,
        }
    }

    /// Whether the instruction can be reached.
    pub fn reaches(&self, at: u32) -> bool {
        let block = self.cfg.block_of[at as usize];
        self.values.dominators().reaches(block)
    }

    /// The last point of a block: before the instruction that leaves it.
    pub fn end(&self, block: u32) -> Point {
        let end = self.cfg.blocks[block as usize].end;
        let last = &self.function.instructions[end as usize - 1];
        let leaves = flow(self.function, last) != Flow::Next;
        Point {
            block,
            at: end - u32::from(leaves),
        }
    }

    /// Whether the loops around a block have one way in each.
    pub fn hoistable(&self, block: u32) -> bool {
        !self.loops.is_irreducible(block)
    }

    /// Whether the point follows the last instruction of its block.
    pub fn is_end(&self, point: Point) -> bool {
        point.at == self.cfg.blocks[point.block as usize].end
    }

    /// Whether every way to `b` passes `a`.
    pub fn dominates(&self, a: Point, b: Point) -> bool {
        if a.block == b.block {
            a.at <= b.at
        } else {
            self.values.dominators().dominates(a.block, b.block)
        }
    }

    /// The last point that dominates both.
    pub fn meet(&self, a: Point, b: Point) -> Point {
        if a.block == b.block {
            return Point {
                at: a.at.min(b.at),
                ..a
            };
        }
        let dominators = self.values.dominators();
        let mut block = a.block;
        while !dominators.dominates(block, b.block) {
            match dominators.immediate(block) {
                Some(above) => block = above,
                None => break,
            }
        }
        if block == a.block {
            a
        } else if block == b.block {
            b
        } else {
            self.end(block)
        }
    }

    /// The point outside all loops that do not change the value, as far as
    /// the register holds it there.
    pub fn hoisted(&self, point: Point, register: Register, value: ValueId) -> Point {
        let mut best = point;
        let mut at = point;
        let home = self.values.block(value);
        while let Some(index) = self.loops.innermost(at.block) {
            let outer = &self.loops.list[index as usize];
            let inside = home.is_some_and(|b| self.loops.is_inside(b, index));
            if inside || self.loops.is_irreducible(at.block) {
                break;
            }
            let Some(above) = self.values.dominators().immediate(outer.header) else {
                break;
            };
            at = self.end(above);
            if self.holds(at, register, value) {
                best = at;
            }
        }
        best
    }

    /// The point outside all loops that `above`, which dominates it, is not
    /// in.
    pub fn hoisted_below(&self, point: Point, above: Point) -> Point {
        let mut at = point;
        while let Some(index) = self.loops.innermost(at.block) {
            let header = self.loops.list[index as usize].header;
            let Some(outside) = self.values.dominators().immediate(header) else {
                break;
            };
            let outside = self.end(outside);
            if self.loops.is_irreducible(at.block) || !self.dominates(above, outside) {
                break;
            }
            at = outside;
        }
        at
    }

    /// Whether the register holds the value at the point.
    pub fn holds(&self, point: Point, register: Register, value: ValueId) -> bool {
        let held = if self.is_end(point) {
            self.values.at_end(point.block, register)
        } else {
            self.values.before(point.at, register)
        };
        held == Some(value)
    }
}
