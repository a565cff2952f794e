//! Integer instructions: PTX ISA, sections "Integer Arithmetic Instructions",
//! "Extended-Precision Integer Arithmetic" and "Logic and Shift".

use super::thread::Fault;
use super::{signed, truncate};
use spadkit::ptx::{Instruction, Opcode, Type, Word};

/// What an instruction with operands `a` (bit patterns) of type `ty` gives;
/// `carry` is the condition-code flag.
pub(super) fn integer(
    instr: &Instruction,
    ty: Type,
    a: &[u64],
    carry: &mut bool,
) -> Result<u64, Fault> {
    let bits = ty.bits();
    let u = |i: usize| truncate(a[i], bits);
    let s = |i: usize| signed(a[i], bits);
    let is_signed = ty.is_signed();
    let wide = |i: usize| {
        if is_signed {
            i128::from(s(i))
        } else {
            i128::from(u(i))
        }
    };
    // The product of two 64-bit numbers without a sign fills all 128 bits.
    let product = || wide(0).wrapping_mul(wide(1));
    let part = |value: i128| match () {
        () if instr.has(Word::Hi) && is_signed => (value >> bits) as u64,
        () if instr.has(Word::Hi) => (value as u128 >> bits) as u64,
        // The low half, or the whole product of mul.wide.
        () => value as u64,
    };
    let saturated = |value: i128| {
        if instr.has(Word::Sat) {
            value.clamp(i128::from(i32::MIN), i128::from(i32::MAX)) as u64
        } else {
            value as u64
        }
    };
    use Opcode::*;
    Ok(match instr.opcode {
        Add | Addc | Sub | Subc => {
            let negative = matches!(instr.opcode, Sub | Subc);
            let carried = matches!(instr.opcode, Addc | Subc);
            let (x, y) = (u128::from(u(0)), u128::from(u(1)));
            let carry_in = u128::from(carried && *carry);
            let exact = if negative {
                x.wrapping_sub(y).wrapping_sub(carry_in)
            } else {
                x + y + carry_in
            };
            if instr.has(Word::Cc) {
                *carry = exact >> bits & 1 == 1;
            }
            match (instr.has(Word::Sat), negative) {
                (true, false) => saturated(wide(0) + wide(1)),
                (true, true) => saturated(wide(0) - wide(1)),
                _ => exact as u64,
            }
        }
        Mul => part(product()),
        Mad if instr.has(Word::Sat) => {
            let sum = (product() >> bits) + i128::from(s(2));
            saturated(sum)
        }
        Mad if instr.has(Word::Wide) => (product() as u64).wrapping_add(truncate(a[2], 2 * bits)),
        Mad => part(product()).wrapping_add(u(2)),
        Madc => {
            let value = truncate(part(product()), bits);
            add_carry(instr, value, u(2), bits, carry)
        }
        Mul24 | Mad24 => {
            let low = |i: usize| {
                if is_signed {
                    i128::from(signed(a[i], 24))
                } else {
                    i128::from(truncate(a[i], 24))
                }
            };
            let product = low(0) * low(1);
            let value = if instr.has(Word::Hi) {
                product >> 16
            } else {
                product
            };
            match instr.opcode {
                Mad24 if instr.has(Word::Sat) => saturated(value + i128::from(s(2))),
                Mad24 => (value as u64).wrapping_add(u(2)),
                _ => value as u64,
            }
        }
        Sad => ((wide(0) - wide(1)).unsigned_abs() as u64).wrapping_add(u(2)),
        Div | Rem if u(1) == 0 => return Err(Fault("division by zero".into())),
        Div => (wide(0) / wide(1)) as u64,
        Rem => (wide(0) % wide(1)) as u64,
        Abs => s(0).unsigned_abs(),
        Neg => s(0).wrapping_neg() as u64,
        Min => wide(0).min(wide(1)) as u64,
        Max => wide(0).max(wide(1)) as u64,
        And => u(0) & u(1),
        Or => u(0) | u(1),
        Xor => u(0) ^ u(1),
        Not => !u(0),
        Cnot => u64::from(u(0) == 0),
        Lop3 => {
            let table = a[3];
            (0..32).fold(0, |d, i| {
                let bit = |k: usize| a[k] >> i & 1;
                d | (table >> (bit(0) << 2 | bit(1) << 1 | bit(2)) & 1) << i
            })
        }
        // Amounts are 32-bit numbers; those beyond the width shift all out.
        Shl => match truncate(a[1], 32) {
            n if n >= u64::from(bits) => 0,
            n => u(0) << n,
        },
        Shr => {
            let n = truncate(a[1], 32).min(u64::from(bits));
            if is_signed {
                (i128::from(s(0)) >> n) as u64
            } else {
                (u128::from(u(0)) >> n) as u64
            }
        }
        Shf => {
            let n = if instr.has(Word::Clamp) {
                truncate(a[2], 32).min(32)
            } else {
                a[2] & 31
            };
            let both = truncate(a[1], 32) << 32 | truncate(a[0], 32);
            if instr.has(Word::L) {
                (u128::from(both) << n >> 32) as u64
            } else {
                (u128::from(both) >> n) as u64
            }
        }
        Popc => u64::from(u(0).count_ones()),
        Clz => u64::from(u(0).leading_zeros() - (64 - bits)),
        Brev => u(0).reverse_bits() >> (64 - bits),
        Bfind => {
            let value = if is_signed && s(0) < 0 {
                truncate(!u(0), bits)
            } else {
                u(0)
            };
            match (value.checked_ilog2(), instr.has(Word::Shiftamt)) {
                (None, _) => 0xffff_ffff,
                (Some(bit), false) => u64::from(bit),
                (Some(bit), true) => u64::from(bits - 1 - bit),
            }
        }
        Bfe => {
            let (pos, len) = (a[1] & 0xff, a[2] & 0xff);
            let msb = u64::from(bits) - 1;
            let bit = |i: u64| u(0) >> i & 1;
            let sign = if is_signed && len > 0 {
                bit((pos + len - 1).min(msb))
            } else {
                0
            };
            (0..=msb).fold(0, |d, i| {
                let taken = i < len && pos + i <= msb;
                d | (if taken { bit(pos + i) } else { sign }) << i
            })
        }
        Bfi => {
            let (pos, len) = (a[2] & 0xff, a[3] & 0xff);
            let msb = u64::from(bits) - 1;
            let places = (0..len).filter(|i| pos + i <= msb);
            places.fold(u(1), |d, i| {
                d & !(1 << (pos + i)) | (u(0) >> i & 1) << (pos + i)
            })
        }
        Bmsk => {
            let wrap = instr.has(Word::Wrap);
            let (from, len) = if wrap {
                (a[0] & 31, a[1] & 31)
            } else {
                (truncate(a[0], 32), truncate(a[1], 32))
            };
            let inside = |i: &u64| *i >= from && *i < from.saturating_add(len);
            (0..32).filter(inside).fold(0, |d, i| d | 1 << i)
        }
        Szext => {
            let n = if instr.has(Word::Wrap) {
                a[1] & 31
            } else {
                truncate(a[1], 32).min(32)
            };
            match (n, is_signed) {
                (0, _) => 0,
                (n, true) => signed(a[0], n as u32) as u64,
                (n, false) => truncate(a[0], n as u32),
            }
        }
        Prmt => permute(instr, a),
        Dp4a | Dp2a => dot(instr, a),
        other => return Err(Fault(format!("{} on integers", other.text()))),
    })
}

fn add_carry(instr: &Instruction, x: u64, y: u64, bits: u32, carry: &mut bool) -> u64 {
    let exact = u128::from(x) + u128::from(y) + u128::from(*carry);
    if instr.has(Word::Cc) {
        *carry = exact >> bits & 1 == 1;
    }
    exact as u64
}

/// `mad.lo.cc` and the like: the product's part plus c, the flag from the sum.
pub(super) fn multiply_add_carry(
    instr: &Instruction,
    ty: Type,
    a: &[u64],
    carry: &mut bool,
) -> u64 {
    let bits = ty.bits();
    let wide = |i: usize| {
        if ty.is_signed() {
            i128::from(signed(a[i], bits))
        } else {
            i128::from(truncate(a[i], bits))
        }
    };
    let product = wide(0).wrapping_mul(wide(1));
    let value = match (instr.has(Word::Hi), ty.is_signed()) {
        (false, _) => product,
        (true, true) => product >> bits,
        (true, false) => (product as u128 >> bits) as i128,
    };
    let carried = matches!(instr.opcode, Opcode::Madc) && *carry;
    let exact = u128::from(truncate(value as u64, bits))
        + u128::from(truncate(a[2], bits))
        + u128::from(carried);
    if instr.has(Word::Cc) {
        *carry = exact >> bits & 1 == 1;
    }
    exact as u64
}

fn permute(instr: &Instruction, a: &[u64]) -> u64 {
    let bytes = truncate(a[1], 32) << 32 | truncate(a[0], 32);
    let modes = [
        Word::F4e,
        Word::B4e,
        Word::Rc8,
        Word::Ecl,
        Word::Ecr,
        Word::Rc16,
    ];
    let control = a[2] & 3;
    (0..4u64).fold(0, |d, i| {
        let selector = match instr.one_of(&modes) {
            None => a[2] >> (4 * i) & 0xf,
            Some(Word::F4e) => (control + i) & 7,
            Some(Word::B4e) => (control + 8 - i) & 7,
            Some(Word::Rc8) => control,
            Some(Word::Ecl) => i.max(control),
            Some(Word::Ecr) => i.min(control),
            _ => (control & 1) * 2 + (i & 1),
        };
        let byte = bytes >> (8 * (selector & 7)) & 0xff;
        let byte = match selector & 8 {
            0 => byte,
            _ => (byte >> 7) * 0xff,
        };
        d | byte << (8 * i)
    })
}

fn dot(instr: &Instruction, a: &[u64]) -> u64 {
    let mut types = instr.types();
    let (x, y) = (
        types.next().unwrap_or(Type::U32),
        types.next().unwrap_or(Type::U32),
    );
    let element = |value: u64, i: u32, bits: u32, ty: Type| {
        let raw = value >> (bits * i);
        if ty.is_signed() {
            signed(raw, bits)
        } else {
            truncate(raw, bits) as i64
        }
    };
    let sum: i64 = match instr.opcode {
        Opcode::Dp4a => (0..4)
            .map(|i| element(a[0], i, 8, x) * element(a[1], i, 8, y))
            .sum(),
        _ => {
            let from = if instr.has(Word::Hi) { 2 } else { 0 };
            (0..2)
                .map(|i| element(a[0], i, 16, x) * element(a[1], from + i, 8, y))
                .sum()
        }
    };
    (a[2] as i64).wrapping_add(sum) as u64
}
