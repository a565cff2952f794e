//! The operations that the pass puts into a kernel, a PTX instruction each, on
//! byte addresses in 32-bit registers.

use spadkit_mapping::software::{Step, Value, ptx};

/// The source of an operation's operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arg {
    /// The address that is mapped.
    Input,
    /// The address of the region.
    Base,
    /// The result of an earlier operation.
    Op(usize),
}

/// An operation on 32-bit words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Op {
    /// value >> bits
    Right(Arg, u32),
    /// value << bits
    Left(Arg, u32),
    /// value & mask
    And(Arg, u32),
    /// rest ^ (value & mask)
    XorMasked { rest: Arg, value: Arg, mask: u32 },
    /// The bits of `mask` from `inside`, the others from `outside`.
    Merge {
        inside: Arg,
        outside: Arg,
        mask: u32,
    },
    /// a + b
    Add(Arg, Arg),
    /// a - b
    Sub(Arg, Arg),
    /// value * factor + add
    MulAdd { value: Arg, factor: u32, add: Arg },
    /// The high word of value * factor.
    MulHigh(Arg, u32),
    /// `bits` bits of value from bit `low` on.
    Field { value: Arg, low: u32, bits: u32 },
    /// The word of this index in the map's table in constant memory.
    Entry(Arg),
    /// value + constant
    Plus(Arg, u32),
    /// `above` where `by` is not negative, else `below`.
    Pick { by: Arg, above: Arg, below: Arg },
}

/// Bits of an address below those of its word.
pub(super) const BYTE_BITS: u32 = 2;

impl Op {
    /// A step of a linear layout, which works on words, for byte addresses: the
    /// byte within the word is kept.
    pub fn of_step(step: &Step) -> Op {
        let arg = |v: &Value| match v {
            Value::Index => Arg::Input,
            Value::Step(at) => Arg::Op(*at),
        };
        match step {
            Step::Right(v, bits) => Op::Right(arg(v), *bits),
            Step::Left(v, bits) => Op::Left(arg(v), *bits),
            // The mask also keeps the byte within the word.
            Step::And(v, mask) => Op::And(arg(v), mask << BYTE_BITS | 3),
            Step::XorMasked { rest, value, mask } => Op::XorMasked {
                rest: arg(rest),
                value: arg(value),
                mask: mask << BYTE_BITS,
            },
            step => unreachable!("{step:?} is not a step of a linear layout"),
        }
    }

    /// Result of the operation; `of` returns the operands.
    pub fn evaluate(&self, of: impl Fn(Arg) -> u32, table: &[u32]) -> u32 {
        match *self {
            Op::Right(v, bits) => of(v) >> bits,
            Op::Left(v, bits) => of(v) << bits,
            Op::And(v, mask) => of(v) & mask,
            Op::XorMasked { rest, value, mask } => of(rest) ^ of(value) & mask,
            Op::Merge {
                inside,
                outside,
                mask,
            } => of(inside) & mask | of(outside) & !mask,
            Op::Add(a, b) => of(a).wrapping_add(of(b)),
            Op::Sub(a, b) => of(a).wrapping_sub(of(b)),
            Op::MulAdd { value, factor, add } => {
                of(value).wrapping_mul(factor).wrapping_add(of(add))
            }
            Op::MulHigh(v, factor) => ((u64::from(of(v)) * u64::from(factor)) >> 32) as u32,
            Op::Field { value, low, bits } => of(value) >> low & ((1 << bits) - 1),
            Op::Entry(at) => table.get(of(at) as usize).copied().unwrap_or(0),
            Op::Plus(value, constant) => of(value).wrapping_add(constant),
            Op::Pick { by, above, .. } if of(by) as i32 >= 0 => of(above),
            Op::Pick { below, .. } => of(below),
        }
    }

    /// Operands of the operation.
    pub fn args(&self) -> Vec<Arg> {
        match *self {
            Op::Right(a, _)
            | Op::Left(a, _)
            | Op::And(a, _)
            | Op::MulHigh(a, _)
            | Op::Field { value: a, .. }
            | Op::Plus(a, _)
            | Op::Entry(a) => vec![a],
            Op::Pick { by, above, below } => vec![by, above, below],
            Op::Add(a, b) | Op::Sub(a, b) => vec![a, b],
            Op::XorMasked { rest, value, .. } => vec![rest, value],
            Op::Merge {
                inside, outside, ..
            } => vec![inside, outside],
            Op::MulAdd { value, add, .. } => vec![value, add],
        }
    }

    /// The operation on other operands: `read` maps operands whose bits it uses or
    /// moves, `kept` maps operands that it adds to, or whose other bits it keeps.
    pub fn with_args(&self, read: impl Fn(Arg) -> Arg, kept: impl Fn(Arg) -> Arg) -> Op {
        match *self {
            Op::Right(v, bits) => Op::Right(read(v), bits),
            Op::Left(v, bits) => Op::Left(read(v), bits),
            Op::And(v, mask) => Op::And(read(v), mask),
            Op::XorMasked { rest, value, mask } => Op::XorMasked {
                rest: kept(rest),
                value: read(value),
                mask,
            },
            Op::Merge {
                inside,
                outside,
                mask,
            } => Op::Merge {
                inside: kept(inside),
                outside: kept(outside),
                mask,
            },
            Op::Add(a, b) => Op::Add(kept(a), kept(b)),
            Op::Sub(a, b) => Op::Sub(kept(a), kept(b)),
            Op::MulAdd { value, factor, add } => Op::MulAdd {
                value: read(value),
                factor,
                add: kept(add),
            },
            Op::MulHigh(v, factor) => Op::MulHigh(read(v), factor),
            Op::Field { value, low, bits } => Op::Field {
                value: read(value),
                low,
                bits,
            },
            Op::Entry(at) => Op::Entry(read(at)),
            Op::Plus(value, constant) => Op::Plus(kept(value), constant),
            Op::Pick { by, above, below } => Op::Pick {
                by: read(by),
                above: kept(above),
                below: kept(below),
            },
        }
    }

    /// The instruction that writes the result to the register `to`; `name`
    /// gives the operands. [`Op::Entry`] loads from the address `entry`.
    pub fn ptx(&self, to: &str, name: impl Fn(Arg) -> String, entry: &str) -> String {
        match *self {
            Op::Right(v, bits) => ptx::right(to, &name(v), bits),
            Op::Left(v, bits) => ptx::left(to, &name(v), bits),
            Op::And(v, mask) => ptx::and(to, &name(v), mask),
            Op::XorMasked { rest, value, mask } => {
                ptx::xor_masked(to, &name(rest), &name(value), mask)
            }
            Op::Merge {
                inside,
                outside,
                mask,
            } => ptx::merge(to, &name(inside), &name(outside), mask),
            Op::Add(a, b) => ptx::add(to, &name(a), &name(b)),
            Op::Sub(a, b) => format!("sub.u32 {to}, {}, {};", name(a), name(b)),
            Op::MulAdd { value, factor, add } => ptx::mul_add(to, &name(value), factor, &name(add)),
            Op::MulHigh(v, factor) => ptx::mul_high(to, &name(v), factor),
            Op::Field { value, low, bits } => {
                format!("bfe.u32 {to}, {}, {low}, {bits};", name(value))
            }
            Op::Entry(_) => format!("ld.const.u32 {to}, [{entry}];"),
            Op::Plus(v, constant) => format!("add.s32 {to}, {}, {};", name(v), constant as i32),
            Op::Pick { by, above, below } => format!(
                "slct.b32.s32 {to}, {}, {}, {};",
                name(above),
                name(below),
                name(by)
            ),
        }
    }
}
