//! The steps of a mapping as expressions of C and of Python.

use super::operation::{Step, Value};

/// What the languages do not have in common.
#[derive(Clone, Copy)]
pub(super) struct Dialect<'a> {
    /// The variable of the index.
    pub index: &'a str,
    /// The variable of the table.
    pub table: &'a str,
    pub numbers: Numbers,
}

/// The numbers of a language.
#[derive(Clone, Copy)]
pub(super) enum Numbers {
    /// Those of C, modulo 2^32.
    Unsigned,
    /// Those of Python, of any size.
    Unbounded,
}

impl Dialect<'_> {
    pub fn value(&self, value: &Value) -> String {
        match value {
            Value::Index => self.index.to_owned(),
            Value::Step(i) => format!("s{i}"),
        }
    }

    pub fn expression(&self, step: &Step) -> String {
        let v = |value: &Value| self.value(value);
        let u = match self.numbers {
            Numbers::Unsigned => "u",
            Numbers::Unbounded => "",
        };
        match step {
            Step::Right(a, bits) => format!("{} >> {bits}", v(a)),
            Step::Left(a, bits) => format!("{} << {bits}", v(a)),
            Step::And(a, mask) => format!("{} & {mask:#x}{u}", v(a)),
            Step::XorMasked { rest, value, mask } => {
                format!("{} ^ ({} & {mask:#x}{u})", v(rest), v(value))
            }
            Step::Merge {
                inside,
                outside,
                mask,
            } => format!(
                "({} & {mask:#x}{u}) | ({} & ~{mask:#x}{u})",
                v(inside),
                v(outside)
            ),
            Step::Add(a, b) => format!("{} + {}", v(a), v(b)),
            Step::MulAdd { value, factor, add } => {
                let factor = match self.numbers {
                    Numbers::Unsigned => format!("{factor}u"),
                    // The factor is one modulo 2^32.
                    Numbers::Unbounded => (*factor as i32).to_string(),
                };
                format!("{} * {factor} + {}", v(value), v(add))
            }
            // Word indices are below 2^16: the division is what is meant.
            Step::MulHigh(a, factor) => match self.numbers {
                Numbers::Unsigned => format!("{} / {}u", v(a), divisor(*factor)),
                Numbers::Unbounded => format!("{} // {}", v(a), divisor(*factor)),
            },
            Step::Table(i) => format!("{}[{}]", self.table, v(i)),
            Step::RightBy(a, bits) => format!("{} >> {}", v(a), v(bits)),
        }
    }
}

/// The divisor that a factor ceil(2^32 / d) replaces.
fn divisor(factor: u32) -> u32 {
    (1u64 << 32).div_ceil(u64::from(factor)) as u32
}
