//! Instructions whose results are affine in their operands.

use super::super::context::{is_any_shared, parameter_of};
use super::super::{KnownBits, Values};
use super::{Affine, Affines, Term};
use crate::ast::{Base, Immediate, Instruction, Operand};
use crate::names::{Space, Type, Word};
use crate::opcodes::Opcode;
use crate::operands::{element_source, source_type};

impl Affines<'_> {
    /// The expression of the `index`-th register that instruction `at`
    /// writes; none where it is not affine in what the instruction reads.
    pub(super) fn instruction(&self, at: u32, index: usize) -> Option<Affine> {
        let i = &self.function.instructions[at as usize];
        let ty = i.ty(0)?;
        let packed = matches!(ty, Type::U16x2 | Type::S16x2);
        if ty.is_float() || packed || ty == Type::Pred || ty.bits() > 64 {
            return None;
        }
        match i.opcode {
            Opcode::Mov => return self.mov(at, i, index),
            Opcode::Ld => return self.parameter(i),
            _ => {}
        }
        // Only results that stand alone.
        let Some(Operand::Register(target)) = i.operands.first() else {
            return None;
        };
        let width = self.facts.width(Values::written(self.values, at, *target)?);
        let result = Answer {
            affines: self,
            at,
            i,
            ty,
        };
        match i.opcode {
            Opcode::Cvt if i.has(Word::Pack) => None,
            Opcode::Cvt => result.converted(width),
            Opcode::Cvta if i.space().is_some_and(is_any_shared) => {
                let address = result.operand(1)?;
                Some(address.truncate(super::super::known_bits::SHARED_LIMIT_BITS))
            }
            Opcode::Cvta if i.space() == Some(Space::Global) => result.operand(1),
            Opcode::And | Opcode::Or | Opcode::Xor => result.logic(),
            Opcode::Shl | Opcode::Shr | Opcode::Div | Opcode::Rem => result.scaled(),
            Opcode::Bfe => result.extracted(),
            Opcode::Bfi => result.inserted(),
            Opcode::Selp | Opcode::Min | Opcode::Max => result.chosen(),
            _ => result.sum(),
        }
    }

    /// An operand of type `ty`.
    pub(super) fn operand(&self, at: u32, operand: &Operand, ty: Type) -> Option<Affine> {
        let bits = ty.bits();
        Some(match operand {
            Operand::Register(r) => self.raw(self.values.read(at, *r)).truncate(bits),
            Operand::Immediate(Immediate::Integer(n)) => Affine::constant(*n, bits),
            Operand::Special(special) => match self.context.range(*special) {
                Some((low, high)) if low == high => Affine::constant(low.into(), bits),
                _ => Affine::term(Term::of_special(*special)?, special.bits().min(bits)),
            },
            Operand::Variable(symbol, offset) => {
                let base = Affine::term(Term::Base(*symbol), bits);
                base.plus(1, &Affine::constant(*offset, bits))?
            }
            _ => return None,
        })
    }

    /// The bits of operand `n`; the result is operand 0.
    fn known(&self, at: u32, i: &Instruction, n: usize) -> KnownBits {
        let ty = n.checked_sub(1).and_then(|n| source_type(i, n));
        let (Some(operand), Some(ty)) = (i.operands.get(n), ty) else {
            return KnownBits::unknown(64);
        };
        let place = (at, operand, ty);
        self.facts
            .operand(self.module, self.function, self.values, self.context, place)
    }

    /// `mul.lo`, `mul.wide`, and the product of `mad`.
    fn product(&self, at: u32, i: &Instruction, ty: Type) -> Option<Affine> {
        let mut a = self.operand(at, i.operands.get(1)?, ty)?;
        let mut b = self.operand(at, i.operands.get(2)?, ty)?;
        let mut bits = ty.bits();
        if i.has(Word::Wide) {
            bits *= 2;
            (a, b) = (self.extend(a, ty)?, self.extend(b, ty)?);
        }
        a.times(&b, bits)
    }

    /// A value of type `ty` in a wider register: exact as far as before, or
    /// in all bits where its range proves that it does not wrap.
    fn extend(&self, value: Affine, ty: Type) -> Option<Affine> {
        let bits = ty.bits();
        if bits >= 64 || value.bits > bits {
            return Some(value.truncate(64));
        }
        let (low, high) = if ty.is_signed() {
            (-(1i128 << (bits - 1)), 1i128 << (bits - 1))
        } else {
            (0, 1i128 << bits)
        };
        let range = self.range(&value).filter(|_| value.bits == bits);
        match (range, value.value()) {
            // A number is one, whatever its sign was.
            (_, Some(number)) if value.bits == bits => {
                let number = if ty.is_signed() {
                    number
                } else {
                    (number as u64 & u64::MAX >> (64 - bits)) as i64
                };
                Some(Affine::constant(number, 64))
            }
            (Some((a, b)), _) if low <= a && b < high => Some(Affine { bits: 64, ..value }),
            // Too few bits for an address.
            _ if bits < 32 => None,
            _ => Some(value),
        }
    }

    /// The quotient by 2^`by`, rounded down, where nothing is lost.
    fn quotient(&self, value: Affine, ty: Type, by: u32) -> Option<Affine> {
        let bits = ty.bits();
        let (low, high) = self.range(&value)?;
        let end = 1i128 << (bits - u32::from(ty.is_signed()));
        if value.bits != bits || low < 0 || high >= end {
            return None;
        }
        let quotient = value.shifted_down(by)?;
        Some(Affine { bits, ..quotient })
    }

    fn mov(&self, at: u32, i: &Instruction, index: usize) -> Option<Affine> {
        let ty = i.ty(0)?;
        match &i.operands[..] {
            [Operand::Vector(to), Operand::Vector(from)] => {
                self.operand(at, element_source(to, from, index)?, ty)
            }
            [Operand::Vector(parts), source] => {
                let first = matches!(parts.first(), Some(Operand::Register(_)));
                let size = ty.bits() / parts.len() as u32;
                let whole = self.operand(at, source, ty)?;
                (index == 0 && first && size >= 32).then(|| whole.truncate(size))
            }
            [_, Operand::Vector(parts)] => {
                // The low part, exact modulo its size.
                let size = ty.bits() / parts.len() as u32;
                let part = if size == 32 { Type::U32 } else { return None };
                let low = self.operand(at, parts.first()?, part)?;
                let high = parts.get(1)?;
                let place = (at, high, part);
                let high = self.facts.operand(
                    self.module,
                    self.function,
                    self.values,
                    self.context,
                    place,
                );
                match high.value() {
                    Some(0) => self.extend(low, part),
                    _ => Some(low),
                }
            }
            [Operand::Register(_), source] => self.operand(at, source, ty),
            _ => None,
        }
    }

    /// `ld.param`
    fn parameter(&self, i: &Instruction) -> Option<Affine> {
        let ty = i.ty(0)?;
        let space = matches!(
            i.space()?,
            Space::Param | Space::ParamEntry | Space::ParamFunc
        );
        let [
            Operand::Register(_),
            Operand::Address(Base::Variable(symbol), offset),
        ] = &i.operands[..]
        else {
            return None;
        };
        let (index, _) = parameter_of(self.function, *symbol).filter(|_| space)?;
        let term = Term::Parameter {
            index,
            offset: u32::try_from(*offset).ok()?,
            bytes: ty.bytes(),
        };
        // Zero-extended, or of the register's own size.
        (ty.bits() >= 32).then(|| Affine::term(term, ty.bits()))
    }
}

/// The result of an instruction of type `ty`.
struct Answer<'a, 'f> {
    affines: &'a Affines<'f>,
    at: u32,
    i: &'a Instruction,
    ty: Type,
}

impl Answer<'_, '_> {
    /// Operand `n`; the result is operand 0.
    fn operand(&self, n: usize) -> Option<Affine> {
        let ty = source_type(self.i, n.checked_sub(1)?)?;
        self.affines.operand(self.at, self.i.operands.get(n)?, ty)
    }

    fn known(&self, n: usize) -> KnownBits {
        self.affines.known(self.at, self.i, n)
    }

    /// Sums and products.
    fn sum(&self) -> Option<Affine> {
        let (i, bits) = (self.i, self.ty.bits());
        let saturates = i.has(Word::Sat);
        let product = || self.affines.product(self.at, i, self.ty);
        match i.opcode {
            Opcode::Add if !saturates => self.operand(1)?.plus(1, &self.operand(2)?),
            Opcode::Sub if !saturates => self.operand(1)?.plus(-1, &self.operand(2)?),
            Opcode::Neg => Some(self.operand(1)?.scale(-1, bits)),
            Opcode::Not => Affine::constant(-1, bits).plus(-1, &self.operand(1)?),
            Opcode::Mul if !i.has(Word::Hi) => product(),
            Opcode::Mad if !(i.has(Word::Hi) || i.has(Word::Cc) || saturates) => {
                product()?.plus(1, &self.operand(3)?)
            }
            _ => None,
        }
    }

    /// `cvt` to a register of `width` bits.
    fn converted(&self, width: u32) -> Option<Affine> {
        let from = self.i.ty(1)?;
        if from.is_float() || self.i.has(Word::Sat) {
            return None;
        }
        let (ty, bits) = (self.ty, self.ty.bits());
        let value = self.affines.extend(self.operand(1)?, from)?;
        let value = if bits < width {
            self.affines.extend(value.truncate(bits), ty)?
        } else {
            value
        };
        Some(value.truncate(width))
    }

    /// Masks that change nothing, and bits that are put together.
    fn logic(&self) -> Option<Affine> {
        let bits = self.ty.bits();
        let (a, b) = (self.known(1), self.known(2));
        if self.i.opcode == Opcode::And {
            return match (a.ones | b.zeros == u64::MAX, b.ones | a.zeros == u64::MAX) {
                (true, _) => self.operand(2),
                (_, true) => self.operand(1),
                _ => None,
            };
        }
        if a.is_disjoint(b) {
            return self.operand(1)?.plus(1, &self.operand(2)?);
        }
        let all = u64::MAX >> (64 - bits);
        let inverts = self.i.opcode == Opcode::Xor;
        let inverted = |n| Affine::constant(-1, bits).plus(-1, &self.operand(n)?);
        match (a.value() == Some(all), b.value() == Some(all)) {
            (true, _) if inverts => inverted(2),
            (_, true) if inverts => inverted(1),
            _ => None,
        }
    }

    /// Shifts, quotients and remainders by constants.
    fn scaled(&self) -> Option<Affine> {
        let by = self.operand(2)?.value()?;
        let quotient = |by| self.affines.quotient(self.operand(1)?, self.ty, by);
        match self.i.opcode {
            Opcode::Shl => {
                let bits = self.ty.bits();
                let inside = (0..i64::from(bits)).contains(&by);
                inside.then(|| self.operand(1).map(|a| a.scale(1i64 << by, bits)))?
            }
            Opcode::Shr => quotient(u32::try_from(by).ok()?),
            _ if by <= 0 => None,
            Opcode::Div => {
                let by = by as u64;
                quotient(by.is_power_of_two().then_some(by.trailing_zeros())?)
            }
            _ => (self.known(1).max() < by as u64).then(|| self.operand(1))?,
        }
    }

    /// `bfe` of all bits that may be set.
    fn extracted(&self) -> Option<Affine> {
        let start = self.operand(2)?.value()?;
        let length = self.operand(3)?.value()?;
        let whole = self.known(1).max() >> length.clamp(0, 63) == 0;
        (start == 0 && whole && !self.ty.is_signed()).then(|| self.operand(1))?
    }

    /// `bfi` of a field into bits that are zero.
    fn inserted(&self) -> Option<Affine> {
        let bits = self.ty.bits();
        let start = u32::try_from(self.operand(3)?.value()?).ok()?;
        let length = u32::try_from(self.operand(4)?.value()?).ok()?;
        let field = self.known(1);
        let fits = length < 64 && start + length <= bits && field.max() >> length == 0;
        let hole = KnownBits::unknown(length.min(63)).max() << start.min(63);
        let free = self.known(2).zeros & hole == hole;
        let moved = || Some(self.operand(1)?.scale(1i64 << start, bits));
        (fits && free).then(|| self.operand(2)?.plus(1, &moved()?))?
    }

    /// The value of a choice of two operands, where it is clear which one is chosen.
    fn chosen(&self) -> Option<Affine> {
        let (i, ty) = (self.i, self.ty);
        if i.opcode == Opcode::Selp {
            return match self.known(3).value() {
                Some(0) => self.operand(2),
                Some(_) => self.operand(1),
                None => {
                    let (a, b) = (self.operand(1)?, self.operand(2)?);
                    (a == b).then_some(a)
                }
            };
        }
        let (a, b) = (self.known(1), self.known(2));
        let limit = if ty.is_signed() {
            1 << (ty.bits() - 1)
        } else {
            0
        };
        let plain = !i.has(Word::Relu) && (a.zeros & b.zeros) & limit == limit;
        let min = i.opcode == Opcode::Min;
        match (a.max() <= b.min(), b.max() <= a.min()) {
            (true, _) if plain => self.operand(if min { 1 } else { 2 }),
            (_, true) if plain => self.operand(if min { 2 } else { 1 }),
            _ => None,
        }
    }
}
