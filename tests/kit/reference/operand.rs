//! Operands: registers, immediates, special registers, addresses of variables.

use super::thread::{Context, Fault, Thread};
use super::{extend, truncate};
use rustc_apfloat::Float;
use rustc_apfloat::ieee::{Double, Single};
use spadkit::ptx::{Immediate, Instruction, Operand, Register, Special, Symbol, Type};

impl Thread {
    pub(super) fn register(&self, register: Register) -> u64 {
        self.frames
            .last()
            .map_or(0, |f| f.registers[register.0 as usize])
    }

    pub(super) fn set(&mut self, context: &Context, register: Register, ty: Type, value: u64) {
        let frame = self.top();
        let info = &context.function(frame.function).registers[register.0 as usize];
        frame.registers[register.0 as usize] = extend(value, ty, info.ty.bits());
    }

    pub(super) fn write_result(
        &mut self,
        context: &Context,
        instr: &Instruction,
        ty: Type,
        value: u64,
    ) -> Result<(), Fault> {
        self.write_operand(context, &instr.operands[0], ty, value)
    }

    pub(super) fn write_operand(
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
    pub(super) fn operand(
        &self,
        context: &Context,
        operand: &Operand,
        ty: Type,
    ) -> Result<u64, Fault> {
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

    pub(super) fn special(&self, context: &Context, special: Special) -> Result<u64, Fault> {
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
    pub(super) fn address_of(&self, context: &Context, symbol: Symbol) -> Result<u64, Fault> {
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
}

pub(super) fn elements(operand: &Operand) -> &[Operand] {
    match operand {
        Operand::Vector(parts) => parts,
        one => std::slice::from_ref(one),
    }
}

pub(super) fn plain(bits: u32) -> Type {
    match bits {
        0..=8 => Type::B8,
        9..=16 => Type::B16,
        17..=32 => Type::B32,
        _ => Type::B64,
    }
}

pub(super) fn immediate_bits(immediate: Immediate, ty: Type) -> u64 {
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
