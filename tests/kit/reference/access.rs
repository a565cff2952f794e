//! Loads, stores and atomics.

use super::float::{float, flushed};
use super::integer::integer;
use super::memory::{GlobalMemory, number, part, write};
use super::operand::elements;
use super::thread::{Context, Fault, LOCAL_WINDOW, SHARED_WINDOW, Thread};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::Single;
use spadkit::ptx::{Base, Instruction, Opcode, Operand, Space, Type, Word};

impl Thread {
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

    pub(super) fn load(
        &mut self,
        context: &Context,
        memory: &mut GlobalMemory,
        shared: &mut [u8],
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

    pub(super) fn store(
        &mut self,
        context: &Context,
        memory: &mut GlobalMemory,
        shared: &mut [u8],
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

    pub(super) fn atomic(
        &mut self,
        context: &Context,
        memory: &mut GlobalMemory,
        shared: &mut [u8],
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
        if is_red {
            Ok(())
        } else {
            self.write_result(context, instr, ty, old)
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
    let adding = |instr: &Instruction| {
        let mut instr = instr.clone();
        instr.opcode = Opcode::Add;
        instr
    };
    let as_opcode = |opcode: Opcode| {
        let mut instr = instr.clone();
        instr.opcode = opcode;
        // The rounding of an atomic is to nearest even.
        if ty.is_float() {
            float(&instr, ty, &[old, b])
        } else {
            integer(&instr, ty, &[old, b], &mut false)
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
        // Sums of single precision in global memory flush subnormal numbers,
        // those in shared memory do not.
        Some(Word::Add) if ty == Type::F32 && instr.space() == Some(Space::Global) => {
            let flush = |bits: u64| flushed(Single::from_bits(bits.into())).to_bits() as u64;
            flush(float(&adding(instr), ty, &[flush(old), flush(b)])?)
        }
        Some(Word::Add) => as_opcode(Opcode::Add)?,
        Some(Word::Min) => as_opcode(Opcode::Min)?,
        Some(Word::Max) => as_opcode(Opcode::Max)?,
        _ => return Err(Fault("an atomic of another form".into())),
    })
}
