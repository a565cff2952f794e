//! One instruction of one thread: operands, control flow, memory.

use super::convert::cvt;
use super::float::{compare, float, test};
use super::integer::{integer, multiply_add_carry};
use super::memory::{GlobalMemory, number, part, write};
use super::thread::{Context, Fault, Frame, LOCAL_WINDOW, SHARED_WINDOW, State, Thread};
use super::{extend, signed, truncate};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{Double, Single};
use spadkit::ptx::{
    Base, Immediate, Instruction, LabelKind, Opcode, Operand, Parameter, Register, Space, Special,
    Symbol, Type, Word,
};

type Shared<'a> = &'a mut [u8];

impl Thread {
    /// Executes the next instruction.
    pub(super) fn step(
        &mut self,
        context: &Context,
        memory: &mut GlobalMemory,
        shared: Shared,
    ) -> Result<(), Fault> {
        let frame = self
            .frames
            .last()
            .ok_or_else(|| Fault("no function".into()))?;
        let function = context.function(frame.function);
        let Some(instr) = function.instructions.get(frame.pc) else {
            return self.leave(context);
        };
        self.top().pc += 1;
        if let Some(guard) = instr.guard {
            let set = self.register(guard.register) != 0;
            if set == guard.negated {
                return Ok(());
            }
        }
        let line = instr.span.line;
        let result = self.execute(context, memory, shared, instr);
        result.map_err(|Fault(what)| Fault(format!("line {line}: {what}")))
    }

    fn top(&mut self) -> &mut Frame {
        self.frames
            .last_mut()
            .expect("a running thread is in a function")
    }

    fn register(&self, register: Register) -> u64 {
        self.frames
            .last()
            .map_or(0, |f| f.registers[register.0 as usize])
    }

    fn set(&mut self, context: &Context, register: Register, ty: Type, value: u64) {
        let frame = self.top();
        let info = &context.function(frame.function).registers[register.0 as usize];
        frame.registers[register.0 as usize] = extend(value, ty, info.ty.bits());
    }

    fn execute(
        &mut self,
        context: &Context,
        memory: &mut GlobalMemory,
        shared: Shared,
        instr: &Instruction,
    ) -> Result<(), Fault> {
        use Opcode::*;
        match instr.opcode {
            Bra | Brx => self.branch(context, instr),
            Call => self.call(context, instr),
            Ret => self.leave(context),
            Exit => {
                self.state = State::Ended;
                Ok(())
            }
            Bar | Barrier => self.barrier(context, instr),
            Membar | Fence | Prefetch | Prefetchu | Nanosleep | Pmevent | Discard => Ok(()),
            Ld | Ldu => self.load(context, memory, shared, instr),
            St => self.store(context, memory, shared, instr),
            Atom | Red => self.atomic(context, memory, shared, instr),
            Mov => self.move_value(context, instr),
            Cvta => {
                let value = self.convert_address(context, instr)?;
                self.write_result(context, instr, Type::B64, value)
            }
            Setp => self.set_predicates(context, instr),
            _ => {
                let (ty, value) = self.value_of(context, instr)?;
                self.write_result(context, instr, ty, value)
            }
        }
    }

    /// Type and value of an instruction that computes one.
    fn value_of(&mut self, context: &Context, instr: &Instruction) -> Result<(Type, u64), Fault> {
        use Opcode::*;
        let ty = instr.ty(0).unwrap_or(Type::B32);
        let operand = |i: usize, ty: Type| self.operand(context, &instr.operands[i], ty);
        let all = |ty: Type| -> Result<Vec<u64>, Fault> {
            (1..instr.operands.len()).map(|i| operand(i, ty)).collect()
        };
        Ok(match instr.opcode {
            Set => {
                let from = instr.ty(1).unwrap_or(Type::U32);
                let holds = self.comparison(context, instr, from)?;
                let one = match ty {
                    Type::F32 => 0x3f80_0000,
                    Type::F16 => 0x3c00,
                    Type::Bf16 => 0x3f80,
                    _ => u64::MAX,
                };
                (ty, if holds { one } else { 0 })
            }
            Selp => {
                let picked = if operand(3, Type::Pred)? != 0 { 1 } else { 2 };
                (ty, operand(picked, ty)?)
            }
            Slct => {
                let from = instr.ty(1).unwrap_or(Type::S32);
                let c = operand(3, from)?;
                let first = match from {
                    Type::F32 => compare(Word::Ge, from, c, 0, instr.has(Word::Ftz)),
                    _ => signed(c, 32) >= 0,
                };
                (ty, operand(if first { 1 } else { 2 }, ty)?)
            }
            Testp => (Type::Pred, test(instr, ty, operand(1, ty)?).into()),
            Isspacep => {
                let address = operand(1, Type::B64)?;
                let window = match instr.space() {
                    Some(Space::Shared | Space::SharedCta) => Some(SHARED_WINDOW),
                    Some(Space::Local) => Some(LOCAL_WINDOW),
                    _ => None,
                };
                let base = [SHARED_WINDOW, LOCAL_WINDOW];
                let of = base.into_iter().find(|b| address >> 56 == b >> 56);
                (Type::Pred, (of == window).into())
            }
            Cvt => {
                let from = instr.ty(1).unwrap_or(Type::U32);
                (ty, cvt(instr, &all(from)?)?)
            }
            And | Or | Xor | Not if ty == Type::Pred => {
                let a = all(ty)?;
                let value = match instr.opcode {
                    And => a[0] & a[1],
                    Or => a[0] | a[1],
                    Xor => a[0] ^ a[1],
                    _ => a[0] ^ 1,
                };
                (ty, value)
            }
            Dp4a | Dp2a => {
                let result = match instr.types().any(Type::is_signed) {
                    true => Type::S32,
                    false => Type::U32,
                };
                let mut carry = self.carry;
                (result, integer(instr, ty, &all(Type::B32)?, &mut carry)?)
            }
            Mad if instr.has(Word::Cc) => {
                let mut carry = self.carry;
                let value = multiply_add_carry(instr, ty, &all(ty)?, &mut carry);
                self.carry = carry;
                (ty, value)
            }
            Madc => {
                let mut carry = self.carry;
                let value = multiply_add_carry(instr, ty, &all(ty)?, &mut carry);
                self.carry = carry;
                (ty, value)
            }
            _ if ty.is_float() => (ty, float(instr, ty, &all(ty)?)?),
            _ => {
                let operands = self.integer_operands(context, instr, ty)?;
                let mut carry = self.carry;
                let value = integer(instr, ty, &operands, &mut carry)?;
                self.carry = carry;
                (result_type(instr, ty), value)
            }
        })
    }

    /// Amounts of shifts and the like are 32-bit numbers, whatever the type.
    fn integer_operands(
        &self,
        context: &Context,
        instr: &Instruction,
        ty: Type,
    ) -> Result<Vec<u64>, Fault> {
        use Opcode::*;
        let small_from = match instr.opcode {
            Shl | Shr | Bfe | Bmsk | Szext => 2,
            Bfi | Shf => 3,
            _ => usize::MAX,
        };
        let ty_of = |i: usize| match () {
            () if i >= small_from => Type::U32,
            () if i == 3 && instr.has(Word::Wide) => wider(ty),
            () => ty,
        };
        (1..instr.operands.len())
            .map(|i| self.operand(context, &instr.operands[i], ty_of(i)))
            .collect()
    }

    fn write_result(
        &mut self,
        context: &Context,
        instr: &Instruction,
        ty: Type,
        value: u64,
    ) -> Result<(), Fault> {
        self.write_operand(context, &instr.operands[0], ty, value)
    }

    fn write_operand(
        &mut self,
        context: &Context,
        operand: &Operand,
        ty: Type,
        value: u64,
    ) -> Result<(), Fault> {
        match operand {
            Operand::Register(register) => self.set(context, *register, ty, value),
            Operand::Discard => {}
            other => return Err(Fault(format!("{other:?} as a result"))),
        }
        Ok(())
    }

    /// The bits of an operand, as many as `ty` has.
    fn operand(&self, context: &Context, operand: &Operand, ty: Type) -> Result<u64, Fault> {
        let value = match operand {
            Operand::Register(register) => self.register(*register),
            Operand::Negated(register) => self.register(*register) ^ 1,
            Operand::Immediate(immediate) => immediate_bits(*immediate, ty),
            Operand::Special(special) => self.special(context, *special)?,
            Operand::Variable(symbol, offset) => self
                .address_of(context, *symbol)?
                .wrapping_add(*offset as u64),
            Operand::Function(function) => u64::from(*function) + 1,
            other => return Err(Fault(format!("{other:?} as a value"))),
        };
        Ok(truncate(value, ty.bits()))
    }

    fn special(&self, context: &Context, special: Special) -> Result<u64, Fault> {
        let launch = context.launch;
        let lane = self.linear % 32;
        Ok(u64::from(match special {
            Special::TidX => self.index[0],
            Special::TidY => self.index[1],
            Special::TidZ => self.index[2],
            Special::NtidX => launch.block[0],
            Special::NtidY => launch.block[1],
            Special::NtidZ => launch.block[2],
            Special::CtaidX => self.block[0],
            Special::CtaidY => self.block[1],
            Special::CtaidZ => self.block[2],
            Special::NctaidX => launch.grid[0],
            Special::NctaidY => launch.grid[1],
            Special::NctaidZ => launch.grid[2],
            Special::Laneid => lane,
            Special::LanemaskEq => 1 << lane,
            Special::LanemaskLt => (1 << lane) - 1,
            Special::LanemaskLe => (1 << lane) | ((1 << lane) - 1),
            Special::LanemaskGe => !((1 << lane) - 1),
            Special::LanemaskGt => !((1 << lane) | ((1 << lane) - 1)),
            other => return Err(Fault(format!("{} is not known", other.text()))),
        }))
    }

    /// The address of a variable in its own space.
    fn address_of(&self, context: &Context, symbol: Symbol) -> Result<u64, Fault> {
        let frame = self
            .frames
            .last()
            .ok_or_else(|| Fault("no function".into()))?;
        let shared = match symbol {
            Symbol::Module(_) => context.shared.get(&(None, symbol)),
            Symbol::Local(_) => context.shared.get(&(Some(frame.function), symbol)),
        };
        if let Some(&offset) = shared {
            return Ok(offset);
        }
        match symbol {
            Symbol::Module(v) => context.globals.get(&v).copied(),
            Symbol::Local(v) => frame.places.get(v as usize).map(|place| {
                // Frames lie one behind the other in the thread's own memory.
                place + ((self.frames.len() as u64) << 32)
            }),
        }
        .ok_or_else(|| Fault("a variable without a place".into()))
    }

    fn move_value(&mut self, context: &Context, instr: &Instruction) -> Result<(), Fault> {
        let ty = instr.ty(0).unwrap_or(Type::B32);
        let (to, from) = (&instr.operands[0], &instr.operands[1]);
        match (to, from) {
            // A pack, or its reverse; the first is the lowest.
            (_, Operand::Vector(parts)) => {
                let bits = ty.bits() / parts.len() as u32;
                let part_type = plain(bits);
                let mut value = 0;
                for (i, part) in parts.iter().enumerate() {
                    value |= self.operand(context, part, part_type)? << (bits * i as u32);
                }
                self.write_operand(context, to, ty, value)
            }
            (Operand::Vector(parts), _) => {
                let value = self.operand(context, from, ty)?;
                let bits = ty.bits() / parts.len() as u32;
                for (i, part) in parts.iter().enumerate() {
                    let piece = value >> (bits * i as u32);
                    self.write_operand(context, part, plain(bits), piece)?;
                }
                Ok(())
            }
            _ => {
                let value = self.operand(context, from, ty)?;
                self.write_operand(context, to, ty, value)
            }
        }
    }

    fn convert_address(&self, context: &Context, instr: &Instruction) -> Result<u64, Fault> {
        let value = self.operand(context, &instr.operands[1], Type::B64)?;
        let window = match instr.space() {
            Some(Space::Shared | Space::SharedCta) => SHARED_WINDOW,
            Some(Space::Local) => LOCAL_WINDOW,
            _ => 0,
        };
        Ok(match instr.has(Word::To) {
            true => value & !window,
            false => value | window,
        })
    }

    fn comparison(&self, context: &Context, instr: &Instruction, ty: Type) -> Result<bool, Fault> {
        const COMPARISONS: [Word; 18] = [
            Word::Eq,
            Word::Ne,
            Word::Lt,
            Word::Le,
            Word::Gt,
            Word::Ge,
            Word::Lo,
            Word::Ls,
            Word::Hi,
            Word::Hs,
            Word::Equ,
            Word::Neu,
            Word::Ltu,
            Word::Leu,
            Word::Gtu,
            Word::Geu,
            Word::Num,
            Word::Nan,
        ];
        let word = instr.one_of(&COMPARISONS).unwrap_or(Word::Eq);
        let a = self.operand(context, &instr.operands[1], ty)?;
        let b = self.operand(context, &instr.operands[2], ty)?;
        let holds = compare(word, ty, a, b, instr.has(Word::Ftz));
        self.combined(context, instr, holds)
    }

    /// The comparison and the predicate behind it, where there is one.
    fn combined(&self, context: &Context, instr: &Instruction, holds: bool) -> Result<bool, Fault> {
        let Some(with) = instr.operands.get(3) else {
            return Ok(holds);
        };
        let c = self.operand(context, with, Type::Pred)? != 0;
        Ok(match instr.one_of(&[Word::And, Word::Or, Word::Xor]) {
            Some(Word::And) => holds && c,
            Some(Word::Or) => holds || c,
            _ => holds != c,
        })
    }

    fn set_predicates(&mut self, context: &Context, instr: &Instruction) -> Result<(), Fault> {
        let ty = instr.ty(0).unwrap_or(Type::U32);
        // setp a|b: the second gets the complement of the comparison, combined.
        let Operand::Pair(pair) = &instr.operands[0] else {
            let p = self.comparison(context, instr, ty)?;
            return self.write_result(context, instr, Type::Pred, p.into());
        };
        let mut plain_instr = instr.clone();
        plain_instr.operands = instr.operands[..3].into();
        let holds = self.comparison(context, &plain_instr, ty)?;
        let p = self.combined(context, instr, holds)?;
        let q = self.combined(context, instr, !holds)?;
        self.write_operand(context, &pair.0, Type::Pred, p.into())?;
        self.write_operand(context, &pair.1, Type::Pred, q.into())
    }

    fn branch(&mut self, context: &Context, instr: &Instruction) -> Result<(), Fault> {
        let function = context.function(self.top().function);
        let place = |label: u32| match &function.labels[label as usize].kind {
            LabelKind::Code(at) => Ok(*at as usize),
            _ => Err(Fault("a label that is no place".into())),
        };
        let target = match (instr.opcode, &instr.operands[..]) {
            (Opcode::Bra, [Operand::Label(label)]) => place(*label)?,
            (_, [index, Operand::Label(list)]) => {
                let LabelKind::Branches(labels) = &function.labels[*list as usize].kind else {
                    return Err(Fault("brx.idx without its targets".into()));
                };
                let index = self.operand(context, index, Type::U32)? as usize;
                let label = labels
                    .get(index)
                    .ok_or_else(|| Fault("index of brx.idx".into()))?;
                place(*label)?
            }
            _ => return Err(Fault("a branch of another form".into())),
        };
        self.top().pc = target;
        Ok(())
    }

    fn call(&mut self, context: &Context, instr: &Instruction) -> Result<(), Fault> {
        let [_, target, Operand::List(arguments), ..] = &instr.operands[..] else {
            return Err(Fault("a call of another form".into()));
        };
        let target = match target {
            Operand::Function(function) => *function,
            pointer => (self.operand(context, pointer, Type::B64)? as u32).wrapping_sub(1),
        };
        let function = context.module.functions.get(target as usize);
        let function = function.filter(|f| f.defined);
        let function = function.ok_or_else(|| Fault("a call of what is no function".into()))?;
        let mut frame = context.frame(target);
        for (parameter, argument) in function.params.iter().zip(arguments) {
            match (parameter, argument) {
                (&Parameter::Variable(to), Operand::Variable(Symbol::Local(from), _)) => {
                    let bytes = function.variables[to as usize].bytes;
                    let caller = self.top();
                    let place = caller.places[*from as usize];
                    let value = part(&mut caller.memory, place, bytes)?.to_vec();
                    let place = frame.places[to as usize];
                    part(&mut frame.memory, place, bytes)?.copy_from_slice(&value);
                }
                (&Parameter::Register(to), argument) => {
                    let ty = function.registers[to.0 as usize].ty;
                    frame.registers[to.0 as usize] = self.operand(context, argument, ty)?;
                }
                _ => return Err(Fault("an argument of another form".into())),
            }
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Returns from the present function; the thread ends with the last one.
    fn leave(&mut self, context: &Context) -> Result<(), Fault> {
        let Some(mut callee) = self.frames.pop() else {
            return Err(Fault("no function to leave".into()));
        };
        if self.frames.is_empty() {
            self.state = State::Ended;
            return Ok(());
        }
        let function = context.function(callee.function);
        let caller = context.function(self.top().function);
        let call = &caller.instructions[self.top().pc - 1];
        let Some(Operand::List(results)) = call.operands.first() else {
            return Ok(());
        };
        for (value, result) in function.returns.iter().zip(results) {
            match (value, result) {
                (&Parameter::Variable(from), Operand::Variable(Symbol::Local(to), _)) => {
                    let bytes = function.variables[from as usize].bytes;
                    let place = callee.places[from as usize];
                    let value = part(&mut callee.memory, place, bytes)?.to_vec();
                    let place = self.top().places[*to as usize];
                    part(&mut self.top().memory, place, bytes)?.copy_from_slice(&value);
                }
                (&Parameter::Register(from), result) => {
                    let ty = function.registers[from.0 as usize].ty;
                    let value = callee.registers[from.0 as usize];
                    self.write_operand(context, result, ty, value)?;
                }
                _ => return Err(Fault("a result of another form".into())),
            }
        }
        Ok(())
    }

    fn barrier(&mut self, context: &Context, instr: &Instruction) -> Result<(), Fault> {
        if instr.has(Word::Warp) {
            let mask = self.operand(context, &instr.operands[0], Type::B32)?;
            self.state = State::WarpBarrier(mask as u32);
            return Ok(());
        }
        if instr.operands.len() != 1 || !instr.has(Word::Sync) {
            return Err(Fault(
                "a barrier other than bar.sync of the whole block".into(),
            ));
        }
        self.state = State::Barrier;
        Ok(())
    }

    /// The bytes at the address of operand `at`.
    fn place<'m>(
        &'m mut self,
        context: &Context,
        memory: &'m mut GlobalMemory,
        shared: &'m mut [u8],
        instr: &Instruction,
        at: usize,
        bytes: u64,
    ) -> Result<&'m mut [u8], Fault> {
        let Operand::Address(base, offset) = &instr.operands[at] else {
            return Err(Fault("no address".into()));
        };
        let base = match base {
            Base::Register(register) => self.register(*register),
            Base::Variable(symbol) => self.address_of(context, *symbol)?,
            Base::Absolute => 0,
        };
        let address = base.wrapping_add(*offset as u64);
        if !address.is_multiple_of(bytes.min(16)) {
            return Err(Fault(format!(
                "{address:#x} is not aligned to {bytes} bytes"
            )));
        }
        let space = instr.space().unwrap_or(match address >> 56 {
            1 => Space::Shared,
            2 => Space::Local,
            _ => Space::Global,
        });
        match space {
            Space::Shared | Space::SharedCta => part(shared, address & !SHARED_WINDOW, bytes),
            Space::Local | Space::Param | Space::ParamEntry | Space::ParamFunc => {
                let address = address & !LOCAL_WINDOW;
                let frame = (address >> 32) as usize;
                let frame = self.frames.get_mut(frame.wrapping_sub(1));
                let frame = frame.ok_or_else(|| Fault("a local address of no function".into()))?;
                part(&mut frame.memory, address & 0xffff_ffff, bytes)
            }
            _ => memory.bytes(address, bytes),
        }
    }

    fn load(
        &mut self,
        context: &Context,
        memory: &mut GlobalMemory,
        shared: Shared,
        instr: &Instruction,
    ) -> Result<(), Fault> {
        let ty = instr.ty(0).unwrap_or(Type::B32);
        let results = elements(&instr.operands[0]);
        let bytes = u64::from(ty.bytes());
        let all = bytes * results.len() as u64;
        let place = self.place(context, memory, shared, instr, 1, all)?;
        let values: Vec<u64> = place.chunks(bytes as usize).map(number).collect();
        for (result, value) in results.iter().zip(values) {
            self.write_operand(context, result, ty, value)?;
        }
        Ok(())
    }

    fn store(
        &mut self,
        context: &Context,
        memory: &mut GlobalMemory,
        shared: Shared,
        instr: &Instruction,
    ) -> Result<(), Fault> {
        let ty = instr.ty(0).unwrap_or(Type::B32);
        let bytes = u64::from(ty.bytes());
        let sources = elements(&instr.operands[1]);
        let values: Result<Vec<u64>, Fault> = sources
            .iter()
            .map(|o| self.operand(context, o, ty))
            .collect();
        let all = bytes * sources.len() as u64;
        let place = self.place(context, memory, shared, instr, 0, all)?;
        for (chunk, value) in place.chunks_mut(bytes as usize).zip(values?) {
            write(chunk, value);
        }
        Ok(())
    }

    fn atomic(
        &mut self,
        context: &Context,
        memory: &mut GlobalMemory,
        shared: Shared,
        instr: &Instruction,
    ) -> Result<(), Fault> {
        let ty = instr.ty(0).unwrap_or(Type::U32);
        let is_red = instr.opcode == Opcode::Red;
        let at = if is_red { 0 } else { 1 };
        let b = self.operand(context, &instr.operands[at + 1], ty)?;
        let c = match instr.operands.get(at + 2) {
            Some(c) if instr.has(Word::Cas) => self.operand(context, c, ty)?,
            _ => 0,
        };
        let place = self.place(context, memory, shared, instr, at, ty.bytes().into())?;
        let old = number(place);
        write(place, combined(instr, ty, old, b, c)?);
        match is_red {
            true => Ok(()),
            false => self.write_result(context, instr, ty, old),
        }
    }
}

/// The value that an atomic leaves behind.
fn combined(instr: &Instruction, ty: Type, old: u64, b: u64, c: u64) -> Result<u64, Fault> {
    let operations = [
        Word::And,
        Word::Or,
        Word::Xor,
        Word::Exch,
        Word::Cas,
        Word::Add,
        Word::Inc,
        Word::Dec,
        Word::Min,
        Word::Max,
    ];
    let as_opcode = |opcode: Opcode| {
        let mut instr = instr.clone();
        instr.opcode = opcode;
        // The rounding of an atomic is to nearest even.
        match ty.is_float() {
            true => float(&instr, ty, &[old, b]),
            false => integer(&instr, ty, &[old, b], &mut false),
        }
    };
    Ok(match instr.one_of(&operations) {
        Some(Word::And) => old & b,
        Some(Word::Or) => old | b,
        Some(Word::Xor) => old ^ b,
        Some(Word::Exch) => b,
        Some(Word::Cas) => {
            if old == b {
                c
            } else {
                old
            }
        }
        Some(Word::Inc) => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        Some(Word::Dec) => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        Some(Word::Add) => as_opcode(Opcode::Add)?,
        Some(Word::Min) => as_opcode(Opcode::Min)?,
        Some(Word::Max) => as_opcode(Opcode::Max)?,
        _ => return Err(Fault("an atomic of another form".into())),
    })
}

fn elements(operand: &Operand) -> &[Operand] {
    match operand {
        Operand::Vector(parts) => parts,
        one => std::slice::from_ref(one),
    }
}

fn plain(bits: u32) -> Type {
    match bits {
        0..=8 => Type::B8,
        9..=16 => Type::B16,
        17..=32 => Type::B32,
        _ => Type::B64,
    }
}

fn wider(ty: Type) -> Type {
    match ty {
        Type::U16 => Type::U32,
        Type::S16 => Type::S32,
        Type::U32 => Type::U64,
        Type::S32 => Type::S64,
        other => other,
    }
}

/// The type of an integer instruction's result.
fn result_type(instr: &Instruction, ty: Type) -> Type {
    match instr.opcode {
        Opcode::Popc | Opcode::Clz | Opcode::Bfind => Type::U32,
        Opcode::Mul | Opcode::Mad if instr.has(Word::Wide) => wider(ty),
        _ => ty,
    }
}

fn immediate_bits(immediate: Immediate, ty: Type) -> u64 {
    match (immediate, ty) {
        (Immediate::Integer(value), _) => value as u64,
        (Immediate::Single(bits), Type::F64) => {
            let value: Double = {
                use rustc_apfloat::FloatConvert;
                Single::from_bits(bits.into()).convert(&mut false).value
            };
            value.to_bits() as u64
        }
        (Immediate::Single(bits), _) => bits.into(),
        (Immediate::Double(bits), Type::F32) => {
            use rustc_apfloat::FloatConvert;
            let value: Single = Double::from_bits(bits.into()).convert(&mut false).value;
            value.to_bits() as u64
        }
        (Immediate::Double(bits), _) => bits,
    }
}
