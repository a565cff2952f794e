//! Known bits of all values of a function: the greatest solution, from
//! everything known downward. Branches whose predicate is known are taken one
//! way only, so that what comes from the other way does not count.

use super::super::context::{is_any_shared, parameter_of, shared_variable};
use super::super::{Context, Definition, Use, ValueId, Values};
use super::instruction::{converted, integer};
use super::{KnownBits, mask};
use crate::ast::{Base, Function, Immediate, Instruction, Module, Operand, Register, Symbol};
use crate::cfg::{Cfg, Flow, flow};
use crate::names::{Space, Special, Type, Word};
use crate::opcodes::Class;
use crate::operands::{element_source, source_type};
use crate::scalar;
use crate::shared::WINDOW_ALIGN;
use std::collections::{BTreeSet, HashSet, VecDeque};

/// Shared memory ends below this: no machine has more, and the executor
/// refuses more.
pub(in super::super) const SHARED_LIMIT_BITS: u32 = 24;

/// The bits that are known of every value.
#[derive(Clone, Debug)]
pub struct BitFacts {
    /// None where the value cannot exist.
    known: Vec<Option<KnownBits>>,
    widths: Vec<u32>,
    /// Register of each value.
    registers: Vec<Register>,
    /// Edges that control may take.
    taken: HashSet<(u32, u32)>,
}

impl BitFacts {
    /// The facts of `function`, in launches that `context` covers.
    pub fn new(
        module: &Module,
        function: &Function,
        cfg: &Cfg,
        values: &Values,
        context: &Context,
    ) -> Self {
        let bits = |r: &crate::ast::RegisterInfo| r.ty.bits().min(64);
        let registers = (0..values.count() as u32).map(|v| values.definition(ValueId(v)));
        let mut solver = Solver {
            module,
            function,
            values,
            context,
            facts: BitFacts {
                known: vec![None; values.count()],
                widths: function.registers.iter().map(bits).collect(),
                registers: registers.map(Definition::register).collect(),
                taken: HashSet::new(),
            },
            cfg,
            order: vec![0; cfg.blocks.len()],
            reached: vec![false; cfg.blocks.len()],
            blocks: BTreeSet::new(),
            work: VecDeque::new(),
            queued: vec![false; values.count()],
        };
        solver.run();
        solver.facts
    }

    /// Known bits of a value.
    pub fn of(&self, value: ValueId) -> KnownBits {
        self.known[value.0 as usize].unwrap_or_else(|| KnownBits::unknown(self.width(value)))
    }

    /// Whether control may go from one block to the other, which follows it:
    /// predicates that are known send it one way only.
    pub fn is_taken(&self, from: u32, to: u32) -> bool {
        from == Values::ENTRY || self.taken.contains(&(from, to))
    }

    /// Whether the guard of instruction `at` is on, where that is known; an
    /// instruction without one is on.
    pub fn guard(&self, values: &Values, at: u32, i: &Instruction) -> Option<bool> {
        let Some(guard) = i.guard else {
            return Some(true);
        };
        let known = self.of(values.read(at, guard.register)).value()?;
        Some((known & 1 == 1) != guard.negated)
    }

    /// Bits of the register that holds the value (64 of a wider one).
    pub fn width(&self, value: ValueId) -> u32 {
        self.widths[self.registers[value.0 as usize].0 as usize]
    }

    /// Known bits of a source operand of instruction `at` that is read as `ty`:
    /// zero-extended from that type's width.
    pub fn operand(
        &self,
        module: &Module,
        function: &Function,
        values: &Values,
        context: &Context,
        (at, operand, ty): (u32, &Operand, Type),
    ) -> KnownBits {
        let bits = ty.bits().min(64);
        let known = match operand {
            Operand::Register(r) => self.of(values.read(at, *r)),
            Operand::Negated(r) => self.of(values.read(at, *r)).not(1),
            Operand::Immediate(Immediate::Integer(n)) => KnownBits::constant(*n as u64),
            Operand::Special(special) => of_special(*special, context),
            Operand::Variable(symbol, offset) => {
                return of_variable(module, function, *symbol, *offset, bits);
            }
            Operand::Discard => KnownBits::constant(0),
            _ => KnownBits::unknown(64),
        };
        known.truncate(bits)
    }
}

fn of_special(special: Special, context: &Context) -> KnownBits {
    match context.range(special) {
        Some((low, high)) => KnownBits::range(low.into(), high.into()),
        None => KnownBits::unknown(special.bits()),
    }
}

/// The address of a variable: a multiple of its alignment, in shared memory as
/// far as that of the window goes.
fn of_variable(
    module: &Module,
    function: &Function,
    symbol: Symbol,
    offset: i64,
    bits: u32,
) -> KnownBits {
    let variable = module.variable(function, symbol);
    let (width, align) = match shared_variable(module, function, symbol) {
        Some(_) => (
            SHARED_LIMIT_BITS.min(bits),
            variable.align.min(WINDOW_ALIGN),
        ),
        None => (bits, variable.align),
    };
    let base = KnownBits::aligned(u64::from(align.max(1)), width);
    base.add(KnownBits::constant(offset as u64 & mask(bits)), bits)
}

struct Solver<'a> {
    module: &'a Module,
    function: &'a Function,
    values: &'a Values,
    context: &'a Context,
    facts: BitFacts,
    cfg: &'a Cfg,
    /// Place of each block in reverse postorder.
    order: Vec<u32>,
    reached: Vec<bool>,
    /// Blocks to enter for the first time, by that place.
    blocks: BTreeSet<u32>,
    work: VecDeque<Use>,
    queued: Vec<bool>,
}

impl Solver<'_> {
    fn run(&mut self) {
        for value in 0..self.function.registers.len() as u32 {
            let value = ValueId(value);
            let unknown = KnownBits::unknown(self.facts.width(value));
            self.facts.known[value.0 as usize] = Some(unknown);
        }
        for (place, &block) in self.cfg.reverse_postorder.iter().enumerate() {
            self.order[block as usize] = place as u32;
        }
        if !self.cfg.reverse_postorder.is_empty() {
            self.blocks.insert(0);
        }
        loop {
            if let Some(place) = self.blocks.pop_first() {
                self.enter(self.cfg.reverse_postorder[place as usize]);
                continue;
            }
            match self.work.pop_front() {
                Some(Use::Phi(phi)) => {
                    self.queued[phi.0 as usize] = false;
                    self.phi(phi);
                }
                Some(Use::Instruction(at)) => {
                    for &(_, value) in self.values.writes(at) {
                        self.queued[value.0 as usize] = false;
                    }
                    self.instruction(at);
                    let block = self.cfg.block_of[at as usize];
                    if self.cfg.blocks[block as usize].end == at + 1 {
                        self.leave(block);
                    }
                }
                None => break,
            }
        }
    }

    /// Control comes to a block for the first time.
    fn enter(&mut self, block: u32) {
        self.reached[block as usize] = true;
        for &phi in self.values.phis(block) {
            self.phi(phi);
        }
        let (start, end) = {
            let block = &self.cfg.blocks[block as usize];
            (block.start, block.end)
        };
        for at in start..end {
            self.instruction(at);
        }
        self.leave(block);
    }

    /// Takes the edges out of a block that its last instruction allows.
    fn leave(&mut self, block: u32) {
        let last = self.cfg.blocks[block as usize].end - 1;
        let i = &self.function.instructions[last as usize];
        let exit = self.cfg.exit();
        let block_at = |at: u32| self.cfg.block_of.get(at as usize).copied().unwrap_or(exit);
        let only = match (
            self.facts.guard(self.values, last, i),
            flow(self.function, i),
        ) {
            _ if i.guard.is_none() => None,
            (Some(true), Flow::Branch(places, _)) if i.opcode.class() == Class::Branch => {
                places.first().map(|&at| block_at(at))
            }
            (Some(true), Flow::Leave(_)) => Some(exit),
            (Some(false), Flow::Branch(..) | Flow::Leave(_)) => Some(block_at(last + 1)),
            _ => None,
        };
        let cfg = self.cfg;
        for &to in &cfg.blocks[block as usize].successors {
            let open = to != exit && only.is_none_or(|o| o == to);
            if !open || !self.facts.taken.insert((block, to)) {
                continue;
            }
            if self.reached[to as usize] {
                for &phi in self.values.phis(to) {
                    self.phi(phi);
                }
            } else {
                self.blocks.insert(self.order[to as usize]);
            }
        }
    }

    /// Takes over what is known of a value; less than before is news for its
    /// users.
    fn set(&mut self, value: ValueId, new: KnownBits) {
        let new = new.truncate(self.facts.width(value));
        let known = &mut self.facts.known[value.0 as usize];
        let new = known.map_or(new, |old| old.meet(new));
        if known.replace(new).is_some_and(|old| old == new) {
            return;
        }
        for &user in self.values.users(value) {
            // Those that have not been reached come anyway.
            let (target, reached) = match user {
                Use::Phi(phi) => (phi, self.facts.known[phi.0 as usize].is_some()),
                Use::Instruction(at) => match self.values.writes(at).first() {
                    Some(&(_, v)) => (v, self.facts.known[v.0 as usize].is_some()),
                    None => {
                        // A branch whose guard is known no longer.
                        let block = self.cfg.block_of[at as usize];
                        let last = self.cfg.blocks[block as usize].end == at + 1;
                        if last && self.reached[block as usize] {
                            self.work.push_back(user);
                        }
                        continue;
                    }
                },
            };
            if reached && !std::mem::replace(&mut self.queued[target.0 as usize], true) {
                self.work.push_back(user);
            }
        }
    }

    fn phi(&mut self, phi: ValueId) {
        let Definition::Phi { inputs, block, .. } = self.values.definition(phi) else {
            return;
        };
        let taken = inputs.iter().filter(|i| self.facts.is_taken(i.0, *block));
        let known = taken.filter_map(|i| self.facts.known[i.1.0 as usize]);
        if let Some(all) = known.reduce(KnownBits::meet) {
            self.set(phi, all);
        }
    }

    fn instruction(&mut self, at: u32) {
        let writes = self.values.writes(at);
        if writes.is_empty() {
            return;
        }
        let i = &self.function.instructions[at as usize];
        for (index, &(_, value)) in writes.iter().enumerate() {
            let width = self.facts.width(value);
            let mut new = self
                .result(at, i, index, width)
                .unwrap_or_else(|| KnownBits::unknown(width));
            if let Definition::Guarded { old, .. } = self.values.definition(value) {
                match self.facts.guard(self.values, at, i) {
                    Some(true) => {}
                    Some(false) => new = self.facts.of(*old),
                    None => new = new.meet(self.facts.of(*old)),
                }
            }
            self.set(value, new);
        }
    }

    fn source(&self, at: u32, operand: &Operand, ty: Type) -> KnownBits {
        let place = (at, operand, ty);
        self.facts
            .operand(self.module, self.function, self.values, self.context, place)
    }

    /// Known bits of the `index`-th register that the instruction writes.
    fn result(&self, at: u32, i: &Instruction, index: usize, width: u32) -> Option<KnownBits> {
        match i.opcode.class() {
            Class::Move => return self.mov(at, i, index),
            Class::Load => return self.load(i, width),
            Class::ConvertAddress => return self.cvta(at, i),
            _ => {}
        }
        let ty = i.ty(0)?;
        let sources = i.operands.get(1..)?;
        let one_result = matches!(i.operands.first(), Some(Operand::Register(_)));
        let packed = matches!(ty, Type::U16x2 | Type::S16x2);
        if !one_result || packed || ty.is_float() || i.has(Word::Other) {
            return None;
        }
        if let Some(exact) = self.folded(at, i, sources) {
            return Some(exact);
        }
        let convert = i.opcode.class() == Class::Convert;
        let known: Option<Vec<KnownBits>> = sources
            .iter()
            .enumerate()
            .map(|(n, o)| Some(self.source(at, o, source_type(i, n)?)))
            .collect();
        let known = known?;
        if convert {
            converted(i, known.first()?, width)
        } else {
            integer(i, ty, &known, width)
        }
    }

    /// The result where all operands are known: the executor's definition computes it.
    fn folded(&self, at: u32, i: &Instruction, sources: &[Operand]) -> Option<KnownBits> {
        let simple = |o: &Operand| matches!(o, Operand::Immediate(_) | Operand::Special(_));
        let might = |o: &Operand| match o {
            Operand::Register(r) => self.facts.of(self.values.read(at, *r)).value().is_some(),
            other => simple(other),
        };
        if !sources.iter().all(might) {
            return None;
        }
        let value = scalar::fold(i, |n, ty| self.source(at, sources.get(n)?, ty).value())?;
        Some(KnownBits::constant(value))
    }

    fn mov(&self, at: u32, i: &Instruction, index: usize) -> Option<KnownBits> {
        let ty = i.ty(0)?;
        match &i.operands[..] {
            [Operand::Vector(to), Operand::Vector(from)] => {
                Some(self.source(at, element_source(to, from, index)?, ty))
            }
            [Operand::Vector(parts), source] => {
                let size = ty.bits() / parts.len() as u32;
                // Which part the index-th register is, `_` left out.
                let registers = parts.iter().enumerate();
                let mut named = registers.filter(|(_, p)| matches!(p, Operand::Register(_)));
                let part = named.nth(index)?.0 as u32;
                let whole = self.source(at, source, ty);
                Some(whole.shr(part * size, 64, false).truncate(size))
            }
            [_, Operand::Vector(parts)] => {
                let size = ty.bits() / parts.len() as u32;
                let part_type = match size {
                    16 => Type::B16,
                    32 => Type::B32,
                    _ => return None,
                };
                let zero = KnownBits::constant(0);
                let join = |all: KnownBits, (n, part): (usize, &Operand)| {
                    let part = self.source(at, part, part_type);
                    part.insert(all, n as u32 * size, size, 64)
                };
                Some(parts.iter().enumerate().fold(zero, join))
            }
            [Operand::Register(_), source] => Some(self.source(at, source, ty)),
            _ => None,
        }
    }

    fn load(&self, i: &Instruction, width: u32) -> Option<KnownBits> {
        let ty = i.ty(0)?;
        let space = i.space();
        if let (Some(Space::Param | Space::ParamEntry), true) = (space, self.function.is_entry)
            && let [
                Operand::Register(_),
                Operand::Address(Base::Variable(symbol), offset),
            ] = &i.operands[..]
            && let Some((_, start)) = parameter_of(self.function, *symbol)
        {
            let at = start.wrapping_add(*offset as u64);
            if let Some(value) = self.context.parameter(at, ty.bytes()) {
                let known = KnownBits::constant(value);
                return Some(if ty.is_signed() {
                    known.sign_extend(ty.bits(), width)
                } else {
                    known
                });
            }
        }
        (ty.bits() < width && !ty.is_signed()).then(|| KnownBits::unknown(ty.bits()))
    }

    /// Windows of spaces are aligned to far more than their variables.
    fn cvta(&self, at: u32, i: &Instruction) -> Option<KnownBits> {
        let ty = i.ty(0)?;
        let source = self.source(at, i.operands.get(1)?, ty);
        match i.space()? {
            Space::Global => Some(source),
            space => {
                let low = mask(SHARED_LIMIT_BITS);
                let kept = KnownBits {
                    zeros: source.zeros & low,
                    ones: source.ones & low,
                };
                if i.has(Word::To) && is_any_shared(space) {
                    Some(kept.truncate(SHARED_LIMIT_BITS))
                } else {
                    Some(kept)
                }
            }
        }
    }
}
