//! The operations that compute a layout, hardly more than a PTX instruction each.

use super::layout::{Layout, LayoutSpec};
use super::linear;
use crate::hash::BankFunction;

/// Where a step takes an operand from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// The word index.
    Index,
    /// The result of an earlier step.
    Step(usize),
}

/// One operation on 32-bit words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// value >> bits
    Right(Value, u32),
    /// value << bits
    Left(Value, u32),
    /// value & mask
    And(Value, u32),
    /// rest ^ (value & mask): one `lop3`.
    XorMasked {
        /// What is changed.
        rest: Value,
        /// What is XORed into it.
        value: Value,
        /// Where.
        mask: u32,
    },
    /// The bits of `mask` from `inside`, the others from `outside`: one `lop3`.
    Merge {
        /// Bits of the mask.
        inside: Value,
        /// The others.
        outside: Value,
        /// Which bits.
        mask: u32,
    },
    /// a + b
    Add(Value, Value),
    /// value * factor + add: one `mad`.
    MulAdd {
        /// Factor that varies.
        value: Value,
        /// Constant factor.
        factor: u32,
        /// What is added.
        add: Value,
    },
    /// The high word of value * factor.
    MulHigh(Value, u32),
    /// Word `index` of the layout's table: its address, and the load.
    Table(Value),
    /// value >> (shift * scale), of packed numbers.
    RightBy(Value, Value),
}

/// A layout as a straight line of operations; the last one is the place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The operations in order.
    pub steps: Vec<Step>,
    /// Constants that [`Step::Table`] reads.
    pub table: Vec<u32>,
}

impl Steps {
    /// The operations of `layout`.
    pub fn of(layout: &Layout) -> Steps {
        if let Some(rows) = layout.rows() {
            return linear::steps(&rows);
        }
        let mut steps = Steps::default();
        match (layout.spec(), layout.mapping().map(|m| m.bank_function())) {
            (&LayoutSpec::Pad { every, by }, _) => steps.pad(every, by, layout),
            (_, Some(BankFunction::Shift(shifts))) => steps.shift(shifts, layout),
            // The only other function that is not linear is ADD.
            _ => steps.add_fold(layout),
        }
        steps
    }

    /// The operations of the linear layout with the matrix `rows` (word bit j
    /// is the parity of the index bits in element j) on an index that may have
    /// bits beyond the matrix, which stay as they are. An [`Step::And`] among
    /// them always keeps these bits.
    pub fn of_open_matrix(rows: &[u32]) -> Steps {
        linear::open_steps(rows)
    }

    /// PTX instructions: one for each operation, three for a table's word.
    pub fn count(&self) -> usize {
        let instructions = |step: &Step| match step {
            Step::Table(_) => 3,
            _ => 1,
        };
        self.steps.iter().map(instructions).sum()
    }

    /// The place: the last result, or the index where there is no step.
    pub fn result(&self) -> Value {
        match self.steps.len() {
            0 => Value::Index,
            n => Value::Step(n - 1),
        }
    }

    /// What the operations compute of `index`.
    pub fn evaluate(&self, index: u32) -> u32 {
        let mut results: Vec<u32> = Vec::new();
        for step in &self.steps {
            let of = |v: &Value| match v {
                Value::Index => index,
                Value::Step(i) => results[*i],
            };
            let result = match step {
                Step::Right(v, bits) => of(v) >> bits,
                Step::Left(v, bits) => of(v) << bits,
                Step::And(v, mask) => of(v) & mask,
                Step::XorMasked { rest, value, mask } => of(rest) ^ (of(value) & mask),
                Step::Merge {
                    inside,
                    outside,
                    mask,
                } => of(inside) & mask | of(outside) & !mask,
                Step::Add(a, b) => of(a).wrapping_add(of(b)),
                Step::MulAdd { value, factor, add } => {
                    of(value).wrapping_mul(*factor).wrapping_add(of(add))
                }
                Step::MulHigh(v, factor) => ((u64::from(of(v)) * u64::from(*factor)) >> 32) as u32,
                Step::Table(i) => self.table[of(i) as usize],
                Step::RightBy(v, bits) => of(v) >> of(bits),
            };
            results.push(result);
        }
        results.last().copied().unwrap_or(index)
    }

    pub(super) fn push(&mut self, step: Step) -> Value {
        self.steps.push(step);
        self.result()
    }

    /// value / divisor for values that are word indices.
    fn divide(&mut self, value: Value, divisor: u32) -> Value {
        if divisor.is_power_of_two() {
            return self.push(Step::Right(value, divisor.ilog2()));
        }
        // ceil(2^32 / d) is exact for values below 2^16 and d up to 2^16: the
        // error, below value / 2^32, does not reach the next multiple of 1/d.
        let factor = (1u64 << 32).div_ceil(u64::from(divisor)) as u32;
        self.push(Step::MulHigh(value, factor))
    }

    fn pad(&mut self, every: u32, by: u32, layout: &Layout) {
        if by == 0 || every as usize >= layout.geometry().words() {
            return;
        }
        if every == 1 {
            let (value, add) = (Value::Index, Value::Index);
            self.push(Step::MulAdd {
                value,
                factor: by,
                add,
            });
            return;
        }
        let gaps = self.divide(Value::Index, every);
        let add = Value::Index;
        match by {
            1 => self.push(Step::Add(gaps, add)),
            factor => self.push(Step::MulAdd {
                value: gaps,
                factor,
                add,
            }),
        };
    }

    fn add_fold(&mut self, layout: &Layout) {
        let geometry = layout.geometry();
        let upper = self.push(Step::Right(Value::Index, geometry.bank_bits()));
        let sum = self.push(Step::Add(Value::Index, upper));
        self.keep_row(sum, geometry.bank_mask());
    }

    /// The bank bits of `bank` in front of the row of the index.
    fn keep_row(&mut self, bank: Value, mask: u32) {
        self.push(Step::Merge {
            inside: bank,
            outside: Value::Index,
            mask,
        });
    }

    /// RAP and RAS: the shifts of the rows packed into words (RAP paper,
    /// section VI: six 5-bit values a word).
    fn shift(&mut self, shifts: &[u32], layout: &Layout) {
        let geometry = layout.geometry();
        let (bits, mask) = (geometry.bank_bits(), geometry.bank_mask());
        let per_word = u32::BITS / bits;
        self.table = shifts
            .chunks(per_word as usize)
            .map(|chunk| {
                chunk
                    .iter()
                    .rev()
                    .fold(0, |word, shift| word << bits | shift)
            })
            .collect();
        let row = self.push(Step::Right(Value::Index, bits));
        let row = match geometry.row_bits() > bits {
            true => self.push(Step::And(row, mask)),
            false => row,
        };
        let word = self.divide(row, per_word);
        // row - per_word * word, times bits.
        let inside = self.push(Step::MulAdd {
            value: word,
            factor: per_word.wrapping_neg(),
            add: row,
        });
        let place = self.push(Step::MulAdd {
            value: inside,
            factor: bits - 1,
            add: inside,
        });
        let packed = self.push(Step::Table(word));
        let shift = self.push(Step::RightBy(packed, place));
        let sum = self.push(Step::Add(Value::Index, shift));
        self.keep_row(sum, mask);
    }
}
