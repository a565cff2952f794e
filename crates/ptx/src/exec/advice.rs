//! Advice on races: a barrier of the block or of the warp, or an atomic, that would order
//! the two accesses. Nothing is said where it is not sure to help.

mod around;
mod flow;

use self::flow::Flow;
use super::decode::awaited::may_wait;
use super::image::Image;
use super::image::form::{Form, Step};
use super::machine::pairs::{Key, PairOverBlocks, WarpCoverage, Why};
use crate::analysis::Use;
use crate::ast::{Base, Instruction, Module, Operand, Register};
use crate::cfg::{self, flow};
use crate::names::Type;
use crate::opcodes::{Class, Opcode};
use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};

/// A remedy, which would order a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// A barrier of the block.
    Block(Place),
    /// A barrier of the warp.
    Warp(Place),
    /// An atomic in the place of load and store.
    Atomic,
}

/// A place for a barrier, behind the first access and before the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Anywhere between, in code that has the same conditions.
    Between,
    /// Between, but not in the condition that the second is in.
    AtFirst,
    /// Between, but not in the condition that the first is in.
    AtSecond,
    /// Between, but in neither of their conditions.
    Outside,
}

impl Place {
    /// The place that is right for both.
    pub fn and(self, other: Place) -> Place {
        match (self, other) {
            (one, other) if one == other => one,
            (Place::Between, place) | (place, Place::Between) => place,
            _ => Place::Outside,
        }
    }
}

pub(super) struct Advisor<'a> {
    module: &'a Module,
    image: &'a Image,
    /// By function, the blocks where its threads pass.
    flows: BTreeMap<u32, Flow>,
    /// A load and a store, or two stores, of threads that load, change and store a word.
    updates: HashSet<[u32; 2]>,
    /// Stores that race with stores in either order, so that no barrier keeps them apart.
    stores: HashSet<u32>,
    /// Stores of updates that no atomic can replace, or that others read at the same time.
    not_atomic: HashSet<u32>,
    /// Pairs that also race for a reason for which a barrier does not help, as between blocks.
    beyond_barriers: HashSet<[u32; 2]>,
}

impl<'a> Advisor<'a> {
    pub fn new(
        module: &'a Module,
        image: &'a Image,
        races: &BTreeMap<Key, PairOverBlocks>,
    ) -> Self {
        let functions = races.keys().flat_map(|key| key.pcs);
        let functions: HashSet<u32> = functions
            .filter_map(|pc| image.infos.get(pc as usize).map(|i| i.function))
            .collect();
        let flow = |at: u32| (at, Flow::new(module, &module.functions[at as usize]));
        let mut advisor = Advisor {
            module,
            image,
            flows: functions.into_iter().map(flow).collect(),
            updates: HashSet::new(),
            stores: HashSet::new(),
            not_atomic: HashSet::new(),
            beyond_barriers: HashSet::new(),
        };
        let helps = [Why::Order, Why::Copy, Why::Barrier];
        let others = races.keys().filter(|key| !helps.contains(&key.why));
        advisor.beyond_barriers = others.map(|key| key.pcs).collect();
        advisor.find_updates(races);
        advisor
    }

    /// Finds the pairs of which both threads load, change and store a word: each of two
    /// stores that race has its value from a load that races with one of them there.
    fn find_updates(&mut self, races: &BTreeMap<Key, PairOverBlocks>) {
        let of = |wrote: usize| {
            let has = move |key: &Key| key.wrote.iter().filter(|w| **w).count() == wrote;
            let ordered = races.iter().filter(|(key, _)| key.why == Why::Order);
            ordered.filter(move |(key, _)| has(key))
        };
        for (both, at) in of(2) {
            let beside = of(1).filter(|(one, of_load)| {
                let [_, store] = load_and_store(one);
                one.memory == both.memory
                    && both.pcs.contains(&store)
                    && !at.pair.places.is_disjoint(&of_load.pair.places)
            });
            let beside: Vec<_> = beside.map(|(one, _)| one).collect();
            let feeds = |one: &Key, to: u32| self.is_stored(load_and_store(one)[0], to);
            let is_update = |to: &u32| beside.iter().any(|one| feeds(one, *to));
            if both.pcs.iter().all(is_update) {
                let fed = |one: &&&Key| both.pcs.iter().any(|&to| feeds(one, to));
                let loads: Vec<_> = beside.iter().filter(fed).map(|one| one.pcs).collect();
                self.updates.extend(loads);
                self.updates.insert(both.pcs);
            }
            let [first, second] = both.pcs;
            let either = self.reaches(first, second) == self.reaches(second, first);
            if either && (!both.harmless || self.updates.contains(&both.pcs)) {
                self.stores.extend(both.pcs);
            }
        }
        for (one, _) in of(1) {
            let [load, store] = load_and_store(one);
            let helps = if self.updates.contains(&one.pcs) {
                self.is_one_atomic(load, store)
            } else {
                // A barrier keeps these apart, unless each may come before the other.
                !(self.reaches(load, store) && self.reaches(store, load))
            };
            if !helps {
                self.not_atomic.insert(store);
            }
        }
    }

    /// The remedy that orders two instructions of one block which race, the first of which
    /// is executed first, by the warps that execute them. `unwaited`: the first is a copy,
    /// and its wait comes with the barrier.
    pub fn remedy(
        &self,
        [first, second]: [u32; 2],
        warps: WarpCoverage,
        unwaited: bool,
    ) -> Option<Remedy> {
        let pcs = [first.min(second), first.max(second)];
        if pcs.iter().any(|&pc| self.is_after_wait(pc)) {
            return None;
        }
        if self.updates.contains(&pcs) {
            let replaceable = pcs.iter().all(|pc| !self.not_atomic.contains(pc));
            return replaceable.then_some(Remedy::Atomic);
        }
        let stores = pcs.iter().any(|pc| self.stores.contains(pc));
        let one_way = self.reaches(first, second) && !self.reaches(second, first);
        if stores || self.beyond_barriers.contains(&pcs) || !one_way {
            return None;
        }
        // Of an update, only the latest before it is noted: other warps may race as well.
        let of_update = |pc: &u32| self.updates.iter().flatten().any(|of| of == pc);
        // Of what is freed, other warps may have some, too: they access nothing then.
        let frees = pcs.iter().any(|&pc| self.frees(pc));
        let same_warp = warps.same_warp && !frees && !pcs.iter().any(of_update);
        // Behind its wait, which comes before what the second does.
        let behind_wait = |place| match place {
            Place::Between | Place::AtSecond => Some(Place::AtSecond),
            Place::AtFirst | Place::Outside => None,
        };
        let copies = self.is_copy(first) && !unwaited;
        let place = self.place(first, second);
        let place = if copies {
            place.and_then(behind_wait)
        } else {
            place
        };
        let place = match place {
            Some(Place::AtFirst) => match self.condition_of(first) {
                // Behind its condition, the loop has been left.
                Some(true) => return None,
                Some(false) => Some(Place::Outside),
                None => place,
            },
            _ => place,
        };
        match place {
            None if copies => None,
            Some(place) if same_warp => Some(Remedy::Warp(place)),
            Some(place) => Some(Remedy::Block(place)),
            None if !warps.same_warp => None,
            // Whole warps are there, if not all.
            None => match (warps.whole, self.block_of(first) == self.block_of(second)) {
                ([true, true], true) => Some(Remedy::Warp(Place::Between)),
                ([true, _], _) => Some(Remedy::Warp(Place::AtFirst)),
                ([false, true], _) => Some(Remedy::Warp(Place::AtSecond)),
                _ => None,
            },
        }
    }

    /// Whether an instruction gives bytes of the heap back.
    fn frees(&self, pc: u32) -> bool {
        let form = self.image.ops.get(pc as usize).map(|op| &op.form);
        matches!(form, Some(Form::Step(Step::Free { .. })))
    }

    /// Whether a branch of the same line of the source, or of one that calls it, which depends
    /// on what an instruction loads, closes a loop; nothing where there is no such branch.
    fn condition_of(&self, pc: u32) -> Option<bool> {
        let (function, from) = self.instruction(pc)?;
        let body = &self.module.functions[function as usize];
        let line = |at: u32| {
            let location = body.instructions.get(at as usize)?.location?;
            body.locations
                .get(location as usize)
                .map(|l| (l.file, l.line))
        };
        let calls = Module::calls(body, &body.instructions[from as usize]);
        let calls = calls.into_iter().map(|[file, line, _]| (file, line));
        let own: Vec<_> = line(from).into_iter().chain(calls).collect();
        let is_own = |at: u32| line(at).is_some_and(|line| own.contains(&line));
        let closes = |at: u32| match flow(body, &body.instructions[at as usize]) {
            cfg::Flow::Branch(places, true) if is_own(at) => {
                Some(places.iter().any(|&place| place <= from))
            }
            _ => None,
        };
        let decides = |back: bool| self.feeds(function, from, |at, _| closes(at) == Some(back));
        match (decides(true), decides(false)) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    /// Whether an instruction begins a copy that is waited for.
    pub fn is_copy(&self, pc: u32) -> bool {
        let access = self.image.access.get(pc as usize).copied().flatten();
        access.is_some_and(|at| self.image.memory[at as usize].transfer.is_copy())
    }

    /// Whether each way of a thread to an instruction passes another one before.
    pub fn dominates(&self, first: u32, other: u32) -> bool {
        let places = self.instruction(first).zip(self.instruction(other));
        let blocks = self.block_of(first).zip(self.block_of(other));
        let (Some(((_, from), (_, to))), Some(((function, one), (of, next)))) = (places, blocks)
        else {
            return false;
        };
        let dominators = self.flows[&function].values.dominators();
        function == of
            && if one == next {
                from <= to
            } else {
                dominators.dominates(one, next)
            }
    }

    /// The place where all threads of the block pass between two instructions.
    fn place(&self, first: u32, second: u32) -> Option<Place> {
        let (function, from) = self.block_of(first)?;
        let (other, to) = self.block_of(second)?;
        // Who calls a function, and when, is not looked at.
        if function != other || !self.module.functions[function as usize].is_entry {
            return None;
        }
        let flow = &self.flows[&function];
        match [from, to].map(|block| flow.conditional[block as usize]) {
            [false, false] => return Some(Place::Between),
            [false, true] => return Some(Place::AtFirst),
            _ => {}
        }
        let mut block = from;
        loop {
            block = flow.cfg.post_dominator[block as usize];
            if block >= flow.cfg.exit() {
                return None;
            }
            if !flow.conditional[block as usize] {
                break;
            }
        }
        let start = self.pc_of(function, flow.cfg.blocks[block as usize].start)?;
        let comes = self.reaches(first, start) && !self.reaches(second, start);
        let goes = start == second || self.reaches(start, second);
        let outside = if flow.conditional[to as usize] {
            Place::Outside
        } else {
            Place::AtSecond
        };
        (comes && goes).then_some(outside)
    }

    /// Function and block of an instruction.
    fn block_of(&self, pc: u32) -> Option<(u32, u32)> {
        let (function, at) = self.instruction(pc)?;
        let block = self.flows.get(&function)?.cfg.block_of.get(at as usize)?;
        Some((function, *block))
    }

    fn instruction(&self, pc: u32) -> Option<(u32, u32)> {
        let info = self.image.infos.get(pc as usize)?;
        Some((info.function, info.instruction))
    }

    fn pc_of(&self, function: u32, instruction: u32) -> Option<u32> {
        let is = |pc: &u32| self.instruction(*pc) == Some((function, instruction));
        (0..self.image.infos.len() as u32).find(is)
    }

    /// Whether a thread stores where it has loaded what it has computed from that, and passes
    /// no barrier between.
    fn is_stored(&self, load: u32, store: u32) -> bool {
        let (Some((function, from)), Some((other, to))) =
            (self.instruction(load), self.instruction(store))
        else {
            return false;
        };
        let stores = |at: u32, by: &[Register]| {
            let address = match self.address(function, at) {
                Some((Base::Register(register), ..)) => Some(register),
                _ => None,
            };
            at == to && by.iter().any(|register| Some(*register) != address)
        };
        function == other
            && self.reaches(load, store)
            && self.is_one_address(function, [from, to])
            && self.feeds(function, from, stores)
    }

    /// Whether there is an atomic that does what happens to a word between its load and its
    /// store: not a product, a quotient, a shift, or what the word is subtracted from.
    fn is_one_atomic(&self, load: u32, store: u32) -> bool {
        let (Some((function, from)), Some((_, to))) =
            (self.instruction(load), self.instruction(store))
        else {
            return false;
        };
        let body = &self.module.functions[function as usize];
        let is_store = |at: u32, _: &[Register]| at == to;
        // One atomic does one of these: a field that is inserted takes two.
        let operators = Cell::new(0u32);
        let breaks = |at: u32, by: &[Register]| {
            if at == to || !self.feeds(function, at, is_store) {
                return false;
            }
            let i = &body.instructions[at as usize];
            operators.set(operators.get() | operator(i.opcode));
            !has_atomic(i, by) || operators.get().count_ones() > 1
        };
        let is_byte = |t| matches!(t, Type::U8 | Type::S8 | Type::B8);
        !body.instructions[to as usize].types().any(is_byte) && !self.feeds(function, from, breaks)
    }

    /// The address of an instruction that accesses memory.
    fn address(&self, function: u32, at: u32) -> Option<(Base, i64)> {
        let body = &self.module.functions[function as usize];
        let operands = &body.instructions[at as usize].operands;
        operands.iter().find_map(|operand| match operand {
            Operand::Address(base, offset) => Some((*base, *offset)),
            _ => None,
        })
    }

    /// Whether two instructions have one address: the same variable, or the same value of a
    /// register, and the same offset.
    fn is_one_address(&self, function: u32, both: [u32; 2]) -> bool {
        let values = &self.flows[&function].values;
        let [one, other] = both.map(|at| {
            let (base, offset) = self.address(function, at)?;
            let value = match base {
                Base::Register(register) => {
                    let mut reads = values.reads(at).iter();
                    Some(reads.find(|(r, _)| *r == register)?.1)
                }
                _ => None,
            };
            let variable = value.is_none().then_some(base);
            Some((value, variable, offset))
        });
        one.is_some() && one == other
    }

    /// Whether what an instruction gives comes to one that `ends`: its place, and the
    /// registers by which it comes.
    fn feeds(&self, function: u32, from: u32, ends: impl Fn(u32, &[Register]) -> bool) -> bool {
        let values = &self.flows[&function].values;
        let given = |at: u32| values.writes(at).iter().map(|(_, value)| *value);
        let mut open: Vec<_> = given(from).collect();
        let mut known: HashSet<u32> = open.iter().map(|value| value.0).collect();
        while let Some(value) = open.pop() {
            for user in values.users(value) {
                let next: Vec<_> = match user {
                    Use::Phi(phi) => vec![*phi],
                    Use::Instruction(at) => {
                        let reads = values.reads(*at).iter().filter(|(_, v)| *v == value);
                        let by: Vec<_> = reads.map(|(register, _)| *register).collect();
                        if ends(*at, &by) {
                            return true;
                        }
                        given(*at).collect()
                    }
                };
                open.extend(next.into_iter().filter(|value| known.insert(value.0)));
            }
        }
        false
    }

    /// Whether an instruction comes, without a barrier between, after a call or after what
    /// a thread waits for or decides on by an atomic or a volatile or strong load: a lock, a
    /// flag, a ticket. Only some threads may be there, and others wait for them.
    fn is_after_wait(&self, pc: u32) -> bool {
        let Some((function, _)) = self.instruction(pc) else {
            return true;
        };
        let body = &self.module.functions[function as usize];
        let decides = |at: u32, _: &[Register]| {
            let i = &body.instructions[at as usize];
            i.guard.is_some() || matches!(i.opcode.class(), Class::Branch | Class::IndexedBranch)
        };
        let waits = |at: u32| {
            let i = &body.instructions[at as usize];
            i.opcode.class() == Class::Call || may_wait(i) && self.feeds(function, at, decides)
        };
        let all = (0..self.image.infos.len() as u32).filter_map(|pc| {
            let (of, at) = self.instruction(pc)?;
            (of == function).then_some((pc, at))
        });
        let mut all = all.filter(|(_, at)| (*at as usize) < body.instructions.len());
        all.any(|(from, at)| waits(at) && self.reaches(from, pc))
    }

    /// Whether a thread may come from one instruction to another past no barrier.
    fn reaches(&self, from: u32, to: u32) -> bool {
        self.image.reaches(from, to)
    }
}

/// The instructions of a load and a store that race.
fn load_and_store(key: &Key) -> [u32; 2] {
    match key.wrote {
        [false, _] => key.pcs,
        _ => [key.pcs[1], key.pcs[0]],
    }
}

/// The operator of an atomic that an opcode may be, as a bit.
fn operator(opcode: Opcode) -> u32 {
    match opcode {
        Opcode::Add | Opcode::Sub | Opcode::Fma | Opcode::Mad | Opcode::Mad24 => 1,
        Opcode::And => 2,
        Opcode::Or => 4,
        Opcode::Xor | Opcode::Not => 8,
        Opcode::Min => 16,
        Opcode::Max => 32,
        _ => 0,
    }
}

/// Whether an instruction, on a word that comes to it by some registers, may be what an
/// atomic does to the word.
fn has_atomic(instruction: &Instruction, by: &[Register]) -> bool {
    let of_last = |operand: &Operand| matches!(operand, Operand::Register(r) if by.contains(r));
    let is = |at: usize| instruction.operands.get(at).is_some_and(of_last);
    match instruction.opcode {
        Opcode::Add | Opcode::And | Opcode::Or | Opcode::Xor | Opcode::Not | Opcode::Lop3 => true,
        Opcode::Min | Opcode::Max => true,
        Opcode::Sub => !is(2),
        Opcode::Fma | Opcode::Mad | Opcode::Mad24 => !is(1) && !is(2),
        opcode => matches!(
            opcode.class(),
            Class::Compare | Class::Convert | Class::Move | Class::Store | Class::Branch
        ),
    }
}
