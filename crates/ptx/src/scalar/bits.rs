//! Logic, shifts and bit fields.

use super::{Definition, Sources, definition, extend};
use crate::ast::Instruction;
use crate::names::{Type, Word};
use crate::opcodes::Opcode;

pub(super) fn define(i: &Instruction) -> Option<Definition> {
    let ty = i.ty(0)?;
    let bits = ty.bits();
    // Unsigned of the type's width.
    let plain = move |x: u64| x & (u64::MAX >> (64 - bits.min(64)));
    match i.opcode {
        Opcode::And => definition(i, |x| x[0] & x[1]),
        Opcode::Or => definition(i, |x| x[0] | x[1]),
        Opcode::Xor => definition(i, |x| x[0] ^ x[1]),
        Opcode::Not => definition(i, |x| !x[0]),
        Opcode::Cnot => definition(i, move |x| u64::from(plain(x[0]) == 0)),
        Opcode::Lop3 if ty == Type::B32 => {
            if i.one_of(&[Word::And, Word::Or]).is_some() {
                return None;
            }
            definition(i, |x| lop3(x[0], x[1], x[2], x[3]))
        }
        Opcode::Shl => definition(i, move |x| match x[1] as u32 {
            n if n >= bits => 0,
            n => x[0] << n,
        }),
        Opcode::Shr => definition(i, move |x| shr(x, ty)),
        Opcode::Shf => funnel(i),
        Opcode::Bfe => definition(i, move |x| bfe(x, ty)),
        Opcode::Bfi => definition(i, move |x| bfi(x, bits)),
        Opcode::Bfind => bfind(i, ty),
        Opcode::Brev => definition(i, move |x| x[0].reverse_bits() >> (64 - bits)),
        Opcode::Clz => definition(i, move |x| {
            u64::from(plain(x[0]).leading_zeros() + bits - 64)
        }),
        Opcode::Popc => definition(i, move |x| u64::from(plain(x[0]).count_ones())),
        Opcode::Fns => definition(i, |x| fns(x[0], x[1], x[2] as i32)),
        Opcode::Prmt => {
            let mode = i.one_of(&[
                Word::F4e,
                Word::B4e,
                Word::Rc8,
                Word::Ecl,
                Word::Ecr,
                Word::Rc16,
            ]);
            definition(i, move |x| permute(x[0], x[1], x[2], mode))
        }
        Opcode::Bmsk => bmsk(i),
        Opcode::Szext => szext(i, ty),
        Opcode::Copysign => definition(i, move |x| {
            let sign = 1u64 << (bits - 1);
            x[0] & sign | x[1] & !sign
        }),
        Opcode::Dp4a => {
            let other = i.ty(1)?;
            definition(i, move |x| dot(x, ty, other, 4, 0))
        }
        Opcode::Dp2a => {
            let (other, skip) = (i.ty(1)?, if i.has(Word::Hi) { 2 } else { 0 });
            definition(i, move |x| dot(x, ty, other, 2, skip))
        }
        _ => None,
    }
}

fn shr(x: &Sources, ty: Type) -> u64 {
    let bits = ty.bits();
    let by = (x[1] as u32).min(bits);
    match ty.is_signed() {
        true => (extend(x[0], ty) >> by.min(63)) as u64,
        false if by == bits => 0,
        false => (x[0] & u64::MAX >> (64 - bits)) >> by,
    }
}

/// `bmsk`: this many ones from a bit on.
fn bmsk(i: &Instruction) -> Option<Definition> {
    let clamp = i.has(Word::Clamp);
    definition(i, move |x| {
        let wrap = |v: u64| if clamp { v.min(32) } else { v & 31 };
        let (at, length) = (wrap(x[0]), wrap(x[1]));
        ((1u64 << length) - 1) << at
    })
}

/// `shf`: 32 bits of two registers side by side.
fn funnel(i: &Instruction) -> Option<Definition> {
    let (left, clamp) = (i.has(Word::L), i.has(Word::Clamp));
    definition(i, move |x| {
        let by = if clamp {
            (x[2] as u32).min(32)
        } else {
            x[2] as u32 & 31
        };
        let both = x[1] << 32 | x[0] & 0xffff_ffff;
        if left {
            ((u128::from(both) << by) >> 32) as u64
        } else {
            both >> by
        }
    })
}

/// Position of the highest bit that is not the sign, or the shift that moves
/// it to the top.
fn bfind(i: &Instruction, ty: Type) -> Option<Definition> {
    let (amount, bits) = (i.has(Word::Shiftamt), ty.bits());
    definition(i, move |x| {
        let value = extend(x[0], ty);
        let magnitude = if ty.is_signed() && value < 0 {
            !value
        } else {
            value
        };
        match magnitude as u64 & u64::MAX >> (64 - bits) {
            0 => u64::from(u32::MAX),
            m if amount => u64::from(bits - 1 - m.ilog2()),
            m => u64::from(m.ilog2()),
        }
    })
}

/// The low bits, extended.
fn szext(i: &Instruction, ty: Type) -> Option<Definition> {
    let clamp = i.has(Word::Clamp);
    definition(i, move |x| {
        let count = if clamp { x[1].min(32) } else { x[1] & 31 } as u32;
        match (count, ty.is_signed()) {
            (0, _) => 0,
            (n, true) => (((x[0] << (64 - n)) as i64) >> (64 - n)) as u64,
            (n, false) => (x[0] << (64 - n)) >> (64 - n),
        }
    })
}

/// Any function of three bits: bit `abc` of the table is the result.
fn lop3(a: u64, b: u64, c: u64, table: u64) -> u64 {
    let pick = |x: u64, bit: u64| if bit != 0 { x } else { !x };
    let term = |n: u64| pick(a, n & 4) & pick(b, n & 2) & pick(c, n & 1);
    (0..8)
        .filter(|n| table >> n & 1 != 0)
        .fold(0, |sum, n| sum | term(n))
}

fn bfi(x: &Sources, bits: u32) -> u64 {
    let (at, length) = (x[2] as u32 & 0xff, x[3] as u32 & 0xff);
    if at >= bits {
        return x[1];
    }
    let mask = ((1u128 << length.min(bits)) - 1) as u64;
    x[1] & !(mask << at) | (x[0] & mask) << at
}

fn bfe(x: &Sources, ty: Type) -> u64 {
    let bits = ty.bits();
    let (at, length) = (x[1] as u32 & 0xff, x[2] as u32 & 0xff);
    let highest = (at + length).wrapping_sub(1).min(bits - 1);
    // The sign is the highest bit of the field, or of the value beyond it.
    let negative = ty.is_signed() && length > 0 && x[0] >> highest & 1 != 0;
    let field = match at {
        at if at >= bits => 0,
        at => (x[0] & (u64::MAX >> (64 - bits))) >> at,
    };
    let have = length.min(bits.saturating_sub(at));
    let mask = ((1u128 << have) - 1) as u64;
    field & mask | if negative { !mask } else { 0 }
}

/// Position of the `n`-th set bit of `mask` from `base` on.
fn fns(mask: u64, base: u64, n: i32) -> u64 {
    let set = |at: &u64| mask >> at & 1 != 0;
    let base = base.min(32);
    let found = match n {
        0 => Some(base).filter(|b| *b < 32 && set(b)),
        n if n > 0 => (base..32).filter(set).nth(n as usize - 1),
        n => (0..(base + 1).min(32))
            .rev()
            .filter(set)
            .nth(n.unsigned_abs() as usize - 1),
    };
    found.unwrap_or(u64::from(u32::MAX))
}

/// The bytes of `b:a` that the selectors name.
fn permute(a: u64, b: u64, selectors: u64, mode: Option<Word>) -> u64 {
    let bytes = (b << 32 | a & 0xffff_ffff).to_le_bytes();
    let select = selectors & 3;
    let chosen: [u64; 4] = std::array::from_fn(|at| {
        let at = at as u64;
        match mode {
            None => selectors >> (4 * at) & 15,
            Some(Word::F4e) => select + at,
            Some(Word::B4e) => select.wrapping_sub(at) & 7,
            Some(Word::Rc8) => select,
            Some(Word::Ecl) => at.max(select),
            Some(Word::Ecr) => at.min(select),
            _ => (select & 1) * 2 + (at & 1),
        }
    });
    let byte = |at: u64| match at & 8 {
        0 => bytes[at as usize & 7],
        // The sign of the byte, eight times.
        _ => ((bytes[at as usize & 7] as i8) >> 7) as u8,
    };
    u64::from(u32::from_le_bytes(chosen.map(byte)))
}

/// Products of `count` numbers each, plus the third operand. With two, the
/// first operand has 16-bit numbers.
fn dot(x: &Sources, a: Type, b: Type, count: u32, skip: u32) -> u64 {
    let size = 32 / count;
    let number = |bits: u64, at: u32, size: u32, ty: Type| {
        let field = bits << (64 - size * (at + 1));
        if ty.is_signed() {
            (field as i64) >> (64 - size)
        } else {
            (field >> (64 - size)) as i64
        }
    };
    let product = |at| number(x[0], at, size, a) * number(x[1], at + skip, 8, b);
    (0..count)
        .map(product)
        .fold(x[2], |sum, p| sum.wrapping_add(p as u64))
}
