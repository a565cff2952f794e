//! Initial values of variables.

use super::constant::integer;
use super::{Global, Parser};
use crate::ast::{Immediate, Initial, Relocation, Target, Variable};
use crate::names::Type;
use crate::token::TokenKind;
use spadkit_base::error::Result;

/// Initial values larger than this are refused.
const LIMIT: u64 = 1 << 28;

/// Nesting of braces beyond which an initialiser is refused.
const DEPTH: usize = 16;

impl Parser<'_> {
    /// Parses the initial value behind the `=`.
    pub(super) fn initial(&mut self, variable: &Variable) -> Result<Initial> {
        let mut initial = Initial::default();
        let mut shape = variable.dimensions.clone();
        if variable.vector > 1 {
            shape.push(u64::from(variable.vector));
        }
        if self.kind() == TokenKind::CurlyOpen {
            self.braces(variable.ty, &shape, 0, &mut initial, 0)?;
        } else {
            self.element(variable.ty, 0, &mut initial)?;
        }
        if variable.bytes > 0 && initial.bytes.len() as u64 > variable.bytes {
            return self.error(self.peek(), "more values than the variable has", {
                format!("expected at most {} bytes", variable.bytes)
            });
        }
        Ok(initial)
    }

    /// `{ ... }` at byte `start`: elements one after the other, or inner
    /// braces, one per element of the first dimension of `shape`.
    fn braces(
        &mut self,
        ty: Type,
        shape: &[u64],
        start: u64,
        initial: &mut Initial,
        depth: usize,
    ) -> Result<()> {
        let open = self.expect(TokenKind::CurlyOpen, "`{`")?;
        if depth > DEPTH {
            return self.error(
                open,
                "the initialiser is nested too deep",
                "expected fewer braces",
            );
        }
        let inner = shape.get(1..).unwrap_or(&[]);
        let element = u64::from(ty.bytes());
        let row = inner.iter().fold(element, |a, &b| a.saturating_mul(b));
        let mut at = start;
        while !self.eat(TokenKind::CurlyClose) {
            if at >= LIMIT {
                let help = format!("expected at most {LIMIT} bytes");
                return self.error(self.peek(), "the initialiser is too large", help);
            }
            if self.kind() == TokenKind::CurlyOpen {
                self.braces(ty, inner, at, initial, depth + 1)?;
                at = at.saturating_add(row);
            } else {
                self.element(ty, at, initial)?;
                at = at.saturating_add(element);
            }
            if !self.eat(TokenKind::Comma) && self.kind() != TokenKind::CurlyClose {
                return self.unexpected("`,` or `}`");
            }
        }
        Ok(())
    }

    fn element(&mut self, ty: Type, at: u64, initial: &mut Initial) -> Result<()> {
        let masked =
            self.kind() == TokenKind::Integer && self.kind_after(1) == TokenKind::RoundOpen;
        let bytes = if self.kind() == TokenKind::Word || masked {
            let relocation = self.relocation(ty, at)?;
            initial.relocations.push(relocation);
            vec![0; ty.bytes() as usize]
        } else {
            let token = self.peek();
            let value = self.constant()?;
            match immediate_bits(value, ty) {
                Some(bits) => bits.to_le_bytes()[..ty.bytes() as usize].to_vec(),
                None => {
                    return self.error(token, "the value has a different type", {
                        format!("expected a constant of type .{}", ty.text())
                    });
                }
            }
        };
        let at = at as usize;
        if initial.bytes.len() < at + bytes.len() {
            initial.bytes.resize(at + bytes.len(), 0);
        }
        initial.bytes[at..at + bytes.len()].copy_from_slice(&bytes);
        Ok(())
    }

    /// `name`, `name+4`, `generic(name)+4`, `0xff00(name)`.
    fn relocation(&mut self, ty: Type, offset: u64) -> Result<Relocation> {
        let mut mask = u64::MAX;
        let mut open = 0;
        if self.kind() == TokenKind::Integer {
            let token = self.next();
            mask = integer(self.str_of(token)).unwrap_or(u64::MAX);
            self.next();
            open += 1;
        }
        let generic =
            self.str_of(self.peek()) == "generic" && self.kind_after(1) == TokenKind::RoundOpen;
        if generic {
            self.at += 2;
        }
        let token = self.peek();
        let name = self.word("the name of a variable or a function")?;
        let target = match self.globals.get(name) {
            Some(Global::Variable(index)) => Target::Variable(*index),
            Some(Global::Function(index)) => Target::Function(*index),
            None => {
                let help = "expected a variable or a function that is declared above";
                return self.error(token, format!("unknown name {name}"), help);
            }
        };
        if generic {
            self.expect(TokenKind::RoundClose, "`)`")?;
        }
        let addend = match self.kind() {
            TokenKind::Plus | TokenKind::Minus => self.integer("an offset")?,
            _ => 0,
        };
        for _ in 0..open {
            self.expect(TokenKind::RoundClose, "`)`")?;
        }
        Ok(Relocation {
            offset,
            bytes: ty.bytes(),
            target,
            addend,
            generic,
            mask,
        })
    }
}

/// The bits of a constant as a value of type `ty`; none where the type has
/// no such constants.
pub(crate) fn immediate_bits(value: Immediate, ty: Type) -> Option<u64> {
    let mask = |bits: u64| match ty.bits() {
        64.. => bits,
        n => bits & ((1 << n) - 1),
    };
    Some(match (value, ty) {
        (Immediate::Integer(v), Type::F32) => u64::from((v as f32).to_bits()),
        (Immediate::Integer(v), Type::F64) => (v as f64).to_bits(),
        (Immediate::Integer(v), _) => mask(v as u64),
        (Immediate::Single(bits), Type::F64) => f64::from(f32::from_bits(bits)).to_bits(),
        (Immediate::Single(bits), Type::F32 | Type::B32 | Type::U32 | Type::S32) => u64::from(bits),
        (Immediate::Double(bits), Type::F64 | Type::B64 | Type::U64 | Type::S64) => bits,
        (Immediate::Double(bits), Type::F32) => u64::from((f64::from_bits(bits) as f32).to_bits()),
        (Immediate::Single(bits), Type::F16) => half16(f32::from_bits(bits)),
        (Immediate::Double(bits), Type::F16) => half16(f64::from_bits(bits) as f32),
        _ => return None,
    })
}

fn half16(value: f32) -> u64 {
    u64::from(half::f16::from_f32(value).to_bits())
}
