//! Static single assignment form as an overlay: which value an instruction
//! reads, where values meet, and who uses them.
//!
//! The text stays as it is. A value is made for every register that an
//! instruction writes. A value is also made wherever several values of a
//! register meet and one is read later. (This is the pruned form: phis at the
//! iterated dominance frontiers of the writes, where the register is live.)

mod sets;

use super::Dominators;
use crate::ast::{Function, Register};
use crate::cfg::Cfg;
use crate::operands;
use sets::{Grouped, Marks};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// A value of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// The definition of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// The register was never written.
    Undefined(Register),
    /// The result of an instruction.
    Instruction {
        /// The instruction.
        at: u32,
        /// The register that it writes.
        register: Register,
    },
    /// The result of an instruction with a guard: the old value where the
    /// guard is off.
    Guarded {
        /// The instruction.
        at: u32,
        /// The register that it writes.
        register: Register,
        /// Value that the register holds before.
        old: ValueId,
    },
    /// A place where values meet.
    Phi {
        /// The block at whose start they meet.
        block: u32,
        /// The register that holds them.
        register: Register,
        /// Preceding block and its value at the end of that block; one for
        /// each block before this one that can be reached. Where the
        /// function starts with a block of a loop, [`Values::ENTRY`] stands
        /// for the way in.
        inputs: Vec<(u32, ValueId)>,
    },
}

impl Definition {
    /// The register that holds the value.
    pub fn register(&self) -> Register {
        match self {
            Definition::Undefined(register)
            | Definition::Instruction { register, .. }
            | Definition::Guarded { register, .. }
            | Definition::Phi { register, .. } => *register,
        }
    }
}

/// A user of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Use {
    /// The instruction reads it, or may keep it (its guard is off).
    Instruction(u32),
    /// The value is an input of this phi.
    Phi(ValueId),
}

/// A register at an instruction.
type Named = (Register, ValueId);

/// The values of a function.
#[derive(Debug)]
pub struct Values {
    definitions: Vec<Definition>,
    /// Reads and writes of all instructions; those of instruction `i` are
    /// from `starts[i]` to `starts[i + 1]`.
    reads: Vec<Named>,
    read_starts: Vec<u32>,
    writes: Vec<Named>,
    write_starts: Vec<u32>,
    /// Phis of each block.
    phis: Vec<Vec<ValueId>>,
    uses: Grouped<Use>,
    blocks: Vec<(u32, u32)>,
    block_of: Vec<u32>,
    dominators: Dominators,
    frontiers: Vec<Vec<u32>>,
    /// Writes of each register, in the order of the text.
    written: Grouped<(u32, ValueId)>,
    /// Blocks where values of a register would meet if it were live; made on
    /// demand.
    meetings: Mutex<HashMap<Register, Arc<HashSet<u32>>>>,
}

impl Values {
    /// The block that represents the way into a function whose first block is
    /// in a loop.
    pub const ENTRY: u32 = u32::MAX;

    /// The values of `function`, whose graph is `cfg`.
    pub fn new(function: &Function, cfg: &Cfg) -> Self {
        let dominators = Dominators::new(cfg);
        let frontiers = dominators.frontiers(cfg);
        let count = function.registers.len();
        let mut values = Values {
            definitions: (0..count as u32)
                .map(|r| Definition::Undefined(Register(r)))
                .collect(),
            reads: Vec::new(),
            read_starts: vec![0],
            writes: Vec::new(),
            write_starts: vec![0],
            phis: vec![Vec::new(); cfg.blocks.len()],
            uses: Grouped::new(0, Vec::new()),
            blocks: cfg.blocks.iter().map(|b| (b.start, b.end)).collect(),
            block_of: cfg.block_of.clone(),
            dominators,
            frontiers,
            written: Grouped::new(0, Vec::new()),
            meetings: Mutex::default(),
        };
        values.name(function);
        values.place_phis(cfg, count);
        values.rename(function, cfg);
        let written = (0..function.instructions.len() as u32).flat_map(|at| {
            let list = &values.writes[values.range(&values.write_starts, at)];
            list.iter().map(move |(r, v)| (r.0, (at, *v)))
        });
        values.written = Grouped::new(count, written.collect());
        values.collect_uses();
        values
    }

    /// Lists the registers of every instruction; the values come later.
    fn name(&mut self, function: &Function) {
        for instruction in &function.instructions {
            let kept = instruction.guard.is_some();
            operands::visit(instruction, |r, written| {
                let unknown = (r, ValueId(r.0));
                if written {
                    self.writes.push(unknown);
                }
                if !written || kept {
                    self.reads.push(unknown);
                }
            });
            self.read_starts.push(self.reads.len() as u32);
            self.write_starts.push(self.writes.len() as u32);
        }
    }

    fn range(&self, starts: &[u32], at: u32) -> std::ops::Range<usize> {
        starts[at as usize] as usize..starts[at as usize + 1] as usize
    }

    fn place_phis(&mut self, cfg: &Cfg, count: usize) {
        let (mut exposed, mut defined) = (Vec::new(), Vec::new());
        let mut seen = vec![(u32::MAX, u32::MAX); count];
        for &block in &cfg.reverse_postorder {
            let (start, end) = self.blocks[block as usize];
            for at in start..end {
                for (r, _) in &self.reads[self.range(&self.read_starts, at)] {
                    let seen = &mut seen[r.0 as usize];
                    if seen.0 != block && seen.1 != block {
                        seen.0 = block;
                        exposed.push((r.0, block));
                    }
                }
                for (r, _) in &self.writes[self.range(&self.write_starts, at)] {
                    let seen = &mut seen[r.0 as usize];
                    if seen.1 != block {
                        seen.1 = block;
                        defined.push((r.0, block));
                    }
                }
            }
        }
        let exposed = Grouped::new(count, exposed);
        let defined = Grouped::new(count, defined);
        let mut marks = Marks::new(cfg.blocks.len());
        for register in 0..count as u32 {
            let (readers, writers) = (exposed.of(register), defined.of(register));
            let simple = match writers {
                [] => true,
                [one] => readers.iter().all(|&r| self.strictly_dominates(*one, r)),
                _ => readers.is_empty(),
            };
            if simple {
                continue;
            }
            marks.live(cfg, readers, writers);
            for block in marks.frontier(&self.frontiers, writers) {
                if marks.is_live(block) {
                    let id = ValueId(self.definitions.len() as u32);
                    self.definitions.push(Definition::Phi {
                        block,
                        register: Register(register),
                        inputs: Vec::new(),
                    });
                    self.phis[block as usize].push(id);
                }
            }
        }
    }

    fn strictly_dominates(&self, a: u32, b: u32) -> bool {
        a != b && self.dominators.dominates(a, b)
    }

    /// Gives every read and write its value, along the dominator tree.
    fn rename(&mut self, function: &Function, cfg: &Cfg) {
        let count = function.registers.len() as u32;
        let mut current: Vec<ValueId> = (0..count).map(ValueId).collect();
        if let Some(&entry) = cfg.reverse_postorder.first() {
            for phi in self.phis[entry as usize].clone() {
                let undefined = ValueId(self.definition(phi).register().0);
                self.add_input(phi, Self::ENTRY, undefined);
            }
            // Blocks to enter (true) and to leave, with what leaving restores.
            let mut undo: Vec<Named> = Vec::new();
            let mut work = vec![(entry, None)];
            while let Some((block, leave)) = work.pop() {
                if let Some(mark) = leave {
                    for (register, old) in undo.drain(mark..).rev() {
                        current[register.0 as usize] = old;
                    }
                    continue;
                }
                work.push((block, Some(undo.len())));
                self.rename_block(function, cfg, block, &mut current, &mut undo);
                work.extend(self.dominators.children(block).iter().map(|&c| (c, None)));
            }
        }
        for block in 0..cfg.blocks.len() as u32 {
            if !self.dominators.reaches(block) {
                let mut undo = Vec::new();
                self.rename_block(function, cfg, block, &mut current, &mut undo);
                for (register, old) in undo.into_iter().rev() {
                    current[register.0 as usize] = old;
                }
            }
        }
    }

    fn rename_block(
        &mut self,
        function: &Function,
        cfg: &Cfg,
        block: u32,
        current: &mut [ValueId],
        undo: &mut Vec<Named>,
    ) {
        let mut set = |current: &mut [ValueId], register: Register, value: ValueId| {
            undo.push((register, current[register.0 as usize]));
            current[register.0 as usize] = value;
        };
        for &phi in &self.phis[block as usize] {
            set(current, self.definition(phi).register(), phi);
        }
        let (start, end) = self.blocks[block as usize];
        for at in start..end {
            for index in self.range(&self.read_starts, at) {
                self.reads[index].1 = current[self.reads[index].0.0 as usize];
            }
            let guarded = function.instructions[at as usize].guard.is_some();
            for index in self.range(&self.write_starts, at) {
                let register = self.writes[index].0;
                let id = ValueId(self.definitions.len() as u32);
                let old = current[register.0 as usize];
                self.definitions.push(if guarded {
                    Definition::Guarded { at, register, old }
                } else {
                    Definition::Instruction { at, register }
                });
                self.writes[index].1 = id;
                set(current, register, id);
            }
        }
        if self.dominators.reaches(block) {
            for &successor in &cfg.blocks[block as usize].successors {
                if successor == cfg.exit() {
                    continue;
                }
                for at in 0..self.phis[successor as usize].len() {
                    let phi = self.phis[successor as usize][at];
                    let value = current[self.definition(phi).register().0 as usize];
                    self.add_input(phi, block, value);
                }
            }
        }
    }

    fn add_input(&mut self, phi: ValueId, from: u32, value: ValueId) {
        if let Definition::Phi { inputs, .. } = &mut self.definitions[phi.0 as usize] {
            inputs.push((from, value));
        }
    }

    fn collect_uses(&mut self) {
        let mut uses: Vec<(u32, Use)> = Vec::new();
        for at in 0..self.block_of.len() as u32 {
            for (_, value) in &self.reads[self.range(&self.read_starts, at)] {
                uses.push((value.0, Use::Instruction(at)));
            }
        }
        for (id, definition) in self.definitions.iter().enumerate() {
            if let Definition::Phi { inputs, .. } = definition {
                let phi = Use::Phi(ValueId(id as u32));
                uses.extend(inputs.iter().map(|(_, value)| (value.0, phi)));
            }
        }
        uses.dedup();
        self.uses = Grouped::new(self.definitions.len(), uses);
    }

    /// Number of values; ids are below.
    pub fn count(&self) -> usize {
        self.definitions.len()
    }

    /// The value of `register` that instruction `at` reads.
    ///
    /// # Panics
    ///
    /// Where it does not read that register (a guarded instruction reads what
    /// it writes, too).
    pub fn read(&self, at: u32, register: Register) -> ValueId {
        let list = &self.reads[self.range(&self.read_starts, at)];
        let found = list.iter().find(|(r, _)| *r == register);
        found
            .unwrap_or_else(|| panic!("instruction {at} does not read {register:?}"))
            .1
    }

    /// Registers and values that instruction `at` reads, the guard first; of
    /// a guarded instruction also those that it may leave as they are.
    pub fn reads(&self, at: u32) -> &[(Register, ValueId)] {
        &self.reads[self.range(&self.read_starts, at)]
    }

    /// Registers and values that instruction `at` writes.
    pub fn writes(&self, at: u32) -> &[(Register, ValueId)] {
        &self.writes[self.range(&self.write_starts, at)]
    }

    /// The value of `register` that instruction `at` writes.
    pub fn written(&self, at: u32, register: Register) -> Option<ValueId> {
        let list = self.writes(at).iter().rev();
        list.clone().find(|(r, _)| *r == register).map(|w| w.1)
    }

    /// The phis at the start of a block.
    pub fn phis(&self, block: u32) -> &[ValueId] {
        &self.phis[block as usize]
    }

    /// The definition of a value.
    pub fn definition(&self, value: ValueId) -> &Definition {
        &self.definitions[value.0 as usize]
    }

    /// The block in which a value is defined; none if it was never written.
    pub fn block(&self, value: ValueId) -> Option<u32> {
        match self.definition(value) {
            Definition::Undefined(_) => None,
            Definition::Instruction { at, .. } | Definition::Guarded { at, .. } => {
                Some(self.block_of[*at as usize])
            }
            Definition::Phi { block, .. } => Some(*block),
        }
    }

    /// The users of a value.
    pub fn users(&self, value: ValueId) -> &[Use] {
        self.uses.of(value.0)
    }

    /// The dominators that the values were made with.
    pub fn dominators(&self) -> &Dominators {
        &self.dominators
    }

    /// The value of `register` at the end of `block`; none where several
    /// values may be in it and nobody reads it any more.
    pub fn at_end(&self, block: u32, register: Register) -> Option<ValueId> {
        self.held(block, self.blocks[block as usize].1, register)
    }

    /// The value of `register` just before instruction `at`; none as of
    /// [`Self::at_end`].
    pub fn before(&self, at: u32, register: Register) -> Option<ValueId> {
        self.held(self.block_of[at as usize], at, register)
    }

    /// The value that a block holds in a register before the instruction `end`.
    fn held(&self, block: u32, end: u32, register: Register) -> Option<ValueId> {
        let written = self.written.of(register.0);
        let mut meetings = None;
        let (mut block, mut end) = (block, end);
        loop {
            let start = self.blocks[block as usize].0;
            let last = written[..written.partition_point(|w| w.0 < end)].last();
            if let Some(&(_, value)) = last.filter(|w| w.0 >= start) {
                return Some(value);
            }
            let mut phis = self.phis[block as usize].iter();
            if let Some(&phi) = phis.find(|p| self.definition(**p).register() == register) {
                return Some(phi);
            }
            let meetings = meetings.get_or_insert_with(|| self.meetings(register));
            if meetings.contains(&block) {
                return None;
            }
            match self.dominators.immediate(block) {
                Some(above) => (block, end) = (above, self.blocks[above as usize].1),
                None => return Some(ValueId(register.0)),
            }
        }
    }

    /// The blocks where values of the register meet, whether it is live or not.
    fn meetings(&self, register: Register) -> Arc<HashSet<u32>> {
        let mut known = self.meetings.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let written = self.written.of(register.0).iter();
            let blocks: Vec<u32> = written.map(|w| self.block_of[w.0 as usize]).collect();
            let mut marks = Marks::new(self.blocks.len());
            Arc::new(
                marks
                    .frontier(&self.frontiers, &blocks)
                    .into_iter()
                    .collect(),
            )
        };
        known.entry(register).or_insert_with(new).clone()
    }
}
