//! Values that all lanes of a warp share.
//!
//! A value is *uniform* if it follows from what is the same for all threads
//! of a block: parameters, block index, dimensions, constants. It may depend
//! on control flow only if that is the same for all, too. Data from memory
//! never counts, since lanes may read at different times. Lanes that have gone
//! round a loop unequally often hold different values after it, although it
//! is uniform inside: [`Uniformity::holds_at`] asks for the place.

mod machine;

use super::{Definition, Loops, Use, ValueId, Values};
use crate::ast::{Base, Function, Instruction, Module, Operand};
use crate::cfg::Cfg;
use crate::names::{Space, Special};
use crate::opcodes::Class;
use std::collections::{HashMap, HashSet};

/// The values of a function that are uniform.
pub struct Uniformity<'a> {
    function: &'a Function,
    module: &'a Module,
    cfg: &'a Cfg,
    values: &'a Values,
    loops: &'a Loops,
    differs: Vec<bool>,
    /// Blocks where lanes from different ways meet.
    mixed: Vec<bool>,
    /// Loops that lanes leave at different times.
    ragged: Vec<bool>,
    /// Blocks whose last branch lanes take differently.
    split: Vec<bool>,
    work: Vec<ValueId>,
    /// Edges looked at for ways.
    steps: u64,
    /// Whether it follows `ptxas`, and of which GPU.
    machine: Option<machine::Rules>,
}

/// The number of edges on the ways of all branches beyond which everything may differ:
/// with thousands of blocks in loops with several entries, or of targets that fall into
/// each other.
const STEPS: u64 = 4_000_000;

impl<'a> Uniformity<'a> {
    /// The uniform values of `function`.
    pub fn new(
        module: &'a Module,
        function: &'a Function,
        cfg: &'a Cfg,
        values: &'a Values,
        loops: &'a Loops,
    ) -> Self {
        Self::with(module, function, (cfg, values, loops), None)
    }

    /// The values that `ptxas` takes for uniform: loads of all lanes from one
    /// address, too. It does not prove that nobody writes in between. What votes
    /// and shuffles give, and what counters of loops are, depends on the GPU.
    pub fn of_machine_code(
        module: &'a Module,
        function: &'a Function,
        cfg: &'a Cfg,
        values: &'a Values,
        loops: &'a Loops,
    ) -> Self {
        let rules = machine::Rules::of(module);
        Self::with(module, function, (cfg, values, loops), Some(rules))
    }

    fn with(
        module: &'a Module,
        function: &'a Function,
        (cfg, values, loops): (&'a Cfg, &'a Values, &'a Loops),
        machine: Option<machine::Rules>,
    ) -> Self {
        let mut uniformity = Uniformity {
            function,
            module,
            cfg,
            values,
            loops,
            differs: vec![false; values.count()],
            mixed: vec![false; cfg.blocks.len()],
            ragged: vec![false; loops.list.len()],
            split: vec![false; cfg.blocks.len()],
            work: Vec::new(),
            steps: 0,
            machine,
        };
        uniformity.solve();
        uniformity
    }

    /// Whether all lanes that execute an instruction of `block` together hold
    /// the same value.
    pub fn holds_at(&self, value: ValueId, block: u32) -> bool {
        let defined = self.values.block(value);
        !self.differs[value.0 as usize] && defined.is_some_and(|d| self.same_rounds(d, block))
    }

    /// Whether threads may leave `block` on different ways.
    pub fn is_split(&self, block: u32) -> bool {
        self.split[block as usize]
    }

    /// Whether lanes in `block` have gone round the loop with that header
    /// equally often.
    pub fn counts_at(&self, header: u32, block: u32) -> bool {
        !self.loops.is_irreducible(header) && self.same_rounds(header, block)
    }

    /// Whether no loop around `inside` that `block` is not in was left at
    /// different times.
    fn same_rounds(&self, inside: u32, block: u32) -> bool {
        let mut at = self.loops.innermost(inside);
        while let Some(index) = at {
            if self.loops.is_inside(block, index) {
                return true;
            }
            if self.ragged[index as usize] {
                return false;
            }
            at = self.loops.list[index as usize].parent;
        }
        true
    }

    fn solve(&mut self) {
        for at in 0..self.function.instructions.len() as u32 {
            let i = &self.function.instructions[at as usize];
            if self.is_source(at, i) {
                self.mark_writes(at);
            }
            // Where lanes may differ in what no register says.
            let indexed = i.opcode.class() == Class::IndexedBranch;
            if indexed && i.operands.first().is_some_and(is_thread) {
                self.split(self.cfg.block_of[at as usize]);
            }
        }
        while let Some(value) = self.work.pop() {
            for &user in self.values.users(value) {
                match user {
                    Use::Phi(phi) => self.mark(phi),
                    Use::Instruction(at) => self.reached(at),
                }
            }
        }
    }

    /// An instruction that reads what differs.
    fn reached(&mut self, at: u32) {
        let i = &self.function.instructions[at as usize];
        if !self.gives_one_value(at, i) {
            self.mark_writes(at);
        }
        let branches = matches!(
            i.opcode.class(),
            Class::Branch | Class::IndexedBranch | Class::Return | Class::Exit | Class::Trap
        );
        if branches {
            self.split(self.cfg.block_of[at as usize]);
        }
    }

    fn mark(&mut self, value: ValueId) {
        if !std::mem::replace(&mut self.differs[value.0 as usize], true) {
            self.work.push(value);
        }
    }

    fn mark_writes(&mut self, at: u32) {
        for index in 0..self.values.writes(at).len() {
            self.mark(self.values.writes(at)[index].1);
        }
    }

    /// Whether the results differ whatever the operands are.
    fn is_source(&self, at: u32, i: &Instruction) -> bool {
        match (i.opcode.class(), self.machine) {
            (Class::Load, None) => !self.is_parameter(i),
            // Of a function: what it is called with, and what others return.
            (Class::Load, Some(_)) => i.space() == Some(Space::Param) && !self.is_parameter(i),
            _ if self.gives_one_value(at, i) => false,
            (_, machine) => match machine.and_then(|rules| rules.special(i)) {
                Some(is_same) => !is_same,
                None => i.opcode.row().differs || i.operands.iter().any(is_thread),
            },
        }
    }

    /// A load of a parameter of the entry, or a constant at a fixed place.
    fn is_parameter(&self, i: &Instruction) -> bool {
        let Some(Operand::Address(Base::Variable(symbol), _)) = i.operands.get(1) else {
            return false;
        };
        match self.module.variable(self.function, *symbol).space {
            Space::Const => true,
            Space::Param => {
                self.function.is_entry
                    && super::context::parameter_of(self.function, *symbol).is_some()
            }
            _ => false,
        }
    }

    /// Gives up: everything may differ, which is always true.
    fn assume_all(&mut self) {
        self.differs.fill(true);
        self.split.fill(true);
        self.mixed.fill(true);
        self.ragged.fill(true);
        self.work.clear();
    }

    /// Lanes leave `block` on different ways: they mix where two of those
    /// meet, and loops around it may be left by some of them.
    fn split(&mut self, block: u32) {
        if std::mem::replace(&mut self.split[block as usize], true) {
            return;
        }
        let mut around = Vec::new();
        let mut at = self.loops.innermost(block);
        while let Some(index) = at {
            around.push(index);
            at = self.loops.list[index as usize].parent;
        }
        let mut ways: HashMap<u32, u32> = HashMap::new();
        for next in self.cfg.blocks[block as usize].successors.clone() {
            for reached in self.way(block, next, &around) {
                *ways.entry(reached).or_default() += 1;
            }
        }
        self.enter_apart(block, &around, &ways);
        for (reached, count) in ways {
            if count > 1 {
                self.mix(reached);
            }
        }
    }

    /// The blocks that lanes may come to which go from `block` to `next`, up
    /// to where all meet again, and not into the next round of the loops
    /// `around` it.
    fn way(&mut self, block: u32, next: u32, around: &[u32]) -> HashSet<u32> {
        let end = self.cfg.post_dominator[block as usize];
        let mut seen = HashSet::new();
        let mut work = vec![(block, next)];
        while let Some((from, to)) = work.pop() {
            self.steps += 1 + around.len() as u64;
            if self.steps > STEPS {
                self.assume_all();
                return HashSet::new();
            }
            if to == self.cfg.exit() {
                continue;
            }
            let header = |l: &&u32| self.loops.list[**l as usize].header == to;
            if let Some(&index) = around.iter().find(header)
                && self.loops.is_inside(from, index)
            {
                // Those that come to the next round by one edge have the same
                // values in it.
                if self.loops.list[index as usize].back.len() > 1 {
                    self.mix(to);
                }
                continue;
            }
            for &index in around {
                let inside = |b: u32| self.loops.is_inside(b, index);
                if inside(from) && !inside(to) {
                    self.leave_apart(index);
                }
            }
            if seen.insert(to) && to != end {
                let successors = &self.cfg.blocks[to as usize].successors;
                work.extend(successors.iter().map(|&s| (to, s)));
            }
        }
        seen
    }

    fn mix(&mut self, block: u32) {
        let meets = self.cfg.blocks[block as usize].predecessors.len() > 1;
        if meets && !std::mem::replace(&mut self.mixed[block as usize], true) {
            for index in 0..self.values.phis(block).len() {
                let phi = self.values.phis(block)[index];
                if self.is_choice(phi) {
                    self.mark(phi);
                }
            }
        }
    }

    /// Whether a phi has different inputs.
    fn is_choice(&self, phi: ValueId) -> bool {
        match self.values.definition(phi) {
            Definition::Phi { inputs, .. } => inputs.windows(2).any(|w| w[0].1 != w[1].1),
            _ => false,
        }
    }
}

/// Whether an operand differs between threads by itself.
fn is_thread(operand: &Operand) -> bool {
    use Special::*;
    match operand {
        Operand::Special(special) => !matches!(
            special,
            NtidX
                | NtidY
                | NtidZ
                | CtaidX
                | CtaidY
                | CtaidZ
                | NctaidX
                | NctaidY
                | NctaidZ
                | Warpid
                | Nwarpid
                | Smid
                | Nsmid
                | Gridid
                | DynamicSmemSize
                | TotalSmemSize
                | AggrSmemSize
                | ReservedSmemBegin
                | ReservedSmemEnd
                | ReservedSmemCap
                | ReservedSmem0
                | ReservedSmem1
        ),
        Operand::Vector(items) => items.iter().any(is_thread),
        _ => false,
    }
}
