//! Integer arithmetic of 16, 32 and 64 bits, and packed 16 bits.

use super::{Definition, Sources, definition, extend, sources};
use crate::ast::Instruction;
use crate::names::{Type, Word};
use crate::opcodes::Opcode;
use crate::operands::result_type;

pub(super) fn define(i: &Instruction) -> Option<Definition> {
    let ty = i.ty(0)?;
    if matches!(ty, Type::U16x2 | Type::S16x2) {
        return packed(i, ty);
    }
    if ty.is_float() || ty == Type::Pred {
        return None;
    }
    let value = move |bits: u64| extend(bits, ty);
    match i.opcode {
        Opcode::Add if i.has(Word::Sat) => {
            definition(i, move |x| saturated(value(x[0]) + value(x[1]), ty))
        }
        Opcode::Sub if i.has(Word::Sat) => {
            definition(i, move |x| saturated(value(x[0]) - value(x[1]), ty))
        }
        Opcode::Add | Opcode::Addc | Opcode::Sub | Opcode::Subc => {
            Some(chained(i.opcode, i.has(Word::Cc), ty))
        }
        Opcode::Mul => {
            let part = part(i, ty)?;
            definition(i, move |x| part(value(x[0]), value(x[1])) as u64)
        }
        Opcode::Mad | Opcode::Madc => multiply_add(i, ty),
        Opcode::Mul24 | Opcode::Mad24 => of_24_bits(i, ty),
        Opcode::Sad => definition(i, move |x| {
            let (a, b) = (i128::from(value(x[0])), i128::from(value(x[1])));
            let (a, b) = match ty {
                Type::U64 => (i128::from(x[0]), i128::from(x[1])),
                _ => (a, b),
            };
            x[2].wrapping_add((a - b).unsigned_abs() as u64)
        }),
        Opcode::Div => definition(i, move |x| match ty.is_signed() {
            _ if value(x[1]) == 0 => u64::MAX,
            true => value(x[0]).wrapping_div(value(x[1])) as u64,
            false => value(x[0]) as u64 / value(x[1]) as u64,
        }),
        Opcode::Rem => definition(i, move |x| match ty.is_signed() {
            _ if value(x[1]) == 0 => x[0],
            true => value(x[0]).wrapping_rem(value(x[1])) as u64,
            false => value(x[0]) as u64 % value(x[1]) as u64,
        }),
        Opcode::Min | Opcode::Max => extreme(i, ty),
        Opcode::Abs => definition(i, move |x| value(x[0]).wrapping_abs() as u64),
        Opcode::Neg => definition(i, move |x| value(x[0]).wrapping_neg() as u64),
        _ => None,
    }
}

/// `mad` and `madc`: with the carry flag or without.
fn multiply_add(i: &Instruction, ty: Type) -> Option<Definition> {
    let value = move |bits: u64| extend(bits, ty);
    let part = part(i, ty)?;
    let (carry_in, carry_out) = (i.opcode == Opcode::Madc, i.has(Word::Cc));
    if carry_in || carry_out {
        let mut definition = chained(Opcode::Addc, carry_out, ty);
        let add = definition.compute;
        definition.compute = Box::new(move |x| {
            let product = part(value(x[0]), value(x[1])) as u64;
            add(&sources([product, x[2], if carry_in { x[3] } else { 0 }]))
        });
        definition.sources = vec![ty; 3];
        definition.carry_in = carry_in;
        return Some(definition);
    }
    let result = result_type(i)?;
    let sum = move |x: &Sources| {
        i128::from(part(value(x[0]), value(x[1]))) + i128::from(extend(x[2], result))
    };
    if i.has(Word::Sat) {
        definition(i, move |x| {
            sum(x).clamp(i32::MIN.into(), i32::MAX.into()) as u64
        })
    } else {
        definition(i, move |x| sum(x) as u64)
    }
}

/// `mul24` and `mad24`.
fn of_24_bits(i: &Instruction, ty: Type) -> Option<Definition> {
    let low = move |bits: u64| {
        if ty.is_signed() {
            ((bits << 40) as i64) >> 40
        } else {
            (bits & 0xff_ffff) as i64
        }
    };
    let high = i.has(Word::Hi);
    let product = move |x: &Sources| {
        let product = low(x[0]).wrapping_mul(low(x[1]));
        if high { product >> 16 } else { product }
    };
    // The high form has the upper 32 of 48 bits.
    let narrow = move |v: i64| extend(v as u64, ty);
    let saturate = i.has(Word::Sat);
    match i.opcode {
        Opcode::Mul24 => definition(i, move |x| product(x) as u64),
        _ => definition(i, move |x| {
            let sum = narrow(product(x)) + extend(x[2], ty);
            if saturate {
                saturated(sum, ty)
            } else {
                sum as u64
            }
        }),
    }
}

/// `min` and `max`.
fn extreme(i: &Instruction, ty: Type) -> Option<Definition> {
    let (max, relu) = (i.opcode == Opcode::Max, i.has(Word::Relu));
    let key = order_key(ty);
    definition(i, move |x| {
        let (a, b) = (extend(x[0], ty), extend(x[1], ty));
        let best = if (key(a) < key(b)) == max { b } else { a };
        if relu {
            best.max(0) as u64
        } else {
            best as u64
        }
    })
}

/// Order of values as signed numbers: unsigned 64-bit ones are moved.
pub(super) fn order_key(ty: Type) -> impl Fn(i64) -> i64 + Copy {
    let flip = if ty.is_signed() { 0 } else { i64::MIN };
    move |v| v ^ flip
}

fn saturated(sum: i64, ty: Type) -> u64 {
    let (least, most) = if ty.is_signed() {
        (i64::from(i32::MIN), i64::from(i32::MAX))
    } else {
        (0, i64::from(u32::MAX))
    };
    sum.clamp(least, most) as u64
}

/// Low half, high half, or all of a product.
fn part(i: &Instruction, ty: Type) -> Option<impl Fn(i64, i64) -> i64 + Copy + use<>> {
    let high = i.has(Word::Hi);
    if !high && !i.has(Word::Lo) && !i.has(Word::Wide) {
        return None;
    }
    Some(move |a: i64, b: i64| match (high, ty) {
        (false, _) => a.wrapping_mul(b),
        (true, Type::U64) => ((u128::from(a as u64) * u128::from(b as u64)) >> 64) as i64,
        (true, Type::S64) => ((i128::from(a) * i128::from(b)) >> 64) as i64,
        // Unsigned 32-bit values have products of up to 64 bits.
        (true, _) => extend((a.wrapping_mul(b) as u64) >> ty.bits(), ty),
    })
}

/// Addition and subtraction with the carry flag.
fn chained(opcode: Opcode, carry_out: bool, ty: Type) -> Definition {
    let carry_in = matches!(opcode, Opcode::Addc | Opcode::Subc);
    let subtract = matches!(opcode, Opcode::Sub | Opcode::Subc);
    let mask = u64::MAX >> (64 - ty.bits().min(64));
    Definition {
        compute: Box::new(move |x| {
            let carry = u128::from(if carry_in { x[2] & 1 } else { 0 });
            let (a, b) = (u128::from(x[0] & mask), u128::from(x[1] & mask));
            // A borrow is a carry into the bits above.
            let sum = if subtract {
                a.wrapping_sub(b).wrapping_sub(carry)
            } else {
                a + b + carry
            };
            [sum as u64, u64::from(sum >> ty.bits() & 1 != 0)]
        }),
        result: ty,
        sources: vec![ty; 2],
        carry_in,
        carry_out,
    }
}

/// Two 16-bit numbers side by side.
fn packed(i: &Instruction, ty: Type) -> Option<Definition> {
    let half = if ty == Type::S16x2 {
        Type::S16
    } else {
        Type::U16
    };
    let relu = i.has(Word::Relu);
    let opcode = i.opcode;
    if !matches!(
        opcode,
        Opcode::Add | Opcode::Sub | Opcode::Min | Opcode::Max | Opcode::Neg
    ) {
        return None;
    }
    let one = move |a: u64, b: u64| {
        let (a, b) = (extend(a, half), extend(b, half));
        let value = match opcode {
            Opcode::Add => a + b,
            Opcode::Sub => a - b,
            Opcode::Min => a.min(b),
            Opcode::Neg => -a,
            _ => a.max(b),
        };
        (if relu { value.max(0) } else { value }) as u64 & 0xffff
    };
    definition(i, move |x| {
        one(x[0], x[1]) | one(x[0] >> 16, x[1] >> 16) << 16
    })
}
