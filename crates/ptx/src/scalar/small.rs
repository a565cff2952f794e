//! `cvt` from and to small floating-point numbers, two or four in a register.
//!
//! Stochastic rounding adds random bits to the highest bits of what is cut off; where the
//! result is subnormal, more is cut off. The PTX ISA says which part of the random operand
//! belongs to which numbers. Of `.e2m1x4`, each number of a pair has a byte of its own here.

use super::float::format;
use super::soft::{BF16, F16, F32, Format, Round, Soft};
use super::{Definition, Sources, define_as};
use crate::ast::{Instruction, Operand};
use crate::names::{Modifier, Type, Word};

/// A format with a sign. Its largest number is `most`; above it, the formats of 8 bits have
/// infinity (`e5m2`) and NaN.
#[derive(Clone, Copy)]
struct Small {
    exponent: u32,
    fraction: u32,
    most: u64,
}

const E2M1: Element = Element::float(2, 1, 0x7);
const E2M3: Element = Element::float(2, 3, 0x1f);
const E3M2: Element = Element::float(3, 2, 0x1f);
const E4M3: Element = Element::float(4, 3, 0x7e);
const E5M2: Element = Element::float(5, 2, 0x7b);

impl Small {
    fn sign(self) -> u64 {
        1 << (self.exponent + self.fraction)
    }

    /// The format that it is the lower half of: there, all its numbers are finite.
    fn format(self) -> Format {
        Format {
            fraction: self.fraction,
            exponent: self.exponent + 1,
        }
    }

    /// The power of two by which a number is smaller in that format.
    fn shift(self) -> i32 {
        1 << (self.exponent - 1)
    }

    /// The largest number for those beyond; with `relu` zero for negative ones.
    fn pack(self, number: Soft, round: Round, relu: bool) -> u64 {
        let (sign, size) = match number {
            Soft::Nan if self.exponent < 4 => (false, self.most),
            Soft::Nan => (false, self.sign() - 1),
            Soft::Infinite(sign) => (sign, self.most),
            Soft::Finite(sign, mantissa, exponent) => {
                let moved = Soft::Finite(false, mantissa, exponent - self.shift());
                (sign, self.format().pack(moved, round).min(self.most))
            }
        };
        if sign && relu {
            0
        } else {
            size | u64::from(sign) << (self.exponent + self.fraction)
        }
    }

    fn unpack(self, bits: u64) -> Soft {
        let (sign, size) = (bits & self.sign() != 0, bits & (self.sign() - 1));
        match self.format().unpack(size) {
            _ if size > self.most + 1 => Soft::Nan,
            _ if size > self.most && self.exponent == 4 => Soft::Nan,
            _ if size > self.most => Soft::Infinite(sign),
            Soft::Finite(_, mantissa, exponent) => {
                Soft::Finite(sign, mantissa, exponent + self.shift())
            }
            special => special,
        }
    }
}

/// The power of two at or below a number, or with `up` at or above it. The sign is ignored.
fn power(number: Soft, up: bool, finite: bool) -> u64 {
    let most: i32 = if finite { 254 } else { 255 };
    match number {
        Soft::Nan => 255,
        Soft::Infinite(_) => most as u64,
        Soft::Finite(_, 0, _) => 0,
        Soft::Finite(_, mantissa, exponent) => {
            let below = exponent + 127 - mantissa.leading_zeros() as i32;
            let above = i32::from(up && !mantissa.is_power_of_two());
            (below + above + 127).clamp(0, most) as u64
        }
    }
}

fn of_power(bits: u64) -> Soft {
    match bits & 0xff {
        255 => Soft::Nan,
        code => Soft::Finite(false, 1, code as i32 - 127),
    }
}

#[derive(Clone, Copy)]
enum Element {
    Float(Small),
    /// `ue8m0`: an exponent.
    Power,
}

impl Element {
    const fn float(exponent: u32, fraction: u32, most: u64) -> Self {
        Element::Float(Small {
            exponent,
            fraction,
            most,
        })
    }

    /// The element of a packed type, and the bits from one element to the next.
    fn of(ty: Type) -> Option<(Element, u32)> {
        Some(match ty {
            Type::E2m1x2 | Type::E2m1x4 => (E2M1, 4),
            Type::E2m3x2 | Type::E2m3x4 => (E2M3, 8),
            Type::E3m2x2 | Type::E3m2x4 => (E3M2, 8),
            Type::E4m3x2 | Type::E4m3x4 => (E4M3, 8),
            Type::E5m2x2 | Type::E5m2x4 => (E5M2, 8),
            Type::Ue8m0x2 => (Element::Power, 8),
            _ => return None,
        })
    }

    fn unpack(self, bits: u64) -> Soft {
        match self {
            Element::Float(small) => small.unpack(bits),
            Element::Power => of_power(bits),
        }
    }
}

fn is_four(ty: Type) -> bool {
    use Type::*;
    matches!(ty, E2m1x4 | E2m3x4 | E3m2x4 | E4m3x4 | E5m2x4)
}

/// Two numbers with a sign.
fn is_pair(ty: Type) -> bool {
    ty.is_small() && !is_four(ty) && ty != Type::Ue8m0x2
}

/// Whether an instruction is one of these: with small numbers, or of those that come with
/// stochastic rounding. Its registers have exactly the size of its types.
pub(crate) fn concerns(i: &Instruction) -> bool {
    i.has(Word::Rs) || i.types().any(Type::is_small)
}

/// Checks the modifiers and the shape of the operands.
pub(crate) fn check(i: &Instruction, to: Type, from: Type) -> Result<(), String> {
    use Type::{Bf16x2, F16x2, F32, Ue8m0x2};
    use Word::{Relu, Rn, Rp, Rs, Rz, Satfinite, Scaled};
    let wide = matches!(to, F16x2 | Bf16x2);
    let (roundings, finite, others): (&[Word], bool, &[Word]) = match (to, from) {
        (Ue8m0x2, F32 | Bf16x2) => (&[Rz, Rp], false, &[Satfinite]),
        (_, F32) if wide => (&[Rs], false, &[Satfinite, Relu]),
        (_, F32) if is_four(to) => (&[Rs], true, &[Relu]),
        (_, F32 | F16x2 | Bf16x2) if is_pair(to) => (&[Rn], true, &[Relu]),
        (Bf16x2, Ue8m0x2) => (&[Rn], false, &[]),
        (F16x2, _) if is_pair(from) => (&[Rn], false, &[Relu]),
        (Bf16x2, _) if is_pair(from) => (&[Rn], false, &[Satfinite, Relu, Scaled]),
        _ => return Err(format!("no `cvt` from .{} to .{}", from.text(), to.text())),
    };
    let name = format!("`cvt.{}.{}`", to.text(), from.text());
    if i.one_of(roundings).is_none() {
        let all: Vec<String> = roundings.iter().map(|w| format!(".{}", w.text())).collect();
        return Err(format!(
            "{name} needs a rounding: expected {}",
            all.join(" or ")
        ));
    }
    if finite && !i.has(Satfinite) {
        return Err(format!("{name} needs .satfinite"));
    }
    let known = |w: Word| {
        roundings.contains(&w)
            || others.contains(&w)
            || w == Satfinite && finite
            || w == Word::Other
    };
    for modifier in i.modifiers.iter() {
        match modifier {
            Modifier::Word(word) if !known(*word) => {
                return Err(format!("{name} has no .{}", word.text()));
            }
            _ => {}
        }
    }
    operands(i, to).map_err(|wrong| format!("{name} takes {wrong}"))
}

fn operands(i: &Instruction, to: Type) -> Result<(), &'static str> {
    let is_list = |o: &Operand| matches!(o, Operand::Vector(items) if items.len() == 4);
    if is_four(to) && !i.operands.get(1).is_some_and(is_list) {
        return Err("a list of four numbers");
    }
    let is_register = |o: &Operand| matches!(o, Operand::Register(_));
    match i.operands.last() {
        Some(last) if i.has(Word::Rs) && !is_register(last) => Err("random bits from a register"),
        Some(last) if i.has(Word::Scaled) && !is_register(last) => Err("scales from a register"),
        _ => Ok(()),
    }
}

/// The source operands of an instruction, a list of four numbers one by one.
pub(crate) fn listed<'a>(i: &Instruction, sources: &'a [Operand]) -> Vec<&'a Operand> {
    let lists = i.ty(0).is_some_and(is_four);
    let each = |o: &'a Operand| match o {
        Operand::Vector(items) if lists => &items[..],
        one => std::slice::from_ref(one),
    };
    sources.iter().flat_map(each).collect()
}

pub(super) fn define(i: &Instruction, to: Type, from: Type) -> Option<Definition> {
    check(i, to, from).ok()?;
    match Element::of(to) {
        Some((element, width)) => narrow(i, element, width, from),
        None => widen(i, to, from),
    }
}

fn narrow(i: &Instruction, element: Element, width: u32, from: Type) -> Option<Definition> {
    let (relu, finite, up) = (i.has(Word::Relu), i.has(Word::Satfinite), i.has(Word::Rp));
    let one = move |number: Soft, round: Round| match element {
        Element::Float(small) => small.pack(number, round, relu),
        Element::Power => power(number, up, finite),
    };
    let result = i.ty(0)?.as_bits();
    // The first source is the highest number.
    match from {
        Type::F32 if i.has(Word::Rs) => {
            let sources = [from, from, from, from, Type::B32];
            define_as(result, &sources, move |x| {
                let place = |n: u32| {
                    let number = F32.unpack(x[3 - n as usize] & 0xffff_ffff);
                    one(number, stochastic(x[4] as u32, n, width)) << (n * width)
                };
                (0..4).map(place).sum()
            })
        }
        Type::F32 => define_as(result, &[from, from], move |x| {
            let [high, low] = [x[0], x[1]].map(|x| F32.unpack(x & 0xffff_ffff));
            one(low, Round::Nearest) | one(high, Round::Nearest) << width
        }),
        _ => {
            let source = if from == Type::F16x2 { F16 } else { BF16 };
            define_as(result, &[from], move |x| {
                let [high, low] = [x[0] >> 16, x[0]].map(|x| source.unpack(x & 0xffff));
                one(low, Round::Nearest) | one(high, Round::Nearest) << width
            })
        }
    }
}

/// The rounding of number `n` of four, from the lowest: two share half of the random bits.
fn stochastic(random: u32, n: u32, width: u32) -> Round {
    let (random, bits) = match width {
        4 => (random >> (8 * (n / 2) + 16 * (n % 2)), 8),
        _ => (random >> (16 * (n / 2)), 16),
    };
    let random = random & ((1 << bits) - 1);
    Round::Stochastic { random, bits }
}

fn widen(i: &Instruction, to: Type, from: Type) -> Option<Definition> {
    let (element, width) = Element::of(from)?;
    let (target, _) = format(to)?;
    let (relu, finite) = (i.has(Word::Relu), i.has(Word::Satfinite));
    let one = move |bits: u64, scale: Soft| {
        let number = element.unpack(bits & ((1 << width) - 1)).times(scale);
        target.bounded(target.pack(number, Round::Nearest), finite, relu)
    };
    let both = move |x: &Sources, scales: [Soft; 2]| {
        one(x[0], scales[0]) | one(x[0] >> width, scales[1]) << 16
    };
    let source = from.as_bits();
    if i.has(Word::Scaled) {
        define_as(to, &[source, Type::B16], move |x| {
            both(x, [x[1], x[1] >> 8].map(of_power))
        })
    } else {
        define_as(to, &[source], move |x| {
            both(x, [Soft::integer(false, 1); 2])
        })
    }
}
