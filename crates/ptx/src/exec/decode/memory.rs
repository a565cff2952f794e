//! Loads, stores, copies.

use super::Decoder;
use super::operand::Reason;
use super::order::memory_order;
use crate::ast::{Base, Instruction, Operand, Symbol};
use crate::exec::access::shared;
use crate::exec::image::element::Element;
use crate::exec::image::form::Step;
use crate::exec::image::{
    From, MemoryOp, MemoryOrder, PARAM_WINDOW, Region, Transfer, WINDOW, offset_in,
};
use crate::exec::registers::{Slot, Width};
use crate::names::{Space, Type, Word};
use crate::opcodes::Class;
use crate::scalar::Scalar;

/// The element that each of the registers of a load or a store holds.
fn element_of(ty: Type, data: &[Slot]) -> Result<Element, Reason> {
    let width = data.first().ok_or("no register")?.width;
    let element = Element::new(ty, width).ok_or("registers too narrow")?;
    // Constants of 8 bits are in registers of 16, all of one width.
    if data.iter().any(|slot| slot.width != width) {
        return Err("registers of different sizes".to_owned());
    }
    Ok(element)
}

impl Decoder<'_> {
    /// Space, base and offset of an address operand.
    pub(super) fn address(
        &mut self,
        i: &Instruction,
        operand: &Operand,
    ) -> Result<(Option<Space>, From, i64), Reason> {
        let mut space = match i.space() {
            // The cluster is the block.
            Some(Space::SharedCta | Space::SharedCluster) => Some(Space::Shared),
            Some(Space::ParamEntry | Space::ParamFunc) => Some(Space::Param),
            other => other,
        };
        let Operand::Address(base, offset) = operand else {
            return Err("an address that is not supported".to_owned());
        };
        Ok(match base {
            Base::Register(register) => {
                let ty = self.body().registers[register.0 as usize].ty;
                if ty.is_float() && ty != Type::F16x2 {
                    return Err(format!("an address in a register of .{}", ty.text()));
                }
                let slot = self.register(*register);
                let from = match slot.width {
                    Width::Word => From::Word(slot.at),
                    Width::Double => From::Double(slot.at),
                    _ => return Err("an address register of neither 32 nor 64 bits".to_owned()),
                };
                // Parameters have generic addresses in registers.
                if space == Some(Space::Param) {
                    space = None;
                }
                (space, from, *offset)
            }
            Base::Variable(symbol) => {
                let own = self.module.variable(self.body(), *symbol).space;
                let address = self.address_of(*symbol)?;
                let space = match (own, address & WINDOW) {
                    (Space::Param, PARAM_WINDOW) => Some(Space::Param),
                    (Space::Param, _) => Some(Space::Local),
                    (Space::SharedCta, _) => Some(Space::Shared),
                    (own, _) => Some(own),
                };
                (
                    space,
                    From::Constant,
                    ((address & !WINDOW) as i64).wrapping_add(*offset),
                )
            }
            Base::Absolute => (space, From::Constant, *offset),
        })
    }

    /// Elements of a vector operand, or the one.
    pub(super) fn elements(
        &mut self,
        operand: &Operand,
        ty: Type,
        target: bool,
    ) -> Result<Vec<Slot>, Reason> {
        let items = match operand {
            Operand::Vector(items) => &items[..],
            one => std::slice::from_ref(one),
        };
        let one = |d: &mut Self, o: &Operand| {
            if target {
                d.target(o, ty)
            } else {
                d.source(o, ty)
            }
        };
        items.iter().map(|o| one(self, o)).collect()
    }

    /// Type and registers of what a load or store moves. Those of .b128 are
    /// two of 64 bits.
    fn moved(
        &mut self,
        i: &Instruction,
        operand: &Operand,
        (ty, target): (Type, bool),
    ) -> Result<(Type, Vec<Slot>), Reason> {
        let vector = i.one_of(&[Word::V2, Word::V4, Word::V8]);
        if ty == Type::B128 {
            if vector.is_some() {
                return Err("vectors of .b128 are not supported".to_owned());
            }
            return Ok((Type::B64, self.pair(operand)?.to_vec()));
        }
        let wanted = match vector {
            None => 1,
            Some(Word::V2) => 2,
            Some(Word::V4) => 4,
            Some(_) => 8,
        };
        let data = self.elements(operand, ty, target)?;
        if data.len() == wanted {
            return Ok((ty, data));
        }
        Err(format!(
            "{} registers where the vector has {wanted}",
            data.len()
        ))
    }

    pub(super) fn load_or_store(&mut self, i: &Instruction) -> Result<(), Reason> {
        let store = i.opcode.class() == Class::Store;
        let delivered = i.has(Word::Async) && i.has(Word::MbarrierBytes);
        if i.has(Word::Bulk) || i.has(Word::Async) && !delivered {
            return Err(
                "bulk stores, and asynchronous ones without an mbarrier, are not supported"
                    .to_owned(),
            );
        }
        let ty = i.ty(0).ok_or("no type")?;
        let (at, data) = if store { (0, 1) } else { (1, 0) };
        let data = i.operands.get(data).ok_or("too few operands")?;
        let operand = i.operands.get(at).ok_or("too few operands")?;
        let (space, from, offset) = self.address(i, operand)?;
        let (ty, data) = self.moved(i, data, (ty, !store))?;
        let sync = [Word::Volatile, Word::Relaxed, Word::Acquire, Word::Mmio];
        let own = matches!(space, Some(Space::Shared | Space::Local));
        self.image.ordered |= !store && !own && i.one_of(&sync).is_some();
        if store && space == Some(Space::Param) {
            return Err("a store to a parameter of the entry".to_owned());
        }
        let parameter = space == Some(Space::Param) && from == From::Constant && !store;
        let region = self.region(operand);
        let bytes = ty.bytes() * data.len() as u32;
        let element = element_of(ty, &data)?;
        let memory = MemoryOp {
            index: 0,
            space: space.filter(|s| *s != Space::Param),
            from,
            offset,
            region,
            bytes,
            transfer: if store {
                let from = data;
                Transfer::Store { element, from }
            } else {
                Transfer::Load { element, to: data }
            },
            order: memory_order(i),
        };
        let words = self.image.vector && shared::applies(&memory);
        let access = self.add_memory(memory);
        if delivered {
            return self.delivered(i, access, 2);
        }
        self.step(match (store, words) {
            _ if parameter => self.parameter_step(access),
            (false, true) => Step::LoadWords { access },
            (false, false) => Step::Load { access },
            (true, true) => Step::StoreWords { access },
            (true, false) => Step::Store { access },
        });
        Ok(())
    }

    /// A load of a parameter of the entry, inside of it and aligned or not.
    fn parameter_step(&self, access: u32) -> Step {
        let memory = &self.image.memory[access as usize];
        let (at, size) = (memory.offset as u64, u64::from(memory.bytes));
        let outside = at < memory.region.low || at.saturating_add(size) > memory.region.high;
        if outside || !at.is_multiple_of(size) {
            Step::BadParameter { access }
        } else {
            Step::LoadParameter { access }
        }
    }

    /// `st.async` and `red.async`, whose bytes arrive at the barrier that is
    /// operand `at`.
    pub(super) fn delivered(
        &mut self,
        i: &Instruction,
        access: u32,
        at: usize,
    ) -> Result<(), Reason> {
        if i.space() != Some(Space::SharedCluster) || i.operands.len() != at + 1 {
            return Err(
                "expected .shared::cluster, an address, a value and an mbarrier".to_owned(),
            );
        }
        let change = self.bytes_arrive(i, i.operands.get(at))?;
        let number = self.image.changes.len() as u32;
        self.image.changes.push(change);
        self.step(Step::Delivered {
            access,
            change: number,
        });
        Ok(())
    }

    /// Adds an operation on memory: its index.
    pub(super) fn add_memory(&mut self, memory: MemoryOp) -> u32 {
        let index = self.image.memory.len() as u32;
        self.image.memory.push(MemoryOp { index, ..memory });
        index
    }

    /// `cp.async`, without `.bulk`.
    pub(super) fn copy(&mut self, i: &Instruction) -> Result<(), Reason> {
        if i.has(Word::Bulk) {
            return self.bulk(i);
        }
        if !i.has(Word::Async) {
            return Err("this form is not supported".to_owned());
        }
        if self.only_waits(i) {
            return self.wait(i);
        }
        if i.has(Word::Mbarrier) {
            return self.copies_arrive(i);
        }
        let size = match i.operands.get(2) {
            Some(Operand::Immediate(crate::ast::Immediate::Integer(n)))
                if [4, 8, 16].contains(n) =>
            {
                *n as u32
            }
            _ => return Err("a size other than 4, 8 or 16".to_owned()),
        };
        let (_, to, to_offset) = self.address(i, &i.operands[0])?;
        let (_, from, from_offset) = self.address(i, &i.operands[1])?;
        let read = match i.operands.get(3) {
            Some(operand @ (Operand::Register(_) | Operand::Immediate(_)))
                if !i.has(Word::L2CacheHint) || i.operands.len() > 4 =>
            {
                // A predicate: ignore the source.
                if let Operand::Register(r) = operand
                    && self.body().registers[r.0 as usize].ty == Type::Pred
                {
                    return Err("a copy with a predicate is not supported".to_owned());
                }
                Some(self.source(operand, Type::U32)?)
            }
            _ => None,
        };
        let region = self.region(&i.operands[0]);
        let side = |space, from, offset, region, transfer| MemoryOp {
            index: 0,
            space: Some(space),
            from,
            offset,
            region,
            bytes: size,
            transfer,
            order: MemoryOrder::default(),
        };
        let source = self.add_memory(side(
            Space::Global,
            from,
            from_offset,
            Region::ANYWHERE,
            Transfer::CopySource,
        ));
        let target = Transfer::CopyTarget { source, size: read };
        let access = self.add_memory(side(Space::Shared, to, to_offset, region, target));
        self.step(Step::Copy { access });
        Ok(())
    }

    /// `ldmatrix`, `stmatrix` of 8 x 8 elements of 16 bits.
    pub(super) fn matrix(&mut self, i: &Instruction) -> Result<(), Reason> {
        let store = i.opcode.class() == Class::StoreMatrix;
        if !i.has(Word::M8n8) || i.ty(0) != Some(Type::B16) {
            return Err("only matrices of .m8n8 with .b16".to_owned());
        }
        let (address, data) = if store { (0, 1) } else { (1, 0) };
        let operand = i
            .operands
            .get(address.max(data))
            .and(i.operands.get(address));
        let operand = operand.ok_or("too few operands")?;
        let region = self.region(operand);
        let (space, from, offset) = self.address(i, operand)?;
        let data = self.elements(&i.operands[data], Type::B32, !store)?;
        let number = match i.one_of(&[Word::X1, Word::X2, Word::X4]) {
            Some(Word::X1) => 1,
            Some(Word::X2) => 2,
            Some(_) => 4,
            None => return Err("expected .x1, .x2 or .x4".to_owned()),
        };
        if data.len() != number || data.iter().any(|s| s.width != Width::Word) {
            return Err(format!(
                "{number} registers of 32 bits expected, as .x{number} says"
            ));
        }
        let transposed = i.has(Word::Trans);
        let access = self.add_memory(MemoryOp {
            index: 0,
            space,
            from,
            offset,
            region,
            bytes: 16,
            transfer: if store {
                Transfer::StoreMatrix {
                    from: data,
                    transposed,
                }
            } else {
                Transfer::LoadMatrix {
                    to: data,
                    transposed,
                }
            },
            order: MemoryOrder::default(),
        });
        self.step(Step::Matrix { access });
        Ok(())
    }

    /// `cvta`: between addresses of a space and generic ones.
    pub(super) fn convert_address(&mut self, i: &Instruction) -> Result<(), Reason> {
        let space = i.space().ok_or("no space")?;
        let ty = i.ty(0).ok_or("no type")?;
        let window = Self::window(space);
        let to_space = i.has(Word::To);
        let source = match &i.operands[..] {
            // The variable itself: its generic address.
            [_, source] => self.source(source, ty)?,
            _ => return Err("two operands expected".to_owned()),
        };
        let target = self.target(&i.operands[0], ty)?;
        // Triton takes the address of a parameter in 32 bits, without its window.
        let parameter = matches!(space, Space::Param | Space::ParamEntry) && !to_space;
        let compute: Scalar = Box::new(move |x| match to_space {
            _ if parameter && x[0] & WINDOW == 0 => [x[0] | PARAM_WINDOW, 0],
            _ if window == 0 => [x[0], 0],
            true => [offset_in(window, x[0]).unwrap_or(x[0] & !WINDOW), 0],
            false => [x[0].wrapping_add(window), 0],
        });
        self.generic(compute, vec![source], target, None);
        Ok(())
    }

    /// `isspacep`
    pub(super) fn is_space(&mut self, i: &Instruction) -> Result<(), Reason> {
        let space = i.space().ok_or("no space")?;
        let source = self.source(i.operands.get(1).ok_or("too few operands")?, Type::U64)?;
        let target = self.target(&i.operands[0], Type::Pred)?;
        let constants: Vec<(u64, u64)> = self.constant_ranges();
        let compute: Scalar = Box::new(move |x| {
            let window = x[0] & WINDOW;
            let constant = constants
                .iter()
                .any(|(start, end)| (*start..*end).contains(&x[0]));
            let inside = match space {
                Space::Global => window == 0 && !constant,
                Space::Const => constant,
                Space::Param | Space::ParamEntry => window == PARAM_WINDOW,
                space => window == Self::window(space),
            };
            [u64::from(inside), 0]
        });
        self.generic(compute, vec![source], target, None);
        Ok(())
    }

    fn constant_ranges(&self) -> Vec<(u64, u64)> {
        let of = |(at, start): (&u32, &u64)| {
            let variable = &self.module.variables[*at as usize];
            (variable.space == Space::Const).then_some((*start, start + variable.bytes))
        };
        self.addresses.iter().filter_map(of).collect()
    }

    /// A variable of a function in the local memory of the lane.
    pub(super) fn local_of(&self, symbol: Symbol) -> Result<u32, Reason> {
        match symbol {
            Symbol::Local(at) => {
                let offset = self.locals.get(&(self.function, at));
                offset
                    .copied()
                    .ok_or_else(|| "a variable without memory".to_owned())
            }
            Symbol::Module(_) => Err("a variable of the module as an argument".to_owned()),
        }
    }
}
